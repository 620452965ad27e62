"""The JSON Schema of model files (draft 2020-12), for editors and for tools in other languages.

The schema describes the shape of a file.  That rows sum to one, that names exist and that a scenario compares
something is checked when the file is read: a file may fit the schema and still be refused.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def model_schema_text() -> str:
    """The schema as it is published."""
    return files("privproof.formats").joinpath("model.schema.json").read_text(encoding="utf-8")


def model_schema() -> dict[str, Any]:
    """The schema as data.

    >>> model_schema()["properties"]["kind"]["enum"]
    ['hmm', 'markov-chain', 'transducer', 'mdp', 'stream-automaton']
    """
    result: dict[str, Any] = json.loads(model_schema_text())
    return result
