"""Drawings of models: as a Graphviz digraph (`dot`), and as SVG with a layout of our own (`svg`)."""

from __future__ import annotations

from privproof.drawing.graph_pictures import Picture, graph_drawing
from privproof.drawing.palette import PALE_BLUE, PALE_ORANGE, PALE_VIOLET, RED
from privproof.drawing.strokes import printable
from privproof.formats.automaton_pictures import picture
from privproof.scenarios import Model, Question, StreamQuestion

__all__ = ["dot", "svg"]


def svg(subject: Question | Model | StreamQuestion | Picture) -> str:
    """The model as an SVG drawing; of more than 60 states the first ones (breadth first), and it says so."""
    return graph_drawing(picture(subject))


def dot(subject: Question | Model | StreamQuestion | Picture) -> str:
    """The model as a Graphviz digraph; states are named n0, n1, ... and labelled by their names.

    >>> from privproof.models import MarkovChain
    >>> print(dot(MarkovChain(states=["a", "b"], transitions={"a": {"b": 1}}, labels={"b": ["done"]})), end="")
    digraph privproof {
      graph [rankdir=LR];
      node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"];
      edge [fontname="Helvetica", fontsize=10];
      n0 [label="a"];
      n1 [label="b\\ndone", peripheries=2];
      n0 -> n1 [label="1"];
    }
    """
    drawn = picture(subject)
    graph = "rankdir=LR" + (f', labelloc=t, label="{_escape_label(drawn.title)}"' if drawn.title else "")
    lines = [
        "digraph privproof {",
        f"  graph [{graph}];",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, box in enumerate(drawn.boxes):
        label = "\\n".join(_escape_label(line) for line in (box.name, *box.lines))
        colour = {(True, False): PALE_BLUE, (False, True): PALE_ORANGE, (True, True): PALE_VIOLET}.get(
            (box.left, box.right)
        )
        extras = (", peripheries=2" if box.halts else "") + (f', fillcolor="{colour}"' if colour else "")
        extras += f', color="{RED}", penwidth=2' if box.failing else ""
        lines.append(f'  n{number} [label="{label}"{extras}];')
        if box.initial:
            lines += [f'  start{number} [shape=point, label=""];', f"  start{number} -> n{number};"]
    for arrow in drawn.arrows:
        label = "\\n".join(_escape_label(line) for line in arrow.lines)
        colour = f', color="{RED}", fontcolor="{RED}", penwidth=2' if arrow.marked else ""
        lines.append(f'  n{arrow.source} -> n{arrow.target} [label="{label}"{colour}];')
    return "\n".join((*lines, "}", ""))


def _escape_label(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", " ")
