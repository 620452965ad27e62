"""The example notebooks run from top to bottom, one after the other in one kernel, and are kept without outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
QUICK = {"function", "model"}
"""The first ones: the others show what other tests ask, and are marked long."""


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[Any, Any]]:
    """One kernel in the root of the checkout: to start it takes longer than most notebooks."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(ROOT), env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    "path",
    [pytest.param(each, marks=[] if each.stem in QUICK else [pytest.mark.long]) for each in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_and_shows_cards(path: Path, kernel: tuple[Any, Any]) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    manager, client = kernel
    runner = NotebookClient(notebook, timeout=300, km=manager)
    runner.kc = client
    for index, cell in enumerate(notebook.cells):
        runner.execute_cell(cell, index)
    shown = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    assert any("privproof-card" in html for html in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert [cell.outputs for cell in notebook.cells if cell.cell_type == "code" and cell.outputs] == []
    assert notebook.cells[0].source.startswith("# ")
