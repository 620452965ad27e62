"""The JSON Schema of certificates: its part about facts follows from the checker's table of rules.

``python -m tests.regression.certificate_schema`` writes ``certificate.schema.json`` anew; a test sees that it is not out of date.  What a
question of each kind has is told in the file itself and stays.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import privproof_checker
from privproof_checker.certificate_facts import FORMAT
from privproof_checker.rules import RULES, WORDS

FILE = Path(privproof_checker.__file__).with_name("certificate.schema.json")
TYPES: dict[str, Any] = {
    "list": {"type": "array"},
    "object": {"type": "object"},
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": ["integer", "string"]},
    "epsilon": {"type": ["integer", "string"]},
    "any": {},
}
_CLAIM = {
    "oneOf": [
        {"enum": ["proved", "refuted", "compared", "grows", "source"]},
        *(
            {"type": "object", "required": [name], "additionalProperties": False, "properties": {name: of}}
            for name, of in {
                "proved": {"type": "object"},
                "refuted": {"type": "object"},
                "contradiction": {"type": "integer", "minimum": 0},
                "part": {"type": "integer", "minimum": 0},
                "at least": {"type": ["integer", "string"]},
            }.items()
        ),
    ]
}
_OTHERS: dict[str, Any] = {
    "linear": {name: {"type": "array"} for name in ("atoms", "lemmas", "steps")},
    "source": {},
    "verdict": {},
    "epsilon": {},
    "growth": {"family": {"type": "object"}},
}
"""The hints of rules that belong to every kind of question."""


def schema(old: dict[str, Any]) -> dict[str, Any]:
    """The schema, with what the old one says of questions."""
    kinds = [
        {"if": each["if"], "then": {"properties": {"question": each["then"]["properties"]["question"]}}}
        for each in old["allOf"]
        if "facts" not in each["if"]["properties"] and "evidence" not in each["if"]["properties"]
    ]
    return {
        **{name: old[name] for name in ("$schema", "title")},
        "$id": "urn:privproof:certificate:2",
        "description": "A question and a list of facts, the last of which is the verdict; docs/reference/certificates.md says what each "
        "must hold. A document that fits may still be rejected.",
        "type": "object",
        "required": ["format", "question", "facts"],
        "additionalProperties": False,
        "properties": {
            "format": {"const": FORMAT},
            "question": old["properties"]["question"],
            "facts": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/fact"}},
        },
        "allOf": kinds,
        "$defs": {
            "fact": {
                "type": "object",
                "required": ["rule", "claim"],
                "additionalProperties": False,
                "properties": {
                    "rule": {"enum": sorted({name for _, name in RULES} | set(_OTHERS))},
                    "claim": _CLAIM,
                    "uses": {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True},
                    "hint": {"type": "object"},
                },
                "allOf": [
                    {
                        "if": {"properties": {"rule": {"const": name}}},
                        "then": {"properties": {"hint": {"anyOf": hints} if len(hints) > 1 else hints[0]}},
                    }
                    for name, hints in sorted(_hints().items())
                ],
            }
        },
    }


def _hints() -> dict[str, list[dict[str, Any]]]:
    """The hints that a rule of a name has, over all kinds of questions."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (_, name), rule in RULES.items():
        fields = rule.hint.fields
        made = {
            "type": "object",
            "additionalProperties": False,
            "properties": {f: TYPES[fields[f].type] for f in fields},
        }
        required = [field for field in fields if not fields[field].optional]
        made |= {"required": required} if required else {}
        if made not in found[name]:
            found[name].append(made)
    for name, fields in _OTHERS.items():
        found[name].append({"type": "object", "additionalProperties": False, "properties": fields})
    return found


def kinds_of_questions() -> set[str]:
    """The kinds that the table of rules knows."""
    return {each for kind, _ in RULES for each in (WORDS if kind == "words" else (kind,))}


if __name__ == "__main__":
    FILE.write_text(json.dumps(schema(json.loads(FILE.read_text(encoding="utf-8"))), indent=1) + "\n", encoding="utf-8")
