"""What the checker follows by the rules that are proved in Coq, written for the extracted program: a line for each time.

While a certificate is checked, the functions of these rules are watched: refutations by multipliers, cones, trees of boxes, and the
comparisons of logarithms.  What they are given is written down in the words that `recheck.ml` reads, and the extracted program has to
say the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from flint import arb, fmpq

from privproof import check, tight_epsilon
from privproof.library.library_examples import EXAMPLES
from privproof_checker import Rejected, recheck
from privproof_checker.cones import Cone
from privproof_checker.linear import linear_rule as rule
from privproof_checker.linear.linear_normal import Clauses
from privproof_checker.linear.linear_rule import Refutation
from privproof_checker.node_documents import class_sums, counted_classes
from privproof_checker.numbers import budgets
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.programs import path_conditions as conditions
from privproof_checker.pufferfish import secrets_checking as pufferfish

Said = Callable[[Sequence[object]], None]
"""Takes the words of one line."""
_LARGEST = 40_000
"""Entries of the matrices of a cone: the extracted program has lists for vectors, and what is larger is counted and left out."""
_BITS = 300
"""Of a rational number below e^epsilon, where that is none."""


class Left:
    """What was left out, by its reason."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()

    def say(self, reason: str) -> None:
        """One more."""
        self.reasons[reason] += 1


def listed(items: Iterable[Sequence[object]]) -> list[object]:
    """A list: its length, and the words of its items."""
    held = list(items)
    return [len(held), *(word for item in held for word in item)]


def dense(entries: Mapping[int, object], size: int) -> list[object]:
    """A vector."""
    return [size, *(entries.get(i, 0) for i in range(size))]


def by_multipliers(clauses: Clauses, refutation: Refutation) -> list[object]:
    """A refutation; its atoms are named in the clauses."""
    for form in refutation.atoms:
        clauses.at_least(form, strict=False)
    atoms = []
    for number, row in clauses.rows.items():
        parts = dict(row.form.parts)
        whole = all(clauses.whole[variable] for variable in parts)
        coefficients = dense(parts, max(parts) + 1)
        atoms.append([number, int(whole), int(row.strict), row.form.constant, *coefficients])
    return [
        "linear",
        *listed(atoms),
        *listed(listed([literal] for literal in clause) for clause in clauses.clauses),
        *listed(listed(lemma) for lemma in refutation.lemmas),
        *listed(listed([literal] for literal in step) for step in refutation.steps),
    ]


class Unrolled:
    """A cone as a system of vectors: a node for every location, node of the certificate, and length that the checker meets.

    A weight is one more right state, which every letter keeps and of which ``delta / c`` counts where words end.
    """

    def __init__(self, cone: Cone, bound: fmpq) -> None:
        self.cone, self.bound = cone, bound
        self.numbers: dict[tuple[Any, int, int], int] = {}
        self.lengths: dict[int, int] = {}
        self.starts: list[list[object]] = []
        self.nodes: list[list[object]] = []
        self.edges: list[list[object]] = []
        self.entries = 0

    def words(self) -> list[object] | None:
        """The system; None if it is too large."""
        for begin in self.cone.beginnings:
            location = begin.start.location
            if any(self.cone.occupation.matters(location, i) for i, _ in begin.start.left):
                node = self.cone.nodes[begin.node]
                one, other = class_sums(begin.start.left, node.left), class_sums(begin.start.right, node.right)
                at = self._number(location, begin.node, 0)
                vectors = [*self._left(location, begin.node, one), *self._right(location, begin.node, other, 1)]
                self.starts.append([at, *vectors, *self._multiples(begin.node, begin.multipliers)])
        waiting = dict(self.numbers)
        while waiting:
            (location, number, length), at = waiting.popitem()
            before = len(self.numbers)
            self._meet(location, number, length, at)
            if self.entries > _LARGEST:
                return None
            waiting.update(dict(list(self.numbers.items())[before:]))
        return ["dominate", self.bound, *listed(self.nodes), *listed(self.edges), *listed(self.starts)]

    def _number(self, location: Any, number: int, length: int) -> int:
        """The node of the system; where all lengths up to the horizon are compared, the shortest way there is enough."""
        horizon = self.cone.question.horizon
        if horizon.low == 1:
            length = min(length, 1) if horizon.high is None else length
        return self.numbers.setdefault((location, number, length), len(self.numbers))

    def _meet(self, location: Any, number: int, length: int, at: int) -> None:
        cone, question = self.cone, self.cone.question
        node, horizon = cone.nodes[number], question.horizon
        always = question.claim.events and question.ending == "visible"
        ends = []
        if horizon.counts(length) or (always and length > 0):
            for final in cone.system.finals(location):
                left = counted_classes(final.counted, cone.occupation.on_left(location), node.left, node.place)
                right = counted_classes(
                    final.counted, cone.occupation.on_right(location), node.right, node.place, needed=False
                )
                share = question.claim.delta / self.bound if cone.weighted else 0
                ends.append(
                    [
                        *self._left(location, number, dict.fromkeys(left, 1)),
                        *self._right(location, number, dict.fromkeys(right, 1), share),
                    ]
                )
        generators = [
            [*self._left(location, number, g.left), *self._right(location, number, g.right, g.weight)]
            for g in node.generators
        ]
        self.nodes.append([at, *listed(generators), *listed(ends)])
        if horizon.goes_on(length):
            for letter, edge in cone.moves.at(location):
                onward = node.onward.get(letter)
                if onward is not None:
                    self._follow(location, number, (letter, edge, onward), length, at)

    def _follow(self, location: Any, number: int, step: tuple[Any, Any, Any], length: int, at: int) -> None:
        cone, (letter, edge, onward) = self.cone, step
        node, target = cone.nodes[number], cone.nodes[onward.node]
        left = cone.matrix(location, letter, edge, node, target, on_left=True)
        right = cone.matrix(location, letter, edge, node, target, on_left=False)
        if not any(left.get(i) for g in node.generators for i in g.left):
            return  # the left copy never writes this letter here
        scale = int(edge.scale)
        rows = [
            self._left(edge.target, onward.node, {j: fmpq(int(x), scale) for j, x in left.get(i, ())})
            for i in range(self._size(location, node.left, node.left_size))
        ]
        others = [
            self._right(edge.target, onward.node, {j: fmpq(int(x), scale) for j, x in right.get(i, ())}, 0)
            for i in range(self._size(location, node.right, node.right_size))
        ]
        others.append(self._right(edge.target, onward.node, {}, 1))
        multiples = [self._multiples(onward.node, each) for each in onward.multipliers]
        goal = self._number(edge.target, onward.node, length + 1)
        self.edges.append([at, goal, *listed(rows), *listed(others), *listed(multiples)])

    def _size(self, location: Any, classes: Any, size: int | None) -> int:
        if classes is None:
            return int(self.cone.system.size(location))
        return size if size is not None else 1 + max((c for c in classes if c is not None), default=-1)

    def _left(self, location: Any, number: int, entries: Mapping[int, object]) -> list[object]:
        node = self.cone.nodes[number]
        return self._vector(entries, self._size(location, node.left, node.left_size), None)

    def _right(self, location: Any, number: int, entries: Mapping[int, object], last: object) -> list[object]:
        node = self.cone.nodes[number]
        return self._vector(entries, self._size(location, node.right, node.right_size), last)

    def _vector(self, entries: Mapping[int, object], size: int, last: object) -> list[object]:
        self.entries += size
        return dense(entries, size) if last is None else dense({**entries, size: last}, size + 1)

    def _multiples(self, number: int, multipliers: Any) -> list[object]:
        factors = {index: fmpq(factor, multipliers.over) for index, factor in multipliers.by}
        return dense(factors, len(self.cone.nodes[number].generators))


def of_cone(cone: Cone, say: Said, left: Left) -> None:
    """A cone that was checked, with a rational number that is not above e^epsilon."""
    epsilon = cone.question.claim.epsilon
    if epsilon.infinite:
        return left.say("cones without an epsilon")
    if epsilon.root == 1 and epsilon.shift == 0:
        bound = epsilon.ratio
    elif epsilon.ratio == 1:
        with precision(_BITS):
            bound = rational_bounds(arb(epsilon.shift).exp())[0]
        say(["below", epsilon.shift, bound, 1])
    else:
        return left.say("cones whose epsilon is a root of a logarithm, or a sum")
    words = Unrolled(cone, bound).words()
    return left.say("cones that are large") if words is None else say(words)


def of_tree(tree: str, polynomial: Mapping[tuple[int, ...], object], size: int, say: Said, left: Left) -> None:
    """A tree of boxes that was checked."""
    if not set(tree) <= set("abcdefghijklmnopqrstuvwxyz.()/0123456789"):
        return left.say("trees with ordered boxes, or with constraints")
    words: list[object] = []
    at = 0
    while at < len(tree):
        letter, at = tree[at], at + 1
        if letter == ".":
            words.append("leaf")
            continue
        share = "1/2"
        if tree[at : at + 1] == "(":
            end = tree.index(")", at)
            share, at = tree[at + 1 : end], end + 1
        words += ["split", ord(letter) - ord("a"), share]
    return say(["nonneg", size, *nested(polynomial, size), *words])


def nested(polynomial: Mapping[tuple[int, ...], object], size: int) -> list[object]:
    """A polynomial as coefficients of the powers of the first variable, which are polynomials in the others."""
    if size == 0:
        return ["number", polynomial.get((), 0)]
    powers: dict[int, dict[tuple[int, ...], object]] = {}
    for exponents, value in polynomial.items():
        powers.setdefault(exponents[0], {})[exponents[1:]] = value
    return ["powers", *listed(nested(powers.get(i, {}), size - 1) for i in range(max(powers, default=0) + 1))]


def of_sign(ratio: fmpq, shift: fmpq, sign: int, say: Said) -> None:
    """A comparison of a logarithm with a rational number: the sign of ``ln(ratio) + shift`` where they pull apart."""
    if shift > 0 and ratio < 1:
        say(["below", shift, 1, ratio] if sign > 0 else ["above", shift, 1, ratio])
    elif shift < 0 and ratio > 1:
        say(["above", -shift, ratio, 1] if sign > 0 else ["below", -shift, ratio, 1])


@contextmanager
def watching(say: Said, left: Left) -> Iterator[None]:
    """What the rules are given while certificates are checked."""
    refuted, check_cone, in_cube, compare = rule.check_refutation, Cone.check, pufferfish._Cube.check, budgets._sign

    def followed(clauses: Clauses, refutation: Refutation, place: str) -> None:
        refuted(clauses, refutation, place)
        say(by_multipliers(clauses, refutation))

    def checked(cone: Cone) -> int:
        comparisons = check_cone(cone)
        of_cone(cone, say, left)
        return comparisons

    def on_cube(cube: Any, tree: object, polynomial: Any, place: str) -> None:
        in_cube(cube, tree, polynomial, place)
        inside = pufferfish.compose_polynomial(polynomial, cube.values, cube.size, place, cube.limits)
        of_tree(str(tree), inside, cube.size, say, left)

    def signed(ratio: fmpq, shift: fmpq) -> int:
        sign = compare(ratio, shift)
        of_sign(ratio, shift, sign, say)
        return sign

    with ExitStack() as held:
        held.enter_context(patch.object(conditions, "check_refutation", followed))
        held.enter_context(patch.object(Cone, "check", checked))
        held.enter_context(patch.object(pufferfish._Cube, "check", on_cube))
        held.enter_context(patch.object(budgets, "_sign", signed))
        yield


def certificates(folder: Path | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The certificates in a folder, or those of the library."""
    if folder is not None:
        for path in sorted(folder.glob("*.json")):
            yield path.stem, json.loads(path.read_text())
        return
    for example in EXAMPLES:
        question = example.question()
        verdict = check(question) if question.claims else tight_epsilon(question)
        if verdict.certificate:
            yield example.name, verdict.certificate


def write(documents: Iterable[tuple[str, Mapping[str, Any]]], say: Said, left: Left) -> int:
    """Write what the rules are given while these are checked, each line once; how many certificates there were."""
    known: set[str] = set()
    count = 0
    for name, document in documents:

        def told(words: Sequence[object], name: str = name) -> None:
            text = " ".join(map(str, words[1:]))
            if f"{words[0]} {text}" not in known:
                known.add(f"{words[0]} {text}")
                say([words[0], name, text])

        with watching(told, left):
            outcome = recheck(document)
        if isinstance(outcome, Rejected):
            sys.exit(f"{name}: the checker refuses its certificate: {outcome}")
        count += 1
    return count


def written(words: Sequence[object]) -> None:
    """A line of the output."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, help="a folder of certificates; without one, those of the library"
    )
    omitted = Left()
    total = write(certificates(parser.parse_args().folder), written, omitted)
    told = "; ".join(f"{number} {reason}" for reason, number in omitted.reasons.items()) or "nothing"
    sys.stderr.write(f"{total} certificates; left out: {told}\n")
