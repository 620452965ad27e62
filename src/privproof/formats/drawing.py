"""Drawings of models: as a Graphviz digraph (`dot`), and as SVG with a layout of our own (`svg`)."""

from __future__ import annotations

from privproof.formats.pictures import Picture, picture, printable
from privproof.formats.svg_layout import svg
from privproof.scenarios import Model, Question, StreamQuestion

__all__ = ["dot", "svg"]


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
    graph = "rankdir=LR" + (f', labelloc=t, label="{_escaped(drawn.title)}"' if drawn.title else "")
    lines = [
        "digraph privproof {",
        f"  graph [{graph}];",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, box in enumerate(drawn.boxes):
        label = "\\n".join(_escaped(line) for line in (box.name, *box.lines))
        colour = {(True, False): "#dbe9ff", (False, True): "#ffe3c7", (True, True): "#e7e0f5"}.get(
            (box.left, box.right)
        )
        extras = (", peripheries=2" if box.halts else "") + (f', fillcolor="{colour}"' if colour else "")
        lines.append(f'  n{number} [label="{label}"{extras}];')
        if box.initial:
            lines += [f'  start{number} [shape=point, label=""];', f"  start{number} -> n{number};"]
    for arrow in drawn.arrows:
        label = "\\n".join(_escaped(line) for line in arrow.lines)
        colour = ', color="#b42318", fontcolor="#b42318", penwidth=2' if arrow.marked else ""
        lines.append(f'  n{arrow.source} -> n{arrow.target} [label="{label}"{colour}];')
    return "\n".join((*lines, "}", ""))


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", " ")
