"""The JSON Schema (draft 2020-12) of what is printed with ``--json`` about verdicts, for tools that read it.

It says which fields there always are and what they hold; kinds of questions add fields of their own, which the reference lists.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def verdict_schema_text() -> str:
    """The schema as it is published."""
    return files("privproof.reporting").joinpath("verdict.schema.json").read_text(encoding="utf-8")


def verdict_schema() -> dict[str, Any]:
    """The schema as data.

    >>> verdict_schema()["$defs"]["status"]["enum"]
    ['proved', 'refuted', 'unknown']
    """
    result: dict[str, Any] = json.loads(verdict_schema_text())
    return result
