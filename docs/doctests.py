"""A hook of MkDocs: lines of Python's prompt in a text are a block of code, as they are in docstrings without a fence."""

from __future__ import annotations

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor


class Doctests(Preprocessor):
    """Indents every paragraph that begins with ``>>>``.

    >>> Doctests().run(["Two and two:", ">>> 2 + 2", "4", "", "are four."])
    ['Two and two:', '', '    >>> 2 + 2', '    4', '', 'are four.']
    """

    def run(self, lines: list[str]) -> list[str]:
        written: list[str] = []
        inside = False
        for line in lines:
            if not line.strip():
                inside = False
            elif line.startswith(">>> ") and not inside:
                inside = True
                written += [""] if written and written[-1].strip() else []
            written.append("    " + line if inside else line)
        return written


class DoctestsExtension(Extension):
    """Makes it a part of Markdown, after fences have been taken out of the text."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(Doctests(md), "doctests", 24)


def on_config(config):
    """Called by MkDocs."""
    config["markdown_extensions"].append(DoctestsExtension())
    return config
