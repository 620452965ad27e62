"""The exit status is what others believe: it is a verdict's only if the verdict was given, written and delivered.

Everything here goes through the real command in a process of its own: files that end the program, limits, interrupts, outputs that
cannot be written, and files that must appear whole or not at all.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import pytest
from tests.commands import MODELS, ROOT, entered, environment, loaded

from privproof.cli import worker_supervision as supervising

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and /dev/full")

GOOD = """\
from privproof import integer, mechanism, truncated_geometric


@mechanism(epsilon="ln(2)")
def noisy(x: integer(0, 2)):
    return truncated_geometric(x, alpha="1/2", low=0, high=2)
"""
PRIOR = """\
kind: prior
transitions:
  rest: {rest: 9/10, walk: 1/10}
  walk: {rest: 2/5, walk: 3/5}
start: stationary
"""
SLACK = 25.0
"""Seconds that start-up and a busy machine may add."""


class Ended:
    """A command that has ended."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds
        assert "Traceback" not in out + err, out + err


class Started:
    """A command in a process and a session of its own: a copy of this one, which saves the time of the imports.

    Args:
        folder: where it runs.
        given: its arguments.
        out: what standard output is: a file, or ``full``, ``closed``, or ``broken`` for a pipe that nobody reads.
        err: the same for standard error.
        encoding: of both.
        variables: of the environment.
        limit: called before it begins.
    """

    def __init__(self, folder, given, *, out="", err="", encoding="utf-8", variables=None, limit=None):
        loaded()
        self.files = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = time.monotonic()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            status = 70
            try:
                os.setsid()
                os.chdir(folder)
                os.environ.update(variables or {})
                faulthandler.disable()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                sys.stdout = descriptor(1, out, self.files[0], encoding)
                sys.stderr = descriptor(2, err, self.files[1], encoding)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may be deaf to it: nohup
                if limit is not None:
                    limit()
                entered(given)
            except SystemExit as end:
                status = end.code
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)

    def signal(self, number, *, everyone):
        (os.killpg if everyone else os.kill)(self.pid, number)

    def wait(self, seconds=60):
        """Its end; a command that does not end is a failure."""
        until = time.monotonic() + seconds
        while True:
            number, status = os.waitpid(self.pid, os.WNOHANG)
            if number:
                break
            if time.monotonic() > until:
                os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                for file in self.files:
                    file.close()
                pytest.fail("the command does not end")
            time.sleep(0.01)
        taken = time.monotonic() - self.begun
        texts = []
        for file in self.files:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Ended(os.waitstatus_to_exitcode(status), *texts, taken)


def descriptor(number, kind, file, encoding):
    """A standard stream of some kind."""
    if kind == "closed":
        os.close(number)
        return None
    if kind == "broken":
        reading, writing = os.pipe()
        os.close(reading)
    else:
        writing = os.open("/dev/full", os.O_WRONLY) if kind == "full" else file.fileno()
    os.dup2(writing, number)
    return open(number, "w", encoding=encoding, closefd=False)


@pytest.fixture
def command(command):
    command.supervised = True
    return command


@pytest.fixture
def run(command):
    """Runs a command to its end."""
    command.write("good.py", GOOD)

    def go(*given, **how):
        return Started(command.folder, given, **how).wait()

    go.folder, go.write = command.folder, command.write
    go.start = lambda *given, **how: Started(command.folder, given, **how)
    return go


@pytest.fixture
def fresh(run):
    """Runs a command in a fresh interpreter, by a shell that may redirect its streams."""

    def go(*given, shell="", variables=None, before=""):
        program = [sys.executable, *(["-c", before] if before else ["-m", "privproof"])]
        done = subprocess.run(
            ["/bin/bash", "-c", f'"$@" {shell}', "bash", *program, *map(str, given)],
            cwd=run.folder,
            env={**environment(), **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr, 0.0)

    go.folder, go.write = run.folder, run.write
    return go


def left_over(folder):
    """Parts of files that were not removed."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


# ----------------------------------------------------------------------------------------- a file that ends the program

ENDINGS = {
    "os._exit": ("import os\nos._exit({status})\n", "ended the program with status {status}"),
    "SystemExit": ("raise SystemExit({status})\n", "SystemExit: {status}"),
    "sys.exit in a thread of the library": ("import sys\nsys.exit({status})\n", "SystemExit: {status}"),
}


@pytest.mark.diagonal
@pytest.mark.parametrize("status", [0, 1, 3])
@pytest.mark.parametrize("name", ENDINGS)
def test_a_file_that_ends_the_program_while_it_is_loaded(command, name, status):
    text, said = ENDINGS[name]
    command.write("ends.py", text.format(status=status))
    for options in (["--epsilon", 1], ["--epsilon", 1, "--json"]):
        result = command("check", "ends.py:anything", *options)
        assert result.returncode == 2
        assert said.format(status=status) in result.stderr
        if "--json" in options:
            told = json.loads(result.stdout)
            assert told["verdict"] is None
            assert said.format(status=status) in told["error"]["message"]
        else:
            assert result.stdout == ""
        assert result.stderr.startswith("privproof: ")


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "BaseException('mine')", "Own('mine')"])
def test_exceptions_that_are_no_errors(command, error):
    command.write("raises.py", f"class Own(BaseException): ...\n\n\nraise {error}\n")
    result = command("check", "raises.py", "--epsilon", 1)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"privproof: raises.py:4: {error.split('(')[0]}")


CALLED = {
    "in a function that makes a question": "def made():\n    {ends}\n",
    "in a relation of one's own": """\
from privproof import integer, mechanism, truncated_geometric


def related(left, right):
    {ends}


@mechanism(epsilon="ln(2)", neighbours=related)
def made(x: integer(0, 2)):
    return truncated_geometric(x, alpha="1/2", low=0, high=2)
""",
}


@pytest.mark.diagonal
@pytest.mark.parametrize("ends", ["__import__('os')._exit(0)", "raise SystemExit(0)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("name", CALLED)
def test_code_that_runs_later_and_ends_the_program(command, name, ends):
    command.write("later.py", CALLED[name].format(ends=ends))
    result = command("check", "later.py:made", "--epsilon", 1)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("privproof: ")


@pytest.mark.parametrize("ends", ["__import__('os')._exit(0)", "raise SystemExit(0)", "raise KeyboardInterrupt"])
def test_a_function_under_audit_that_ends_the_program(command, ends):
    command.write("audited.py", f"def made(x):\n    {ends}\n")
    given = ["--left", "0", "--right", "1", "--epsilon", "1", "--samples", "1000"]
    result = command("audit", "audited.py:made", *given)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("privproof: ")


def test_typer_cannot_be_used_to_end_a_command(command):
    """An exception that the command line itself knows does not count when it comes out of the user's code."""
    command.write("audited.py", "import typer\n\n\ndef made(x):\n    raise typer.Exit(0)\n")
    given = ["--left", "0", "--right", "1", "--epsilon", "1", "--samples", "1000"]
    result = command("audit", "audited.py:made", *given)
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize("status", [0, 1, 2])
def test_what_happens_after_the_answer_does_not_change_it(command, status):
    command.write("late.py", f"import atexit, os\n\natexit.register(os._exit, {status})\n" + GOOD)
    code, said = command.json("check", "late.py")
    assert (code, said["verdict"]) == (0, "proved")
    assert command("check", "late.py", "--epsilon", "1/2").returncode == 1


def test_a_file_that_never_ends_after_the_answer(run):
    run.write("late.py", "import atexit, time\n\natexit.register(time.sleep, 60)\n" + GOOD)
    result = run("check", "late.py")
    assert result.status == 0
    assert result.seconds < 5 + SLACK


@pytest.mark.parametrize("number", ["SIGSEGV", "SIGKILL", "SIGABRT", "SIGTERM"])
def test_a_crash_is_no_verdict(run, number):
    run.write("crash.py", f"import os, signal\n\nos.kill(os.getpid(), signal.{number})\n")
    result = run("check", "crash.py", "--epsilon", 1)
    assert (result.status, result.out) == (2, "")
    assert number in result.err
    assert "[ended]" in result.err


def test_a_copy_of_the_worker_cannot_answer(run):
    """A file that forks: only the worker itself gives an answer, and only once."""
    run.write(
        "forks.py", "import os\n\nCHILD = os.fork() == 0\n" + GOOD.replace('"ln(2)"', '"1/2" if CHILD else "ln(2)"')
    )
    result = run("check", "forks.py", "--json")
    assert result.status == 0
    assert json.loads(result.out)["verdict"] == "proved"
    run.write("gone.py", "import os, time\n\nif os.fork():\n    os._exit(0)\ntime.sleep(1)\n" + GOOD)
    result = run("check", "gone.py", "--json")
    assert result.status == 2
    assert json.loads(result.out)["error"]["code"] == "ended"


def test_what_a_file_prints_is_not_the_answer(run):
    loud = "import os, sys\n\nprint('{}')\nos.system('echo child')\nos.write(1, b'raw\\n')\nsys.__stdout__.write('deep\\n')\n"
    run.write("loud.py", loud + GOOD)
    result = run("check", "loud.py", "--json")
    assert result.status == 0
    assert json.loads(result.out)["verdict"] == "proved"
    for said in ("{}", "child", "raw", "deep"):
        assert f"{said}\n" in result.err


@pytest.mark.parametrize(
    "closing", ["os.closerange(3, 512)", "[os.write(n, b'x' * 99) for n in range(3, 99) if is_pipe(n)]"]
)
def test_a_file_that_reaches_for_the_pipe(fresh, closing):
    """Whatever a file does to descriptors that are not its own, it ends as no verdict."""
    pipes = "import os, stat\n\n\ndef is_pipe(n):\n    try:\n        return stat.S_ISFIFO(os.fstat(n).st_mode)\n"
    pipes += "    except OSError:\n        return False\n\n\n"
    fresh.write("reaches.py", f"{pipes}{closing}\n{GOOD}")
    result = fresh("check", "reaches.py", "--time-limit", 5)
    assert result.status in (2, 3)
    assert "proved" not in result.out


def test_a_limit_that_is_no_number(run):
    result = run("check", "good.py", "--time-limit", "nan")
    assert (result.status, result.out) == (2, "")
    assert run("check", "good.py", "--time-limit", "inf").status == 0


def test_a_file_that_prints_without_end(run, monkeypatch):
    monkeypatch.setattr(supervising, "_GRACE", 0.2)
    run.write("flood.py", "while True:\n    print('x' * 1000)\n")
    result = run("check", "flood.py", "--epsilon", 1, "--time-limit", 0.5)
    assert result.status == 3
    assert len(result.err) < 1_100_000
    assert "is left out" in result.err


# --------------------------------------------------------------------------------------------------------------- limits

HARD = {
    "an endless loop while a file is loaded": (
        "endless.py",
        "while True:\n    pass\n",
        ["check", "endless.py", "--epsilon", "1"],
    ),
    "an endless loop in a function that makes a question": (
        "endless.py",
        "def made():\n    while True:\n        pass\n",
        ["epsilon", "endless.py:made"],
    ),
    "an endless loop in a relation of one's own": (
        "endless.py",
        CALLED["in a relation of one's own"].format(ends="while True: pass"),
        ["check", "endless.py:made"],
    ),
    "native code while a file is loaded": (
        "native.py",
        "import sys\n\nsys.set_int_max_str_digits(0)\nx = str(7 ** (5 * 10**7))\n",
        ["check", "native.py", "--epsilon", "1"],
    ),
    "a sum over many outcomes": (
        "",
        "",
        ["epsilon", MODELS / "survey.yaml", "--horizon", "up to 25", "--delta", "1/100"],
    ),
    "events of a budget": (
        "",
        "",
        ["check", MODELS / "survey.yaml", "--horizon", "up to 25", "--epsilon", "1/100", "--delta", "1/100"],
    ),
    "large tensors": (
        "",
        "",
        ["check", f"{ROOT / 'examples' / '04_noisy_max.py'}:improved", "--epsilon", "ln(20)", "--size", "14"],
    ),
    "many sizes together": (
        "",
        "",
        ["epsilon", f"{ROOT / 'examples' / '04_noisy_max.py'}:improved", "--size", "2..14"],
    ),
    "a profile": ("", "", ["profile", f"{ROOT / 'examples' / '04_noisy_max.py'}:improved", "--size", "8"]),
    "a conversion": ("endless.py", "while True:\n    pass\n", ["convert", "endless.py", "out.yaml"]),
    "a formula": ("endless.py", "while True:\n    pass\n", ["logic", "endless.py:it", "P=? [ F a ]"]),
    "an explanation": ("endless.py", "while True:\n    pass\n", ["explain", "endless.py:it"]),
    "an audit": (
        "slow.py",
        "import time\n\n\ndef slow(x):\n    time.sleep(100)\n",
        ["audit", "slow.py:slow", "--left", "0", "--right", "1", "--epsilon", "1"],
    ),
    "a stream of many states": (
        "many.py",
        """\
from privproof import laplace, mechanism, real_stream


@mechanism(epsilon=1)
def many(q: real_stream(), N=400):
    bar, count = laplace(0, scale=4), 0
    for x in q:
        if laplace(x, scale=4) > bar:
            yield True
            count = count + 1
            if count >= N:
                break
        else:
            yield False
""",
        ["check", "many.py"],
    ),
}


IN_WORDS = {
    "a sum over many outcomes",
    "large tensors",
    "many sizes together",
    "a profile",
    "a conversion",
    "an explanation",
}
"""Those that are asked in words; the others are asked for JSON."""


@pytest.mark.parametrize("name", HARD)
def test_a_limit_of_a_second(run, name, monkeypatch):
    """Less than a second, in fact; and less time to stop by itself, where a file never ends."""
    file, text, given = HARD[name]
    if file:
        run.write(file, text)
    if file in ("endless.py", "native.py", "slow.py"):
        monkeypatch.setattr(supervising, "_GRACE", 0.2)
    as_json = name not in IN_WORDS
    result = run(*given, "--time-limit", 0.3, *(["--json"] if as_json else []))
    assert result.status == 3, (result.out, result.err)
    assert result.seconds < 2 + SLACK
    if as_json:
        said = json.loads(result.out)
        assert said["verdict"] == "unknown"
        assert "out of time" in said["reason"]
        assert said.get("certificate") is None
        assert said["tight"] is None or float(said["tight"]["lower"]) >= 0
    else:
        assert "out of time" in result.out + result.err or "not asked" in result.out
    assert not (run.folder / "out.yaml").exists()


def test_what_is_established_survives_a_kill(run, monkeypatch):
    """The search is stopped from outside, in the middle of a step: the last lower bound is still told."""
    monkeypatch.setattr(supervising, "_GRACE", 0.2)
    run.write(
        "stuck.py",
        """\
import privproof.engines.words.frontier_search as frontier
from privproof import Horizon
from privproof.library import above_threshold
from dataclasses import replace

question = replace(above_threshold(high=2), horizon=Horizon.up_to(60))
plain = frontier.Frontier._prune


def stuck(self, level, *given):
    while level > 3:
        pass
    return plain(self, level, *given)


frontier.Frontier._prune = stuck
""",
    )
    result = run("epsilon", "stuck.py:question", "--engine", "frontier", "--json", "--time-limit", 0.8)
    assert result.status == 3
    said = json.loads(result.out)
    assert said["verdict"] == "unknown"
    assert "out of time: stopped" in said["reason"]
    assert float(said["tight"]["lower"]) > 0.1
    assert said["tight"]["upper"] == "inf"
    assert said["seconds"] > 0.5
    text = run("epsilon", "stuck.py:question", "--engine", "frontier", "--time-limit", 0.8)
    assert text.status == 3
    assert "at least ln(" in text.out
    assert "frontier search, length" in text.out


def test_all_sizes_share_one_limit(run):
    noisy = f"{ROOT / 'examples' / '04_noisy_max.py'}:improved"
    result = run("epsilon", noisy, "--size", "2..40", "--time-limit", 1, "--json")
    said = json.loads(result.out)
    assert (result.status, said["verdict"]) == (3, "unknown")
    assert said["unasked"]
    first, _, last = said["unasked"].partition("..")
    asked = [row["size"] for row in said["sizes"]]
    assert asked == list(range(2, int(first)))
    assert (last or first) == "40"


def test_a_release_out_of_time_releases_nothing(run, monkeypatch):
    monkeypatch.setattr(supervising, "_GRACE", 0.2)
    run.write("prior.py", "while True:\n    pass\n")
    run.write("data.csv", "state\n" + "rest\nwalk\n" * 10)
    given = [
        "release",
        "data.csv",
        "--column",
        "state",
        "--query",
        "count:walk",
        "--epsilon",
        "1",
        "--prior",
        "prior.py",
    ]
    result = run(*given, "--record", "record.json", "--time-limit", 0.5)
    assert result.status == 3
    assert "nothing was released" in result.err
    assert not (run.folder / "record.json").exists()


def test_a_certificate_that_takes_for_ever(run, monkeypatch):
    monkeypatch.setattr(supervising, "_GRACE", 0.2)
    run.write(
        "certificate.json", '{"format": "privproof-certificate", "version": 1, "question": ' + "[" * 50 + "]" * 50 + "}"
    )
    assert run("recheck", "certificate.json").status == 2
    os.mkfifo(run.folder / "pipe.json")
    result = run("recheck", "pipe.json", "--time-limit", 0.3)
    assert (result.status, result.out) == (3, "")
    assert "out of time" in result.err
    said = run("recheck", "pipe.json", "--time-limit", 0.3, "--json")
    assert said.status == 3
    assert json.loads(said.out)["accepted"] is False


def test_memory(run):
    run.write("greedy.py", "held = [bytearray(10**8) for _ in range(10**6)]\n")
    result = run("check", "greedy.py", "--epsilon", 1, "--json", variables={"PRIVPROOF_MEMORY": "500M"})
    assert result.status == 3
    assert "out of memory: the limit is 0.488 GiB" in json.loads(result.out)["reason"]
    wrong = run("check", "good.py", variables={"PRIVPROOF_MEMORY": "much"})
    assert wrong.status == 2
    assert "PRIVPROOF_MEMORY" in wrong.err
    assert run("check", "good.py", variables={"PRIVPROOF_MEMORY": "none"}).status == 0


# ------------------------------------------------------------------------------------------------------------ interrupts


def interrupted(run, *given, everyone, times=1):
    """Interrupt a command as soon as its file is being loaded; its end, and how long it took to end."""
    started = run.start(*given)
    wait_for(run.folder / "started")
    time.sleep(0.1)
    begun = time.monotonic()
    for _ in range(times):
        started.signal(signal.SIGINT, everyone=everyone)
        time.sleep(0.1)
    ended = started.wait()
    ended.seconds = time.monotonic() - begun
    return ended


def wait_for(path):
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)


STUCK = {
    "Python": "while True:\n    pass\n",
    "native code": "import sys\n\nsys.set_int_max_str_digits(0)\nx = str(7 ** (5 * 10**7))\n",
    "a sleep": "import time\n\ntime.sleep(100)\n",
    "a file that ignores interrupts": "import signal, time\n\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(100)\n",
}


@pytest.mark.diagonal
@pytest.mark.parametrize("everyone", [True, False], ids=["a terminal's interrupt", "the supervisor alone"])
@pytest.mark.parametrize("name", STUCK)
def test_the_first_interrupt_stops(run, name, everyone, monkeypatch):
    monkeypatch.setattr(supervising, "_INTERRUPT", 0.2)
    run.write("stuck.py", f"open('started', 'w').close()\n{STUCK[name]}")
    result = interrupted(run, "check", "stuck.py", "--epsilon", "1", "--json", everyone=everyone)
    assert result.status == 3
    assert json.loads(result.out)["reason"].startswith("interrupted")
    assert result.seconds < 1 + SLACK


def test_the_second_interrupt_ends(run):
    run.write("stuck.py", "open('started', 'w').close()\nwhile True:\n    pass\n")
    result = interrupted(run, "check", "stuck.py", "--epsilon", "1", everyone=True, times=2)
    assert (result.status, result.out) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_goes_on_after_the_command(run, number):
    """A supervisor that is killed takes its worker with it; one that is asked to end, too."""
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux tells a worker that its supervisor is gone")
    run.write(
        "stuck.py",
        "import os\n\nopen('part', 'w').write(str(os.getpid()))\nos.rename('part', 'started')\nwhile True:\n    pass\n",
    )
    started = run.start("check", "stuck.py", "--epsilon", "1")
    wait_for(run.folder / "started")
    worker = int((run.folder / "started").read_text())
    assert running(worker)
    started.signal(number, everyone=False)
    assert started.wait().status == -number
    until = time.monotonic() + 5
    while running(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not running(worker)


def test_a_command_that_is_to_outlive_its_terminal_does(run):
    run.write("stuck.py", "open('started', 'w').close()\nwhile True:\n    pass\n")
    started = run.start(
        "check", "stuck.py", "--epsilon", "1", limit=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    wait_for(run.folder / "started")
    started.signal(signal.SIGHUP, everyone=True)
    started.signal(signal.SIGTERM, everyone=False)
    assert started.wait().status == -signal.SIGTERM


def running(number):
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ------------------------------------------------------------------------------------------- output that cannot be written

ANSWERS = {
    "proved": ["check", "good.py"],
    "refuted": ["check", "good.py", "--epsilon", "1/2"],
    "unknown": ["check", "good.py", "--word", "0|1 0"],
    "json": ["check", "good.py", "--json"],
    "help": ["--help"],
    "version": ["--version"],
    "examples": ["examples"],
}


@pytest.mark.diagonal
@pytest.mark.parametrize("kind", ["full", "closed", "broken"])
@pytest.mark.parametrize("name", ANSWERS)
def test_output_that_cannot_be_written(run, name, kind):
    result = run(*ANSWERS[name], out=kind)
    assert (result.status, result.out) == (2, "")
    assert "cannot write the answer" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["full", "closed", "broken"])
def test_errors_that_cannot_be_written(run, kind):
    assert run("check", "good.py", out=kind, err=kind).status == 2
    assert run("check", "good.py", "--epsilon", "1/2", out=kind, err=kind).status == 2
    assert run("check", "nowhere.py", err=kind).status == 2
    quiet = run("check", "good.py", "--json", err=kind)
    assert (quiet.status, json.loads(quiet.out)["verdict"]) == (0, "proved")


def test_redirections_of_a_shell(fresh):
    """The same with a fresh interpreter, which meets streams that are closed before it begins."""
    for shell in (">&-", "<&- >&- 2>&-"):
        assert fresh("check", "good.py", shell=shell).status == 2
    first = fresh("check", "good.py", shell='| head -1; exit "${PIPESTATUS[0]}"')
    assert (first.status, first.out) == (0, "✓ proved  noisy is ln(2)-private\n")
    plain = fresh("check", "good.py", variables={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"})
    assert (plain.status, plain.out.splitlines()[0]) == (0, "+ proved  noisy is ln(2)-private")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_terminal_with_few_characters(run, encoding):
    run.write("name.py", GOOD.replace("noisy", "μ_é"))
    for options, status, word in (([], 0, "+ proved"), (["--epsilon", "1/2"], 1, "x refuted")):
        result = run("check", "name.py", *options, encoding=encoding)
        assert result.status == status
        assert result.out.startswith(word)
        said = run("check", "name.py", *options, "--json", encoding=encoding)
        assert said.status == status
        assert json.loads(said.out)["question"]["mechanism"] == "μ_é"
    assert run("check", "no_μ.py", encoding=encoding).status == 2


# ------------------------------------------------------------------------------------------------------- files, whole


def test_a_certificate_on_a_full_disk(run):
    result = run("check", "good.py", "--certificate", "/dev/full")
    assert result.status == 2
    assert "✓ proved" in result.out
    assert "not written" in result.out
    assert "/dev/full: cannot write" in result.err


def small_files():
    """Files of at most one kilobyte: what a full disk does to a file in the middle of it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


@pytest.mark.parametrize("option", ["--certificate", "--report"])
def test_a_file_is_written_whole_or_not_at_all(run, option):
    result = run("check", "good.py", option, "out", limit=small_files)
    assert result.status == 2
    assert "cannot write: File too large" in result.err
    assert not (run.folder / "out").exists()
    run.write("out", "what was there\n")
    assert run("check", "good.py", option, "out", limit=small_files).status == 2
    assert (run.folder / "out").read_text() == "what was there\n"
    assert not left_over(run.folder)


def test_a_conversion_is_written_whole_or_not_at_all(run):
    for out in ("out.yaml", "out.json", "out.svg", "out.smt2"):
        run.write(out, "what was there\n")
        source = MODELS / "above_threshold.yaml"
        result = run("convert", source, out, "--epsilon", "1", "--horizon", "3", limit=small_files)
        assert (result.status, result.out) == (2, "")
        assert (run.folder / out).read_text() == "what was there\n"
    assert not left_over(run.folder)


def test_files_that_are_no_files(run):
    result = run("check", "good.py", "--certificate", "/dev/stdout")
    assert result.status == 0
    assert json.loads(result.out[: result.out.index("✓")])["facts"][-1]["claim"] == "proved"
    result = run("check", "good.py", "--certificate", "/dev/stderr", "--report", "/dev/null")
    assert (result.status, json.loads(result.err)["facts"][-1]["claim"]) == (0, "proved")
    os.mkfifo(run.folder / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=run.folder, stdout=subprocess.PIPE) as reader:
        assert run("check", "good.py", "--certificate", "pipe").status == 0
        assert json.loads(reader.communicate(timeout=20)[0])["facts"][-1]["claim"] == "proved"


def test_links_and_permissions_stay(run):
    real = run.folder / "real.json"
    real.write_text("old")
    real.chmod(0o640)
    (run.folder / "link.json").symlink_to("real.json")
    assert run("check", "good.py", "--certificate", "link.json").status == 0
    assert (run.folder / "link.json").is_symlink()
    assert json.loads(real.read_text())["facts"][-1]["claim"] == "proved"
    assert real.stat().st_mode & 0o777 == 0o640
    assert not left_over(run.folder)


def test_an_unknown_verdict_has_no_certificate(run):
    run.write("kept.json", "what was there\n")
    given = ["epsilon", MODELS / "survey.yaml", "--horizon", "up to 25", "--delta", "1/100", "--time-limit", "0.1"]
    result = run(*given, "--certificate", "kept.json")
    assert result.status == 3
    assert (run.folder / "kept.json").read_text() == "what was there\n"


# ------------------------------------------------------------------------------------------------------------- releases


@pytest.fixture
def release(run):
    run.write("prior.yaml", PRIOR)
    run.write("data.csv", "state\n" + "rest\nwalk\nwalk\n" * 8)
    given = [
        "release",
        "data.csv",
        "--column",
        "state",
        "--query",
        "count:walk",
        "--epsilon",
        "1",
        "--prior",
        "prior.yaml",
    ]

    def go(*more, **how):
        return run(*given, *more, **how)

    go.folder = run.folder
    return go


@pytest.mark.parametrize("kind", ["full", "closed", "broken"])
def test_a_release_that_cannot_be_shown_is_none(release, kind):
    for name in ("record.json", "certificate.json"):
        (release.folder / name).write_text("what was there\n")
    files = ["--record", "record.json", "--certificate", "certificate.json", "--report", "report.html"]
    result = release(*files, out=kind)
    assert result.status == 2
    assert "nothing was released" in result.err
    for name in ("record.json", "certificate.json"):
        assert (release.folder / name).read_text() == "what was there\n"
    assert not (release.folder / "report.html").exists()
    assert not left_over(release.folder)


@pytest.mark.parametrize("failing", ["--record", "--certificate", "--report", "--save-prior"])
def test_a_release_that_cannot_be_recorded_is_none(release, failing):
    options = {"--record": "record.json", "--certificate": "certificate.json", "--report": "report.html"}
    options[failing] = "/dev/full"
    for as_json in ([], ["--json"]):
        result = release(*(part for option in options.items() for part in option), *as_json)
        assert (result.status, result.out) == (2, "")
        assert "/dev/full: cannot write" in result.err
        assert "nothing was released" in result.err
        assert sorted(path.name for path in release.folder.iterdir()) == [
            "data.csv",
            "good.py",
            "model.yaml",
            "prior.yaml",
        ]


def test_half_a_record_is_no_record(release):
    result = release("--record", "record.json", limit=small_files)
    assert (result.status, result.out) == (2, "")
    assert not (release.folder / "record.json").exists()
    assert not left_over(release.folder)


@pytest.mark.parametrize("weight", ["1e400", "-1e400", "1e-400", "1e4000", "1e39,rest=1e-39"])
def test_weights_beyond_reason(release, weight):
    result = release("--query", f"mean:walk={weight}")
    assert (result.status, result.out) == (2, "")
    assert "[query]" in result.err
    assert "hint" in result.err


# ------------------------------------------------------------------------------------------------------ internal errors


def test_an_internal_error_is_one_message(run):
    broken = "import privproof.cli.check_command as asking\n\n\ndef broken(*given, **named):\n    return {}['it']\n\n\n"
    broken += "broken.__code__ = broken.__code__.replace(co_filename=asking.__file__)\nasking.ask = broken\n"
    run.write("broken.py", broken + GOOD)
    result = run("check", "broken.py")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("privproof: internal error, please report it: KeyError: 'it'")
    assert result.err.count("\n") == 2
    with pytest.raises(AssertionError, match="Traceback"):
        run("check", "broken.py", variables={"PRIVPROOF_TRACEBACK": "1"})


def test_without_fork(fresh):
    """Where a process cannot be copied, the worker is a new interpreter; the same holds for it."""
    code = "import os, sys; del os.fork; from privproof.cli import main; main()"
    proved = fresh("check", "good.py", "--json", "--certificate", "c.json", before=code)
    assert (proved.status, json.loads(proved.out)["verdict"], proved.err) == (0, "proved", "")
    assert json.loads((fresh.folder / "c.json").read_text())["facts"][-1]["claim"] == "proved"
    fresh.write("ends.py", "import os\n\nprint('loud', flush=True)\nos._exit(0)\n")
    ended = fresh("check", "ends.py", "--epsilon", 1, before=code)
    assert (ended.status, ended.out) == (2, "")
    assert "loud" in ended.err
