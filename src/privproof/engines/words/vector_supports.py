"""Words that one side can produce and the other cannot: no epsilon allows them, whatever the probabilities.

Only supports matter: which single state the left side may be in, and which states the right side may be in.  A smaller right support is
worse, so only minimal ones are kept.
"""

from __future__ import annotations

from collections import deque

from privproof.models import Letter, Word, WordProblem


def impossible_word(problem: WordProblem, *, most: int = 50_000) -> Word | None:
    """The shortest word with positive probability on the left and none on the right; None if there is none (or none was found)."""
    queue: deque[tuple[int, int, frozenset[int], int, tuple[Letter, ...]]] = deque()
    kept: dict[tuple[int, int], list[frozenset[int]]] = {}
    for number, start in enumerate(problem.starts):
        right = frozenset(i for i, p in enumerate(start.right) if p != 0)
        for state, p in enumerate(start.left):
            if p != 0:
                queue.append((start.location, state, right, number, ()))
    onward: dict[tuple[int, int, frozenset[int]], frozenset[int]] = {}
    looked_at = 0
    while queue and looked_at < most:
        looked_at += 1
        location, state, support, number, letters = queue.popleft()
        for e, edge in enumerate(problem.locations[location].edges):
            row = edge.left.rows[state]
            if not row:
                continue
            key = (location, e, support)
            if key not in onward:
                onward[key] = frozenset(column for i in support for column, _ in edge.right.rows[i])
            after, word = onward[key], (*letters, edge.letter)
            for target, _ in row:
                others = kept.setdefault((edge.target, target), [])
                if any(smaller <= after for smaller in others):
                    continue
                others[:] = [other for other in others if not after <= other]
                others.append(after)
                if problem.horizon.counts(len(word)):
                    for final in problem.locations[edge.target].finals:
                        if final.left[target] != 0 and not any(final.right[i] != 0 for i in after):
                            return problem.word(number, word, final=final.name)
                if problem.horizon.goes_on(len(word)):
                    queue.append((edge.target, target, after, number, word))
    return None
