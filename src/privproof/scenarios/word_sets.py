"""Which words are compared: a restriction on observations.

By default every word of the horizon is compared, as a prefix of what the mechanism shows.  A restriction may

* name the words by a regular expression over observations (``only``),
* leave out words that contain certain observations (``without``), such as symbols that stand for no real execution,
* look at ``complete`` runs only, or at both prefixes and complete runs because the observer sees that a run has halted
  (``visible``).

A restriction makes the question weaker: it must be justified by the meaning of the model.  Every verdict names it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from privproof.errors import ScenarioError
from privproof.exact.parsing import Cursor, Lexicon, Operator, TextToken, climb

Ending: TypeAlias = Literal["any", "complete", "visible"]


@dataclass(frozen=True)
class Words:
    """A restriction on words.

    Args:
        only: a regular expression over observations: names side by side, ``|``, ``*``, ``+``, ``?``, ``.`` for any observation,
            parentheses; names with special characters in single quotes.
        without: observations that no compared word contains.
        ending: ``any`` (prefixes), ``complete`` (runs that have halted), or ``visible`` (both).

    >>> Words(only="start (below)* above").only
    'start (below)* above'
    """

    only: str | None = None
    without: tuple[str, ...] = ()
    ending: Ending = "any"

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", tuple(self.without))
        if self.ending not in ("any", "complete", "visible"):
            raise ScenarioError(
                "words",
                f"ending={self.ending!r} is none of any, complete, visible",
                place="words.ending",
                hint="ending: complete",
            )

    @property
    def unrestricted(self) -> bool:
        """Whether every prefix counts."""
        return self == Words()

    def __str__(self) -> str:
        parts = [f"matching {self.only}"] if self.only is not None else []
        parts += [f"without {', '.join(self.without)}"] if self.without else []
        parts += {"any": [], "complete": ["complete runs only"], "visible": ["halting visible"]}[self.ending]
        return "; ".join(parts) or "every word"


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton: for every state the next state by symbol (absent: no word of the language goes there)."""

    moves: tuple[dict[str, int], ...]
    accepting: frozenset[int]


_DEEPEST = 100
"""An expression with more opening parentheses is refused, long before the recursion of the reader is too deep for Python."""
_MOST_STATES = 20_000
"""The deterministic automaton of an expression may be exponentially large; one with more states is refused."""
_LEXICON = Lexicon(quoted="'[^']*'", sign="[()|*+?.]", name=r"[^\s()|*+?.']+")


@dataclass
class _Fragment:
    """A sub-expression in Glushkov's construction: whether it matches the empty word, where it may begin and end."""

    empty: bool
    first: set[int]
    last: set[int]


def _either(fragments: Sequence[_Fragment], _: Sequence[TextToken]) -> _Fragment:
    one, other = fragments
    return _Fragment(one.empty or other.empty, one.first | other.first, one.last | other.last)


class _WordsReader(Cursor):
    """Reads a regular expression and builds its position (Glushkov) automaton."""

    def __init__(self, text: str, alphabet: Collection[str]) -> None:
        self.alphabet = alphabet
        self.symbols: list[frozenset[str]] = []
        self.follow: list[set[int]] = []
        super().__init__(text, _LEXICON.tokens(text))
        if text.count("(") > _DEEPEST:
            raise self.error(f"more than {_DEEPEST} parentheses")
        if token := self.unreadable():
            raise self.error(f"cannot read {text[token.start :].strip()[:20]!r}")

    def error(self, message: str) -> ScenarioError:
        return ScenarioError(
            "words", f"{self.text!r}: {message}", place="words.only", hint="write for instance: start (below)* above"
        )

    def expected(self, what: str) -> NoReturn:
        raise self.error(f"unexpected {self.token.text!r}")

    def union(self) -> _Fragment:
        return climb(self, {"|": Operator(1, _either)}, self.sequence)

    def sequence(self) -> _Fragment:
        result = _Fragment(empty=True, first=set(), last=set())
        while self.token.kind in ("name", "quoted") or self.token.text in ("(", "."):
            other = self.repeated()
            for position in result.last:
                self.follow[position] |= other.first
            result = _Fragment(
                result.empty and other.empty,
                result.first | other.first if result.empty else result.first,
                result.last | other.last if other.empty else other.last,
            )
        return result

    def repeated(self) -> _Fragment:
        result = self.atom()
        while sign := self.accept("*", "+", "?"):
            if sign.text != "?":
                for position in result.last:
                    self.follow[position] |= result.first
            result = _Fragment(result.empty or sign.text != "+", result.first, result.last)
        return result

    def atom(self) -> _Fragment:
        if self.accept("("):
            inner = self.union()
            if not self.accept(")"):
                raise self.error("a parenthesis is not closed")
            return inner
        token = self.take()
        name = token.text[1:-1] if token.kind == "quoted" else token.text
        if token.kind != "sign" and name not in self.alphabet:
            raise ScenarioError(
                "unknown-name",
                f"unknown observation {name!r} in {self.text!r}",
                place="words.only",
                hint=f"known: {', '.join(list(self.alphabet)[:8])}",
            )
        self.symbols.append(frozenset(self.alphabet) if token.kind == "sign" else frozenset((name,)))
        self.follow.append(set())
        position = len(self.symbols) - 1
        return _Fragment(empty=False, first={position}, last={position})


def automaton(words: Words, alphabet: Collection[str]) -> Automaton:
    """The automaton of the words that a restriction leaves, trimmed to states from which a word can still end.

    >>> automaton(Words(only="a (b)*"), ("a", "b"))
    Automaton(moves=({'a': 1}, {'b': 1}), accepting=frozenset({1}))
    """
    for name in words.without:
        if name not in alphabet:
            raise ScenarioError(
                "unknown-name",
                f"unknown observation {name!r}",
                place="words.without",
                hint=f"known: {', '.join(list(alphabet)[:8])}",
            )
    letters = [symbol for symbol in alphabet if symbol not in words.without]
    if words.only is None:
        return Automaton((dict.fromkeys(letters, 0),), frozenset((0,)))
    reader = _WordsReader(words.only, tuple(alphabet))
    expression = reader.read_whole(reader.union)
    moves, ends = _subsets(reader, expression, letters)
    return _trim_automaton(moves, ends, words)


def _subsets(reader: _WordsReader, expression: _Fragment, letters: list[str]) -> tuple[list[dict[str, int]], set[int]]:
    beginning = -1
    numbers: dict[frozenset[int], int] = {frozenset((beginning,)): 0}
    waiting = list(numbers)
    moves: list[dict[str, int]] = []
    ends: set[int] = set()
    while waiting:
        current = waiting.pop(0)
        if len(numbers) > _MOST_STATES:
            raise reader.error(f"the automaton has more than {_MOST_STATES} states")
        if any(p in expression.last or (p == beginning and expression.empty) for p in current):
            ends.add(numbers[current])
        table: dict[str, int] = {}
        reachable = set().union(*(expression.first if p == beginning else reader.follow[p] for p in current))
        for symbol in letters:
            target = frozenset(p for p in reachable if symbol in reader.symbols[p])
            if target:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    waiting.append(target)
                table[symbol] = numbers[target]
        moves.append(table)
    return moves, ends


def _trim_automaton(moves: list[dict[str, int]], ends: set[int], words: Words) -> Automaton:
    alive = set(ends)
    while True:
        more = {i for i, table in enumerate(moves) if i not in alive and not alive.isdisjoint(table.values())}
        if not more:
            break
        alive |= more
    if 0 not in alive or not any(target in alive for target in moves[0].values()):
        raise ScenarioError(
            "words", f"no word is left: {words}", place="words", hint="widen `only` or shorten `without`"
        )
    return _minimal({old: {s: t for s, t in moves[old].items() if t in alive} for old in sorted(alive)}, ends)


def _minimal(moves: dict[int, dict[str, int]], ends: set[int]) -> Automaton:
    """Moore's algorithm: merge states that accept the same continuations; the first state stays the first."""
    block = {state: int(state in ends) for state in moves}
    while True:
        signatures = {s: (block[s], tuple(sorted((a, block[t]) for a, t in row.items()))) for s, row in moves.items()}
        numbers = {signature: n for n, signature in enumerate(dict.fromkeys(signatures.values()))}
        finer = {state: numbers[signature] for state, signature in signatures.items()}
        if len(numbers) == len(set(block.values())):
            break
        block = finer
    members = {number: state for state, number in reversed(finer.items())}
    return Automaton(
        tuple({symbol: finer[target] for symbol, target in moves[members[n]].items()} for n in sorted(members)),
        frozenset(finer[end] for end in ends),
    )
