"""Examples that ask formulas: written as files of their processes, and run."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from privproof.cli.command_answers import console, end, say_json
from privproof.cli.command_requests import STATUS
from privproof.cli.command_worker import command_monitor
from privproof.logic.formats.process_files import process_text
from privproof.logic.formula_engine import model_check
from privproof.logic.formula_texts import print_satisfaction, satisfaction_data
from privproof.logic.library.formula_examples import FormulaExample


def example_form(_: FormulaExample) -> tuple[None, None]:
    """A formula and its process have no file of their own."""
    return None, None


def example_text(example: FormulaExample, out: Path) -> str:
    """The process of an example in the form of a file."""
    return process_text(example.process(), out)


def run_example(example: FormulaExample, *, as_json: bool) -> NoReturn:
    """Ask the formula of an example; the answer is where it holds."""
    with command_monitor() as monitor:
        found = model_check(example.process(), example.formula, states=example.states, monitor=monitor)
    if as_json:
        say_json(satisfaction_data(found, certificate=None))
    else:
        print_satisfaction(console(), found, every=False)
    end(STATUS[found.status])
