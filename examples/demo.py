"""The main job on the shipped examples: a verdict for each, and the certificates of the proofs checked once more."""

from __future__ import annotations

from pathlib import Path

from mechanisms.bounded import clamped, rejected
from mechanisms.noisy_max import improved, naive
from mechanisms.threshold import above
from rich.console import Console

from privproof import audit, check, model_check, read_question, recheck, tight_epsilon
from privproof.evidence.checker import Accepted
from privproof.library import EXAMPLES, FORMULAS
from privproof.reporting import Command, print_audit, print_verdict

console = Console(highlight=False, markup=False)
models = Path(__file__).parent / "models"

console.rule("model files")
for path in (*sorted(models.glob("*.yaml")), models / "streams" / "no_cutoff.yaml"):
    question = read_question(path)
    source = str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name
    asked_tight = question.budget is None
    verdict = tight_epsilon(question) if asked_tight else check(question)
    print_verdict(console, verdict, command=Command(source), asked_tight=asked_tight)
    console.print()

console.rule("mechanisms written in Python")
for target, size in ((naive, 3), (improved, 3), (above, 5), (rejected, None), (clamped, None)):
    verdict = check(target, size=size)
    source = f"examples/mechanisms/{Path(target.function.__code__.co_filename).name}:{target.name}"
    options = () if size is None else ("--size", str(size))
    print_verdict(console, verdict, command=Command(source, options), asked_tight=False)
    console.print()

console.rule("the library")
for example in EXAMPLES:
    question = example.question()
    verdict = check(question) if question.claims else tight_epsilon(question)
    outcome = recheck(verdict.certificate)
    mark = "certificate accepted" if isinstance(outcome, Accepted) else f"certificate rejected: {outcome}"
    tight = f", tight epsilon {verdict.tight.show()}" if verdict.tight is not None else ""
    console.print(f"{verdict.status:<8} {example.name:<27} {mark}{tight}  ({verdict.seconds:.2f} s)", soft_wrap=True)
    console.print(f"         known: {example.known}", style="dim", soft_wrap=True)

console.rule("formulas of dpCTL*")
for example in FORMULAS:
    found = model_check(example.process(), example.formula, states=example.states)
    mark = "certificate accepted" if found.certificate is not None else "no certificate at this size"
    console.print(f"{found.status:<8} {example.name:<27} {example.formula}", soft_wrap=True)
    console.print(f"         {mark}; known: {example.known}  ({found.seconds:.2f} s)", style="dim", soft_wrap=True)

console.rule("audits: tested by running, certified exactly")
for target, lengths in ((improved, 3), (above, (2, 3))):
    print_audit(
        console, audit(target, "1" if target is improved else None, size=lengths, samples=100_000), command=None
    )
    console.print()

console.rule("try it")
console.print(
    "  .venv/bin/privproof check examples/ordinary/survey.py:counts --input 'answers=records(yes, no)' --epsilon 0.5",
    soft_wrap=True,
)
console.print("  .venv/bin/privproof check examples/models/geometric.yaml --epsilon 'ln(2)'")
console.print("  .venv/bin/privproof check examples/mechanisms/noisy_max.py:naive --size 3")
console.print("  .venv/bin/privproof epsilon examples/mechanisms/noisy_max.py:improved --size 2..8")
console.print("  .venv/bin/privproof examples above-threshold")
console.print("  .venv/bin/privproof audit examples/15_audit.py:largest --epsilon 1 --size 5")
console.print("  .venv/bin/privproof explain examples/mechanisms/sparse_vector.py:sparse_vector")
console.print("  .venv/bin/privproof epsilon examples/models/streams/between.yaml")
console.print(
    "  .venv/bin/privproof release examples/data/activity-private.csv --column state --series person "
    "--fit examples/data/activity-public.csv --query count:run --epsilon 1",
    soft_wrap=True,
)
console.print("  .venv/bin/privproof logic examples/models/logic/survey.yaml 'D[ln(3), 0](X out1)'")
