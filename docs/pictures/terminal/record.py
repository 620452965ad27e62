"""A recording of the command at work, as an animated SVG: ``python docs/pictures/terminal/record.py`` makes it from real runs.

The commands are run in the root of the checkout; what they print is set in a window, command after command, line after line.  How long a
run took is no part of the picture, so that the same program gives the same text.  Who prefers reduced motion sees the end at once.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ASK = "privproof check examples/ordinary/survey.py:{} --input 'answers=records(yes, no)' --epsilon 0.5"
COMMANDS = (ASK.format("counts"), ASK.format("repaired"))

COLUMNS, KEPT = 92, ("compared", "event", "left", "right", "loss", "alignment", "in all", "tight epsilon")
"""Characters in a line, and the facts that are shown; the others are left out, and three dots say so."""
LINE, CHARACTER, LEFT, TOP = 18.0, 7.83, 18.0, 62.0
"""In pixels: a line, a character of 13 pixels in a monospaced font, and where the text begins."""
TYPED, THINKING, SHOWN, READING = 0.02, 0.6, 0.12, 2.5
"""In seconds: for a character that is typed, until a command answers, between two lines, and after the answer."""


def answer(command: str) -> list[str]:
    """What a command prints, when it is run."""
    words = [sys.executable, "-m", *re.findall(r"'[^']*'|\S+", command)]
    done = subprocess.run([word.strip("'") for word in words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return kept(done.stdout)


def kept(printed: str) -> list[str]:
    """The verdict and the facts that a first reader needs, each on one line."""
    first, *facts = printed.splitlines()
    some = [line for line in facts if line.strip().startswith(KEPT)]
    return [first, *(line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…" for line in some), "  …"]


def recorded(sessions: list[tuple[str, list[str]]]) -> str:
    """The sessions as an animated picture."""
    lines: list[tuple[str, float]] = []
    clock = 0.5
    for command, output in sessions:
        lines.append((f'<tspan fill="#7ee787">$</tspan> {escape(command)}', clock))
        clock += TYPED * len(command) + THINKING
        for text in output:
            lines.append((_coloured(text), clock))
            clock += SHOWN
        lines.append(("", clock))
        clock += READING
    width, height = 2 * LEFT + CHARACTER * max(COLUMNS, *(len(c) + 2 for c, _ in sessions)), TOP + LINE * len(lines)
    parts = [
        f'<text x="{LEFT:.0f}" y="{TOP + LINE * i:.0f}" style="animation-delay:{when:.2f}s" xml:space="preserve">{text}</text>'
        for i, (text, when) in enumerate(lines)
        if text
    ]
    dots = "".join(f'<circle cx="{22 + 20 * i}" cy="22" r="6" fill="{c}"/>' for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    said = "; ".join(f"{command}: {output[0].strip()}" for command, output in sessions)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;height:auto" '
            'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">',
            "<title>privproof in a terminal</title>",
            f"<desc>{escape(said)}</desc>",
            "<style>.privproof-terminal text{opacity:0;animation:privproof-shown .01s forwards}"
            "@keyframes privproof-shown{to{opacity:1}}"
            "@media (prefers-reduced-motion:reduce),print{.privproof-terminal text{opacity:1;animation:none}}</style>",
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#161b22"/>',
            dots,
            '<g class="privproof-terminal">',
            *parts,
            "</g>",
            "</svg>",
            "",
        )
    )


def _coloured(line: str) -> str:
    """A line with the colour of its verdict, and labels in grey."""
    for mark, colour in (("✓", "#3fb950"), ("✗", "#ff7b72")):
        if line.startswith(mark):
            word = line.split("  ")[0]
            return f'<tspan fill="{colour}" font-weight="bold">{escape(word)}</tspan>{escape(line[len(word) :])}'
    label = line[:17]
    return f'<tspan fill="#8b949e">{escape(label)}</tspan>{escape(line[17:])}'


def drawn() -> str:
    """The picture."""
    return recorded([(command, answer(command)) for command in COMMANDS])


if __name__ == "__main__":
    (HERE / "first.svg").write_text(drawn(), encoding="utf-8")
