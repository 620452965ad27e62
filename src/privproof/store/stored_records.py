"""A verdict as bytes, and back to an answer that the gate may look at.

What is kept is data.  Reading it makes nothing but frozen data of privproof and numbers: no name of anything else is followed, and no
verdict comes out of it, but an `Answer`, which is worth nothing before the gate has had its certificate checked.  Functions are not
kept: they are those of the question that is asked now.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import Unknown, Verdict
from privproof.language.mechanism import Mechanism

_PROTOCOL = 5
"""The newest that every supported version of Python reads."""
_KEPT = ("status", "question", "engine", "lower", "upper", "witness", "details")
_OTHERS = {
    ("fractions", "Fraction"),
    ("flint.types.fmpq", "fmpq"),
    ("flint.types.fmpz", "fmpz"),
    ("privproof.exact.frozen_pickling", "frozen_mapping"),
    ("privproof.exact.exponentials", "ExponentialSum"),
    ("privproof.exact.polynomials", "_of_terms"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("builtins", "range"),
}
"""What may be made beside the frozen data of privproof: numbers, and what holds them."""

_SEALS = ("Seal",)
"""What the gate alone makes, beside verdicts."""


class Unreadable(Exception):
    """Bytes that are no record."""


def record_of(verdict: Verdict, functions: Sequence[FunctionType]) -> bytes:
    """What is kept of a verdict beside its certificate.

    Raises:
        pickle.PicklingError: it holds what cannot be kept.
    """
    kept = {name: getattr(verdict, name) for name in _KEPT} | {"notes": verdict.notes}
    kept["reason"] = verdict.reason if isinstance(verdict, Unknown) else ""
    file = io.BytesIO()
    _RecordWriter(file, functions).dump(kept)
    return file.getvalue()


def answer_of(record: bytes, functions: Sequence[FunctionType]) -> tuple[Answer, tuple[str, ...]]:
    """The answer that a record keeps, about the functions of now; and the notes that its verdict had.

    Raises:
        Unreadable: the bytes are no record, or one of something else.
    """
    try:
        kept = _RecordReader(io.BytesIO(record), functions).load()
        notes = tuple(map(str, kept.pop("notes")))
        return Answer(**kept), notes
    except Unreadable:
        raise
    except Exception as error:  # whatever bytes that are no record make of themselves
        raise Unreadable(f"{type(error).__name__}: {error}") from error


class _RecordWriter(pickle.Pickler):
    def __init__(self, file: io.BytesIO, functions: Sequence[FunctionType]) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self.functions = {id(function): number for number, function in enumerate(functions)}

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is FunctionType and (value.__module__, value.__qualname__) not in _OTHERS:
            if id(value) not in self.functions:
                raise pickle.PicklingError(f"{value.__qualname__} is no function of the question")
            return self.functions[id(value)]
        return None

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Mechanism:
            return Mechanism, tuple(getattr(value, field.name) for field in dataclasses.fields(Mechanism))
        return NotImplemented


class _RecordReader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, functions: Sequence[FunctionType]) -> None:
        super().__init__(file)
        self.functions = functions

    def persistent_load(self, number: Any) -> FunctionType:
        if type(number) is not int or not 0 <= number < len(self.functions):
            raise Unreadable("a function that the question does not have")
        return self.functions[number]

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _OTHERS:
            return super().find_class(module, name)
        if module.split(".")[0] == "privproof" and "." not in name:
            found = super().find_class(module, name)
            frozen = isinstance(found, type) and dataclasses.is_dataclass(found) and _is_frozen(found)
            if frozen and found.__module__ == module and not issubclass(found, Verdict) and name not in _SEALS:
                return found
        raise Unreadable(f"{module}.{name} is no data")


def _is_frozen(kind: type) -> bool:
    return bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
