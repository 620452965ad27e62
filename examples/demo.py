"""A first look, in half a minute: verdicts on mechanisms and models, a proof whose certificate is checked again, and what to do next."""

from __future__ import annotations

from pathlib import Path

from mechanisms.noisy_max import improved, naive
from mechanisms.sparse_vector import sparse_vector
from mechanisms.surveys import answers
from rich.console import Console

from privproof import check, model_check, read_question, recheck, tight_epsilon
from privproof.logic.library.formula_examples import FORMULAS
from privproof.reporting import ReplayCommand, print_headline, print_verdict
from privproof_checker import Accepted

console = Console(highlight=False, markup=False)
models = Path(__file__).parent / "models"

console.rule("a mechanism that leaks, with its witness")
leaking = check(naive, size=3)
command = ReplayCommand("examples/mechanisms/noisy_max.py:naive", ("--size", "3"))
print_verdict(console, leaking, command=command, asked_tight=False)

console.rule("mechanisms and models, a line each")
verdicts = [check(answers), check(sparse_vector), tight_epsilon(improved, size=3)]
for name in ("survey.yaml", "family.yaml", "activity.yaml", "unknown_prior.yaml", "streams/no_cutoff.yaml"):
    question = read_question(models / name)
    verdicts.append(check(question) if question.claims else tight_epsilon(question))
for verdict in verdicts:
    print_headline(console, verdict, asked_tight=verdict.asked_tight)
example = FORMULAS[0]
found = model_check(example.process(), example.formula, states=example.states)
console.print(f"  {found.status}: the formula {example.formula} on {example.name}", soft_wrap=True)

accepted = [isinstance(recheck(each.certificate), Accepted) for each in (leaking, *verdicts) if each.certificate]
console.print(f"\n{sum(accepted)} of {len(accepted)} certificates accepted by the independent checker")

console.rule("what to do next")
for line in (
    "check examples/mechanisms                                     # every mechanism of a folder",
    "check examples/ordinary/survey.py:counts --input 'answers=records(yes, no)' --epsilon 0.5",
    "epsilon examples/mechanisms/noisy_max.py:improved --size 2..5",
    "explain examples/mechanisms/sparse_vector.py:sparse_vector    # why it is private, line by line",
    "audit examples/15_audit.py:largest --epsilon 1 --size 5       # what cannot be read is run",
    "examples                                                      # the library, with known verdicts",
):
    console.print(f"  .venv/bin/privproof {line}", soft_wrap=True)
console.print(
    "  docs/python-tutorial.md: your own function, step by step; docs/how-to/ci.md: a whole project", soft_wrap=True
)
