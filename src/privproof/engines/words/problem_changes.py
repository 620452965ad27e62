"""Words with few changed inputs: the same problem with a counter of changes in its locations."""

from __future__ import annotations

from dataclasses import replace

from privproof.models import Horizon, Location, WordProblem


def limit_changes(problem: WordProblem, most: int, horizon: Horizon) -> WordProblem:
    """The problem restricted to words that change at most `most` inputs, under another horizon."""
    numbers: dict[tuple[int, int], int] = {}
    waiting: list[tuple[int, int]] = []

    def number(location: int, count: int) -> int:
        if (location, count) not in numbers:
            numbers[location, count] = len(numbers)
            waiting.append((location, count))
        return numbers[location, count]

    starts = tuple(replace(start, location=number(start.location, 0)) for start in problem.starts)
    built: dict[int, Location] = {}
    while waiting:
        location, count = waiting.pop()
        place = problem.locations[location]
        edges = tuple(
            replace(edge, target=number(edge.target, count + edge.letter.changed))
            for edge in place.edges
            if count + edge.letter.changed <= most
        )
        built[numbers[location, count]] = replace(place, edges=edges)
    return WordProblem(tuple(built[i] for i in range(len(built))), starts, horizon, problem.common)
