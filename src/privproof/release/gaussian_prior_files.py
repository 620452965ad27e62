"""Gaussian chains as documents: the correlation of neighbours, and the values that must not be told apart.

kind: prior
correlation: [4/5, 9/10]         # or one number; or correlations: [9/10, [4/5, 9/10], ...], one for every step
values: [0, 100]                 # entries are cut off at this range
distance: 20                     # secrets are values that are no further apart; without it as far as the range
variance: 9                      # what the variance is at least, where it is to count
start: narrower                  # where the first entry may vary less; otherwise stationary
"""

from __future__ import annotations

from typing import Any

from privproof.errors import FormatError
from privproof.exact import Rational
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import DocumentTable, Node, Scalar, Series
from privproof.release.gaussian_chains import Ends, GaussianChain

KEYS = ("name", "correlation", "correlations", "values", "distance", "variance", "start")


def is_gaussian(root: DocumentTable) -> bool:
    """Whether a document speaks of a Gaussian chain."""
    return Scalar("correlation") in root or Scalar("correlations") in root


def gaussian_chain(root: DocumentTable) -> GaussianChain:
    """The Gaussian chain in a document.

    Raises:
        FormatError: both one correlation and several, or what is no pair of numbers.
        ScenarioError: a correlation that is none, or no range and no distance.
    """
    start = fields.optional(root, "start", lambda node, at: fields.one_of(node, ("stationary", "narrower"), at))
    beside: dict[str, Any] = {
        "distance": fields.optional(root, "distance", fields.number),
        "values": fields.optional(root, "values", _pair),
        "variance": fields.optional(root, "variance", fields.number),
        "start": start or "stationary",
        "name": fields.optional(root, "name", fields.text) or "",
    }
    one, several = root.get(Scalar("correlation")), root.get(Scalar("correlations"))
    if one is not None and several is not None:
        raise FormatError("shape", "one correlation, and one for every step", place="correlations", hint="one of them")
    if several is None:
        assert one is not None
        return GaussianChain.of(_bounds(one, "correlation"), **beside)
    listed = fields.series(several, "correlations")
    return GaussianChain.schedule([_bounds(each, f"correlations[{i}]") for i, each in enumerate(listed)], **beside)


def gaussian_document(prior: GaussianChain) -> dict[str, Any]:
    """What a file says of a Gaussian chain, beside its name.

    >>> gaussian_document(GaussianChain.of("9/10", distance=20))
    {'correlation': '9/10', 'distance': '20'}
    """
    steps = [str(low) if low == high else [str(low), str(high)] for low, high in prior.steps]
    return {
        **({"correlation": steps[0]} if len(steps) == 1 else {"correlations": steps}),
        **({} if prior.values is None else {"values": [str(end) for end in prior.values]}),
        "distance": str(prior.distance),
        **({} if prior.variance == 0 else {"variance": str(prior.variance)}),
        **({} if prior.start == "stationary" else {"start": prior.start}),
    }


def _bounds(node: Node, place: str) -> Rational | Ends:
    return _pair(node, place) if isinstance(node, Series) else fields.number(node, place)


def _pair(node: Node, place: str) -> Ends:
    listed = fields.series(node, place)
    if len(listed) != 2:
        raise FormatError("shape", f"{len(listed)} numbers", place=place, hint="[0, 100]: the least and the greatest")
    return fields.number(listed[0], place), fields.number(listed[1], place)
