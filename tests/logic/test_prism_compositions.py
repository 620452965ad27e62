"""``system ... endsystem``: by hand, and random compositions against the rules of the operators applied in every state."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from tests.amounts import examples

from privproof.errors import FormatError
from privproof.exact import rational
from privproof.logic.prism import parse_prism

M = "module m x : [0..2]; [a] x=0 -> (x'=1); [b] x=1 -> (x'=2); [] x=2 -> (x'=0); endmodule\n"
N = "module n y : [0..2]; [a] y=0 -> 1/2:(y'=1) + 1/2:(y'=2); [c] y>0 -> (y'=0); endmodule\n"


def transitions(text, *, kind="mdp", plain=lambda action: action):
    """Every choice of every state: the state, the action, and where it leads."""
    process = parse_prism(kind + "\n" + text, self_loops=True)
    return Counter(
        (
            process.names[s],
            plain(process.action(c).partition("#")[0]) if process.actions else "",
            tuple(sorted((process.names[t], str(p)) for t, p in process.entries(c))),
        )
        for s in range(len(process))
        for c in range(*process.choices[s : s + 2])
    )


@pytest.mark.parametrize(
    ("composition", "by_hand"),
    [
        ("m || n", M + N),
        ("m ||| n", M + N.replace("[a]", "[a2]")),
        ("m |[a,b]| n", M.replace("[b]", "[b] false &") + N),  # b needs n, which has none
        ("m |[c]| n", M + N.replace("[a]", "[a2]").replace("[c]", "[c] false &")),
        ("m {b<-c} || n", M.replace("[b]", "[c]") + N),
        ("m {a<-b, b<-a} || n", M.replace("[a]", "[z]").replace("[b]", "[a]").replace("[z]", "[b]") + N),
        ("(m || n {c<-d}) {d<-c}", M + N),
        ('"both" {d<-c} endsystem system "both" m || n {c<-d}', M + N),
    ],
)
def test_as_written_by_hand(composition, by_hand):
    written = M + N + f"system {composition} endsystem"
    assert transitions(written) == transitions(by_hand, plain=lambda action: {"a2": "a"}.get(action, action))
    assert transitions(written, kind="dtmc") == transitions(by_hand, kind="dtmc")


def test_what_is_hidden_has_no_action():
    """By hand: joint choices that are hidden are named by their modules, and rewards of choices without an action are theirs."""
    text = M + N + "system ((m |[a]| n) / {a}) endsystem rewards [] true : 1; [c] true : 2; endrewards"
    process = parse_prism("mdp\n" + text, self_loops=True)
    assert set(process.actions) == {"~m|n", "~m", "b", "c"}
    first = int(process.choices[0])
    assert process.action(first) == "~m|n"
    assert process.entries(first) == [(1, rational("1/2")), (2, rational("1/2"))]
    gains = {process.action(c): process.reward("").of_choice(c) for c in range(len(process.action_of))}
    assert gains == {"~m|n": 1, "~m": 1, "b": 0, "c": 2}


def test_three_way_interleaving_with_a_partner():
    """(m ||| k) |[a]| n: each of the two takes n along by itself."""
    k = M.replace("module m", "module k").replace("x", "z")
    found = transitions(M + k + N + "system (m ||| k) |[a]| n endsystem")
    twice = N.replace(
        "[a] y=0 -> 1/2:(y'=1) + 1/2:(y'=2);", "".join(f"[a{i}] y=0 -> 1/2:(y'=1) + 1/2:(y'=2);" for i in (1, 2))
    )
    by_hand = M.replace("[a]", "[a1]") + k.replace("[a]", "[a2]").replace("[b]", "[b2]") + twice
    assert found == transitions(by_hand, plain=lambda action: {"a1": "a", "a2": "a", "b2": "b"}.get(action, action))


# --- random compositions --------------------------------------------------------------------------


ACTIONS = "abcd"


def drawn_module(name, variable, draw):
    """Commands as data: (action, value, probabilities of new values)."""
    commands = []
    for _ in range(draw.randint(1, 4)):
        values = draw.sample(range(3), draw.randint(1, 2))
        commands.append((draw.choice(ACTIONS[:3] + " ").strip(), draw.randrange(3), tuple(values)))
    lines = [
        f"[{action}] {variable}={value} -> " + " + ".join(f"1/{len(new)}:({variable}'={v})" for v in new) + ";"
        for action, value, new in commands
    ]
    return commands, f"module {name} {variable} : [0..2]; {' '.join(lines)} endmodule\n"


def called(state):
    return "(" + ",".join(f"v{place}={value}" for place, value in enumerate(state)) + ")"


def drawn_term(modules, known, draw):
    """A random composition of the modules: its text, its steps from a state, and its alphabet, by the rules of the operators."""
    if len(modules) == 1:
        (place,) = modules
        commands = known[place]

        def steps(state):
            return [
                (action, [(((place, v),), Fraction(1, len(new))) for v in new])
                for action, value, new in commands
                if state[place] == value
            ]

        term = f"m{place}", steps, {action for action, _, _ in commands if action}
    else:
        cut = draw.randrange(1, len(modules))
        (lt, ls, la), (rt, rs, ra) = drawn_term(modules[:cut], known, draw), drawn_term(modules[cut:], known, draw)
        operator = draw.choice(["||", "|||", "|[]|"])
        listed = draw.sample(ACTIONS, draw.randint(1, 2))
        together = {"||": la & ra, "|||": set(), "|[]|": set(listed)}[operator]

        def steps(state):
            left, right = ls(state), rs(state)
            found = [step for step in left + right if step[0] not in together]
            found += [
                (action, [(v + w, p * q) for v, p in where for w, q in place])
                for action, where in left
                for other, place in right
                if other == action and action in together
            ]
            return found

        sign = f"|[{','.join(listed)}]|" if operator == "|[]|" else operator
        term = f"({lt} {sign} {rt})", steps, la | ra
    text, steps, alphabet = term
    if alphabet and draw.random() < 0.4:
        hidden = set(draw.sample(sorted(alphabet), 1))
        inner = steps
        return (
            f"({text}) / {{{','.join(hidden)}}}",
            lambda state: [("" if action in hidden else action, where) for action, where in inner(state)],
            alphabet - hidden,
        )
    if alphabet and draw.random() < 0.4:
        names = {old: draw.choice(ACTIONS) for old in draw.sample(sorted(alphabet), draw.randint(1, len(alphabet)))}
        inner = steps
        return (
            f"({text}) {{{', '.join(f'{old}<-{new}' for old, new in names.items())}}}",
            lambda state: [(names.get(action, action), where) for action, where in inner(state)],
            {names.get(one, one) for one in alphabet},
        )
    return term


@pytest.mark.parametrize("seed", range(examples(480, fewest=20)))
def test_random_compositions(seed):
    draw = random.Random(seed)
    count = draw.randint(2, 4)
    known, text = {}, ""
    for place in range(count):
        known[place], written = drawn_module(f"m{place}", f"v{place}", draw)
        text += written
    order = draw.sample(range(count), count)
    term, steps, _ = drawn_term(order, known, draw)
    expected = Counter()
    waiting, seen = [(0,) * count], {(0,) * count}
    while waiting:
        state = waiting.pop()
        for action, where in steps(state):
            row = Counter()
            for changes, p in where:
                new = list(state)
                for place, value in changes:
                    new[place] = value
                row[tuple(new)] += p
            for new in row:
                if new not in seen:
                    seen.add(new)
                    waiting.append(new)
            expected[called(state), action, tuple(sorted((called(t), p) for t, p in row.items()))] += 1
    found = Counter()
    stuck = parse_prism(f"mdp\n{text}system {term} endsystem", self_loops=True)
    blocked = stuck.labels.get("deadlock", [False] * len(stuck))
    for (state, action, row), times in transitions(f"{text}system {term} endsystem").items():
        if not blocked[stuck.state(state)]:
            silent = action == "tau" or action.startswith("~")
            found[state, "" if silent else action, tuple((t, Fraction(p)) for t, p in row)] += times
    assert found == expected, term


@pytest.mark.parametrize(
    ("composition", "message"),
    [
        ("m", "the module 'n' is not composed"),
        ("m || n || m", "the module 'm' is composed twice"),
        ("m || k", "unknown module 'k'"),
        ("m ||| n || m", "which operator binds more is not said"),
        ("m |[a]| n |[a]| m", "which operator binds more is not said"),
        ("(m || n) / {d}", "unknown action 'd'"),
        ("(m || n) {d<-a}", "unknown action 'd'"),
        ("(m || n) {a<-b, a<-c}", "the action 'a' is renamed twice"),
        ("m | n", "expected '|' after '|'"),
        ("m || (n", "expected '\\)'"),
        ('m || "n"', "unknown system 'n'"),
        ('"p" endsystem system "p" "p" || m || n', "the systems define each other"),
        ("(" * 150 + "m" + ")" * 150, "nests deeper"),
    ],
)
def test_refused(composition, message):
    with pytest.raises(FormatError, match=message) as found:
        parse_prism("mdp\n" + M + N + f"system {composition} endsystem")
    assert found.value.position is not None


def test_global_variables_are_not_changed_together():
    text = "mdp global g : bool;\n" + M.replace("(x'=1)", "(g'=true)") + N
    with pytest.raises(FormatError, match="several modules share"):
        parse_prism(text)
    assert len(parse_prism(text + "system m ||| n endsystem", self_loops=True)) > 1
