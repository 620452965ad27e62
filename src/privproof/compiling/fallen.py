"""How the coins of the records fell in one run of a function: what the run drew, put back into the records.

The statements are followed with what the function drew, in the order in which it did, up to the end of the loops that toss coins.  A coin
that a run does not toss, because a test came out otherwise, says nothing: it is any of its outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from privproof.compiling.coins import VALUE, Tossed
from privproof.exact import ONE
from privproof.language.evaluating import evaluator
from privproof.language.laws import Law, TableLaw
from privproof.language.row import Row
from privproof.language.syntax import Append, Assign, Block, Emit, If, Return, Sample, Statement, While
from privproof.language.values import Answers, Cells, shared_value, truth
from privproof.language.walking import statements


class Disagreement(Exception):
    """A run draws something else than the coins of its records."""


class _Ended(Exception):
    """The run returns."""


def fallen_coins(
    tossed: Tossed, arguments: Mapping[str, Any], drawn: list[tuple[Law, Any]]
) -> tuple[list[Row], list[tuple[Law, Any]]]:
    """The records of a run with their coins, and what else the run drew.

    Raises:
        Disagreement: it drew something else than the statements say.
    """
    replay = _Replay(tossed, arguments, drawn)
    with suppress(_Ended):
        replay.follow(tossed.body, turn=None)
    return replay.rows(), [*replay.others, *drawn[replay.position :]]


class _Replay:
    def __init__(self, tossed: Tossed, arguments: Mapping[str, Any], drawn: list[tuple[Law, Any]]) -> None:
        self.tossed, self.arguments, self.drawn = tossed, arguments, drawn
        self.position = 0
        self.sites = {coin.site: number for number, coin in enumerate(tossed.coins)}
        self.store: dict[str, Any] = {name: shared_value(value) for name, value in arguments.items()}
        self.store[tossed.source] = Answers(tuple(arguments[tossed.source]))
        self.fell: list[dict[str, Any]] = [{} for _ in arguments[tossed.source]]
        self.tosses = 0
        self.others: list[tuple[Law, Any]] = []

    def rows(self) -> list[Row]:
        """The records with their coins."""
        result = []
        listed = self.tossed.original.inputs[self.tossed.source]
        for record, fell in zip(self.arguments[self.tossed.source], self.fell, strict=True):
            own = dict(record.items()) if isinstance(record, Row) else {VALUE: record}
            number = 0 if listed.values is None or listed.fields else listed.values.index(record)
            for coin in self.tossed.coins:
                law = coin.laws[number if len(coin.laws) > 1 else 0] if coin.laws else ((0, ONE),)
                own[coin.name] = fell.get(coin.name, law[0][0])
            result.append(Row(**own))
        return result

    def follow(self, block: Block, turn: int | None) -> None:
        """Follow statements; those of the loops over the records know whose turn it is."""
        for statement in block:
            if turn is None and not self._awaited():
                raise _Ended
            self.step(statement, turn)

    def _awaited(self) -> bool:
        """Whether there may be coins to come."""
        return self.position < len(self.drawn) or not self.tosses

    def step(self, statement: Statement, turn: int | None) -> None:
        """One statement."""
        match statement:
            case Assign(name, value):
                self.store[name] = evaluator(value)(self.store)
            case Sample():
                self.draw(statement, turn)
            case Append(name, value):
                held_list = self.store[name]
                assert isinstance(held_list, Cells)
                self.store[name] = Cells((*held_list.items, evaluator(value)(self.store)))
            case If(test, then, otherwise):
                self.follow(then if truth(evaluator(test)(self.store)) else otherwise, turn)
            case While(test, body):
                tosses = any(isinstance(s, Sample) and s.site in self.sites for s in statements(body))
                number = 0
                while truth(evaluator(test)(self.store)):
                    self.follow(body, number if tosses else turn)
                    number += 1
            case Emit():
                pass
            case Return():
                raise _Ended
            case _:
                raise Disagreement(f"{type(statement).__name__} is not followed")

    def draw(self, sample: Sample, turn: int | None) -> None:
        """A draw: of a coin of the record of the turn, or another one."""
        if self.position >= len(self.drawn):
            raise Disagreement("the function draws less noise")
        law, value = self.drawn[self.position]
        self.position += 1
        self.store[sample.name] = value
        number = self.sites.get(sample.site)
        if number is None or turn is None:
            self.others.append((law, value))
            return
        coin = self.tossed.coins[number]
        listed = self.tossed.original.inputs[self.tossed.source]
        record = self.arguments[self.tossed.source][turn]
        place = listed.values.index(record) if len(coin.laws) > 1 and listed.values is not None else 0
        if isinstance(law, TableLaw) is not bool(coin.laws) or (
            isinstance(law, TableLaw) and law.possible != coin.laws[place]
        ):
            raise Disagreement(f"the coin at {sample.place} has another law")
        self.tosses += 1
        self.fell[turn][coin.name] = value
