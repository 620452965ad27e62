"""Results of a project as JUnit XML, the form that build servers read: a suite for each file, a case for each mechanism."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from privproof.projects.project_results import CheckResult

_FORBIDDEN = re.compile(r"[^\t\n\r -\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
"""Characters that XML has no way to write."""


def junit(results: Sequence[CheckResult], *, fail_on: str) -> str:
    """The document; an unknown verdict is a failure, or skipped where only refutations count."""
    root = ElementTree.Element("testsuites", _counts(results, fail_on), name="privproof")
    for file in dict.fromkeys(result.target.file for result in results):
        own = [result for result in results if result.target.file == file]
        suite = ElementTree.SubElement(root, "testsuite", _counts(own, fail_on), name=_text(file))
        for result in own:
            _case(suite, result, fail_on)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(suite: ElementTree.Element, result: CheckResult, fail_on: str) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_text(result.target.file),
        name=_text(result.target.name or result.target.file),
        file=_text(result.target.file),
        line=str(result.line),
        time=f"{result.seconds:.3f}",
    )
    kind = _kind(result, fail_on)
    if kind:
        said = ElementTree.SubElement(case, kind, message=_text(result.sentence))
        if kind != "skipped":
            said.set("type", result.outcome)
        said.text = _text(result.text)


def _kind(result: CheckResult, fail_on: str) -> str:
    """The element that says what went wrong; none for what is proved."""
    if result.outcome == "unknown":
        return "skipped" if fail_on == "refuted" else "failure"
    return {"refuted": "failure", "error": "error"}.get(result.outcome, "")


def _counts(results: Sequence[CheckResult], fail_on: str) -> dict[str, str]:
    kinds = [_kind(result, fail_on) for result in results]
    counts = {"tests": len(results), "failures": kinds.count("failure"), "errors": kinds.count("error")}
    counts["skipped"] = kinds.count("skipped")
    return {name: str(count) for name, count in counts.items()} | {"time": f"{sum(r.seconds for r in results):.3f}"}


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
