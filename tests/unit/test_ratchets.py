"""Numbers that may only be lowered, see `tests.ratchets`: code of kinds that are on their way out, and the size of the whole."""

from __future__ import annotations

import pytest
from tests import ratchets

BOUNDS = {
    "lines of src": (195_723, 143_000),
    "functions that rewrite programs": (363, 0),
    "modules that match patterns of the syntax tree": (40, 1),
    "tables of operators": (38, 1),
    "executors": (15, 3),
    "classes that share a name": (53, 0),
    "files that share a name": (12, 0),
    "public functions named by a participle": (35, 0),
    "invented phrases": (1_057, 0),
    "words for users": (180_331, 60_000),
    "words of the appendix": (0, 45_000),
}
"""For each number the bound, which may only be lowered, and the goal."""

EXECUTED = {
    "noisy max of 3 finite queries": 238,
    "a numpy histogram": 284,
    "sparse vector for every size": 309,
    "a class of the user's with np.random.normal": 298,
}
"""For each request how many modules may execute something while it is answered; the goal is 70."""


def test_no_number_grows() -> None:
    """All in one test: the trees of all modules are made once."""
    grown = {}
    for name, (bound, _) in BOUNDS.items():
        found = ratchets.COUNTS[name]()
        if found.number > bound:
            grown[name] = found.number, bound, sorted(found.places.items(), key=lambda each: -each[1])[:5]
    assert not grown


def test_every_number_has_a_bound() -> None:
    assert list(BOUNDS) == list(ratchets.COUNTS)


@pytest.mark.long
@pytest.mark.parametrize("request_", EXECUTED)
def test_a_request_executes_few_modules(request_: str, tmp_path) -> None:
    found = ratchets.executed_modules(request_, tmp_path)
    assert found.number <= EXECUTED[request_], f"{found.number} modules"


# ---------------------------------------------------------------------------------------- the tests above can fail


@pytest.fixture
def tree(tmp_path):
    """A folder of packages, and a way to add a file."""

    def add(file: str, text: str):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        ratchets.modules.cache_clear()
        return tmp_path

    yield add
    ratchets.modules.cache_clear()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (ratchets.lines, "x = 1\n"),
        (ratchets.rewriting_functions, "def f(block: Block) -> Block: ...\n"),
        (ratchets.rewriting_functions, "def f(x, *, parts: 'list[Statement]') -> tuple[Statement, ...] | None: ...\n"),
        (ratchets.syntax_patterns, "import ast\nmatch 1:\n    case ast.Add(): pass\n"),
        (ratchets.syntax_patterns, "import ast\nisinstance(1, ast.Add | ast.Sub)\n"),
        (ratchets.syntax_patterns, "from ast import Add\nisinstance(1, Add)\n"),
        (ratchets.operator_tables, 'x = {"+": 1, "-": 2, "*": 3}\n'),
        (ratchets.operator_tables, "x = {ast.Add: 1, ast.Sub: 2, ast.Mult: 3}\n"),
        (ratchets.participles, "def told(x): ...\n"),
        (ratchets.participles, "def merging(x): ...\n"),
        (ratchets.invented_phrases, 'def f():\n    raise ValueError("known from before")\n'),
    ],
)
def test_what_is_counted_is_found(tree, count, text: str) -> None:
    empty = count(tree("privproof/empty.py", "")).number
    assert count(tree("privproof/part/x.py", text)).number == empty + text.count("\n") if count is ratchets.lines else 1
    assert count(tree("privproof/part/x.py", text)).number > empty


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (ratchets.rewriting_functions, "def f(block: Block) -> int: ...\n"),
        (ratchets.syntax_patterns, "import ast\nast.parse('')\n"),
        (ratchets.operator_tables, 'x = {"+": 1, "-": 2}\n'),
        (ratchets.participles, "def merge_states(x): ...\ndef _told(x): ...\n"),
        (ratchets.invented_phrases, '"""Known from before."""\n'),
    ],
)
def test_what_is_not_meant_is_not_counted(tree, count, text: str) -> None:
    empty = count(tree("privproof/empty.py", "")).number
    assert count(tree("privproof/part/x.py", text)).number == empty


def test_names_that_are_shared_are_found(tree) -> None:
    tree("privproof/a/x.py", "class A: ...\n")
    folder = tree("privproof/b/x.py", "class A: ...\n")
    tree("privproof_checker/x.py", "class A: ...\n")
    assert ratchets.shared_class_names(folder).number == ratchets.shared_file_names(folder).number == 2
