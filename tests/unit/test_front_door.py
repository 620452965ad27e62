"""A light front door: the package and every command load only what they use."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib import import_module

import pytest
from tests.commands import MODELS, environment

import privproof
from privproof.cli.application import COMMANDS, application
from privproof.cli.command_worker import LOADED


def loaded_by(code):
    """The modules that a fresh interpreter has loaded after some code."""
    told = "import json, sys\n" + code + "\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", told], env=environment(), capture_output=True, encoding="utf-8", check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def below(modules, part):
    return {name for name in modules if name == part or name.startswith(f"{part}.")}


def test_the_package_alone_loads_next_to_nothing():
    found = loaded_by("import privproof")
    assert not found & {"numpy", "scipy", "flint", "z3", "cvc5", "typer", "rich", "yaml"}
    assert len(below(found, "privproof")) < 8


def test_a_small_finite_mechanism_needs_no_solver():
    code = f"import privproof\nassert privproof.check({str(MODELS / 'geometric.yaml')!r}).status == 'proved'"
    found = loaded_by(code)
    assert not found & {"scipy", "z3", "cvc5", "rich", "typer"}
    assert not below(found, "privproof.engines.laplace")
    assert not below(found, "privproof.release") - {"privproof.release", "privproof.release.capability"}


def test_the_checker_loads_no_engine(tmp_path):
    path = tmp_path / "certificate.json"
    verdict = privproof.check(str(MODELS / "geometric.yaml"))
    path.write_text(json.dumps(verdict.certificate), encoding="utf-8")
    code = f"""
import privproof.cli.recheck_command
from privproof_checker import Accepted, recheck_file
assert isinstance(recheck_file({str(path)!r}), Accepted)"""
    found = loaded_by(code)
    assert not found & {"numpy", "scipy", "z3", "cvc5"}
    for part in ("engines", "compiling", "language", "scenarios", "models", "formats.model_files", "reporting"):
        assert not below(found, f"privproof.{part}") - {"privproof.engines", "privproof.engines.capability"}, part


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_no_command(option):
    code = f"""
import sys
sys.argv = ["privproof", {option!r}]
from privproof.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    found = loaded_by(code)
    assert not found & {"numpy", "flint", "rich.console"}
    assert not {f"privproof.{module}" for module in (each.module for each in COMMANDS.values())} & found


def test_the_list_of_commands_says_what_the_commands_say():
    for name, each in COMMANDS.items():
        module, summary = each.module, each.summary
        import_module(f"privproof.{module}")
        told = inspect.getdoc(LOADED[name])
        assert " ".join(told.partition("\n\n")[0].split()) == summary
    assert set(LOADED) == set(COMMANDS)


def test_the_application_knows_all_its_commands():
    listed = [info.name for info in application(None).registered_commands]
    assert listed == list(COMMANDS)


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        privproof.nonsense  # noqa: B018
    assert "check" in dir(privproof)
