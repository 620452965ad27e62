"""How the modules of a PRISM model run together: ``system ... endsystem``, and without it all in parallel.

What the modules do at once is a `Joint`: commands of some modules, one of each, under one action.  A module by itself has one joint for
each of its actions and one for its commands without an action.  Then

* ``A || B``: an action that both know needs a joint of each; any other, and those without an action, go on by themselves;
* ``A ||| B``: all go on by themselves;
* ``A |[a,b]| B``: the actions listed need a joint of each, also where one side has none, and then never happen; the others go on;
* ``A / {a}``: what was called ``a`` has no action any more; ``A {a<-b}``: what was called ``a`` is called ``b``, all at once.

Hidden actions are no longer known, renamed ones are known by the new name.  Hiding and renaming bind tightest; other operators are put in
parentheses where they differ, for PRISM does not say which binds more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from privproof.logic.prism.prism_expressions import DEEPEST, FUNCTIONS
from privproof.logic.prism.prism_tokens import PrismSource, PrismTokens

_MOST_JOINTS = 100_000
"""Ways in which modules act at once; beyond, the composition is refused, for each is tried in every state."""


class Joint(NamedTuple):
    """What modules do at once: the action (empty for none), and for each module that takes part what it calls the action itself."""

    action: str
    parts: tuple[tuple[str, str], ...]


class CompositionTerm(NamedTuple):
    """An expression of the composition.

    Attributes:
        op: ``module``, ``system`` (another one, by its name), ``||``, ``|||``, ``|[]|``, ``/`` or ``<-``.
        args: the operands.
        names: the name of a module or system; the actions of ``|[]|`` and ``/``; of ``<-`` old and new names in turn.
        at: where it stands.
    """

    op: str
    args: tuple[CompositionTerm, ...]
    names: tuple[str, ...]
    at: int


class _Composed(NamedTuple):
    alphabet: frozenset[str]
    joints: tuple[Joint, ...]


def read_term(reader: PrismTokens, depth: int = 0) -> CompositionTerm:
    """Read the expression that must come."""
    if depth > DEEPEST:
        reader.source.refuse(reader.token.start, "depth", f"the composition nests deeper than {DEEPEST}")
    first, at = _read_operand(reader, depth), reader.token.start
    operator, names = _read_operator(reader)
    if not operator:
        return first
    operands = [first, _read_operand(reader, depth)]
    while True:
        here = reader.token.start
        another, _ = _read_operator(reader)
        if not another:
            return CompositionTerm(operator, tuple(operands), names, at)
        if another != operator or another == "|[]|":
            reader.source.refuse(
                here, "syntax", "which operator binds more is not said", hint="use parentheses: (A ||| B) |[a]| C"
            )
        operands.append(_read_operand(reader, depth))


def _read_operator(reader: PrismTokens) -> tuple[str, tuple[str, ...]]:
    if not reader.accept("|"):
        return "", ()
    if reader.accept("["):
        names = _read_names(reader)
        reader.expect("]", after="the actions")
        reader.expect("|", after="the actions in brackets")
        return "|[]|", names
    reader.expect("|", after="'|'")
    return ("|||" if reader.accept("|") else "||"), ()


def _read_operand(reader: PrismTokens, depth: int) -> CompositionTerm:
    at = reader.token.start
    if reader.accept("("):
        term = read_term(reader, depth + 1)
        reader.expect(")", after="the composition in parentheses")
    elif reader.token.kind == "label":
        term = CompositionTerm("system", (), (reader.label(),), at)
    else:
        term = CompositionTerm("module", (), (reader.name("a module"),), at)
    while True:
        at = reader.token.start
        if reader.accept("/"):
            reader.expect("{", after="'/'")
            term = CompositionTerm("/", (term,), _read_names(reader), at)
        elif reader.accept("{"):
            renamed: list[str] = []
            while not renamed or reader.accept(","):
                here = reader.token.start
                old = reader.name("an action", besides=FUNCTIONS)
                if old in renamed[::2]:
                    reader.source.refuse(here, "twice", f"the action {old!r} is renamed twice")
                reader.expect("<", after=f"'{old}'")
                reader.expect("-", after="'<'")
                renamed += [old, reader.name("an action", besides=FUNCTIONS)]
            term = CompositionTerm("<-", (term,), tuple(renamed), at)
        else:
            return term
        reader.expect("}", after="the actions")


def _read_names(reader: PrismTokens) -> tuple[str, ...]:
    names = [reader.name("an action", besides=FUNCTIONS)]
    while reader.accept(","):
        names.append(reader.name("an action", besides=FUNCTIONS))
    return tuple(names)


def compose(
    source: PrismSource, systems: Mapping[str, CompositionTerm], modules: Mapping[str, Sequence[str]]
) -> tuple[Joint, ...]:
    """What the modules of a model do at once.

    Args:
        source: the text.
        systems: the compositions of the text by name; that of the model has none.  Without it all modules run in parallel.
        modules: for each module the actions of its commands, empty for those without one.

    >>> compose(PrismSource("", ""), {}, {"m": ["go", ""], "n": ["go", "stay"]})  # doctest: +NORMALIZE_WHITESPACE
    (Joint(action='', parts=(('m', ''),)), Joint(action='stay', parts=(('n', 'stay'),)),
     Joint(action='go', parts=(('m', 'go'), ('n', 'go'))))
    """
    everything = CompositionTerm("||", tuple(CompositionTerm("module", (), (name,), 0) for name in modules), (), 0)
    whole = systems.get("", everything)
    seen: dict[str, None] = {}

    def composed(term: CompositionTerm, around: tuple[str, ...]) -> _Composed:
        if term.op == "module":
            return by_itself(term)
        if term.op == "system":
            (name,) = term.names
            if name not in systems or not name:
                source.unknown(term.at, "system", name, tuple(filter(None, systems)))
            if name in around:
                source.refuse(term.at, "circle", f"the systems define each other: {' -> '.join([*around, name])}")
            return composed(systems[name], (*around, name))
        parts = [composed(part, around) for part in term.args]
        result = parts[0]
        if term.op in ("/", "<-"):
            return _rename_actions(source, term, result)
        for other in parts[1:]:
            together = {"||": result.alphabet & other.alphabet, "|||": frozenset()}.get(term.op, frozenset(term.names))
            result = _parallel(source, term, result, other, together)
        return result

    def by_itself(term: CompositionTerm) -> _Composed:
        (name,) = term.names
        if name not in modules:
            source.unknown(term.at, "module", name, tuple(modules))
        if name in seen:
            source.refuse(term.at, "twice", f"the module {name!r} is composed twice", hint="each module runs once")
        seen[name] = None
        own = dict.fromkeys(modules[name])
        return _Composed(frozenset(filter(None, own)), tuple(Joint(action, ((name, action),)) for action in own))

    found = composed(whole, ())
    left = [name for name in modules if name not in seen]
    if left:
        source.refuse(
            whole.at, "module", f"the module {left[0]!r} is not composed", hint=f"add it, for instance by ||: {left[0]}"
        )
    return found.joints


def _parallel(
    source: PrismSource, term: CompositionTerm, left: _Composed, right: _Composed, together: frozenset[str]
) -> _Composed:
    joints = [joint for joint in (*left.joints, *right.joints) if joint.action not in together]
    partners: dict[str, list[Joint]] = {}
    for joint in right.joints:
        partners.setdefault(joint.action, []).append(joint)
    for one in left.joints:
        if one.action in together:
            joints += [Joint(one.action, one.parts + two.parts) for two in partners.get(one.action, ())]
        if len(joints) > _MOST_JOINTS:
            source.refuse(term.at, "size", f"the modules can act together in more than {_MOST_JOINTS} ways")
    return _Composed(left.alphabet | right.alphabet, tuple(joints))


def _rename_actions(source: PrismSource, term: CompositionTerm, inner: _Composed) -> _Composed:
    pairs = (
        dict.fromkeys(term.names, "") if term.op == "/" else dict(zip(term.names[::2], term.names[1::2], strict=True))
    )
    for action in pairs:
        if action not in inner.alphabet:
            source.unknown(term.at, "action", action, tuple(sorted(inner.alphabet)))
    joints = tuple(Joint(pairs.get(joint.action, joint.action), joint.parts) for joint in inner.joints)
    return _Composed(frozenset(filter(None, (pairs.get(one, one) for one in inner.alphabet))), joints)
