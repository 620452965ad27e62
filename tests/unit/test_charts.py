"""Charts: well-formed, escaped, within their frame, the same every time, and clear about what cannot be drawn."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from math import inf, nan
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.drawing.charts import Bar, Line, bar_chart, line_chart, node_chart
from privproof.release.quilt_charts import quilt_chart

NAMES = {"title": "a chart", "x_label": "epsilon", "y_label": "error"}
NASTY = "<b> & \"quoted\" 'x' \x00\x1b]0;\ud800 ]]> \n\u00a0é"
GEOMETRY = {"x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "points"}


def drawn(chart):
    """The chart as a tree, after looking at every coordinate (those of symbols in keys are relative)."""
    root = ElementTree.fromstring(chart)
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert [child.tag.rsplit("}")[-1] for child in root[:2]] == ["title", "desc"]
    width, height = float(root.get("width")), float(root.get("height"))
    assert width == 720
    for element in root.iter():
        assert not {"id", "href", "onload"} & element.attrib.keys()
        assert element.tag.rsplit("}")[-1] not in {"script", "image", "foreignObject"}
        for name in GEOMETRY & element.attrib.keys():
            for i, number in enumerate(re.split("[ ,]", element.get(name))):
                across = name in {"x", "x1", "x2", "cx", "r", "width"} or (name == "points" and i % 2 == 0)
                assert -6 <= float(number) <= (width if across else height), (name, element.attrib)
    return root


def texts(root):
    return [element.text for element in root.iter() if element.tag.endswith("text")]


def about(size, text):
    """A width that no text of a common font exceeds much."""
    return 0.55 * size * len(text)


def collisions(root):
    """Pairs of texts that cover each other."""
    boxes = []
    for element in root.iter():
        if element.tag.endswith("text") and element.text:
            size = float(element.get("font-size", 12))
            x, y, wide = float(element.get("x")), float(element.get("y")), about(size, element.text)
            x -= {"start": 0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
            boxes.append((x, y - 0.7 * size, x + wide, y + 0.1 * size, element.text))
    return [
        (a[4], b[4]) for a, b in combinations(boxes, 2) if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def polylines(root):
    found = [element.get("points") for element in root.iter() if element.tag.endswith("polyline")]
    return [[tuple(map(float, point.split(","))) for point in points.split()] for points in found]


# ------------------------------------------------------------------------------------------------------------ curves


def methods(count=4):
    epsilons = [10 ** (k / 10 - 1) for k in range(21)]
    return [Line(f"method {i}", tuple((e, (i + 3) / e) for e in epsilons), dashed=i == 1) for i in range(count)]


def test_curves_go_down_to_the_right_with_their_names_at_their_ends():
    root = drawn(line_chart(methods(), **NAMES, x_log=True, y_log=True))
    curves = polylines(root)
    assert len(curves) == 4
    for curve in curves:
        (a, b), (c, d) = curve[0], curve[-1]
        assert a < c
        assert b < d
        slopes = [(q[1] - p[1]) / (q[0] - p[0]) for p, q in pairwise(curve)]
        assert max(slopes) - min(slopes) < 0.02
    said = texts(root)
    assert {"method 0", "method 1", "method 2", "method 3", "epsilon", "error", "0.1", "1", "10"} <= set(said)
    assert sum("stroke-dasharray" in e.attrib for e in root.iter() if e.tag.endswith("polyline")) == 1


@pytest.mark.parametrize("count", [2, 9, 30])
def test_names_do_not_cover_each_other_though_curves_end_together(count):
    lines = [Line(f"method {i}", ((0, i), (1, 5 + i * 1e-6))) for i in range(count)]
    assert not collisions(drawn(line_chart(lines, **NAMES)))


def test_missing_infinite_and_impossible_values_are_gaps():
    points = ((1, 1), (2, 2), (3, None), (4, 4), (5, inf), (6, nan), (7, 7), (8, 8), (nan, 1), (9, 10**400), (10, 3))
    root = drawn(line_chart([Line("a", points)], **NAMES))
    assert [len(curve) for curve in polylines(root)] == [2, 2]
    assert sum(element.tag.endswith("circle") for element in root.iter()) == 2
    root = drawn(line_chart([Line("a", ((1, 1), (2, 10), (3, 0), (4, -1), (5, 10), (6, 1)))], **NAMES, y_log=True))
    assert len(polylines(root)) == 2


@pytest.mark.parametrize("series", [[], [Line("a", ())], [Line("a", ((1, None), (2, inf), (nan, 3)))]])
def test_curves_without_a_point_are_refused(series):
    with pytest.raises(ValueError, match=f"needs a point to draw, found {len(series)} lines"):
        line_chart(series, **NAMES)
    with pytest.raises(ValueError, match="needs a point"):
        line_chart([Line("a", ((1, -1), (2, 0)))], **NAMES, y_log=True)


def test_a_line_without_points_is_left_out_and_said():
    root = drawn(line_chart([Line("a", ((1, 2), (2, 3))), Line("b", ((1, inf),))], **NAMES))
    assert "b" not in texts(root)
    assert "b: nothing to draw" in root[1].text


@pytest.mark.parametrize("log", [False, True])
def test_a_single_point_stands_in_the_middle(log):
    root = drawn(line_chart([Line("a", ((3.0, 7.0),))], **NAMES, x_log=log, y_log=log))
    (dot,) = (element for element in root.iter() if element.tag.endswith("circle"))
    assert 100 < float(dot.get("cx")) < 600
    assert 80 < float(dot.get("cy")) < 340


@pytest.mark.parametrize(
    "points",
    [
        ((0.0, 0.0),),
        ((0.0, 0.0), (5e-324, 5e-324)),
        ((-1.7e308, -1.7e308), (1.7e308, 1.7e308)),
        ((1e-300, 5e-324), (1e300, 1.7e308)),
        ((1.0, 1.0), (1.0 + 2**-52, 1.0 + 2**-52)),
        ((1e9, 1e9), (1e9 + 1, 1e9 + 1)),
        ((1.0, 1.0), (3.9, 3.9)),
        ((1.0, 1.0), (4.1, 4.1)),
        ((7.0, 1e-5), (8.0, 2e7)),
    ],
)
def test_extreme_ranges(points):
    for x_log in (False, True):
        for y_log in (False, True):
            if all((x > 0 or not x_log) and (y > 0 or not y_log) for x, y in points):
                root = drawn(line_chart([Line("a", points)], **NAMES, x_log=x_log, y_log=y_log))
                assert not collisions(root)
                assert len(texts(root)) >= 8


def test_marks_stand_where_they_belong_with_labels_that_do_not_meet():
    line = Line("p", tuple((x / 10, x / 10) for x in range(11)))
    labels = ["lower end of the interval", "released", "upper end", "the truth, as it was"]
    root = drawn(line_chart([line], **NAMES, marks=tuple(zip((0.3, 0.35, 0.9, 0.99), labels, strict=True))))
    assert set(labels) <= set(texts(root))
    assert not collisions(root)
    standing = [
        e for e in root.iter() if e.tag.endswith("line") and e.get("stroke-dasharray") and e.get("x1") == e.get("x2")
    ]
    (curve,) = polylines(root)
    left, right = curve[0][0], curve[-1][0]
    assert sorted(round((float(e.get("x1")) - left) / (right - left), 2) for e in standing) == [0.3, 0.35, 0.9, 0.99]


@pytest.mark.parametrize(("x", "log"), [(nan, False), (inf, False), (0, True), (-1, True)])
def test_marks_without_a_place_are_refused(x, log):
    with pytest.raises(ValueError, match="the mark 'here' cannot stand at"):
        line_chart([Line("a", ((1, 1), (2, 2)))], **NAMES, x_log=log, marks=((x, "here"),))


def test_many_points_become_few_that_look_the_same():
    points = tuple((x / 1000, (x % 7) / 7) for x in range(20_000))
    (curve,) = polylines(drawn(line_chart([Line("a", points)], **NAMES)))
    assert len(curve) < 6000
    heights = [y for _, y in curve]
    assert max(heights) - min(heights) > 250


@given(
    st.lists(
        st.lists(st.tuples(st.floats(), st.one_of(st.none(), st.floats())), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=examples(150), deadline=None)
def test_any_floats_give_a_chart_or_a_clear_refusal(lists, x_log, y_log):
    series = [Line(f"line {i}", tuple(points)) for i, points in enumerate(lists)]
    try:
        chart = line_chart(series, **NAMES, x_log=x_log, y_log=y_log)
    except ValueError as error:
        assert "needs a point to draw" in str(error)  # noqa: PT017
    else:
        assert not collisions(drawn(chart))


# ----------------------------------------------------------------------------------------------------------- entries


def test_steps_are_flat_over_their_entries_and_the_worst_is_marked():
    root = drawn(node_chart([(1, 2, 5), (3, 3, 6.2)], length=3, title="t", y_label="scale", worst=3))
    (steps,) = polylines(root)
    assert [y for _, y in steps] == [steps[0][1]] * 2 + [steps[2][1]] * 2
    assert steps[2][1] < steps[0][1]
    assert steps[1][0] == pytest.approx(steps[0][0] + (steps[-1][0] - steps[0][0]) * 2 / 3, abs=0.2)
    assert {"1", "2", "3", "X₃: 6.2"} <= set(texts(root))
    (dot,) = (element for element in root.iter() if element.tag.endswith("circle"))
    assert float(dot.get("cy")) == steps[-1][1]
    assert not collisions(root)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 100, 12_345, 10**6])
@pytest.mark.parametrize("worst", ["first", "last"])
def test_series_of_any_length(length, worst):
    node = 1 if worst == "first" else length
    root = drawn(node_chart([(1, length, 13.02)], length=length, title="t", y_label="scale", worst=node))
    assert not collisions(root)
    assert any(text.endswith(": 13.02") for text in texts(root))


def test_a_block_for_each_of_many_entries_is_thinned_but_keeps_the_highest():
    high = 77_777
    blocks = ((i, i, 20.0 if i == high else 10.0 + i % 3) for i in range(1, 200_001))
    chart = node_chart(blocks, length=200_000, title="t", y_label="scale", worst=high)
    assert len(chart) < 300_000
    root = drawn(chart)
    (steps,) = polylines(root)
    (dot,) = (element for element in root.iter() if element.tag.endswith("circle"))
    x, y = min(steps, key=lambda point: point[1])
    assert abs(x - float(dot.get("cx"))) <= 1
    assert y == float(dot.get("cy"))


def test_entries_without_a_value_are_gaps():
    blocks = [(1, 2, 5), (3, 4, inf), (5, 6, 4), (9, 10, 3)]
    root = drawn(node_chart(blocks, length=12, title="t", y_label="scale", worst=1))
    assert len(polylines(root)) == 3


@pytest.mark.parametrize(
    ("blocks", "worst", "message"),
    [
        ([], 1, "needs a block with a finite value"),
        ([(1, 9, inf)], 1, "needs a block with a finite value"),
        ([(1, 5, 1), (5, 9, 2)], 1, r"found \(5, 9\) after entry 5"),
        ([(1, 10, 1)], 1, r"within 1..9, found \(1, 10\)"),
        ([(0, 9, 1)], 1, r"found \(0, 9\)"),
        ([(3, 2, 1)], 1, r"found \(3, 2\)"),
        ([(1, 9, 1)], 10, "found none for worst=10 of 1..9"),
        ([(1, 4, 1), (5, 9, None)], 7, "found none for worst=7"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(blocks, worst, message):
    with pytest.raises(ValueError, match=message):
        node_chart(blocks, length=9, title="t", y_label="scale", worst=worst)


# ------------------------------------------------------------------------------------------------------------ quilts


def circles(root):
    """Circles of the series by the index below them: (fill, stroke)."""
    labels = {
        e.get("x"): e.text for e in root.iter() if e.tag.endswith("text") and e.text.isascii() and e.text.isdigit()
    }
    return {
        int(labels[e.get("cx")]): (e.get("fill"), e.get("stroke"))
        for e in root
        if e.tag.endswith("circle") and e.get("stroke") is not None
    }


def test_the_quilt_of_the_running_example():
    root = drawn(
        quilt_chart(
            length=100, node=8, left=5, right=5, influence_share=0.3089, epsilon=1, title="t", states=["0", "1"]
        )
    )
    shown = circles(root)
    blue, ring, grey = shown[8], shown[3], shown[1]
    assert ring[0] == "white"
    assert len({blue, ring, grey, shown[7]}) == 4
    assert shown[13] == ring
    assert all(shown[i] == shown[4] for i in range(4, 13) if i != 8)
    assert shown[2] == shown[14] == shown[100] == grey
    assert set(texts(root)) >= {
        "secret X₈",
        "quilt X₃, X₁₃",
        "local set X₄ … X₁₂ (9 entries)",
        "remote set X₁, X₂, X₁₄ … X₁₀₀ (89 entries)",
        "each entry is one of 0, 1",
        "influence 0.309 + 9 × 0.0768 = 1 = epsilon",
        "influence 30.9 %",
    }
    assert not collisions(root)


def test_a_quilt_node_that_the_series_does_not_have_is_none():
    one = quilt_chart(length=12, node=11, left=1, right=4, influence_share=0.5, title="t")
    assert one == quilt_chart(length=12, node=11, left=1, right=None, influence_share=0.5, title="t")
    said = texts(drawn(one))
    assert {"quilt X₁₀", "local set X₁₁, X₁₂ (2 entries)", "remote set X₁ … X₉ (9 entries)"} <= set(said)
    none = texts(drawn(quilt_chart(length=3, node=2, left=None, right=None, influence_share=0, epsilon=2, title="t")))
    assert {"no quilt node", "local set X₁ … X₃ (3 entries)", "influence 0 + 3 × 0.667 = 2 = epsilon"} <= set(none)
    assert not any("remote" in text for text in none)


def test_what_is_not_spent_is_shown():
    said = texts(
        drawn(
            quilt_chart(length=9, node=5, left=2, right=2, influence_share=0.5, entry_share=0.1, epsilon=2, title="t")
        )
    )
    assert "influence 1 + 3 × 0.2 = 1.6 of epsilon 2" in said
    assert "distance 30 %: 3 entries of 10 % each, 20 % is left" in said


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_every_quilt_shows_its_nodes_without_collisions(data):
    length = data.draw(st.one_of(st.integers(1, 40), st.integers(1, 10**6)))
    node = data.draw(st.integers(1, length))
    sides = st.one_of(st.none(), st.integers(1, 30), st.integers(1, 10**6))
    left, right = data.draw(sides), data.draw(sides)
    root = drawn(quilt_chart(length=length, node=node, left=left, right=right, influence_share=0.25, title="t"))
    shown = circles(root)
    quilt = {node - left} if left is not None and left < node else set()
    quilt |= {node + right} if right is not None and node + right <= length else set()
    assert {1, node, length} | quilt <= set(shown)
    rings = {i for i, (fill, stroke) in shown.items() if (fill, stroke) == ("white", "#b42318")}
    assert rings == quilt
    assert not collisions(root)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"node": 0}, "one of 1..10, found node=0"),
        ({"node": 11}, "found node=11"),
        ({"left": 0}, "distance 1 or more, found left=0"),
        ({"right": -2}, "found right=-2"),
        ({"influence_share": 1.0}, "influence_share=1.0"),
        ({"influence_share": -0.1}, "influence_share=-0.1"),
        ({"influence_share": nan}, "influence_share=nan"),
        ({"entry_share": 0.9}, "together at most 1"),
        ({"entry_share": nan}, "entry_share=nan"),
        ({"epsilon": 0}, "above 0, found epsilon=0"),
        ({"epsilon": inf}, "found epsilon=inf"),
    ],
)
def test_quilts_that_make_no_sense_are_refused(changed, message):
    given = {"length": 10, "node": 5, "left": 2, "right": 2, "influence_share": 0.3, "title": "t"}
    with pytest.raises(ValueError, match=message):
        quilt_chart(**{**given, **changed})


# -------------------------------------------------------------------------------------------------------- histograms


def bars(root, colour):
    return [e for e in root if e.tag.endswith("rect") and e.get("fill") == colour]


def test_two_bars_for_every_state_with_their_values():
    counted = [Bar("rest", 61, 58.2, 9), Bar("walk", 27, 33.4, 9), Bar("run", 9, -3.2, 9)]
    root = drawn(bar_chart(counted, title="t", y_label="minutes", error="95 % of the noise"))
    before, after = bars(root, "#3b5bdb"), bars(root, "#f08c00")
    assert len(before) == len(after) == 3
    assert float(before[0].get("width")) / float(before[1].get("width")) == pytest.approx(61 / 27, abs=0.02)
    assert before[0].get("x") == before[1].get("x") == after[0].get("x")
    assert float(after[2].get("x")) < float(before[2].get("x"))
    assert {"rest", "walk", "run", "61", "58.2", "−3.2", "before noise", "after noise", "95 % of the noise"} <= set(
        texts(root)
    )
    assert not collisions(root)


def test_noisy_values_alone():
    root = drawn(bar_chart([Bar(f"s{i}", after=i * 10.0, error=3) for i in range(51)], title="t", y_label="count"))
    assert not bars(root, "#3b5bdb")
    assert len(bars(root, "#f08c00")) == 51
    assert "after noise" not in texts(root)
    assert not collisions(root)


def test_values_that_are_missing_or_infinite_are_left_out():
    root = drawn(bar_chart([Bar("a", 1, inf, 2), Bar("b", None, 3, nan), Bar("c")], title="t", y_label="count"))
    assert len(bars(root, "#3b5bdb")) == len(bars(root, "#f08c00")) == 1
    assert {"a", "b", "c"} <= set(texts(root))
    drawn(bar_chart([Bar("a", after=1.7e308, error=1.7e308)], title="t", y_label="count"))
    drawn(bar_chart([Bar("a", 0.0), Bar("b", 0.0)], title="t", y_label="count"))
    drawn(bar_chart([Bar("a", 5e-324), Bar("b", -5e-324, 1e300)], title="t", y_label="count"))


@pytest.mark.parametrize("listed", [[], [Bar("a"), Bar("b", inf, nan)]])
def test_histograms_without_a_value_are_refused(listed):
    with pytest.raises(ValueError, match=f"found {len(listed)} bins without one"):
        bar_chart(listed, title="t", y_label="count")


# ------------------------------------------------------------------------------------------------------- all of them


def everything(text):
    return [
        line_chart([Line(text, ((1, 2), (2, 3)))], title=text, x_label=text, y_label=text, marks=((1.5, text),)),
        node_chart([(1, 9, 2)], length=9, title=text, y_label=text, x_label=text, worst=4),
        quilt_chart(length=9, node=4, left=2, right=2, influence_share=0.25, title=text, states=[text, text]),
        bar_chart([Bar(text, 1, 2, 1)], title=text, y_label=text, before=text, after=text, error=text),
    ]


def test_labels_are_escaped_and_unprintable_characters_replaced():
    for chart in everything(NASTY):
        root = drawn(chart)
        assert "<b>" not in chart
        assert "\x00" not in chart
        assert "\x1b" not in chart
        chart.encode("utf-8")
        assert '<b> & "quoted"' in root[0].text


@pytest.mark.parametrize("text", ["", "x" * 3000, "word " * 500, "文字" * 300, "W" * 90])
def test_long_and_empty_labels_stay_in_the_frame(text):
    for chart in everything(text):
        root = drawn(chart)
        assert float(root.get("height")) < 600
        for element in root.iter():
            if element.tag.endswith("text") and element.text and element.get("text-anchor") == "end":
                assert float(element.get("x")) - about(10, element.text) > -20
        assert root[0].text


def test_charts_are_the_same_every_time():
    assert everything("name") == everything("name")
