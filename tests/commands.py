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
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import privproof
from privproof.cli.application import COMMANDS, application, wanted_command
from privproof.cli.command_answers import CommandAnswer, deliver, gather, open_standard_streams
from privproof.cli.command_worker import LOADED, run_command
from privproof.language.recognition import controlled_libraries

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
    with controlled_libraries(globals()):
        pass  # what draws in the modules that are loaded, and what their texts call, is looked for before every run
    gc.collect()
    gc.freeze()


def entered(arguments: Sequence[object], *, supervised: bool = True) -> None:
    """The entry point of the command, in a copy of this process; as in a fresh one, the other commands are not loaded."""
    from privproof.cli import main

    sys.argv = ["privproof", *map(str, arguments)]
    wanted = next((COMMANDS[word].module for word in sys.argv[1:] if word in COMMANDS), None)
    for name in [name for name in LOADED if COMMANDS[name].module != wanted]:
        del LOADED[name]
    command = wanted_command()
    if supervised or command not in COMMANDS:
        main()
    open_standard_streams()
    gather()
    answer = run_command(partial(application, command))
    assert isinstance(answer, CommandAnswer), f"a limit was met: {answer}"
    raise SystemExit(deliver(answer))


def script(path: Path, *arguments: str) -> None:
    """Run a script as Python does."""
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")


def forked(
    arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None, *, supervised: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the command in a copy of this process: its own folder, its own streams, its own end."""
    return apart(entered, folder, variables, arguments[3:], supervised=supervised)


def apart(
    run: Callable[..., object],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *given: object,
    **named: object,
) -> subprocess.CompletedProcess[str]:
    """Run a function of a module in a copy of this process as it was before the first test: its own folder, its own streams, its own end.

    What tests leave behind makes this process large, and a copy of a large process takes longer than most commands: so one copy is made
    early (`ready_for_copies`), and copied for each of them.
    """
    ready_for_copies()
    with tempfile.TemporaryDirectory() as written:
        environment_now = {**os.environ, **(variables or {})}
        with _ONE_AT_A_TIME:
            _, model = _MODEL[0]
            model.send((run, given, named, str(folder), environment_now, written))
            status = model.recv()
        texts = [Path(written, name).read_text(encoding="utf-8") for name in ("out", "err")]
    return subprocess.CompletedProcess([], status, *texts)


_MODEL: list[tuple[int, Connection]] = []
"""The process that is copied for every command, if there is one, and the connection to it."""
_ONE_AT_A_TIME = threading.Lock()


def ready_for_copies() -> None:
    """Have a process that is copied for every command: a copy of this one as it is now."""
    if _MODEL:
        return
    loaded()
    here, there = Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        here.close()
        try:
            _copied_on_demand(there)
        finally:
            os._exit(0)
    there.close()
    _MODEL.append((child, here))


def no_more_copies() -> None:
    """End the process that is copied for every command."""
    while _MODEL:
        child, model = _MODEL.pop()
        model.close()
        os.waitpid(child, 0)


def _copied_on_demand(asked: Connection) -> None:
    """Run what is asked for, each in a copy of this process, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            run, given, named, folder, variables, written = asked.recv()
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            asked.close()
            _alone(lambda: run(*given, **named), folder, variables, written)  # noqa: B023 - it ends here
        _, ended = os.waitpid(child, 0)
        asked.send(os.waitstatus_to_exitcode(ended))


def _alone(run: Callable[[], object], folder: str, variables: Mapping[str, str], written: str) -> NoReturn:
    """Run something, and end the process."""
    status = 70
    try:
        os.environ.clear()
        os.environ.update(variables)
        for name, number in (("out", 1), ("err", 2)):
            os.dup2(os.open(Path(written, name), os.O_WRONLY | os.O_CREAT, 0o600), number)
        os.chdir(folder)
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
