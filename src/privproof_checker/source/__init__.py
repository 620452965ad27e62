"""From the source of a mechanism to its model: a reader of the language and an interpreter of the checker's own.

The reader turns the text of a function into a code of few instructions (`reading`), the machine runs it on exact
values, so that a run can be copied wherever it draws noise or waits for an input (`machine`, `operations`, `laws`),
the explorer follows all runs at once (`exploring`), and `finite` compares what they do with the model in the
certificate.  With continuous noise, `losses` adds up the probability of an event, `proofs` runs the text and the
instructions of a proof side by side on numbers that are left open (`symbols`, `facts`, `following`, `instructed`), and
`automata` follows a function on a stream beside its automaton (`ways`).  Nothing of the text is executed by Python, and
nothing of the compiler takes part.  What the reader does not know it refuses: it never guesses.
"""

from privproof_checker.source.establishing import Established, established

__all__ = ["Established", "established"]
