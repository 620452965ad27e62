"""Versions: variables that are given several values one after the other, with a name for each.

A loop over public keys is written out turn by turn, and every turn gives its variables new values.  Where these belong to one turn, as
do the noisy numbers of which an entry of a table is computed, each value needs a name that it keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from privproof.language.syntax import Assign, Block, Sample, Statement
from privproof.language.walking import statements, with_names, writes


def written_apart(body: Block, names: Collection[str]) -> Block:
    """The body with a name of its own for every value of some variables, as far as they get all of them outside of loops and branches."""
    written = Counter(name for s in statements(body) if (name := writes(s)) is not None)
    straight = Counter(s.name for s in body if isinstance(s, Assign | Sample))
    several = {name for name in names if 1 < written[name] == straight[name]}
    if not several:
        return body
    now: dict[str, str] = {}
    given: Counter[str] = Counter()
    result: list[Statement] = []
    for statement in body:
        if not isinstance(statement, Assign | Sample) or statement.name not in several:
            result += with_names((statement,), now)
            continue
        name = statement.name
        [renamed] = with_names((replace(statement, name=""),), now)
        assert isinstance(renamed, Assign | Sample)
        given[name] += 1
        now[name] = name if given[name] == 1 else f"#{name}.{given[name]}"
        result.append(replace(renamed, name=now[name]))
    return tuple(result)
