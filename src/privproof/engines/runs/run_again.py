"""Running a function again that a certificate is about: are its runs still those?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from privproof.compiling.runs import ran
from privproof.engines.runs.runs_certificates import runs_document, whole_tree

if TYPE_CHECKING:
    from privproof.language.mechanism import Mechanism


def other_runs(asked: Mapping[str, Any], mechanism: Mechanism) -> list[str]:
    """In what the runs of a function differ from those of a certificate's question; empty if in nothing.

    Raises:
        PrivproofError: the function cannot be run now.
    """
    now = runs_document(ran(mechanism, asked["sizes"] or [None], sampled=bool(asked.get("sampled"))))
    found = [
        f"{what}: {_member_text(asked.get(member))} -> {_member_text(now.get(member))}"
        for what, member in (("inputs", "inputs"), ("neighbours", "relation"), ("neighbours", "pairs"))
        if asked.get(member) != now.get(member)
    ]
    if found:
        return found
    for number, data in enumerate(asked["data"]):
        then, anew = (each["trees"][each["runs"][number]] for each in (asked, now))
        if then != anew and whole_tree(then) != whole_tree(anew):
            return [f"the runs on {_data(data)} are not the same any more"]
    return []


def _member_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each.get('text', each)}" for name, each in value.items())
    return str(value)


def _data(data: Mapping[str, Any]) -> str:
    def plain(value: Any) -> str:
        [(kind, inner)] = value.items()
        if kind in ("tuple", "list"):
            return f"[{', '.join(map(plain, inner))}]"
        return repr(inner) if kind == "text" else str(inner)

    return ", ".join(f"{name}={plain(value)}" for name, value in data.items())
