"""The kit that reads small languages: every character is in a token or between two, and nothing is too deep or too large for it."""

from __future__ import annotations

import re
import time

import pytest

from privproof.errors import BudgetError, NumberError
from privproof.exact import rational
from privproof.exact.affine import read_affine
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-" * 100_000 + "N", "has 100001 characters, more than 2000"),
        ("+".join(["N"] * 5000), "has 9999 characters, more than 2000"),
        ("(" * 101 + "N" + ")" * 101, "nests deeper than 100"),
        ("1is N", "'1is N' cannot be read: expected an operator or the end, found 'is' at position 1"),
        ("2N", "expected an operator or the end, found 'N' at position 1"),
        ("N**2", "expected a number, a name or a parenthesis, found '*' at position 2"),
        ("(N", "expected ')', found the end"),
        ("", "expected a number, a name or a parenthesis, found the end"),
        ("N $ 1", "found '$' at position 2"),
        ("1e99999", "the exponent 99999 is beyond"),
        ("N*N", "multiplies two names"),
        ("2/(N - N)", "divides by 0"),
        ("2/N", "divides by N"),
        ("M/2", "speaks of 'M'"),
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_affine_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(BudgetError, match=re.escape(message)) as refused:
        read_affine(text, ["N"])
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("text", "constant", "factor"),
    [
        ("(1 + 6*N) / 4", "1/4", "3/2"),
        ("-" * 1999 + "N", "0", "-1"),
        ("+".join(["N"] * 1000), "0", "1000"),
        ("(" * 100 + "N" + ")" * 100, "0", "1"),
        ("N - 1 - .5 - 1.5e0 - 2.", "-5", "1"),
        ("1/2/2 - -(2 - N*3)/-2", "-3/4", "3/2"),
    ],
    ids=lambda text: text[:12],
)
def test_affine_expressions(text: str, constant: str, factor: str) -> None:
    found = read_affine(text, ["N", "M"])
    assert (found.constant, found.terms) == (rational(constant), (("N", rational(factor)),))
