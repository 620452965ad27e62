"""Results of a project as SARIF 2.1.0, the form in which code hosts show findings beside the line they are about.

One run of one tool; a result for every mechanism that is not proved, at the line that breaks its claim where that is known; the message
is what the command says, witness and all.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from privproof.projects.project_results import CheckResult

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: tuple[tuple[str, str, str, str], ...] = (
    ("refuted", "error", "The mechanism breaks its claim", "Two neighbouring data sets and an output tell them apart."),
    ("unknown", "warning", "Not known whether the claim holds", "Neither a proof nor a counterexample was found."),
    ("error", "error", "The mechanism could not be checked", "The file, the claim or the configuration is wrong."),
)


def sarif(results: Sequence[CheckResult], version: str) -> str:
    """The document; the version is that of privproof."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": short},
            "fullDescription": {"text": long},
            "defaultConfiguration": {"level": level},
        }
        for name, level, short, long in _RULES
    ]
    driver = {"name": "privproof", "version": version, "semanticVersion": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_finding_data(result) for result in results if result.outcome != "proved"],
        "properties": {"checked": len(results), "proved": sum(result.outcome == "proved" for result in results)},
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, ensure_ascii=False, indent=1) + "\n"


def _finding_data(result: CheckResult) -> dict[str, Any]:
    number = next(i for i, rule in enumerate(_RULES) if rule[0] == result.outcome)
    name = f"{result.target.file}:{result.target.name}"
    return {
        "ruleId": result.outcome,
        "ruleIndex": number,
        "level": _RULES[number][1],
        "message": {"text": result.text or result.sentence},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _address(result.target.file)},
                    "region": {"startLine": max(1, result.line)},
                },
                "logicalLocations": [{"name": result.target.name or result.target.file, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"privproof/v1": hashlib.sha256(f"{result.outcome} {name}".encode()).hexdigest()},
    }


def _address(file: str) -> str:
    """A file as an address relative to the working directory, or absolute where it is elsewhere."""
    relative = os.path.relpath(file)
    return Path(file).absolute().as_uri() if relative.startswith("..") else quote(Path(relative).as_posix())
