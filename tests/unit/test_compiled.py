"""Compiled code that might draw unseen is refused while a run is under way."""

from __future__ import annotations

import sys

import pytest

from privproof import LanguageError, check, records
from privproof.language import compiled

rpds = pytest.importorskip("rpds")


def looked_up(data):
    return rpds.HashTrieMap({0: "a", 1: "a"}).get(data[0])


def test_compiled_code_of_a_package_of_which_nothing_is_known(monkeypatch):
    monkeypatch.setattr(compiled, "_KNOWN", compiled._KNOWN - {"rpds"})
    with pytest.raises(LanguageError, match=r"get of rpds.* is compiled code") as refused:
        check(looked_up, 1, data=records(0, 1), size=1)
    assert refused.value.code == "compiled"
    assert sys.getprofile() is None


def test_whoever_catches_it_is_refused_all_the_same(monkeypatch):
    def catching(data):
        try:
            return looked_up(data)
        except Exception:
            return "a"

    monkeypatch.setattr(compiled, "_KNOWN", compiled._KNOWN - {"rpds"})
    with pytest.raises(LanguageError, match="is compiled code"):
        check(catching, 1, data=records(0, 1), size=1)


def test_what_is_known_not_to_draw_is_run():
    assert check(looked_up, 1, data=records(0, 1), size=1).status == "proved"


def test_arrow_draws_by_one_function():
    import pyarrow.compute as pc

    def drawn(data):
        return pc.random(3)[0].as_py() < 2

    with pytest.raises(LanguageError, match=r"pyarrow\.compute\.random is no noise that is recognised"):
        check(drawn, 1, data=records(0, 1), size=1)


class _Profiler:
    """What `sys.getprofile` shows of a profiler that is written in C: its state, which cannot be called."""


@pytest.mark.parametrize("before", [None, _Profiler(), print])
def test_a_profiler_of_the_user_goes_on_or_ends_without_harm(monkeypatch, before):
    put_back = []
    monkeypatch.setattr(compiled.sys, "getprofile", lambda: before)
    monkeypatch.setattr(compiled.sys, "setprofile", put_back.append)
    with compiled.watching_calls(watch := lambda frame, event, argument: None):
        pass
    assert put_back == [watch, print if before is print else None]
