"""The privacy profile of a finite mechanism: the exact delta for every epsilon, over all neighbours at once.

    delta(epsilon) = max over ordered pairs of situations of sum over outputs o of max(0, P(o) - e^epsilon Q(o))

This is (epsilon, delta)-differential privacy in the *set sense*: ``P(E) <= e^epsilon Q(E) + delta`` for every set E of outputs.  The
*pointwise sense*, the same for single outputs only, is that of dpCTL*; it is weaker and has its own curve.  In ``c = e^epsilon``
both are convex, piecewise linear and falling, so finitely many corners say everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from privproof.compiling import mechanism_question
from privproof.drawing.showing import ShownCard
from privproof.errors import LanguageError, QuestionError, ScenarioError
from privproof.exact import ONE, ZERO, Epsilon, EpsilonLike, Number, Rational, decimal, epsilon, log, rational, show
from privproof.language import Mechanism
from privproof.models import Horizon, Transducer
from privproof.profiles.compared_situations import SeenOutcome, Situation
from privproof.profiles.delta_curves import Curve, RealEnclosure
from privproof.profiles.profile_games import Game, game
from privproof.profiles.profile_pairs import PairTable, table, writes_only_at_the_end
from privproof.scenarios import Question

_SHOWN = 8
"""An event is shown by its first so many outputs; the text then says how many it has."""


@dataclass(frozen=True)
class Worst:
    """The pair of situations and the event that need the largest delta.

    Attributes:
        situation: the two situations.
        event: the outputs that are more than e^epsilon times as likely on the left.
        left: the probability of the event on the left.
        right: its probability on the right.
    """

    situation: Situation
    event: tuple[SeenOutcome, ...]
    left: Rational
    right: Rational

    def __str__(self) -> str:
        names = [str(outcome) for outcome in self.event]
        listed = ", ".join(names[:_SHOWN]) + (f", ... ({len(names)} outputs)" if len(names) > _SHOWN else "")
        return (
            f"{self.situation}: the event {{{listed}}} has probability {show(self.left)} on the left "
            f"and {show(self.right)} on the right"
        )


@dataclass(frozen=True)
class Point:
    """A point of a profile, for plots and tables."""

    epsilon: Epsilon
    delta: RealEnclosure

    @property
    def row(self) -> tuple[str, str]:
        """Both numbers as decimals."""
        return self.epsilon.decimal(), decimal(self.delta.high)


@dataclass(frozen=True)
class Profile(ShownCard):
    """How private a mechanism is, for every epsilon.

    Attributes:
        name: the mechanism.
        curve: the likelihoods of the dominating pair: its hockey-stick divergence is the profile.
        single: the same for single outputs.
        compared: what was compared.
        question: what was asked about.
    """

    name: str
    curve: Curve
    single: Curve
    compared: PairTable | Game = field(repr=False, compare=False)
    question: Question = field(repr=False, compare=False)

    def delta(self, epsilon: EpsilonLike) -> Rational | RealEnclosure:
        """The smallest delta for an epsilon: exact for ``ln(...)``, otherwise enclosed between rationals."""
        return self.curve.delta(epsilon)

    def bounds(self, epsilon: EpsilonLike) -> tuple[Rational, Rational]:
        """Rationals between which the smallest delta lies; equal where it is known exactly."""
        return self.curve.bounds(epsilon)

    def epsilon(self, delta: Number = 0) -> Epsilon:
        """The smallest epsilon for a delta, exactly: the logarithm of a rational, or infinite."""
        return self.curve.epsilon(delta)

    def pointwise_delta(self, epsilon: EpsilonLike) -> Rational | RealEnclosure:
        """The smallest delta with ``P(o) <= e^epsilon Q(o) + delta`` for every *single* output o: the sense of dpCTL*.

        This is weaker than (epsilon, delta)-differential privacy as soon as delta is above zero.
        """
        return self.single.delta(epsilon)

    def pointwise_epsilon(self, delta: Number = 0) -> Epsilon:
        """The smallest epsilon for a delta in the pointwise sense."""
        return self.single.epsilon(delta)

    @property
    def total_variation(self) -> Rational:
        """The largest total variation distance of two situations: delta at epsilon 0."""
        return self.curve.at(ONE)

    @property
    def corners(self) -> tuple[tuple[Rational, Rational], ...]:
        """The corners (c, delta) from c = 1 on, c = e^epsilon; between them delta is linear in c, after the last constant."""
        ratios = [p / q for p, q in reversed(self.curve.likelihoods) if q != 0 and p > q]
        return tuple((c, self.curve.at(c)) for c in (ONE, *ratios))

    @property
    def attained_by(self) -> Situation | None:
        """One pair of situations that is worst at every epsilon, if one is found.

        Then composing copies of the dominating pair is exact for that pair, not only an upper bound.
        """
        found = self.compared.attaining()
        return None if found is None else found.situation

    def worst(self, epsilon: EpsilonLike) -> Worst | None:
        """The pair of situations and the event that need the largest delta at an epsilon; None where delta is 0."""
        budget = _epsilon(epsilon)
        beyond = [pair for pair in self.curve.likelihoods if not budget.allows(*pair)]
        if not beyond:
            return None
        rest = self.curve.likelihoods[len(beyond) : len(beyond) + 1]
        low = rest[0][0] / rest[0][1] if rest else ZERO
        p, q = beyond[-1]
        comparison = self.compared.worst_at((low + p / q) / 2 if q != 0 else low + 1)
        event = [outcome for outcome in comparison.outcomes if not budget.allows(outcome.left, outcome.right)]
        event.sort(key=lambda outcome: (outcome.right == 0, outcome.left / (outcome.right or ONE)), reverse=True)
        left = sum((outcome.left for outcome in event), ZERO)
        return Worst(comparison.situation, tuple(event), left, sum((outcome.right for outcome in event), ZERO))

    def pair_at(self, epsilon: EpsilonLike) -> Curve:
        """The curve of one pair of situations: one that is worst at every epsilon, if there is one, else the worst at this one."""
        found = self.compared.attaining()
        if found is None:
            low, high = _epsilon(epsilon).enclosure(64)
            found = self.compared.worst_at((low + high) / 2)
        return found.curve

    def composed(self, other: Profile | Curve | int | None = None, *, times: int = 1) -> Curve:
        """The profile of dominating pairs used together, exactly: above every adaptive composition of as many uses.

        Args:
            other: the profile of another mechanism that is used beside this one, on the same data; or how often this one is used.
            times: how often all of it is used.

        It is exact where `attained_by` names a pair of situations, the same for both.
        """
        if not isinstance(other, Profile | Curve | int | None):
            raise QuestionError(
                "composition",
                "an exact profile is composed with exact ones",
                place=self.name,
                hint="other.composed(this), which is enclosed",
            )
        return self.curve.composed(other.curve if isinstance(other, Profile) else other, times=times)

    def points(self, count: int = 101, *, up_to: Number | None = None) -> tuple[Point, ...]:
        """So many points at evenly spaced epsilons, from 0 to `up_to` (by default just beyond the last corner)."""
        if count < 2:
            raise QuestionError("points", f"count={count}: a curve has at least two points", hint="count=101")
        end = self._end() if up_to is None else rational(up_to)
        chosen = [_epsilon(end * i / (count - 1)) for i in range(count)]
        return tuple(Point(e, RealEnclosure(*self.bounds(e))) for e in chosen)

    def csv(self, count: int = 101, *, up_to: Number | None = None) -> str:
        """The points as lines ``epsilon,delta``, delta rounded to six digits."""
        rows = [point.row for point in self.points(count, up_to=up_to)]
        return "".join(f"{e},{d}\n" for e, d in (("epsilon", "delta"), *rows))

    def _end(self) -> Rational:
        last = self.corners[-1][0]
        tenths = Fraction(log(last).decimal()) * 10
        return rational(int(tenths) + 1) / 10


_epsilon = epsilon


def privacy_profile(
    subject: Question | Mechanism, *, size: int | None = None, horizon: Horizon | None = None
) -> Profile:
    """The privacy profile of a mechanism with finitely many complete outputs; a claim that is made is ignored.

    Args:
        subject: a mechanism, or a question about a model.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, the lengths compared.

    The outputs are those of runs that have ended, or words of the full length of the horizon; that a run has halted counts as seen.
    Where inputs are read after outputs were seen, the adversary may choose them accordingly.

    Raises:
        QuestionError: the horizon is unbounded, or there is too much to go through.
        ScenarioError: words are restricted, so that outputs are no whole distributions; or there is nothing to compare.

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> profile = privacy_profile(noisy_max_question(3, improved=True))
    >>> profile.epsilon(), profile.delta("ln(2)"), profile.total_variation, profile.epsilon("1/10")
    (Epsilon('ln(24/7)'), 4/27, 25/72, Epsilon('ln(12/5)'))
    >>> print(profile.worst("ln(2)").situation)
    inputs 0 1 1 against 1 0 2
    """
    question = subject
    if isinstance(question, Mechanism):
        try:
            question = mechanism_question(question, size=size, horizon=horizon)
        except LanguageError as problem:
            if problem.code in ("continuous", "irrational"):
                problem.hint = "privproof.privacy_profile encloses the profile of such noise"
            raise
    words = question.scenario.words
    if words.only is not None or words.without or any(pair.only for pair in question.scenario.pairs):
        raise ScenarioError(
            "words",
            "the words are restricted, so what is left are not whole distributions",
            place="words",
            hint="drop `only` and `without`; a privacy profile needs every output",
        )
    model = question.model
    if isinstance(model, Transducer) and model.of_every_length:
        raise QuestionError(
            "size", "a profile is of lists of one length", place=question.name, hint="--size 3, or size=3"
        )
    compared: PairTable | Game
    if isinstance(model, Transducer) and writes_only_at_the_end(model):
        compared = table(question)
    else:
        compared = game(question)
    return Profile(question.name, compared.envelope, compared.single, compared, question)
