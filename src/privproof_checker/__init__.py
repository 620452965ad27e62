"""The independent checker of certificates: its modules import the standard library and python-flint,
numpy in four of them, nothing else of this distribution, and no solver.

It reads the question in a certificate, gives it a meaning by its own code, and re-establishes the verdict from the
facts. The engines that find evidence share no code with it. Read it in this order: `systems` (what a question
means), `claims`, `words`, `cones`, `enumeration`, `tensors` (the theorems), `facts`, `rules` (the language of
certificates), `front` (the way in).

    >>> outcome = recheck({"format": "privproof-certificate/2",
    ...     "question": {"kind": "hmm", "states": ["yes", "no"], "observations": ["Y", "N"],
    ...         "emissions": {"yes": {"Y": "3/4", "N": "1/4"}, "no": {"Y": "1/4", "N": "3/4"}},
    ...         "scenario": {"pairs": [{"left": {"yes": 1}, "right": {"no": 1}}]}, "horizon": 1, "epsilon": "ln(2)"},
    ...     "facts": [{"rule": "word", "claim": "refuted", "hint": {
    ...         "left": {"yes": 1}, "right": {"no": 1}, "word": [{"output": "Y"}],
    ...         "left_probability": "3/4", "right_probability": "1/4"}}]})
    >>> outcome.verdict, outcome.details["ratio"]
    ('refuted', '3')
"""

from privproof_checker.front import recheck, recheck_file
from privproof_checker.outcomes import Accepted, Limits, Outcome, Rejected

__all__ = ["Accepted", "Limits", "Outcome", "Rejected", "recheck", "recheck_file"]
