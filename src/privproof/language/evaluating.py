"""Evaluating expressions: from a store of variables to a value, and from what goes wrong to a message with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from privproof.errors import LanguageError, PrivproofError
from privproof.language.indices import Stuck
from privproof.language.operations import OPERATIONS, element_at
from privproof.language.syntax import Conditional, Constant, Element, Expression, Operation, Place, Variable
from privproof.language.values import MISSING, Answers, shown_name, truth, whole

Store: TypeAlias = dict[str, Any]
Evaluate: TypeAlias = Callable[[Store], Any]


def evaluator(expression: Expression) -> Evaluate:
    """A function from a store to the value of an expression."""
    match expression:
        case Constant(value):
            return lambda store: value
        case Variable(name, place):
            return _variable(name, place)
        case Element(sequence, index, place):
            first, second = evaluator(sequence), evaluator(index)
            return _placed(lambda store: element_at(first(store), second(store)), place)
        case Conditional(test, then, otherwise):
            condition, one, other = evaluator(test), evaluator(then), evaluator(otherwise)
            return lambda store: one(store) if truth(condition(store)) else other(store)
        case Operation("and", (left, right)):
            first, second = evaluator(left), evaluator(right)
            return lambda store: second(store) if truth(value := first(store)) else value
        case Operation("or", (left, right)):
            first, second = evaluator(left), evaluator(right)
            return lambda store: value if truth(value := first(store)) else second(store)
        case Operation("and" | "or" as name, (left, *rest), place):
            return evaluator(Operation(name, (left, Operation(name, tuple(rest), place)), place))
        case Operation(name, arguments, place):
            function = OPERATIONS[name]
            evaluators = [evaluator(argument) for argument in arguments]
            if name not in _PARTIAL:
                evaluators = [_wholly(e) for e in evaluators]
            if len(evaluators) == 1:
                only = evaluators[0]
                return _placed(lambda store: function(only(store)), place)
            if len(evaluators) == 2:
                a, b = evaluators
                return _placed(lambda store: function(a(store), b(store)), place)
            return _placed(lambda store: function(*(e(store) for e in evaluators)), place)


WRONG = (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, OverflowError, AttributeError, Stuck)
"""What may go wrong while a mechanism is evaluated."""


def _placed(evaluate: Evaluate, place: Place) -> Evaluate:
    """The same function; what goes wrong in it first, it says where."""

    def value(store: Store) -> Any:
        try:
            return evaluate(store)
        except WRONG as error:
            if not hasattr(error, "place"):
                error.place = place  # type: ignore[union-attr]
            raise

    return value


_PARTIAL = ("len", "turns", "slice", "not")
"""Operations on an input list that need not read all of it."""


def _wholly(evaluate: Evaluate) -> Evaluate:
    def value(store: Store) -> Any:
        found = evaluate(store)
        return whole(found) if type(found) is Answers else found

    return value


def _variable(name: str, place: Place) -> Evaluate:
    def value(store: Store) -> Any:
        found = store.get(name, MISSING)
        if found is MISSING:
            raise LanguageError(
                "variable",
                f"{shown_name(name)!r} is read before it is assigned",
                place=str(place),
                hint="assign it first",
            )
        return found

    return value


def problem(error: Exception, place: Place) -> PrivproofError:
    """What went wrong while a mechanism ran, as a message with the place."""
    if isinstance(error, PrivproofError):
        return error if error.place else error.at(str(place))
    place = getattr(error, "place", place)
    if isinstance(error, Stuck):
        said, _, hint = str(error).partition("; ")
        unbounded = "unbounded" in said
        clamp = "clamp it first, min(max(x, low), high), or use truncated_geometric"
        return LanguageError(
            "unbounded" if unbounded else "value", said, place=str(place), hint=clamp if unbounded else hint
        )
    return LanguageError(
        "run", f"{type(error).__name__}: {error}", place=str(place), hint="the mechanism itself fails here"
    )
