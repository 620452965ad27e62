"""The checker of certificates about mechanisms with continuous noise; like the whole checker it imports the standard
library and python-flint.

A proof is an *alignment*: noise of the second run as shifted noise of the first, with invariants that say why the runs
stay together and what the shifts cost (Wang, Ding, Kifer and Zhang, "CheckDP: An Automated and Integrated Approach for
Proving Differential Privacy or Finding Precise Counterexamples", 2020; here for all lengths, and with invariants and
multipliers that are followed).  A refutation is a *loss*: two neighbouring inputs, the tree of runs on each, and an event whose
probabilities are integrated again, exactly.  At one size a claim with a delta is decided by *registers*: the program is
run once with data and noise left open, and what it shows is integrated over few numbers, in balls; or, where it only shows
sums of data and Gaussian noise, by a *matrix* of shifts.

Read it in this order: `inputs`, `expressions`, `instructions`, `flow` (the question); `terms`, `states`, `evaluating`,
`paths`, `executing`, `invariants`, `conditions`, `alignment`, `cells`, `mixtures` (proofs); `trees`, `losses`
(refutations); `registers`, `excesses`, `matrices` (a delta at one size); `checking` (the way in).
"""
