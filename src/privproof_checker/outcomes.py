"""What the checker answers, and how far it goes: accepted or rejected, and a limit on everything that is counted.

Inside the checker a `Refusal` carries the reason and the place to the surface, where it becomes a `Rejected`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.numbers.patience import pause

if TYPE_CHECKING:
    from privproof_checker.certificate_facts import Fact
    from privproof_checker.programs.program_inputs import Affine

Verdict: TypeAlias = Literal["proved", "refuted"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How large a certificate may be before the checker gives up; beyond a limit the answer is `Rejected`.

    Attributes:
        file_bytes: the size of a certificate file.
        values: the values (numbers, texts, lists, objects) of a document.
        depth: how deep a document is nested.
        digits: the digits of a numerator or denominator.
        states: the states of a model.
        symbols: the observations, inputs or outputs of a model, each.
        steps: the steps of a transducer.
        horizon: the length of the longest word compared, where it is bounded.
        pairs: the ordered pairs of a question, and the listed pairs of input sequences.
        expression: the tokens of a regular expression.
        derivatives: the different derivatives of the regular expressions.
        nodes: the nodes of a cone certificate.
        generators: the generators of a cone certificate, all nodes together.
        explored: the combinations of location, length and node that a cone check visits.
        words: the nodes that an enumeration visits.
        tensor: the entries of all output tensors together.
        source_steps: the steps of the checker's own runs of a source.
    """

    file_bytes: int = 512 * 1024 * 1024
    values: int = 50_000_000
    depth: int = 40
    digits: int = 100_000
    states: int = 20_000
    symbols: int = 5_000
    steps: int = 100_000
    horizon: int = 1_000_000
    pairs: int = 100_000
    expression: int = 2_000
    derivatives: int = 5_000
    nodes: int = 1_000_000
    generators: int = 2_000_000
    explored: int = 5_000_000
    words: int = 2_000_000
    tensor: int = 20_000_000
    source_steps: int = 2_000_000


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Shifts:
    """What the shifts of an alignment come to on every path, at most.

    Attributes:
        others: the cost of all noise but Gaussian noise.
        squares: the sum of ``(s/sigma)^2`` over Gaussian noise, whose shifts are settled when it is drawn; perhaps growing with the size.
        discrete: whether some of that noise is discrete.
        ranges: the least and the largest value of everything that the squares may grow with.
    """

    others: Epsilon
    squares: Affine
    discrete: bool = False
    ranges: Mapping[str, tuple[Rational | None, Rational | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Accepted:
    """The certificate establishes its verdict.

    Attributes:
        verdict: ``proved`` or ``refuted``.
        statement: what has been established, in words.
        details: facts about the check, by name: the method, how much was compared, the witness.
        question: the question that was read and answered, as it stands in the certificate.
        lower: the certificate shows that the tight epsilon is at least this; None where the question has no epsilon.
        upper: the certificate shows that the tight epsilon is at most this; None where the question has no epsilon.
        how: how the verdict was re-established: ``by`` (witnessed, recomputed), ``method``, ``words``.
        shifts: what the shifts of a proof by alignment come to, where they are bounded by numbers.
        range: in an interval of what length all losses lie, where a proof by alignment shows one.
        facts: the facts that were checked.
    """

    verdict: Verdict
    statement: str
    details: Mapping[str, object] = field(default_factory=dict)
    question: Mapping[str, object] = field(default_factory=dict)
    lower: Epsilon | None = None
    upper: Epsilon | None = None
    how: Mapping[str, str] = field(default_factory=dict)
    shifts: Shifts | None = None
    range: Rational | None = None
    facts: tuple[Fact, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Rejected:
    """The certificate does not establish its verdict (which may be right all the same).

    Attributes:
        reason: why not.
        place: the place in the document, such as ``evidence.nodes[3].next[0]``.
        beyond: whether the source of the question is outside of what the checker reads or has room for.
    """

    reason: str
    place: str = ""
    beyond: bool = field(default=False, repr=False)


Outcome: TypeAlias = Accepted | Rejected


class Refusal(Exception):
    """Stops a check; becomes `Rejected`."""

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


class Beyond(Refusal):
    """The source is outside of what the checker reads or has room for: nothing is known, for or against."""


def refuse(reason: str, place: str) -> NoReturn:
    """Stop the check."""
    raise Refusal(reason, place)


def within(count: int, limit: int, what: str, place: str) -> None:
    """Refuse what exceeds a limit; where something is counted, something takes long."""
    pause()
    if count > limit:
        found = str(count) if count < 10**18 else "too many"
        refuse(f"{found} {what} are beyond the limit of {limit}", place)


def largest_bound(first: Epsilon, *others: Epsilon | None) -> Epsilon:
    """The largest of some lower bounds, where None shows nothing."""
    for other in others:
        if other is not None and other.compare(first) > 0:
            first = other
    return first
