"""A function on all its data: the data sets of a few sizes, which of them are neighbours, and the tree of runs on each.

Every data set is run once, whatever pairs it is in.  Before and after, what the function can reach is looked at; at the end a part of
the runs is made again, in another order.  What changes from run to run is named, and then there is no verdict.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import inspect
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from types import FrameType, FunctionType, MethodType
from typing import Any

from privproof.compiling.rounding import tree_difference
from privproof.compiling.sampled import sampled_pairs
from privproof.compiling.sharing import Turn, Work, grow_trees
from privproof.errors import LanguageError, ScenarioError
from privproof.language.catching import watching_errors
from privproof.language.compiled import watching_calls
from privproof.language.frames import refusing_kinds
from privproof.language.inputs import ADD_REMOVE, Input, as_given
from privproof.language.laws import TRUNCATED
from privproof.language.mechanism import Mechanism, call_by_name, related_by
from privproof.language.randomness import Chance
from privproof.language.recognition import controlled_libraries, inexact, substitute
from privproof.language.state import State, state_of
from privproof.language.trees import TreeLeaf, Wayward, leaves, replay_leaf

_MOST_DATA_SETS = 5_000
"""Data sets that a function is run on, one after the other; more are refused."""
_MOST_PAIRS = 100_000
"""Pairs of neighbours, which are compared one by one; more are refused."""
_IN_FLOATS = 8
"""Data sets on which a run on floats is compared with the run on their exact values."""
_AGAIN = 40
"""Data sets on which a few runs are made again at the end, to see whether anything is kept from run to run."""
_FEWEST_AGAIN = 100
"""Runs that are made again at least: a coin of 3/4 that is not recognised shows the same in all of them once in 10^12 times."""
_OFTEN = 30
"""How often these runs are made where the function asks for the time, a file or the like."""
_WATCHED = 20
"""Runs on a data set in which the functions that are called are watched."""

Data = Mapping[str, Any]
"""The arguments of one run, by name: values, and tuples for lists."""


@dataclass(frozen=True)
class Runs:
    """A function on all data sets of one or several sizes.

    Attributes:
        mechanism: the function.
        sizes: the lengths of its lists.
        data: the data sets.
        pairs: which of them are neighbours, by number, the smaller first.
        trees: for every data set all ways through the function.
        digest: what stands for the code that ran, and all that it can reach.
        relies_on: the values outside of the function that it reads, by name.
        floats: the floats in the code and among the parameters that are not the decimal number that they print as.
        asks: what it asks for that was as it was in these runs: the time, a file.
        seconds: how long the runs took, those of the smaller sizes with them.
        sampled: whether the data sets are a few of infinitely many.
    """

    mechanism: Mechanism
    sizes: tuple[int, ...]
    data: tuple[Data, ...]
    pairs: tuple[tuple[int, int], ...]
    trees: tuple[tuple[TreeLeaf, ...], ...]
    digest: str
    relies_on: Mapping[str, str]
    floats: tuple[float, ...]
    asks: tuple[str, ...]
    seconds: float
    sampled: bool = False

    @property
    def cost(self) -> str:
        """How many runs were made, in what time, with how many random choices in one."""
        made = sum(map(len, self.trees))
        most = max(len(leaf.steps) for tree in self.trees for leaf in tree)
        opened = any(leaf.noises for tree in self.trees for leaf in tree)
        none = "all noise left open" if opened else "nothing random"
        choices = none if most == 0 else f"at most {most} random choice{'s' if most > 1 else ''} in each"
        return f"{made} runs in {self.seconds:.2f} s on {len(self.data)} data sets, {choices}"

    @property
    def in_balls(self) -> bool:
        """Whether noise is drawn whose probabilities are enclosed in balls: Gaussian noise, or noise of another shape."""
        exact = ("laplace", "exponential", "geometric", "uniform")
        return any(noise.kind not in exact for tree in self.trees for leaf in tree for noise in leaf.noises)

    @property
    def tests_truncated(self) -> bool:
        """Whether truncated noise is compared: a test may be certain where the data have gone far enough."""
        return any(
            isinstance(atom, int) and leaf.noises[atom].kind == TRUNCATED
            for tree in self.trees
            for leaf in tree
            for test in leaf.tests
            for atom in test.form.terms
        )

    @property
    def closed(self) -> bool:
        """Whether no noisy number is shown and nothing opaque decides: then every outcome has an exact probability."""
        return not any(leaf.outcome.parts or leaf.guesses for tree in self.trees for leaf in tree)


def too_many_to_run(mechanism: Mechanism, size: int) -> bool:
    """Whether there are more data sets of a size than a function is run on."""
    count = 1
    for declared in mechanism.inputs.values():
        if declared.values is not None:
            count *= len(declared.values) ** ((declared.size or size) if declared.shape == "list" else 1)
    return count > _MOST_DATA_SETS


def data_sets(mechanism: Mechanism, size: int | None) -> list[Data]:
    """All data sets of a size.

    Raises:
        LanguageError: there are too many.
    """
    count = 1
    choices: list[list[Any]] = []
    for name, declared in mechanism.inputs.items():
        assert declared.values is not None
        length = (size if declared.size is None else declared.size) if declared.shape == "list" else 1
        assert length is not None
        count *= len(declared.values) ** length
        if count > _MOST_DATA_SETS:
            raise LanguageError(
                "size",
                f"there are {count} data sets or more ({name}: {declared}), and at most {_MOST_DATA_SETS} are run",
                place=mechanism.place,
                hint="--size 2, or fewer values",
            )
        listed = list(product(declared.values, repeat=length))
        choices.append(listed if declared.shape == "list" else [entry[0] for entry in listed])
    return [dict(zip(mechanism.inputs, values, strict=True)) for values in product(*choices)]


def neighbours(mechanism: Mechanism, data: Sequence[Data]) -> Iterator[tuple[int, int]]:
    """Which of some data sets are neighbours."""
    relation = mechanism.neighbours
    numbers = {_key(each): i for i, each in enumerate(data)}
    if relation == ADD_REMOVE:
        yield from dict.fromkeys(
            (min(i, j), max(i, j))
            for i, one in enumerate(data)
            for other in _shorter(mechanism, one)
            if (j := numbers.get(_key(other), -1)) >= 0
        )
        return
    if callable(relation):
        for i, one in enumerate(data):
            for j in range(i + 1, len(data)):
                if _related(mechanism, relation, one, data[j]):
                    yield i, j
        return
    for i, one in enumerate(data):
        for other in _changed(mechanism, relation, one):
            j = numbers.get(_key(other), -1)
            if j > i:
                yield i, j


def _shorter(mechanism: Mechanism, data: Data) -> Iterator[Data]:
    """The data sets with one element of one private list removed."""
    for name, declared in mechanism.inputs.items():
        if declared.shape == "list" and declared.size is None and not declared.public:
            for place in range(len(data[name])):
                yield {**data, name: data[name][:place] + data[name][place + 1 :]}


def _key(data: Data) -> str:
    return repr(
        sorted(
            (name, [(type(v).__name__, v) for v in (value if isinstance(value, tuple) else (value,))])
            for name, value in data.items()
        )
    )


def _changed(mechanism: Mechanism, relation: str, data: Data) -> Iterator[Data]:
    """The data sets that a relation makes neighbours of one."""
    entries = [
        (name, place, declared)
        for name, declared in mechanism.inputs.items()
        if not declared.public
        for place in (range(len(data[name])) if declared.shape == "list" else (None,))
    ]
    near = [
        _near(declared, data[name] if place is None else data[name][place], relation)
        for name, place, declared in entries
    ]
    if relation == "one":
        for number, (name, place, _) in enumerate(entries):
            for value, _ in near[number]:
                yield _with(data, {(name, place): value})
        return
    for direction in (1, -1) if relation == "monotone" else (0,):
        options = [[(None, 0), *((v, sign) for v, sign in listed if direction in (0, sign))] for listed in near]
        for chosen in product(*options):
            changes = {entries[k][:2]: value for k, (value, sign) in enumerate(chosen) if sign}
            if changes:
                yield _with(data, changes)


def _near(declared: Input, value: Any, relation: str) -> list[tuple[Any, int]]:
    """The other values that one may change to, each with its direction."""
    assert declared.values is not None
    if declared.within is None and relation == "monotone":
        raise LanguageError(
            "neighbours", f"{declared} has no order, so nothing moves in one direction", hint='neighbours="one"'
        )
    found = []
    for other in declared.values:
        if type(other) is type(value) and other == value:
            continue
        if declared.within is None:
            found.append((other, 1))
        elif abs(other - value) <= declared.within:
            found.append((other, 1 if other > value else -1))
    return found


def _with(data: Data, changes: Mapping[tuple[str, int | None], Any]) -> Data:
    result = {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}
    for (name, place), value in changes.items():
        if place is None:
            result[name] = value
        else:
            result[name][place] = value
    return {name: tuple(value) if isinstance(value, list) else value for name, value in result.items()}


def _related(mechanism: Mechanism, relation: Callable[[Any, Any], bool], left: Data, right: Data) -> bool:
    """Whether a function says that two data sets are neighbours, which agree in what is public."""
    private = [name for name, declared in mechanism.inputs.items() if not declared.public]
    if any(left[name] != right[name] for name in mechanism.inputs if name not in private):
        return False
    one, other = ([_plain(side[name]) for name in private] for side in (left, right))
    return related_by(relation, one, other, mechanism.place)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def caller(mechanism: Mechanism, data: Data) -> Callable[[], Any]:
    """What runs a function on a data set, on fresh copies of all that it is given."""
    parameters = {name: substitute(value) for name, value in mechanism.parameters.items()}
    passed = {name: value for name, value in parameters.items() if value is not mechanism.parameters[name]}
    if mechanism.bare:
        own = {p.name: p.default for p in inspect.signature(mechanism.function).parameters.values()}
        passed |= {
            n: v for n, v in parameters.items() if n not in passed and not _default(mechanism.parameters[n], own[n])
        }

    def call() -> Any:
        given = {name: _given(value, mechanism.inputs[name]) for name, value in data.items()}
        if not mechanism.bare:
            return mechanism(**given, **passed)
        return call_by_name(mechanism.function, {**given, **passed})

    return call


def _default(value: Any, default: Any) -> bool:
    """Whether a parameter has the value that the function gives it by itself."""
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except Exception:  # an object that cannot be compared is another one
        return False


def _given(value: Any, declared: Input) -> Any:
    if declared.shape != "list":
        return copy.deepcopy(value)
    return as_given(declared, list(value) if isinstance(value, tuple) else value)


def _roots(mechanism: Mechanism) -> tuple[Any, Any, Mapping[str, Any]]:
    """What is called, the object whose method it is, and the names of its module."""
    called = mechanism.function
    inner = inspect.unwrap(called) if type(called) is FunctionType else called
    owner = called.__self__ if type(called) is MethodType else None if type(called) is FunctionType else called
    code = inner.__func__ if type(inner) is MethodType else inner
    if type(code) is not FunctionType:
        code = vars(type(code)).get("__call__", code)
    return called, owner, getattr(code, "__globals__", {})


def ran(
    mechanism: Mechanism,
    sizes: Sequence[int | None],
    *,
    known: Runs | None = None,
    sampled: bool = False,
    pause: Callable[[], None] = lambda: None,
) -> Runs:
    """A function on all data sets of some sizes.

    Args:
        mechanism: the function.
        sizes: the lengths of its lists; None where none is open.
        known: its runs at the first of these sizes, where they were made already.
        sampled: whether it is run on a few of infinitely many data sets.
        pause: called between runs; may raise to stop.

    Raises:
        LanguageError: there are too many data sets or ways, or something is kept from run to run.
        ScenarioError: no two data sets are neighbours.
    """
    data, pairs = (_sampled if sampled else _all)(mechanism, sizes)
    if not pairs and sampled:
        raise LanguageError("size", "none of the data sets that are tried are neighbours", place=mechanism.place)
    if not pairs:
        raise ScenarioError(
            "empty-relation",
            "no two data sets are neighbours",
            place=mechanism.place,
            hint="widen the relation or the ranges",
        )
    if len(pairs) > _MOST_PAIRS:
        raise LanguageError(
            "size", f"there are more than {_MOST_PAIRS} pairs of neighbours", place=mechanism.place, hint="--size 2"
        )
    begun = time.perf_counter()
    called, owner, names = _roots(mechanism)
    before = _state_with_imports(called)
    trees: list[tuple[TreeLeaf, ...]] = [] if known is None else list(known.trees)
    asks: tuple[str, ...] = ()
    try:
        with controlled_libraries(names, owner), refusing_kinds(before.names), _watching(before):
            asks = _asks_for(mechanism, data)
            trees += _trees(mechanism, data[len(trees) :], pause)
            _run_again(mechanism, data, trees, _OFTEN if asks else 1, pause)
            _refuse_rounding(mechanism, data, trees)
    except Wayward as problem:
        raise _named(problem, mechanism, asks) from None
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(mechanism.place)) from None
    _unchanged(before, state_of(called), mechanism)
    _not_always_failing(mechanism, trees)
    return Runs(
        mechanism,
        tuple(size for size in sizes if size is not None),
        tuple(data),
        pairs,
        tuple(trees),
        _digest(before),
        before.reads,
        _floats(mechanism, before),
        asks,
        time.perf_counter() - begun + (0 if known is None else known.seconds),
        sampled,
    )


def trees_on(mechanism: Mechanism, data: Sequence[Data], *, most: int) -> list[tuple[TreeLeaf, ...]]:
    """All ways through a function on some data sets, at most so many on each.

    Raises:
        LanguageError: there are more, or noise is used in a way that has no meaning here.
    """
    called, owner, names = _roots(mechanism)
    state = _state_with_imports(called)
    with controlled_libraries(names, owner), refusing_kinds(state.names), _watching(state):
        return [leaves(caller(mechanism, each), most=most) for each in data]


def _watching(state: State) -> AbstractContextManager[None]:
    return watching_errors() if state.catches else nullcontext()


def _all(mechanism: Mechanism, sizes: Sequence[int | None]) -> tuple[list[Data], tuple[tuple[int, int], ...]]:
    """All data sets, and which of them are neighbours."""
    data = [each for size in sizes for each in data_sets(mechanism, size)]
    return data, tuple(islice(neighbours(mechanism, data), _MOST_PAIRS + 1))


def _sampled(mechanism: Mechanism, sizes: Sequence[int | None]) -> tuple[list[Data], tuple[tuple[int, int], ...]]:
    """Some data sets, and which of them are compared."""
    found = [pair for size in sizes for pair in sampled_pairs(mechanism, size)]
    numbers: dict[str, int] = {}
    data: list[Data] = []
    for each in (side for pair in found for side in pair):
        if numbers.setdefault(_key(each), len(data)) == len(data):
            data.append(each)
    return data, tuple((numbers[_key(one)], numbers[_key(other)]) for one, other in found)


def _state_with_imports(called: Any) -> State:
    """What a function can reach, when the modules are there that it imports as it runs."""
    tried: set[str] = set()
    while True:
        state = state_of(called)
        if tried >= set(state.imports):
            return state
        for name in state.imports:
            tried.add(name)
            with suppress(Exception):  # what cannot be imported fails again where the function imports it
                importlib.import_module(name)


def _trees(mechanism: Mechanism, data: Sequence[Data], pause: Callable[[], None]) -> list[tuple[TreeLeaf, ...]]:
    """The tree of every data set."""

    def watched(turn: Callable[[], Turn]) -> Turn:
        before = state_of(mechanism.function)
        found = turn()
        _unchanged(before, state_of(mechanism.function), mechanism)
        return found

    return grow_trees(Work([caller(mechanism, each) for each in data], pause, watched))


def _run_again(
    mechanism: Mechanism,
    data: Sequence[Data],
    trees: Sequence[tuple[TreeLeaf, ...]],
    times: int,
    pause: Callable[[], None],
) -> None:
    """A few runs once more, or often where something is asked for that may change; the last data sets first."""
    step = max(1, len(data) // _AGAIN)
    ends = [
        (number, leaf)
        for number in range(len(data) - 1, -1, -step)
        for leaf in {id(leaf): leaf for leaf in (trees[number][-1], trees[number][0])}.values()
    ]
    often = max(times, math.ceil(_FEWEST_AGAIN / len(ends)))
    for number, leaf in ends:
        replay_leaf(caller(mechanism, data[number]), leaf, times=often, pause=pause)


def _refuse_rounding(mechanism: Mechanism, data: Sequence[Data], trees: Sequence[tuple[TreeLeaf, ...]]) -> None:
    """Refuse a function that goes another way on floats than on their exact values."""
    noisy = [number for number, tree in enumerate(trees) if any(leaf.noises for leaf in tree)]
    for place in range(min(_IN_FLOATS, len(noisy))):
        number = noisy[place * len(noisy) // min(_IN_FLOATS, len(noisy))]
        each = data[number]
        told = tree_difference(caller(mechanism, each), trees[number], Chance(place))
        if told is not None:
            raise LanguageError(
                "rounding",
                f"on {dict(each)} {told}, and a verdict would be about real numbers",
                place=mechanism.place,
                hint="compare with what rounding cannot reach: a tolerance, or whole numbers",
            )


def _unchanged(before: State, after: State, mechanism: Mechanism) -> None:
    changed = before.changed(after)
    if changed is not None:
        raise LanguageError(
            "hidden",
            f"a run changes {changed}, so that what the next one shows depends on those before",
            place=mechanism.place,
            hint="keep nothing from run to run: pass it in, or make it inside",
        )


_ARRAYS = "array(records(0, 1)) for a function that takes an array of numpy; "
"""What to do where a list is not what the function takes."""


def _not_always_failing(mechanism: Mechanism, trees: Sequence[tuple[TreeLeaf, ...]]) -> None:
    """Refuse a function that fails whatever it is given: that is a mistake, and no output."""
    shown = {leaf.outcome.text for tree in trees for leaf in tree}
    if all(leaf.outcome.shape.startswith("raise ") for tree in trees for leaf in tree):
        raise LanguageError(
            "run",
            f"the function fails on all data: it {min(shown)}",
            place=mechanism.place,
            hint=f"{_ARRAYS if 'list' in min(shown) else ''}call it yourself on such data",
        )


def _digest(state: State) -> str:
    text = "\n".join(f"{way}\t{look}" for way, look in sorted(state.seen.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def _floats(mechanism: Mechanism, state: State) -> tuple[float, ...]:
    """The floats that take part and are not what they look like."""
    found = list(mechanism.parameters.values())
    found += [float(look) for look in state.seen.values() if re.fullmatch(r"-?[0-9]+\.[0-9]+(e-?[0-9]+)?", look)]
    code = getattr(mechanism.function, "__code__", None)
    found += () if code is None else code.co_consts
    return inexact(found)


_SUSPECTS = {
    "time": "the time",
    "datetime": "the time",
    "_datetime": "the time",
    "_io": "a file",
    "posix": "the operating system",
    "nt": "the operating system",
    "_socket": "the network",
    "_random": "random numbers that are not recognised",
    "_uuid": "the time",
    "gc": "the memory of Python",
    "sqlite3": "a database",
    "_sqlite3": "a database",
}
"""What a run may ask for that is not the same the next time, by the module of the function."""
_OWN_SUSPECTS = {
    "id": "where an object lies in memory",
    "hash": "a hash, which for texts is another in another process",
    "_getframe": "what has called it",
    "getrefcount": "the memory of Python",
    "setrecursionlimit": "the settings of Python",
}
"""The same by the name of the function, where the user's own code calls it: Python's libraries do it all the time."""
_ALWAYS_THE_SAME = ("fspath", "_path_normpath")
"""Functions of these modules that compute and ask for nothing."""
_HERE = str(Path(__file__).parent.parent)
_LIBRARIES = (str(Path(os.__file__).parent), "<frozen ")
"""Where the code of Python's libraries is, and of what is installed."""


def _asks_for(mechanism: Mechanism, data: Sequence[Data]) -> tuple[str, ...]:
    """What a function asks for that may be another the next time, and in which line; seen in a few of its runs."""
    found: dict[str, None] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event != "c_call" or frame.f_code.co_filename.startswith(_HERE):
            return
        holder = getattr(argument, "__self__", None)
        kind = holder if isinstance(holder, type) else type(holder)
        module, name = getattr(argument, "__module__", None) or kind.__module__, getattr(argument, "__name__", "")
        own = _of_user(frame)
        what = _SUSPECTS.get(str(module)) or (_OWN_SUSPECTS.get(name) if frame is own else None)
        if what and name not in _ALWAYS_THE_SAME and not own.f_code.co_filename.startswith(_HERE):
            found[f"{what} ({name}, line {own.f_lineno})"] = None

    for each in (data[0], data[-1]):
        call = caller(mechanism, each)
        with watching_calls(watch), suppress(LanguageError):  # what is wrong with it is found where it is run for good
            leaves(call, most=_WATCHED)
    return tuple(found)


def _of_user(frame: FrameType) -> FrameType:
    """The frame of the user's own code that a call comes from."""
    own: FrameType | None = frame
    while own is not None and own.f_code.co_filename.startswith(_LIBRARIES):
        own = own.f_back
    return own or frame


def _named(problem: Wayward, mechanism: Mechanism, asks: Sequence[str]) -> Wayward:
    """The complaint that runs differ, with what the function asks for that may be the cause."""
    said = f"; it asks for {', '.join(asks[:2])}" if asks else ""
    return Wayward(problem.code, problem.message + said, place=mechanism.place, hint=problem.hint)
