"""Reports show the text of the record that a verdict is about, helpers included."""

import linecache

from privproof import check
from privproof.language.mechanism import Mechanism
from privproof.reporting.html import page

TEXT = """
from privproof import integer, mechanism, real, laplace, truncated_geometric

def noisy(value):
    return truncated_geometric(value, alpha="1/2", low=0, high=2)

@mechanism(epsilon="ln(4)")
def finite(x: integer(0, 2)):
    return noisy(x)

@mechanism(epsilon=1)
def continuous(x: real()):
    return laplace(x, scale=1)
"""


def defined(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(TEXT, encoding="utf-8")
    names = {}
    exec(compile(TEXT, str(path), "exec"), names)
    return path, names


def test_the_report_shows_what_was_verified_and_not_what_the_file_says_by_now(tmp_path):
    path, names = defined(tmp_path)
    verdicts = {name: check(found) for name, found in names.items() if isinstance(found, Mechanism)}
    path.write_text(TEXT.replace("noisy(x)", "x").replace("laplace(x, scale=1)", "x"), encoding="utf-8")
    linecache.checkcache()
    for name, line in (("finite", "return noisy(x)"), ("continuous", "return laplace(x, scale=1)")):
        assert verdicts[name].status == "proved"
        shown = page(verdicts[name], command=None, asked_tight=False, certificate=None)
        assert line in shown
        assert f"def {name}(x" in shown
    assert "def noisy(value):" in page(verdicts["finite"], command=None, asked_tight=False, certificate=None)
