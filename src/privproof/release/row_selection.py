"""Selections: the most frequent states, and quantiles, read off a noisy histogram.

What is read off a release is a function of it, and loses nothing more (post-processing).  So a selection is released as its histogram
is: the histogram is calibrated, proved, and paid, and whoever sees the noisy counts could have read the selection off by himself.

Quantiles want an order of the states: that of their bins; of the numbers that they are; or the one in which a prior, or the request,
lists them.  States that were merely found in a table have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privproof.errors import NumberError, QuestionError
from privproof.exact import Rational, rational, show
from privproof.release.noisy_release import Released

_FORMS = "top:3; mode; median; quantile:1/4,3/4"


@dataclass(frozen=True)
class Selection:
    """What is read off a noisy histogram: the most frequent states, or quantiles.

    Attributes:
        name: the selection in words.
        number: how many of the most frequent states; 0 for quantiles.
        shares: the shares of the quantiles.
    """

    name: str
    number: int = 0
    shares: tuple[Rational, ...] = ()

    def ordered(self, states: Sequence[str], *, listed: bool) -> tuple[str, ...]:
        """The states as the histogram counts them: for quantiles in their order.

        Args:
            states: the states there are.
            listed: whether their order is meant, by bins, by a prior or by the request.

        Raises:
            QuestionError: there are fewer states than are asked for, or quantiles of states without an order.

        >>> parse_selection("median").ordered(["10", "9", "-1"], listed=False)
        ('-1', '9', '10')
        """
        if self.number > len(states):
            raise QuestionError(
                "query", f"{self.name}: there are {len(states)} states", place="query", hint=f"top:{len(states)}"
            )
        if not self.shares:
            return tuple(states)
        try:
            return tuple(sorted(states, key=rational))
        except NumberError:
            if listed:
                return tuple(states)
        hint = f"--states {','.join(states)}, in their order"
        raise QuestionError("query", f"{self.name}: the states have no order", place="query", hint=hint)

    def read(self, released: Released) -> Mapping[str, str]:
        """The selected states: by rank, from 1 on, or by the share of the quantile."""
        if self.number:
            return {str(rank): state for rank, state in enumerate(released.largest(self.number), 1)}
        return {str(share): released.quantile(share) for share in self.shares}


def parse_selection(text: str) -> Selection | None:
    """A selection from a text, ``top:3``, ``mode``, ``median`` or ``quantile:1/4,3/4``; none where it is another query.

    Raises:
        QuestionError: no such number of states, or no such share.

    >>> parse_selection("top:3").name, parse_selection("quantile:0.9,1/2").shares, parse_selection("histogram")
    ('3 most frequent states', (9/10, 1/2), None)
    """
    kind, _, rest = (part.strip() for part in text.partition(":"))
    if (kind, rest) == ("mode", ""):
        return Selection("most frequent state", number=1)
    if (kind, rest) == ("median", ""):
        return Selection("median of the states", shares=(rational("1/2"),))
    if kind not in ("top", "mode", "median", "quantile"):
        return None
    if kind == "top" and rest.isdecimal() and rest.isascii() and int(rest) > 0:
        return Selection(f"{int(rest)} most frequent states", number=int(rest))
    if kind == "quantile":
        try:
            shares = tuple(dict.fromkeys(rational(part.strip()) for part in rest.split(",")))
        except NumberError as problem:
            raise problem.at("query") from None
        if all(0 < share < 1 for share in shares):
            said = ", ".join(show(share) for share in shares)
            return Selection(f"{'quantile' if len(shares) == 1 else 'quantiles'} {said} of the states", shares=shares)
    raise QuestionError("query", f"{text!r} is no query", place="query", hint=_FORMS)
