"""Well-known models in the PRISM language, read here and by Storm: the same states, transitions and probabilities.

Storm checks a model three times: as it reads the text, as written here in DRN, and as written here in PRISM.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from privproof.logic.formats.drn_files import read_drn, write_drn
from privproof.logic.formats.process_files import read_process
from privproof.logic.prism import parse_prism, write_prism

stormpy = pytest.importorskip("stormpy")
storm_io = pytest.importorskip("stormpy.io")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EXAMPLES = Path(__file__).parents[2] / "examples" / "models" / "prism"

MODELS = {
    "crowds": (
        """
        dtmc
        const double PF = 0.8;
        const double badC = 1/6;
        const int CrowdSize = 5;
        module crowds
          phase : [0..4];
          good : bool;
          bad : bool;
          last : [0..CrowdSize];
          runs : [0..3] init 3;
          seen : [0..3];
          [] phase=0 & runs>0 -> (phase'=1) & (runs'=runs-1) & (last'=0);
          [] phase=1 -> 1-badC : (good'=true) & (phase'=2) + badC : (bad'=true) & (phase'=2);
          [] phase=2 & good -> 1/5 : (last'=0) & (phase'=3) + 1/5 : (last'=1) & (phase'=3) + 1/5 : (last'=2) & (phase'=3)
                             + 1/5 : (last'=3) & (phase'=3) + 1/5 : (last'=4) & (phase'=3);
          [] phase=3 -> PF : (phase'=1) & (good'=false) + 1-PF : (phase'=4);
          [] phase=2 & bad & last=0 & seen<3 -> (seen'=min(3, seen+1)) & (phase'=4) & (bad'=false);
          [] phase=2 & bad & (last!=0 | seen=3) -> (phase'=4) & (bad'=false);
          [] phase=4 & runs>0 -> (phase'=0) & (good'=false) & (last'=0);
          [] (phase=4 | phase=0) & runs=0 -> true;
        endmodule
        label "goal" = seen>1;
        """,
        "goal",
    ),
    "leader": (
        """
        dtmc
        const int N = 3;
        const int K = 3;
        module counter
          c : [1..N-1];
          [read] c<N-1 -> (c'=c+1);
          [read] c=N-1 -> (c'=c);
          [done] u1|u2|u3 -> (c'=c);
          [retry] !(u1|u2|u3) -> (c'=1);
          [loop] s1=3 -> (c'=c);
        endmodule
        module process1
          s1 : [0..3];
          u1 : bool;
          v1 : [0..K-1];
          p1 : [0..K-1];
          [pick] s1=0 -> 1/K : (s1'=1) & (p1'=0) & (v1'=0) & (u1'=true)
                       + 1/K : (s1'=1) & (p1'=1) & (v1'=1) & (u1'=true)
                       + 1/K : (s1'=1) & (p1'=2) & (v1'=2) & (u1'=true);
          [read] s1=1 & u1 & c<N-1 -> (u1'=(p1!=v2)) & (v1'=v2);
          [read] s1=1 & !u1 & c<N-1 -> (u1'=false) & (v1'=v2) & (p1'=0);
          [read] s1=1 & u1 & c=N-1 -> (s1'=2) & (u1'=(p1!=v2)) & (v1'=0) & (p1'=0);
          [read] s1=1 & !u1 & c=N-1 -> (s1'=2) & (u1'=false) & (v1'=0);
          [done] s1=2 -> (s1'=3) & (u1'=false) & (v1'=0) & (p1'=0);
          [retry] s1=2 -> (s1'=0) & (u1'=false) & (v1'=0) & (p1'=0);
          [loop] s1=3 -> (s1'=3);
        endmodule
        module process2 = process1 [ s1=s2, p1=p2, v1=v2, u1=u2, v2=v3 ] endmodule
        module process3 = process1 [ s1=s3, p1=p3, v1=v3, u1=u3, v2=v1 ] endmodule
        label "goal" = s1=3 & s2=3 & s3=3;
        """,
        "goal",
    ),
    "zeroconf": (
        """
        mdp
        const int K = 4;
        const double old = 1000/65024;
        const double loss = 0.1;
        module host
          l : [0..4];
          probes : [0..K];
          used : bool;
          [choose] l=0 -> old : (l'=1) & (used'=true) & (probes'=0) + 1-old : (l'=1) & (used'=false) & (probes'=0);
          [send] l=1 & probes<K & used -> loss : (probes'=probes+1) + 1-loss : (l'=2);
          [send] l=1 & probes<K & !used -> (probes'=probes+1);
          [wait] l=1 & probes<K -> true;
          [] l=1 & probes=K -> (l'=3);
          [] l=2 -> (l'=0) & (used'=false) & (probes'=0);
          [] l=2 -> (l'=4);
          [] l>=3 -> true;
        endmodule
        module channel
          busy : bool;
          [send] !busy -> 1/2 : (busy'=true) + 1/2 : true;
          [wait] busy -> (busy'=false);
          [wait] true -> (busy'=busy);
        endmodule
        label "goal" = l=3 & used;
        """,
        "goal",
    ),
    "choices_in_a_chain": (
        """
        dtmc
        formula low = x<=1;
        global g : bool;
        module m
          x : [-1..4] init -1;
          [] x=-1 -> 1/3 : (x'=0) + 1/3 : (x'=0) & (g'=true) + 1/3 : (x'=4);
          [] low -> (x'=x+1);
          [a] x<4 -> (x'=max(x, floor(5/2)));
          [] x=4 -> true;
        endmodule
        module n
          b : bool init true;
          [a] b -> 1/2 : (b'=!b) + 1/2 : true;
          [a] !b -> (b'=g);
          [a] true -> true;
        endmodule
        label "goal" = x=4 & b;
        """,
        "goal",
    ),
}
FILES = {"die.pm": "six", "herman3.pm": "stable", "survey.pm": "none", "consensus2.nm": "all_heads"}


def texts():
    for name, (text, goal) in MODELS.items():
        yield pytest.param(text, goal, id=name)
    for name, goal in FILES.items():
        yield pytest.param((EXAMPLES / name).read_text(encoding="utf-8"), goal, id=name)


def storm_build(text, folder):
    path = folder / "model.nm"
    path.write_text(text, encoding="utf-8")
    program = stormpy.parse_prism_program(str(path))
    return stormpy.build_model[stormpy.Rational](program)


def answers(model, goal):
    """The least and the greatest probability of reaching the goal, from every initial state."""
    result = []
    for which in ("min", "max"):
        formula = stormpy.parse_properties(f'P{which}=? [F "{goal}"]')[0]
        values = stormpy.model_checking(model, formula)
        result.append(sorted(str(values.get_value(state)) for state in model.initial_states))
    return result


@pytest.mark.parametrize(("text", "goal"), list(texts()))
def test_storm_builds_the_same(text, goal, tmp_path):
    ours, theirs = parse_prism(text), storm_build(text, tmp_path)
    assert len(ours) == theirs.nr_states
    assert len(ours.rows) - 1 == theirs.nr_choices
    assert len(ours.targets) == theirs.nr_transitions
    assert int(ours.labels[goal].sum()) == sum(
        goal in labels for labels in map(theirs.labeling.get_labels_of_state, range(theirs.nr_states))
    )


@pytest.mark.parametrize(("text", "goal"), list(texts()))
def test_storm_reads_what_is_written(text, goal, tmp_path):
    ours, theirs = parse_prism(text), storm_build(text, tmp_path)
    expected = answers(theirs, goal)
    written = tmp_path / "written.drn"
    written.write_text(write_drn(ours), encoding="utf-8")
    read = stormpy.build_model_from_drn[stormpy.Rational](str(written))
    assert (read.nr_states, read.nr_choices, read.nr_transitions) == (
        theirs.nr_states, theirs.nr_choices, theirs.nr_transitions
    )  # fmt: skip
    assert answers(read, goal) == expected
    assert answers(storm_build(write_prism(ours), tmp_path), goal) == expected


@pytest.mark.parametrize("value_type", ["Rational", "float"])
@pytest.mark.parametrize(("text", "goal"), list(texts()))
def test_what_storm_writes_is_read(text, goal, value_type, tmp_path):
    path, exported = tmp_path / "model.nm", tmp_path / "exported.drn"
    path.write_text(text, encoding="utf-8")
    program = stormpy.parse_prism_program(str(path))
    kind = float if value_type == "float" else stormpy.Rational
    theirs = stormpy.build_model[kind](program)
    storm_io.export_to_drn(theirs, str(exported))
    ours = read_drn(exported, rounded=value_type == "float")
    assert (len(ours), len(ours.rows) - 1, len(ours.targets)) == (
        theirs.nr_states, theirs.nr_choices, theirs.nr_transitions
    )  # fmt: skip
    assert len(ours.initial) == len(theirs.initial_states)
    assert ours.is_chain == read_process(path).is_chain
    if value_type == "Rational":
        again = tmp_path / "again.drn"
        again.write_text(write_drn(ours), encoding="utf-8")
        assert answers(stormpy.build_model_from_drn[stormpy.Rational](str(again)), goal) == answers(theirs, goal)
