"""What the command verifies is the file's own text, whatever lies beside it."""

from __future__ import annotations

import importlib.util
import json
import py_compile
from pathlib import Path

import pytest

LOUD = """\
from privproof import mechanism, one_of, randomized_response


@mechanism(epsilon="ln(3)")
def m(bit: one_of(0, 1)):
    return bit
"""
QUIET = LOUD.replace("return bit", "return randomized_response(bit, truth='3/4')")
USER = """\
from helping import helper

from privproof import mechanism, one_of


@mechanism(epsilon="ln(3)")
def m(bit: one_of(0, 1)):
    return helper(bit)
"""
HELPER = "from privproof import randomized_response\n\n\ndef helper(bit):\n    return bit\n"
QUIET_HELPER = HELPER.replace("return bit", "return randomized_response(bit, truth='3/4')")


def plant(file: Path, old: str, new: str, mode: py_compile.PycInvalidationMode) -> None:
    """Beside a file with the new text leave a ``.pyc`` of the old one that the import system takes for its own."""
    compiled = Path(importlib.util.cache_from_source(str(file)))
    file.write_text(old)
    py_compile.compile(str(file), str(compiled), doraise=True, invalidation_mode=mode)
    file.write_text(new)
    data = bytearray(compiled.read_bytes())
    if mode is py_compile.PycInvalidationMode.TIMESTAMP:
        seen = file.stat()
        data[8:16] = int(seen.st_mtime).to_bytes(4, "little") + seen.st_size.to_bytes(4, "little")
    elif mode is py_compile.PycInvalidationMode.CHECKED_HASH:
        data[8:16] = importlib.util.source_hash(file.read_bytes())
    compiled.write_bytes(data)


@pytest.mark.diagonal
@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
@pytest.mark.parametrize(("old", "new", "expected"), [(LOUD, QUIET, 0), (QUIET, LOUD, 1)])
def test_a_pyc_beside_the_file_is_not_read(command, tmp_path, mode, old, new, expected):
    file = tmp_path / "m.py"
    plant(file, old, new, mode)
    result = command("check", "m.py")
    assert result.returncode == expected, result.stderr


@pytest.mark.diagonal
@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
@pytest.mark.parametrize(("old", "new"), [(HELPER, QUIET_HELPER), (QUIET_HELPER, HELPER)])
def test_a_pyc_of_a_helper_that_is_not_its_text_is_refused(command, tmp_path, mode, old, new):
    (tmp_path / "m.py").write_text(USER)
    plant(tmp_path / "helping.py", old, new, mode)
    result = command("check", "m.py")
    assert result.returncode == 2
    assert "what helper would run is not what its file says" in result.stderr
    assert "remove old .pyc files" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_leaves_no_pyc_of_the_file(command, tmp_path):
    (tmp_path / "m.py").write_text(QUIET)
    assert command("check", "m.py").returncode == 0
    assert not list(tmp_path.rglob("m.*.pyc"))


def test_a_file_that_changes_itself_while_it_is_loaded_is_refused(command, tmp_path):
    new = QUIET.replace("3/4", "2/4")
    (tmp_path / "m.py").write_text(f"{QUIET}\n\nwith open(__file__, 'w') as file:\n    file.write({new!r})\n")
    result = command("check", "m.py")
    assert result.returncode == 2
    assert "is not what its file says" in result.stderr


@pytest.mark.parametrize(
    "after",
    [
        "m.function.__code__ = (lambda bit: bit).__code__\n",
        "import builtins\nbuiltins.randomized_response = None\nrandomized_response = lambda bit, truth: bit\n",
        "class Loud:\n    function = m.function\n    parameters = {}\n    def __call__(self, bit):\n        return bit\n"
        "loud = Loud()\n\n\n@mechanism(epsilon='ln(3)')\ndef n(bit: one_of(0, 1)):\n    return loud(bit)\n\n\nm = n\n",
    ],
)
def test_what_a_file_does_to_its_functions_is_seen(command, tmp_path, after):
    (tmp_path / "m.py").write_text(f"{QUIET}\n\n{after}")
    result = command("check", "m.py:m")
    assert result.returncode == 1, result.stdout  # what runs gives the bit away, whatever the text says
    assert "on all its random choices" in result.stdout
    assert "Traceback" not in result.stderr


def test_the_report_lists_the_constants_that_a_verdict_relies_on(command, tmp_path):
    text = QUIET.replace("'3/4'", "TRUTH").replace("\n\n\n", '\n\nTRUTH = "3/4"\n\n\n', 1)
    (tmp_path / "m.py").write_text(text)
    assert "relies on TRUTH = '3/4'" in command("check", "m.py").stdout
    result = json.loads(command("check", "m.py", "--json").stdout)
    assert "relies on TRUTH = '3/4'" in result["notes"]
