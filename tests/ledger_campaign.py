"""Processes that spend at once from one ledger, are killed at random moments, and are begun again.

Every attempt is written down before it is made, and its outcome after the ledger has told it, each in one append to a file of the
process: what was written survives its death.  Whatever was killed and when, the ledger must hold every spending that was acknowledged,
none that was refused, none that nobody asked for and none twice, never more than the budget, and its chain must be whole.

``python -m tests.ledger_campaign ADDRESS`` makes a ledger there and runs the whole campaign: 50 processes, 10,000 attempts.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from privproof.errors import BudgetError, FormatError
from privproof.release import Ledger

FORK = multiprocessing.get_context("fork")
COST = "1/100"
_BETWEEN = 0.1
"""Seconds between two kills, at most: a process has time for some attempts before it is killed."""
_COUNTED = 20
"""Kills between two looks at how many attempts there were, because all that was written down is read then."""


@dataclass(frozen=True)
class Size:
    """How large a campaign is: at least so many attempts, at least so many kills."""

    processes: int
    attempts: int
    kills: int
    budget: int


WHOLE = Size(50, 10_000, 500, 40)
SMALL = Size(4, 120, 20, 1)


def spend_until_told(address: str, folder: Path, number: int) -> None:
    """Spend until there is a file called ``stop``."""
    log = os.open(folder / f"{number}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    ledger = Ledger(address, wait=300)
    turn = 0
    while not (folder / "stop").exists():
        note = f"{number}.{turn}"
        turn += 1
        os.write(log, f"try {note}\n".encode())
        try:
            ledger.spend(epsilon=COST, note=note)
        except BudgetError:
            os.write(log, f"no {note}\n".encode())
        except FormatError as problem:
            os.write(log, f"error {note} {problem.message}\n".encode())
        else:
            os.write(log, f"ok {note}\n".encode())


def told(folder: Path) -> dict[str, list[str]]:
    """The notes of attempts by what was written about them."""
    found: dict[str, list[str]] = {"try": [], "ok": [], "no": [], "error": []}
    for path in folder.glob("*.log"):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, note = line.split(" ")[:2]
            found[kind].append(note)
    return found


def run_campaign(address: str, folder: Path, size: Size, *, seed: int = 7) -> dict[str, int]:
    """Run a campaign on a ledger that is there; how many attempts, acknowledgements, refusals, errors and kills there were."""
    source, running, kills = random.Random(seed), {}, 0

    def begin(number: int) -> None:
        running[number] = FORK.Process(target=spend_until_told, args=(address, folder, number))
        running[number].start()

    for number in range(size.processes):
        begin(number)
    while kills < size.kills or kills % _COUNTED or len(told(folder)["try"]) < size.attempts:
        time.sleep(source.random() * _BETWEEN)
        victim = source.choice(list(running))
        with suppress(ProcessLookupError):
            os.kill(running[victim].pid, signal.SIGKILL)
        running.pop(victim).join()
        begin(size.processes + kills)
        kills += 1
    (folder / "stop").touch()
    for each in running.values():
        each.join()
    return {kind: len(notes) for kind, notes in told(folder).items()} | {"kills": kills}


def examine_campaign(ledger: Ledger, folder: Path, size: Size) -> list[str]:
    """What is wrong after a campaign."""
    entries = [entry for entry in ledger.history() if entry.kind == "spent"]
    notes, outcome = Counter(entry.body["note"] for entry in entries), told(folder)
    spent = sum((Fraction(str(entry.cost.epsilon)) for entry in entries), Fraction(0))
    wrong = [f"{note} was acknowledged and is not there" for note in outcome["ok"] if note not in notes]
    wrong += [f"{note} was refused and is there" for note in outcome["no"] if note in notes]
    wrong += [f"{note} is there {many} times" for note, many in notes.items() if many > 1]
    wrong += [f"nobody asked for {note}" for note in notes.keys() - set(outcome["try"])]
    if spent > size.budget:
        wrong.append(f"{spent} was spent of {size.budget}")
    return [*wrong, *ledger.verify().problems]


def main() -> None:
    """Run the whole campaign, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    for name in ("processes", "attempts", "kills", "budget"):
        parser.add_argument(f"--{name}", type=int, default=getattr(WHOLE, name))
    given = vars(parser.parse_args())
    address = given.pop("address")
    size = Size(**given)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(address, epsilon=size.budget)
        found = run_campaign(address, Path(folder), size)
        wrong = examine_campaign(ledger, Path(folder), size)
    entries = sum(entry.kind == "spent" for entry in ledger.history())
    print(json.dumps({**found, "entries": entries, "seconds": round(time.perf_counter() - begun), "wrong": wrong}))


if __name__ == "__main__":
    main()
