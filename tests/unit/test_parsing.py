"""The kit that reads small languages: every character is in a token or between two, and nothing is too deep or too large for it."""

from __future__ import annotations

import time

import pytest

from privproof.errors import NumberError
from privproof.exact.parsing import UNREADABLE, Lexicon
from privproof.exact.polynomials import Polynomial

LEXICON = Lexicon(quoted='"[^"]*"', number="[0-9]+", name="[a-z]+", sign=r"\*\*|[-+*/()]")


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t ", "a", " a ", "12*b\n", '"a b" + @', "é\0\u2003x", '"open', "a**-b  "]
)
def test_tokens_and_the_space_between_them_are_the_whole_text(text: str) -> None:
    at = 0
    for token in LEXICON.tokens(text):
        assert text[at : token.start].strip() == ""
        assert text[token.start : token.end] == token.text != ""
        at = token.end
    assert text[at:].strip() == ""


def test_what_begins_no_token_is_one_character_that_cannot_be_read() -> None:
    assert [(t.text, t.start) for t in LEXICON.tokens('a @"b') if t.kind == UNREADABLE] == [("@", 2), ('"', 3)]


def test_a_stretch_of_a_text_keeps_its_places() -> None:
    assert [(t.text, t.start, t.end) for t in LEXICON.tokens("abc + 12", 2, 7)] == [
        ("c", 2, 3),
        ("+", 4, 5),
        ("1", 6, 7),
    ]


def test_long_space_is_passed_over_at_once() -> None:
    start = time.process_time()
    assert len(list(LEXICON.tokens(" " * 10**6 + "a" + " " * 10**6))) == 1
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["(" * 5000 + "p" + ")" * 5000, "p^" + "9" * 5000], ids=["deep", "large power"])
def test_a_polynomial_too_deep_or_too_large_is_refused(text: str) -> None:
    with pytest.raises(NumberError, match=r"nests deeper than 150|is no whole number up to 1000"):
        Polynomial.of(text, ("p",))


def test_signs_do_not_nest() -> None:
    assert Polynomial.of("-" * 5001 + "p", ("p",)) == -Polynomial.of("p", ("p",))
    assert Polynomial.of("(" * 150 + "p" + ")" * 150, ("p",)) == Polynomial.of("p", ("p",))
