"""The conditions of all proofs of the library with continuous noise, with their refutations, as `recheck.ml` reads them."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence

from privproof import Mechanism, check
from privproof.evidence.multipliers import refutations
from privproof.library import laplace
from privproof_checker import Rejected, recheck
from privproof_checker.linear.documents import read_refutation, supplied
from privproof_checker.linear.normal import Clauses, clauses_of
from privproof_checker.linear.rule import Refutation
from privproof_checker.outcomes import DEFAULT_LIMITS


def written(name: str, clauses: Clauses, refutation: Refutation) -> str:
    """A refutation as words."""
    for form in refutation.atoms:
        clauses.at_least(form, strict=False)
    words: list[object] = ["linear", name, len(clauses.rows)]
    for number, row in clauses.rows.items():
        parts = dict(row.form.parts)
        whole = all(clauses.whole[variable] for variable in parts)
        dense = [parts.get(variable, 0) for variable in range(max(parts) + 1)]
        words += [number, int(whole), int(row.strict), row.form.constant, len(dense), *dense]
    words.append(len(clauses.clauses))
    for clause in clauses.clauses:
        words += [len(clause), *clause]
    words.append(len(refutation.lemmas))
    for lemma in refutation.lemmas:
        words += [len(lemma), *(word for pair in lemma for word in pair)]
    words.append(len(refutation.steps))
    for step in refutation.steps:
        words += [len(step), *step]
    return " ".join(map(str, words))


def conditions_of(mechanism: Mechanism) -> Iterator[tuple[Clauses, Refutation]]:
    """The conditions behind the verdict on a mechanism, where it is proved by an alignment."""
    certificate = check(mechanism).certificate
    if not certificate or certificate["verdict"] != "proved" or certificate["evidence"].get("method") != "alignment":
        return
    met: list[str] = []

    def noted(conditions: Sequence[str]) -> list[dict[str, object] | None]:
        met.extend(conditions)
        return refutations(conditions)

    bare = {name: value for name, value in certificate["evidence"].items() if name != "multipliers"}
    with supplied(noted):
        outcome = recheck({**certificate, "evidence": bare})
    assert not isinstance(outcome, Rejected), outcome
    for condition, given in zip(met, certificate["evidence"]["multipliers"], strict=True):
        assert given is not None, "a condition without multipliers"
        yield clauses_of(condition), read_refutation(given, "here", DEFAULT_LIMITS)


if __name__ == "__main__":
    for module in pkgutil.iter_modules(laplace.__path__, f"{laplace.__name__}."):
        for name, mechanism in vars(importlib.import_module(module.name)).items():
            if isinstance(mechanism, Mechanism):
                for clauses, refutation in conditions_of(mechanism):
                    sys.stdout.write(written(name, clauses, refutation) + "\n")
