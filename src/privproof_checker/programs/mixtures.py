"""Proofs by mixtures: what a mechanism loses that tosses coins for every record, from what it loses where the coins are known.

The question has *coins*: for every record of the one private list some outcomes, by laws that depend on the record alone, independent of
each other and of everything else.  The instructions read them as fields of the record, and what a record has no fields for
is the field ``value``.  So the mechanism is the mixture over all coins of what the instructions do.

Theorem.  Let every record with its coins be of a *class*.  P(s) is the probability of class s for the record of the first run, Q(t) that
for the record of the second; a record that is not there is of a class of its own.  Suppose alignments show ``M_s <= rho_st M_t`` for
some pairs, where the one record with its coins goes from class s to class t and all others stay.  If ``P(s) = sum_t x_st`` with
x >= 0 and ``sum_s rho_st x_st <= c Q(t)`` for all t, then no set of outputs is more than c times as likely in the first run.  For with
the other coins fixed, ``sum_s P(s) M_s = sum_st x_st M_s <= sum_st x_st rho_st M_t <= c sum_t Q(t) M_t``, and they are tossed alike in
both runs.

The pairs are proved either way, so that rho is symmetric; and there is a plan x for every ordered pair of records, or for a record and
none in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import ONE, ZERO, Epsilon, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members
from privproof_checker.programs.alignment import proved_by_alignment
from privproof_checker.programs.instructions import read_program
from privproof_checker.programs.program_inputs import (
    ADD_REMOVE,
    ROW,
    SORTS,
    Change,
    Declared,
    ProgramInput,
    Scalar,
    same,
    scalar,
)

_MEMBERS = ("method", "classes", "pairings", "plans")
_MOST_COINS = 20
"""Coins of a record; more are refused."""
_MOST_OUTCOMES = 100_000
"""Outcomes of all coins of all records that are listed; more are refused."""
_MOST_CLASSES = 200
"""Classes, and so at most so many times so many pairs; more are refused."""
_MOST_RECORDS = 1_000
"""Whole numbers between bounds that are taken one by one; of more the coins have to fall alike."""
VALUE = "value"
"""The field that a record is, where it has no fields of its own."""

Row = dict[str, Scalar]


@dataclass(frozen=True)
class _Coin:
    sort: str
    laws: tuple[tuple[tuple[Scalar, Rational], ...], ...]


def proved_by_mixture(
    asked: dict[str, object], declared: Declared, evidence: dict[str, object], limits: Limits
) -> Accepted:
    """Check that alignments of what is mixed, and plans, prove the claim."""
    only_members(evidence, _MEMBERS, "evidence")
    if declared.epsilon is None or declared.delta != 0:
        refuse("a mixture proves one epsilon, without delta", "question")
    source, coins = _coins(asked.get("coins"), declared, limits)
    inner = _with_fields(declared, source, coins)
    classes = _classes(evidence.get("classes"), inner.inputs[source.name], limits)
    records = source.values if any(VALUE in row for rows in classes for row in rows) else None
    if records is None and any(len(coin.laws) > 1 for coin in coins.values()):
        refuse("the coins fall by the record, and the classes do not tell it", "evidence.classes")
    laws = _laws(records, coins, classes)
    factors = _factors(asked, inner, source.name, classes, evidence.get("pairings"), limits)
    ratio = _largest_ratio(evidence.get("plans"), laws, factors, limits, added=declared.relation == ADD_REMOVE)
    if not declared.epsilon.infinite and Epsilon(ratio=ratio).compare(declared.epsilon) > 0:
        refuse(f"the plans need {str(ratio)[:80]}, more than e^epsilon", "evidence.plans")
    size = "every length" if declared.size is None else f"length {declared.size}"
    return Accepted(
        "proved",
        "every set of outputs of runs that end is at most e^epsilon times as likely under any neighbouring inputs, with "
        f"{declared.claimed}; neighbours differ as in {declared.relation!r}, lists of {size}; coins are tossed for every record",
        {"method": "mixture", "classes": len(classes), "pairs": len(factors)},
        upper=Epsilon(ratio=ratio),
    )


def _coins(value: object, declared: Declared, limits: Limits) -> tuple[ProgramInput, dict[str, _Coin]]:
    """The list whose records have coins, and these."""
    source, listed = _source(value, declared)
    place = f"question.coins.{source.name}"
    return source, {name: _coin(item, source, f"{place}.{name}", limits) for name, item in listed.items()}


def _source(value: object, declared: Declared) -> tuple[ProgramInput, dict[str, object]]:
    """The list whose records have coins, and what is said of these."""
    private = declared.private
    given = an_object(value, "question.coins")
    if len(private) != 1 or private[0].shape != "list" or set(given) != {private[0].name}:
        refuse("coins belong to the records of the one private list", "question.coins")
    if declared.relation not in ("one", ADD_REMOVE):
        refuse("coins are for one record that changes", "question.relation")
    source = _list_values(private[0])
    place = f"question.coins.{source.name}"
    listed = an_object(given[source.name], place)
    within(len(listed), _MOST_COINS, "coins", place)
    if not listed:
        refuse("there is no coin", place)
    return source, listed


def _list_values(source: ProgramInput) -> ProgramInput:
    """The same list, with its values one by one where they are whole numbers between bounds."""
    if source.values is not None or source.sort != "int" or source.low is None or source.high is None:
        return source
    low, high = int(source.low.ceil()), int(source.high.floor())
    if high - low >= _MOST_RECORDS:
        return source
    return replace(source, values=tuple(Rational(n) for n in range(low, high + 1)))


def _coin(value: object, source: ProgramInput, place: str, limits: Limits) -> _Coin:
    given = an_object(value, place)
    only_members(given, ("sort", "laws"), place)
    sort = _sort(given, SORTS, place)
    laws = a_list(given.get("laws"), f"{place}.laws")
    if len(laws) != 1 and (source.values is None or len(laws) != len(source.values)):
        refuse("there is one law, or one for every record", f"{place}.laws")
    return _Coin(sort, tuple(_law(law, sort, f"{place}.laws[{i}]", limits) for i, law in enumerate(laws)))


def _sort(given: dict[str, object], among: Sequence[str], place: str) -> str:
    sort = a_text(given.get("sort"), f"{place}.sort")
    if sort not in among:
        refuse(f"{sort[:40]!r} is none of {', '.join(among)}", f"{place}.sort")
    return sort


def with_noise(asked: dict[str, object], declared: Declared) -> Declared:
    """The inputs with the noise that is drawn for every record as fields of the records: any numbers.

    Theorem.  Let the noise of a record have any law that depends on this record and on public inputs alone.  If no set of outputs is more
    than c times as likely under neighbouring lists of records with noise, whatever the noise is, then neither is it where the noise is
    drawn.  For fix the noise of the records that both lists have: its law is the same in both runs.  What holds for every noise of the
    record that changes, in either run, holds for the mixtures.
    """
    source, listed = _source(asked.get("coins"), declared)
    noise = {}
    for name, item in listed.items():
        place = f"question.coins.{source.name}.{name}"
        given = an_object(item, place)
        if "laws" in given:
            refuse("coins with laws are for mixtures", place)
        only_members(given, ("sort",), place)
        noise[name] = _Coin(_sort(given, ("int", "real"), place), ())
    return replace(_with_fields(declared, source, noise), claim=declared.claim)


def _law(value: object, sort: str, place: str, limits: Limits) -> tuple[tuple[Scalar, Rational], ...]:
    found: list[tuple[Scalar, Rational]] = []
    listed = a_list(value, place)
    within(len(listed), limits.symbols, "outcomes", place)
    for i, item in enumerate(listed):
        pair = a_list(item, f"{place}[{i}]")
        if len(pair) != 2:
            refuse("an outcome has a value and a probability", f"{place}[{i}]")
        outcome = scalar(pair[0], sort, f"{place}[{i}][0]", limits)
        probability = a_number(pair[1], f"{place}[{i}][1]", limits)
        if probability <= 0 or any(same(outcome, other) for other, _ in found):
            refuse("an outcome is listed once, with a probability above 0", f"{place}[{i}]")
        found.append((outcome, probability))
    if sum((p for _, p in found), ZERO) != 1:
        refuse("the probabilities do not add up to 1", place)
    return tuple(found)


def _with_fields(declared: Declared, source: ProgramInput, coins: Mapping[str, _Coin]) -> Declared:
    """The inputs with the coins as fields of the records."""
    own = dict(source.fields) or {
        VALUE: replace(source, name=f"{source.name}.{VALUE}", shape="value", within=None, size=None)
    }
    fields = dict(own)
    for name, coin in coins.items():
        if name in fields:
            refuse(f"{name[:40]!r} is a field and a coin", "question.coins")
        outcomes: list[Scalar] = []
        for law in coin.laws:
            outcomes += [value for value, _ in law if not any(same(value, other) for other in outcomes)]
        fields[name] = ProgramInput(
            f"{source.name}.{name}",
            "value",
            coin.sort,
            public=False,
            within=None,
            low=None,
            high=None,
            size=None,
            values=tuple(outcomes) if coin.laws else None,
        )
    made = replace(source, sort=ROW, within=None, low=None, high=None, values=None, fields=fields)
    return replace(declared, inputs={**declared.inputs, source.name: made}, claim=None)


def _classes(value: object, rows: ProgramInput, limits: Limits) -> list[list[Row]]:
    """The classes, each as rows of which some fields are said."""
    listed = a_list(value, "evidence.classes")
    within(len(listed), _MOST_CLASSES, "classes", "evidence.classes")
    result = []
    for i, item in enumerate(listed):
        place = f"evidence.classes[{i}]"
        found = []
        for j, said in enumerate(a_list(item, place)):
            row: Row = {}
            for part, given in an_object(said, f"{place}[{j}]").items():
                if part not in rows.fields:
                    refuse(f"{part[:40]!r} is no field", f"{place}[{j}]")
                row[part] = scalar(given, rows.fields[part].sort, f"{place}[{j}].{part}", limits)
            found.append(row)
        if not found:
            refuse("a class has rows", place)
        result.append(found)
    return result


def _laws(
    records: tuple[Scalar, ...] | None, coins: Mapping[str, _Coin], classes: list[list[Row]]
) -> list[dict[int | None, Rational]]:
    """The probability of every class, for every record, or for all of them."""
    result: list[dict[int | None, Rational]] = []
    known: list[Scalar | None] = [None] if records is None else list(records)
    each = prod(max(map(len, coin.laws)) for coin in coins.values())
    within(each * len(known), _MOST_OUTCOMES, "outcomes of coins", "question.coins")
    for number, record in enumerate(known):
        law: dict[int | None, Rational] = {}
        listed = [coin.laws[number if len(coin.laws) > 1 else 0] for coin in coins.values()]
        for fallen in product(*listed):
            row: Row = dict(zip(coins, (value for value, _ in fallen), strict=True))
            if records is not None:
                row[VALUE] = record
            of = _class_of(row, classes)
            law[of] = law.get(of, ZERO) + prod((p for _, p in fallen), start=ONE)
        result.append(law)
    return result


def _class_of(row: Row, classes: list[list[Row]]) -> int:
    """The class of a row; refuses if it is of none."""
    for number, rows in enumerate(classes):
        if any(all(part in row and same(row[part], value) for part, value in said.items()) for said in rows):
            return number
    refuse("an outcome of the coins is of no class", "evidence.classes")


def _factors(
    asked: dict[str, object],
    inner: Declared,
    name: str,
    classes: list[list[Row]],
    value: object,
    limits: Limits,
) -> dict[tuple[int | None, int | None], Rational]:
    """What the alignments show: a number that is at least e^epsilon for pairs of classes, either way."""
    added = inner.relation == ADD_REMOVE
    found: dict[tuple[int | None, int | None], Rational] = {}
    listed = a_list(value, "evidence.pairings")
    within(len(listed), _MOST_CLASSES**2, "pairings", "evidence.pairings")
    for i, item in enumerate(listed):
        place = f"evidence.pairings[{i}]"
        given = an_object(item, place)
        only_members(given, ("between", "epsilon", "alignment"), place)
        epsilon = read_epsilon(given.get("epsilon"), f"{place}.epsilon", limits)
        if epsilon.infinite:
            refuse("a pair of classes has a finite epsilon", f"{place}.epsilon")
        pairs = [
            _pair(pair, len(classes), f"{place}.between", added=added) for pair in a_list(given.get("between"), place)
        ]
        if not pairs:
            refuse("an alignment is between some classes", f"{place}.between")
        between = tuple((tuple(classes[one]), None if other is None else tuple(classes[other])) for one, other in pairs)
        declared = replace(inner, epsilon=epsilon, change=Change(name, between))
        alignment = an_object(given.get("alignment"), f"{place}.alignment")
        if alignment.get("method") != "alignment":
            refuse("a pairing is shown by an alignment", f"{place}.alignment")
        proved_by_alignment(read_program(asked, declared, limits), alignment, limits)
        most = epsilon.enclosure()[1]
        for one, other in pairs:
            found[one, other] = found[other, one] = most
    return found


def _pair(value: object, count: int, place: str, *, added: bool) -> tuple[int, int | None]:
    pair = a_list(value, place)
    if len(pair) != 2 or (pair[1] is None) != added:
        refuse("a pair has two classes, or one and none where a record is added", place)
    one = _number(pair[0], count, place)
    return one, None if pair[1] is None else _number(pair[1], count, place)


def _number(value: object, count: int, place: str) -> int:
    number = an_integer(value, place)
    if not 0 <= number < count:
        refuse(f"there is no number {number}", place)
    return number


def _largest_ratio(
    value: object,
    laws: list[dict[int | None, Rational]],
    factors: Mapping[tuple[int | None, int | None], Rational],
    limits: Limits,
    *,
    added: bool,
) -> Rational:
    """The largest ratio that the plans need; refuses if a pair of records has none."""
    wanted: set[tuple[int | None, int | None]]
    if added:
        wanted = {pair for n in range(len(laws)) for pair in ((n, None), (None, n))}
    elif len(laws) == 1:
        wanted = {(0, 0)}  # any record, and any other one
    else:
        wanted = {(a, b) for a in range(len(laws)) for b in range(len(laws)) if a != b}
    most = ONE
    absent: dict[int | None, Rational] = {None: ONE}
    for i, item in enumerate(a_list(value, "evidence.plans")):
        place = f"evidence.plans[{i}]"
        given = an_object(item, place)
        only_members(given, ("left", "right", "shares"), place)
        sides = [
            None if given.get(side) is None else _number(given[side], len(laws), place) for side in ("left", "right")
        ]
        pair = (sides[0], sides[1])
        if pair not in wanted:
            refuse("a plan is for two records that are neighbours, and there is one for each", place)
        wanted.remove(pair)
        left, right = (absent if side is None else laws[side] for side in pair)
        most = max(most, _ratio_of_plan(given.get("shares"), left, right, factors, place, limits))
    if wanted:
        refuse("two records that are neighbours have no plan", "evidence.plans")
    return most


def _ratio_of_plan(
    value: object,
    left: Mapping[int | None, Rational],
    right: Mapping[int | None, Rational],
    factors: Mapping[tuple[int | None, int | None], Rational],
    place: str,
    limits: Limits,
) -> Rational:
    """The ratio that a plan needs."""
    given, loads = dict.fromkeys(left, ZERO), dict.fromkeys(right, ZERO)
    for item in a_list(value, f"{place}.shares"):
        share = a_list(item, f"{place}.shares")
        if len(share) != 3:
            refuse("a share has two classes and a number", f"{place}.shares")
        one, other = (None if n is None else an_integer(n, f"{place}.shares") for n in share[:2])
        amount = a_number(share[2], f"{place}.shares", limits)
        if amount < 0 or one not in left or other not in right or (one, other) not in factors:
            refuse("a share goes between classes that are possible and that an alignment compares", f"{place}.shares")
        given[one] += amount
        loads[other] += factors[one, other] * amount
    if given != dict(left):
        refuse("the shares of a class do not add up to its probability", f"{place}.shares")
    return max((load / right[other] for other, load in loads.items()), default=ZERO)
