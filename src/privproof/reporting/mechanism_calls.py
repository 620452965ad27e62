"""How a mechanism is called again in Python: what to import, and with which parameters."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from privproof.formats.python_files import LOADED_AS

if TYPE_CHECKING:
    from privproof.language import Mechanism


def import_line(mechanism: Mechanism) -> str:
    """The line that imports a mechanism; of a file that was loaded by its path, by the name of the file."""
    module = mechanism.function.__module__
    if module == "__main__" or module not in sys.modules or module.startswith(LOADED_AS):
        module = Path(mechanism.file).stem
    return f"from {module} import {mechanism.function.__name__}"


def call_text(mechanism: Mechanism) -> str:
    """The mechanism as it is written in a call, with the parameters that are not its defaults."""
    defaults = {p.name: p.default for p in inspect.signature(mechanism.function).parameters.values()}
    having = {n: v for n, v in mechanism.parameters.items() if v != defaults.get(n)}
    changed = f".having({', '.join(f'{n}={v!r}' for n, v in having.items())})" if having else ""
    return mechanism.function.__name__ + changed
