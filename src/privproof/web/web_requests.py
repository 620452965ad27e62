"""From what the page sends to a command: its arguments, and the files that it reads.

The page never sends arguments.  It names one of a few commands, and values for options that the command has; each becomes one argument
``--name=value``, so that no value is taken for an option.  Files have names of our own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_LONGEST = 2_000
"""Characters of an option: more than any list of states that is typed."""
_MOST = 50
"""Values of an option that may be repeated."""

_SUBJECT = ("size", "set", "input", "neighbours", "horizon")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "check": ("epsilon", "delta", "rho", "mu", *_SUBJECT),
    "epsilon": ("delta", *_SUBJECT),
    "delta": ("epsilon", "compose", *_SUBJECT),
    "profile": ("up-to", "points", "compose", *_SUBJECT),
    "rho": ("size", "set", "input", "neighbours"),
    "mu": ("size", "set", "input", "neighbours"),
    "audit": ("epsilon", "delta", "size", "set", "neighbours", "samples", "seed"),
    "explain": ("epsilon", "size", "set"),
}
"""The commands that ask about a file, with the options that the page may give."""
_RELEASE = (
    *("column", "query", "epsilon", "start", "smoothing", "series", "time", "gap", "gaps", "bins", "states"),
    *("delimiter", "missing", "method", "noise"),
)
_REPEATED = ("set", "input", "missing")
_UNREPORTED = ("explain",)
"""Commands that have texts for readers only."""
REPORT, CERTIFICATE = "report.json", "certificate.json"
FORMS = {"python": "mechanism.py", "model": "model.yaml"}
"""What the editor may hold, and the file that it becomes."""


class WrongRequest(ValueError):
    """Something that the page does not send."""


@dataclass(frozen=True)
class AskedCommand:
    """A command to be run.

    Attributes:
        command: its name.
        arguments: all its arguments.
        files: the files that it reads, by name.
        shown: the command as one would type it.
        subject: what is asked about, in a word.
    """

    command: str
    arguments: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    shown: str = ""
    subject: str = ""


def command_of_request(document: object, seconds: float) -> AskedCommand:
    """The command that a request of the page stands for.

    Raises:
        WrongRequest: it stands for none.

    >>> request = {"command": "check", "form": "python", "text": "...", "name": "noisy", "options": {"epsilon": "-1"}}
    >>> command_of_request(request, 60).arguments
    ('check', 'mechanism.py:noisy', '--epsilon=-1', '--json', '--time-limit=60', '--report=report.json', '--certificate=certificate.json')
    """
    if not isinstance(document, dict):
        raise WrongRequest("a request is an object")
    command = _text(document, "command")
    if command == "recheck":
        return _recheck(document, seconds)
    if command == "release":
        return _release(document, seconds)
    if command not in COMMANDS:
        raise WrongRequest(f"there is no command {command[:40]!r} here")
    file = _file(document)
    name = _text(document, "name", "")
    if name and (len(name) > _LONGEST or (file.endswith(".py") and not _NAME.fullmatch(name))):
        raise WrongRequest(f"{name[:80]!r} is no name")
    target = f"{file}:{name}" if name else file
    options = _options(document, COMMANDS[command])
    size = next((each for each in options if each.startswith("--size=")), "")
    outs: list[str] = []
    if command not in _UNREPORTED:
        outs = ["--json", f"--time-limit={seconds:g}"]
        if ".." not in size:  # reports and certificates are about one size
            outs.append(f"--report={REPORT}")
            outs += [] if command == "profile" else [f"--certificate={CERTIFICATE}"]
    else:
        outs = [f"--time-limit={seconds:g}"]
    shown = shlex.join(["privproof", command, target, *options])
    text = {file: _text(document, "text")}
    return AskedCommand(command, (command, target, *options, *outs), text, shown, name or file)


def outline_command_of(document: object, seconds: float) -> AskedCommand:
    """The command that looks at what the editor holds.

    Raises:
        WrongRequest: the request is none.
    """
    if not isinstance(document, dict):
        raise WrongRequest("a request is an object")
    file = _file(document)
    return AskedCommand(
        "outline", ("outline", file, "--json", f"--time-limit={seconds:g}"), {file: _text(document, "text")}
    )


def _recheck(document: dict[str, Any], seconds: float) -> AskedCommand:
    files = {CERTIFICATE: _text(document, "certificate")}
    source = []
    name = _text(document, "name", "")
    if name:
        if not _NAME.fullmatch(name):
            raise WrongRequest(f"{name[:80]!r} is no name")
        files[FORMS["python"]] = _text(document, "text")
        source = [f"--source={FORMS['python']}:{name}"]
    shown = shlex.join(["privproof", "recheck", CERTIFICATE, *source])
    arguments = ("recheck", CERTIFICATE, *source, "--json", f"--time-limit={seconds:g}")
    return AskedCommand("recheck", arguments, files, shown, _text(document, "subject", CERTIFICATE)[:200])


def _release(document: dict[str, Any], seconds: float) -> AskedCommand:
    files = {"data.csv": _text(document, "data")}
    options = _options(document, _RELEASE)
    prior = _text(document, "prior", "")
    public = _text(document, "public", "")
    if prior:
        files["prior.yaml"] = prior
        options.append("--prior=prior.yaml")
    if public:
        files["public.csv"] = public
        options.append("--fit=public.csv")
    if document.get("fit_private") is True:
        options.append("--fit-private")
    shown = shlex.join(["privproof", "release", "data.csv", *options])
    outs = ("--json", f"--time-limit={seconds:g}", f"--report={REPORT}", f"--certificate={CERTIFICATE}")
    subject = _text(document, "subject", "data.csv")[:200]
    return AskedCommand("release", ("release", "data.csv", *options, *outs), files, shown, subject)


def _file(document: dict[str, Any]) -> str:
    form = _text(document, "form")
    if form not in FORMS:
        raise WrongRequest(f"the editor holds one of {', '.join(FORMS)}")
    return FORMS[form]


def _text(document: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    found = document.get(name, otherwise)
    if not isinstance(found, str):
        raise WrongRequest(f"{name} is a text")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise WrongRequest(f"{name} holds half a character") from None
    return found


def _options(document: dict[str, Any], known: tuple[str, ...]) -> list[str]:
    """Every option as one argument; empty ones are not given."""
    given = document.get("options", {})
    if not isinstance(given, dict) or not given.keys() <= set(known):
        raise WrongRequest(f"the options are {', '.join(known)}")
    result = []
    for name in known:
        values = given.get(name, "")
        listed = values if name in _REPEATED and isinstance(values, list) else [values]
        if len(listed) > _MOST:
            raise WrongRequest(f"{name} is given {len(listed)} times")
        for value in listed:
            if not isinstance(value, str) or len(value) > _LONGEST or not value.replace("\t", "").isprintable():
                raise WrongRequest(f"{name} is a line of text")
            if value.strip():
                result.append(f"--{name}={value.strip()}")
    return result
