"""Questions about mechanisms for locations as plain data."""

from __future__ import annotations

from privproof.release.locations.location_question import LocationQuestion


def document(question: LocationQuestion, compiled: object) -> dict[str, object]:
    """The question as plain data, about the mechanism that is given as plain data."""
    listed = {} if question.sites is None else {"sites": [list(site) for site in question.sites]}
    return {"kind": "location", "mechanism": compiled, "epsilon": str(question.epsilon), **listed}
