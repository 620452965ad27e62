"""An oracle for path formulas on decision processes: a tableau, Safra's determinisation, and the Rabin condition on end components.

Nothing of it is used by the engine or the checker, which have no automata on infinite words.  The formula becomes a Büchi automaton
whose states are sets of formulas that are still to hold (Gerth, Peled, Vardi and Wolper 1995); Safra's trees (1988) make a
deterministic Rabin automaton of it; and the largest probability of a Rabin condition is that of reaching an end component that
satisfies one of its pairs (de Alfaro 1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from privproof.exact import fraction
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import And, Atom, Formula, Implies, NextState, Not, Or, Truth, Unary, Until

F = tuple  # ("lit", name, truth) ("true",) ("false",) ("and", f, g) ("or", f, g) ("X", f) ("U", f, g) ("R", f, g)


def positive(formula: Formula, truth: bool = True) -> F:
    match formula:
        case Truth(value):
            return ("true",) if value == truth else ("false",)
        case Atom(name):
            return ("lit", name, truth)
        case Not(inner):
            return positive(inner, not truth)
        case And(parts) | Or(parts):
            sign = "and" if isinstance(formula, And) == truth else "or"
            found = [positive(part, truth) for part in parts]
            result = found[-1]
            for part in reversed(found[:-1]):
                result = (sign, part, result)
            return result
        case Implies(left, right):
            return positive(Or((Not(left), right)), truth)
        case NextState(inner, times):
            result = positive(inner, truth)
            for _ in range(times.constant):
                result = ("X", result)
            return result
        case Unary(operator, inner):
            goal = positive(inner, truth)
            return ("U", ("true",), goal) if (operator == "F") == truth else ("R", ("false",), goal)
        case Until(operator, left, right):
            if operator == "W":  # f W g is g R (f | g)
                return positive(Until("R", right, Or((left, right))), truth)
            return ("U" if (operator == "U") == truth else "R", positive(left, truth), positive(right, truth))
    raise AssertionError(formula)


class Way(NamedTuple):
    """What is read and what is still to hold, and which untils were put off."""

    literals: frozenset[tuple[str, bool]]
    later: frozenset[F]
    put_off: frozenset[F]


def ways(todo: list[F], way: Way) -> Iterator[Way]:
    if not todo:
        yield way
        return
    first, rest = todo[0], todo[1:]
    match first:
        case ("true",):
            yield from ways(rest, way)
        case ("false",):
            return
        case ("lit", name, truth):
            if (name, not truth) not in way.literals:
                yield from ways(rest, way._replace(literals=way.literals | {(name, truth)}))
        case ("and", f, g):
            yield from ways([f, g, *rest], way)
        case ("or", f, g):
            yield from ways([f, *rest], way)
            yield from ways([g, *rest], way)
        case ("X", f):
            yield from ways(rest, way._replace(later=way.later | {f}))
        case ("U", f, g):
            yield from ways([g, *rest], way)
            postponed = way._replace(later=way.later | {first}, put_off=way.put_off | {first})
            yield from ways([f, *rest], postponed)
        case ("R", f, g):
            yield from ways([f, g, *rest], way)
            yield from ways([g, *rest], way._replace(later=way.later | {first}))


def untils(formula: F) -> list[F]:
    found: dict[F, None] = {}
    waiting = [formula]
    while waiting:
        f = waiting.pop()
        if f[0] == "U":
            found[f] = None
        waiting.extend(part for part in f[1:] if isinstance(part, tuple))
    return list(found)


class Buchi:
    """States (what is to hold, how many untils in turn were met): accepting where a whole turn is done."""

    def __init__(self, formula: F) -> None:
        self.order = untils(formula)
        self.start = (frozenset([formula]), 0)
        self._ways: dict[frozenset[F], set[Way]] = {}

    def accepting(self, state: tuple[frozenset[F], int]) -> bool:
        return state[1] == len(self.order)

    def after(self, state: tuple[frozenset[F], int], letter: frozenset[str]) -> set[tuple[frozenset[F], int]]:
        held, turn = state
        turn = 0 if turn == len(self.order) else turn
        if held not in self._ways:
            self._ways[held] = set(ways(sorted(held, key=repr), Way(frozenset(), frozenset(), frozenset())))
        found = set()
        for way in self._ways[held]:
            if all((name in letter) == truth for name, truth in way.literals):
                met = turn
                while met < len(self.order) and self.order[met] not in way.put_off:
                    met += 1
                found.add((way.later, met))
        return found


class Tree(NamedTuple):
    """A node of a Safra tree: its name, its states, its children from old to young, and whether it was just folded."""

    name: int
    states: frozenset[object]
    children: tuple[Tree, ...]
    folded: bool


def names(tree: Tree | None) -> dict[int, bool]:
    """The names in a tree, each with whether it was just folded."""
    if tree is None:
        return {}
    result = {tree.name: tree.folded}
    for child in tree.children:
        result |= names(child)
    return result


def stepped(tree: Tree | None, letter: frozenset[str], automaton: Buchi) -> Tree | None:
    """The next Safra tree."""
    used = set(names(tree))

    def fresh() -> int:
        name = next(i for i in range(len(used) + 1) if i not in used)
        used.add(name)
        return name

    def grown(node: Tree) -> Tree:
        children = tuple(grown(child) for child in node.children)
        good = frozenset(state for state in node.states if automaton.accepting(state))
        if good:
            children += (Tree(fresh(), good, (), folded=False),)
        return node._replace(children=children)

    def moved(node: Tree) -> Tree:
        states = frozenset(after for state in node.states for after in automaton.after(state, letter))
        return Tree(node.name, states, tuple(moved(child) for child in node.children), folded=False)

    def without(node: Tree, gone: frozenset[object]) -> Tree:
        return node._replace(states=node.states - gone, children=tuple(without(child, gone) for child in node.children))

    def merged(node: Tree) -> Tree | None:
        if not node.states:
            return None
        seen: frozenset[object] = frozenset()
        kept = []
        for child in node.children:
            rest = merged(without(child, seen))
            seen |= child.states
            if rest is not None:
                kept.append(rest)
        together = frozenset().union(*(child.states for child in kept))
        if together == node.states:
            return Tree(node.name, node.states, (), folded=True)
        return node._replace(children=tuple(kept))

    return None if tree is None else merged(moved(grown(tree)))


def largest(process: DecisionProcess, formula: Formula) -> list[Fraction]:
    """The largest probability of a path formula whose atoms are labels, from every state."""
    automaton = Buchi(positive(formula))
    first = Tree(0, frozenset([automaton.start]), (), folded=False)
    nodes: list[tuple[int, Tree | None]] = [(s, first) for s in range(len(process))]
    number = {node: i for i, node in enumerate(nodes)}
    rows: list[list[dict[int, Fraction]]] = []
    letters = [frozenset(name for name, marks in process.labels.items() if marks[s]) for s in range(len(process))]
    known: dict[tuple[Tree | None, frozenset[str]], Tree | None] = {}
    while len(rows) < len(nodes):
        state, tree = nodes[len(rows)]
        key = (tree, letters[state])
        if key not in known:
            known[key] = stepped(*key, automaton)
        own = []
        for choice in range(*process.choices[state : state + 2].tolist()):
            row = {}
            for target, p in process.entries(choice):
                node = (target, known[key])
                if node not in number:
                    number[node] = len(nodes)
                    nodes.append(node)
                row[number[node]] = fraction(p)
            own.append(row)
        rows.append(own)
    good: set[int] = set()
    for name in {name for _, tree in nodes for name in names(tree)}:
        for part in ends(rows, {i for i, (_, tree) in enumerate(nodes) if name in names(tree)}):
            if any(names(nodes[i][1])[name] for i in part):
                good |= part
    return reaching(rows, good)[: len(process)]


def ends(rows: list[list[dict[int, Fraction]]], among: set[int]) -> list[set[int]]:
    """The maximal end components among some nodes: those that reach each other by choices that stay."""
    parts, waiting = [], [among]
    while waiting:
        inside = waiting.pop()
        while True:
            kept = {i for i in inside if any(set(row) <= inside for row in rows[i])}
            if kept == inside:
                break
            inside = kept
        if not inside:
            continue
        reach = {}
        for i in inside:
            seen, todo = {i}, [i]
            while todo:
                for row in rows[todo.pop()]:
                    if set(row) <= inside:
                        todo.extend(set(row) - seen)
                        seen |= set(row)
            reach[i] = seen
        one = next(iter(inside))
        group = {i for i in reach[one] if one in reach[i]}
        if group == inside:
            parts.append(inside)
        else:
            waiting += [group, inside - group]
    return parts


def reaching(rows: list[list[dict[int, Fraction]]], goal: set[int]) -> list[Fraction]:
    """The largest probability of reaching a goal: improve a policy that gets there from wherever one can."""
    size = len(rows)
    distance = dict.fromkeys(goal, 0)
    policy: dict[int, dict[int, Fraction]] = {}
    while True:
        more = {i: row for i in range(size) if i not in distance for row in rows[i] if set(row) & distance.keys()}
        if not more:
            break
        policy |= more
        distance |= dict.fromkeys(more, 1)
    open_ = sorted(policy)
    while True:
        values = _solved(policy, open_, goal)
        better = {
            i: row for i in open_ for row in rows[i] if sum(p * values.get(t, 0) for t, p in row.items()) > values[i]
        }
        if not better:
            return [values.get(i, Fraction(0)) for i in range(size)]
        policy |= better


def _solved(policy: dict[int, dict[int, Fraction]], open_: list[int], goal: set[int]) -> dict[int, Fraction]:
    place = {node: i for i, node in enumerate(open_)}
    matrix = []
    for node in open_:
        line = [Fraction(0)] * (len(open_) + 1)
        line[place[node]] += 1
        for target, p in policy[node].items():
            if target in place:
                line[place[target]] -= p
            elif target in goal:
                line[-1] += p
        matrix.append(line)
    for i in range(len(matrix)):
        pivot = next(k for k in range(i, len(matrix)) if matrix[k][i] != 0)
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [x / matrix[i][i] for x in matrix[i]]
        for k in range(len(matrix)):
            if k != i and matrix[k][i]:
                factor = matrix[k][i]
                matrix[k] = [x - factor * y for x, y in zip(matrix[k], matrix[i], strict=True)]
    return {node: matrix[i][-1] for node, i in place.items()} | dict.fromkeys(goal, Fraction(1))
