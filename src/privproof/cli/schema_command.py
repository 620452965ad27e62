"""The command ``schema``: the JSON Schemas that are shipped."""

from __future__ import annotations

from enum import Enum
from importlib.resources import files
from typing import Annotated

import typer

from privproof.cli.command_answers import end, say
from privproof.cli.command_worker import command
from privproof.formats.model_file_schema import model_schema_text
from privproof.reporting.verdict_schema import verdict_schema_text


class Described(Enum):
    """What a schema describes."""

    VERDICT = "verdict"
    MODEL = "model"
    CERTIFICATE = "certificate"


def _certificate_schema_text() -> str:
    return files("privproof_checker").joinpath("certificate.schema.json").read_text(encoding="utf-8")


_TEXTS = {
    Described.VERDICT: verdict_schema_text,
    Described.MODEL: model_schema_text,
    Described.CERTIFICATE: _certificate_schema_text,
}


@command("schema")
def schema(
    what: Annotated[
        Described, typer.Argument(help="What --json prints about verdicts, model files, or certificates.")
    ] = Described.VERDICT,
) -> None:
    """The JSON Schema (draft 2020-12) of what --json prints about verdicts, of model files, or of certificates."""
    say(_TEXTS[what](), end="")
    end(0)
