"""A campaign against the checker, with the certificates that a run of the suite left.

``PRIVPROOF_KEPT_CERTIFICATES=FOLDER make test test-long`` leaves them; ``python -m tests.checker_campaign FOLDER`` then

* has all of them checked in interpreters that cannot import privproof: all must be accepted, and fit the schema;
* brings together what they say of one question: no lower bound may be above an upper bound;
* asks falsely.  Where a question has a lower bound on its epsilon, a smaller one is claimed to be proved; where it has an upper bound, this
  one is claimed to be refuted.  The facts are the true ones, those of another document, or changed at random: numbers, texts and truth
  values exchanged, members and entries left out, doubled, moved or taken from elsewhere, facts exchanged, reordered and doubled, their
  uses and claims changed.  Nothing of that may be accepted;
* spoils the order of facts of what is true: circles, later facts used, facts used twice or not at all, facts and hints that are left out.
  Nothing of that may be accepted either;
* leaves members out of hints for what is true, one by one, and tells which ones are not missed.

What breaks off in an unforeseen way is rejected, too, and counted.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from time import process_time
from typing import Any

from jsonschema import Draft202012Validator

import privproof_checker
from privproof_checker import Accepted, recheck
from privproof_checker.numbers import epsilon, rational
from privproof_checker.rules import RULES

SCHEMA = Draft202012Validator(
    json.loads(files("privproof_checker").joinpath("certificate.schema.json").read_text(encoding="utf-8"))
)
ALONE = """
import sys
sys.modules["privproof"] = None
sys.path.insert(0, sys.argv[1])
from privproof_checker.__main__ import main
status = main(sys.argv[2:])
assert not [name for name in sys.modules if name.startswith("privproof.") or name in ("z3", "cvc5", "scipy")]
sys.exit(status)
"""
"""A program that checks certificates without privproof; the first argument is the folder of the checker's package."""
TOGETHER = 40
"""Documents that one interpreter checks: it starts in a fifth of a second."""
LONGEST = 0.3
"""Documents that take longer, in seconds, are checked as they are, and not changed again and again."""
_LARGEST = 300_000
"""The same for documents of more characters: to copy them takes as long."""
NEEDED: dict[str, set[str]] = defaultdict(set)
for (_, _name), _rule in RULES.items():
    NEEDED[_name] |= {name for name, field_ in _rule.hint.fields.items() if not field_.optional}
"""The fields that hints of a rule must have."""
_COMPILED = ("code", "sorts", "lists", "coins")
"""What a question about a program has from the compiler."""


def check_alone(files: Sequence[Path]) -> subprocess.CompletedProcess[str]:
    """What the checker says of certificates in an interpreter that cannot import privproof."""
    folder = Path(privproof_checker.__file__).parents[1]
    command = [sys.executable, "-c", ALONE, str(folder), *map(str, files)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@dataclass(frozen=True)
class Kept:
    """A document, with what the checker finds that it establishes.

    Attributes:
        path: the file.
        topic: the question without its epsilon and its title.
        kind: the kind of question and the method.
        lower, upper: bounds on the tight epsilon, if there are some.
        seconds: how long the check takes.
    """

    path: Path
    topic: str
    kind: str
    lower: str | None
    upper: str | None
    seconds: float


@dataclass
class Found:
    """What came of changed documents."""

    tried: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    accepted: list[str] = field(default_factory=list)
    not_missed: Counter[str] = field(default_factory=Counter)


def survey(path: Path) -> Kept | str:
    """A document's topic and bounds, or why it is not accepted."""
    document = json.loads(path.read_text(encoding="utf-8"))
    begun = process_time()
    outcome = recheck(document)
    if not isinstance(outcome, Accepted):
        return f"{path}: {outcome.place}: {outcome.reason}"
    claimed = ("epsilon", "title", "claim") if _is_one(document["question"]) else ("title",)
    asked = {name: part for name, part in document["question"].items() if name not in claimed}
    if asked["kind"] == "program" and "source" in asked:  # what a compiler made of it differs from proof to refutation
        asked = {name: part for name, part in asked.items() if name not in _COMPILED} | {
            "source": asked["source"]["program"]
        }
    kind = f"{asked.get('kind')} {outcome.how.get('method')} {outcome.verdict}"
    if unfit := next(SCHEMA.iter_errors(document), None):
        return f"{path}: {unfit.json_path}: {unfit.message[:200]}"
    bounds = [
        None if bound is None or "epsilon" not in claimed else str(bound) for bound in (outcome.lower, outcome.upper)
    ]
    return Kept(path, json.dumps(asked, sort_keys=True), kind, bounds[0], bounds[1], process_time() - begun)


def _is_one(question: dict[str, Any]) -> bool:
    """Whether a question claims one epsilon, and not one that grows with public numbers."""
    return "epsilon" in question and not question.get("claim", {}).get("terms")


def _claiming(question: dict[str, Any], claimed: str) -> dict[str, Any]:
    """A question that claims another epsilon."""
    again = {"claim": {**question["claim"], "constant": claimed}} if "claim" in question else {}
    return {**question, "epsilon": claimed, **again}


def contradictions(kept: Sequence[Kept]) -> Iterator[str]:
    """Questions of which one document says at least, and another one at most, less."""
    for each in by_topic(kept).values():
        lower, upper = _bounds(each)
        if lower and upper and epsilon(lower.lower or "").compare(epsilon(upper.upper or "")) > 0:
            yield f"{lower.path}: at least {lower.lower}; {upper.path}: at most {upper.upper}"


def by_topic(kept: Sequence[Kept]) -> dict[str, list[Kept]]:
    """The documents about each question."""
    found = defaultdict(list)
    for each in kept:
        found[each.topic].append(each)
    return dict(found)


def _bounds(kept: Sequence[Kept]) -> tuple[Kept | None, Kept | None]:
    """The document with the largest lower bound and that with the smallest upper one, both above 0 and finite."""
    lower, upper = None, None
    for each in kept:
        least = "0" if lower is None else lower.lower or "0"
        least = "0" if lower is None else lower.lower or "0"
        if each.lower and epsilon(each.lower).compare(epsilon(least)) > 0:
            lower = each
        most = "inf" if upper is None else upper.upper or "inf"
        if each.upper and epsilon(each.upper).compare(epsilon(most)) < 0:
            upper = each
    return lower, upper


def attack(each: Kept, others: Sequence[Kept], mutants: int, seed: int) -> Found:
    """Ask falsely about the question of a document, with evidence of all sorts."""
    chance = random.Random(f"{seed} {each.path.name}")
    document = json.loads(each.path.read_text(encoding="utf-8"))
    lower, upper = _bounds(others)
    false = []
    if lower is not None and (less := below(lower.lower or "")) is not None:
        false.append(("proved", less))
    if upper is not None:
        false.append(("refuted", upper.upper or ""))
    pool = [json.loads(other.path.read_text(encoding="utf-8"))["facts"] for other in others[:6]]
    found = Found()
    for verdict, claimed in false:
        question = _claiming(document["question"], claimed)
        asked = alone({**document, "question": question}, verdict)
        _try(found, asked, f"{each.path.name} {verdict} {claimed}: as it is")
        whole = {**document, "question": question, "facts": _turned(document["facts"], verdict)}
        _try(found, whole, f"{each.path.name} {verdict} {claimed}: with what is beside it")
        for i, facts in enumerate(pool):
            _try(found, {**whole, "facts": _turned(facts, verdict)}, f"{each.path.name} {verdict} {claimed}: facts {i}")
        for i in range(mutants):
            changed = copy.deepcopy(whole if chance.random() < 0.4 else asked)
            told = mutate(changed, pool, chance)
            _try(found, changed, f"{each.path.name} {verdict} {claimed}: mutant {i}: {told}", verdict)
    for told, facts in spoilt(document["facts"]):
        _try(found, {**document, "facts": facts}, f"{each.path.name}: {told}")
    for number, fact in enumerate(document["facts"]):
        for name in fact.get("hint", ()):
            less = {**fact, "hint": {m: part for m, part in fact["hint"].items() if m != name}}
            if isinstance(recheck({**document, "facts": _with(document["facts"], number, less)}), Accepted):
                found.not_missed[f"{each.kind}: {fact['rule']}.{name}"] += 1
    return found


def alone(document: dict[str, Any], verdict: str) -> dict[str, Any]:
    """The evidence of a document without what stands beside it, but for the text, with another verdict."""
    facts = [dict(fact) for fact in document["facts"]]
    if facts[-1]["rule"] != "verdict":
        return {**document, "facts": _turned(facts, verdict)}
    main, *others = facts[-1]["uses"]
    facts[main] = {**facts[main], "claim": verdict}
    source = [number for number in others if facts[number]["claim"] == "source"]
    uses, waiting = set(), [main, *source]
    while waiting:
        uses.add(number := waiting.pop())
        waiting += facts[number].get("uses", [])
    places = {number: place for place, number in enumerate(sorted(uses))}
    kept = [{**facts[n], "uses": [places[use] for use in facts[n].get("uses", [])]} for n in sorted(uses)]
    last = {"rule": "verdict", "claim": verdict, "uses": [places[number] for number in (main, *source)]}
    return {**document, "facts": [*kept, last]}


def _turned(facts: list[dict[str, Any]], verdict: str) -> list[dict[str, Any]]:
    return [*facts[:-1], {**facts[-1], "claim": verdict}]


def _with(facts: list[dict[str, Any]], number: int, fact: dict[str, Any]) -> list[dict[str, Any]]:
    return [*facts[:number], fact, *facts[number + 1 :]]


def spoilt(facts: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """True facts in a form that is none: each must be rejected, whatever is true."""
    last = len(facts) - 1
    for number, fact in enumerate(facts):
        uses = fact.get("uses", [])
        for other, told in (
            (number, "itself"),
            (last + 1, "none"),
            (-1, "a number below 0"),
            (min(last, number + 1), "a later one"),
        ):
            if other != number or told == "itself":
                yield f"fact {number} uses {told}", _with(facts, number, {**fact, "uses": [*uses, other]})
        if uses:
            yield f"fact {number} uses one twice", _with(facts, number, {**fact, "uses": [*uses, uses[0]]})
            yield (
                f"fact {number} uses nothing",
                _with(facts, number, {name: fact[name] for name in fact if name != "uses"}),
            )
        if number < last:
            yield f"fact {number} is left out", [*facts[:number], *facts[number + 1 :]]
            doubled = [
                {**each, "uses": [use + (use > number) for use in each.get("uses", [])]} for each in facts[number + 1 :]
            ]
            yield f"fact {number} stands twice", [*facts[: number + 1], copy.deepcopy(fact), *doubled]
            yield f"fact {number} is the last one", [*facts, fact]
        if set(fact.get("hint", ())) & NEEDED.get(fact["rule"], set()):
            yield (
                f"fact {number} has no hint",
                _with(facts, number, {name: fact[name] for name in fact if name != "hint"}),
            )
        yield f"fact {number} has a member more", _with(facts, number, {**fact, "trust": "me"})
        yield (
            f"fact {number} has more in its hint",
            _with(facts, number, {**fact, "hint": {**fact.get("hint", {}), "trust": "me"}}),
        )
        yield (
            f"fact {number} claims nothing",
            _with(facts, number, {name: fact[name] for name in fact if name != "claim"}),
        )
        yield f"fact {number} has no rule", _with(facts, number, {**fact, "rule": "belief"})


def below(bound: str) -> str | None:
    """An epsilon that is smaller than a bound, by a thousandth at least; None if that can't be written."""
    value = epsilon(bound)
    if value.infinite:
        return "1000"
    low = rational(0)
    for power in range(12, -13, -1):  # the binary digits of the bound, so far as a thousandth is left
        step = rational(2) ** power if power >= 0 else 1 / rational(2) ** -power
        if epsilon(str((low + step) * rational(1001) / 1000)).compare(value) < 0:
            low += step
    return str(low) if low > 0 else None


def _try(found: Found, document: dict[str, Any], told: str, verdict: str | None = None) -> None:
    """Check a document that must not be accepted, or not with this verdict: facts taken whole from another one may turn it, and be true."""
    found.tried += 1
    outcome = recheck(document)
    if isinstance(outcome, Accepted) and verdict in (None, outcome.verdict):
        found.accepted.append(f"{told}: {outcome.statement}")
    elif not isinstance(outcome, Accepted) and outcome.place == "checker":
        found.broken[outcome.reason[:120]] += 1


def mutate(document: dict[str, Any], pool: Sequence[Any], chance: random.Random) -> str:
    """Change the facts of a document in one to four places; what was done."""
    told = []
    facts = document["facts"]
    for _ in range(chance.choice((1, 1, 2, 4))):
        if len(facts) > 1 and chance.random() < 0.3:
            told.append(_rearrange(facts, chance))
            continue
        places = list(_places(document, "facts"))
        holder, key = chance.choice(places)
        told.append(f"{key} {_change(holder, key, places, pool, chance)}")
        if not isinstance(document["facts"], list) or not document["facts"]:
            break
        facts = document["facts"]
    return ", ".join(told)


def _rearrange(facts: list[Any], chance: random.Random) -> str:
    """Exchange facts, or what they claim, use or hint at."""
    i, j = chance.sample(range(len(facts)), 2)
    one, other = facts[i], facts[j]
    what = chance.choice(("facts", "claim", "uses", "hint", "rule", "again"))
    if what == "again":
        facts.insert(i, copy.deepcopy(other))
    elif what == "facts" or not isinstance(one, dict) or not isinstance(other, dict):
        facts[i], facts[j] = other, one
    else:
        here, there = one.pop(what, None), other.pop(what, None)
        one.update({} if there is None else {what: there})
        other.update({} if here is None else {what: here})
    return f"{what} of {i} and {j} exchanged"


def _places(holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in a value, as its holder and its key there."""
    yield holder, key
    value = holder[key]
    for inner in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _places(value, inner)


def _change(holder: Any, key: Any, places: list[tuple[Any, Any]], pool: Sequence[Any], chance: random.Random) -> str:
    value = holder[key]
    if isinstance(value, str | int | bool) and chance.random() < 0.8:
        holder[key] = _other(value, chance)
        return f"is {holder[key]!r:.40}"
    what = chance.choice(("left out", "doubled", "moved", "from elsewhere", "from another", "emptied"))
    if what == "left out" and not isinstance(holder, dict | list):
        what = "emptied"
    if what == "left out" and key != "facts":
        del holder[key]
    elif what == "doubled" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif what == "moved" and isinstance(value, list):
        chance.shuffle(value)
    elif what == "from elsewhere":
        other, there = chance.choice(places)
        if (isinstance(other, dict) and there not in other) or (isinstance(other, list) and there >= len(other)):
            return "not changed"
        holder[key] = copy.deepcopy(other[there])
    elif what == "from another" and pool:
        other, there = chance.choice(list(_places({"facts": chance.choice(pool)}, "facts")))
        holder[key] = copy.deepcopy(other[there])
    elif isinstance(value, dict | list):
        holder[key] = type(value)()
    return what


def _other(value: str | int | bool, chance: random.Random) -> object:
    """Another value of the same sort."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((value + 1, value - 1, -value, 0, 1, 2 * value, 10**9, 10**40))
    try:
        number = rational(value)
    except (ValueError, TypeError, ZeroDivisionError, ArithmeticError):
        return chance.choice((value + " ", value[:-1], value[::-1], "0", "", "inf", "ln(2)", None))
    factor = rational(chance.choice(("0", "-1", "1/2", "2", "999/1000", "1001/1000", "1/1000", "1000")))
    return chance.choice((str(number * factor), str(number + 1), str(1 - number), "inf", "1/0"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.checker_campaign", description="Attack the checker.")
    parser.add_argument("folder", type=Path, help="where the certificates are")
    parser.add_argument("--mutants", type=int, default=10, help="changed documents for each false claim (default: 10)")
    parser.add_argument("--most", type=int, default=None, help="documents, at most (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    files = sorted(given.folder.glob("*.json"))[: given.most]
    problems: list[str] = []
    with ProcessPoolExecutor(given.jobs) as workers:
        chunks = [files[i : i + TOGETHER] for i in range(0, len(files), TOGETHER)]
        for done in workers.map(check_alone, chunks):
            problems += [line for line in done.stdout.splitlines() if line.startswith("rejected")]
            problems += done.stderr.splitlines()[-1:]
        print(f"{len(files)} documents without privproof: {len(problems)} problems", flush=True)
        seen = list(workers.map(survey, files, chunksize=8))
        kept = [each for each in seen if isinstance(each, Kept)]
        problems += [f"rejected  {each}" for each in seen if isinstance(each, str)]
        topics = by_topic(kept)
        problems += (against := list(contradictions(kept)))
        print(f"{len(topics)} questions, of which {len(against)} contradict themselves", flush=True)
        small = [e for e in kept if e.seconds <= LONGEST and e.path.stat().st_size <= _LARGEST]
        run = partial(attack, mutants=given.mutants, seed=given.seed)
        total = Found()
        for found in workers.map(run, small, [topics[each.topic] for each in small], chunksize=4):
            total.tried += found.tried
            total.broken += found.broken
            total.accepted += found.accepted
            total.not_missed += found.not_missed
    print(f"{total.tried} false documents of {len(small)}: {len(total.accepted)} accepted", flush=True)
    for told, times in total.broken.most_common():
        print(f"broke off {times} times: {told}")
    for told, times in sorted(total.not_missed.items()):
        print(f"not missed {times} times: {told}")
    for told in problems + total.accepted:
        print(f"PROBLEM {told}")
    return 1 if problems or total.accepted else 0


if __name__ == "__main__":
    sys.exit(main())
