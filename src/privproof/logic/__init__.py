"""The engine of dpCTL*: Markov chains and decision processes; imports what every engine imports, and the engines of words.

Read it in this order: `paths` (path formulas), `graphs`, `exactly` and `enclosed` (two arithmetics), `refining` and `chains` (Markov
chains), `products`, `schedulers`, `sequences` and `queries` (decision processes), `measures` (what is found), `checking` (state formulas).
"""
