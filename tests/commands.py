"""The command line as users meet it: a process of its own, its output in a pipe.

Where the system can fork, the process is a copy of this one with the package already imported, which saves most of its time; a few
tests start a fresh interpreter on purpose.  The command itself starts a worker and supervises it; `tests/cli/test_command_word.py` is
about that, so elsewhere the copy is the worker, and delivers its answer as the supervisor would.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path

import privproof
from privproof.cli.answers import Answer, deliver, gather, open_standard_streams
from privproof.cli.application import COMMANDS, application, wanted_command
from privproof.cli.working import LOADED, answered
from privproof.language.recognition import recognised

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "examples" / "models"
SOURCE = Path(privproof.__file__).resolve().parents[1]

GEOMETRIC = """\
kind: hmm
title: geometric
states: [zero, one, two]
observations: ["0", "1", "2"]
emissions:
  zero: {"0": 2/3, "1": 1/6, "2": 1/6}
  one:  {"0": 1/3, "1": 1/3, "2": 1/3}
  two:  {"0": 1/6, "1": 1/6, "2": 2/3}
scenario:
  pairs:
    - {name: none ~ one, left: {zero: 1}, right: {one: 1}}
    - {name: one ~ both, left: {one: 1}, right: {two: 1}}
horizon: 1
epsilon: ln(2)
"""


def environment() -> dict[str, str]:
    """The environment of a process that finds the package under test."""
    known = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, known)), "PYTHONWARNINGS": "error"}


@cache
def loaded() -> None:
    """Have in this process whatever a command would import, so that no copy of it does, and keep the copies' memory shared.

    The modules of the package are loaded late, and so is what typer needs to read the values of options: together they take longer
    than most commands.
    """
    import typer.main

    for module in pkgutil.walk_packages(privproof.__path__, "privproof."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    command = next(iter(COMMANDS))
    typer.main.get_command(application(command)).commands[command].make_context(command, ["FILE"])  # type: ignore[attr-defined]
    with recognised(globals()):
        pass  # what draws in the modules that are loaded, and what their texts call, is looked for before every run
    gc.collect()
    gc.freeze()


def entered(arguments: Sequence[object], *, supervised: bool = True) -> None:
    """The entry point of the command, in a copy of this process; as in a fresh one, the other commands are not loaded."""
    from privproof.cli import main

    sys.argv = ["privproof", *map(str, arguments)]
    wanted = next((COMMANDS[word][0] for word in sys.argv[1:] if word in COMMANDS), None)
    for name in [name for name in LOADED if COMMANDS[name][0] != wanted]:
        del LOADED[name]
    command = wanted_command()
    if supervised or command not in COMMANDS:
        main()
    open_standard_streams()
    gather()
    answer = answered(partial(application, command))
    assert isinstance(answer, Answer), f"a limit was met: {answer}"
    raise SystemExit(deliver(answer))


def forked(
    arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None, *, supervised: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the command in a copy of this process: its own folder, its own streams, its own end."""
    return apart(lambda: entered(arguments[3:], supervised=supervised), folder, variables)


def apart(
    run: Callable[[], object], folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run something in a copy of this process: its own folder, its own streams, its own end."""
    loaded()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            status = 70
            try:
                os.chdir(folder)
                os.environ.update(variables or {})
                for stream, number in ((out, 1), (err, 2)):
                    os.dup2(stream.fileno(), number)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
                sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
                signal.signal(signal.SIGINT, signal.default_int_handler)
                run()
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            except BaseException:
                traceback.print_exc()
                status = 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8"))
    return subprocess.CompletedProcess([], os.waitstatus_to_exitcode(ended), *texts)


class Command:
    """Runs ``python -m privproof`` in a folder of its own."""

    def __init__(self, folder: Path, *, supervised: bool = False) -> None:
        self.folder, self.supervised = folder, supervised
        self.model = self.write("model.yaml", GEOMETRIC)

    def write(self, name: str, text: str | bytes) -> str:
        """A file in the folder; its name."""
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return name

    def arguments(self, *given: object) -> list[str]:
        return [sys.executable, "-m", "privproof", *map(str, given)]

    def fresh(self, *given: object) -> subprocess.CompletedProcess[str]:
        """Run it in a fresh interpreter."""
        return subprocess.run(
            self.arguments(*given),
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=240,
            check=False,
        )

    def __call__(self, *given: object) -> subprocess.CompletedProcess[str]:
        if hasattr(os, "fork"):
            result = forked(self.arguments(*given), self.folder, supervised=self.supervised)
        else:
            result = self.fresh(*given)
        assert "Traceback" not in result.stderr + result.stdout
        assert "\x1b" not in result.stderr + result.stdout, "a pipe gets no colours and no progress"
        return result

    def json(self, *given: object) -> tuple[int, dict]:
        """The status and the one object that ``--json`` prints."""
        result = self(*given, "--json")
        assert result.stderr == ""
        assert result.stdout.count("\n") == 1
        return result.returncode, json.loads(result.stdout)
