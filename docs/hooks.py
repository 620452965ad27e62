"""Hooks of MkDocs.

Lines of Python's prompt in a text are code in colours, as they are in docstrings without a fence.  Pictures that are drawings of this
repository stand inline in their page, so that they follow its switch between light and dark.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor


class Doctests(Preprocessor):
    """Puts a fence around every paragraph that begins with ``>>>``, unless it stands in one.

    >>> Doctests().run(["Two and two:", ">>> 2 + 2", "4", "", "are four."])
    ['Two and two:', '', '```pycon', '>>> 2 + 2', '4', '```', '', 'are four.']
    """

    def run(self, lines: list[str]) -> list[str]:
        written: list[str] = []
        inside = fenced = False
        for line in lines:
            if inside and not line.strip():
                written.append("```")
                inside = False
            elif not inside and line.lstrip().startswith("```"):
                fenced = not fenced
            elif not inside and not fenced and line.startswith(">>> "):
                written += [""] if written and written[-1].strip() else []
                written.append("```pycon")
                inside = True
            written.append(line)
        return [*written, "```"] if inside else written


class DoctestsExtension(Extension):
    """Makes it a part of Markdown, before fences are taken out of the text, which are at 25."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(Doctests(md), "doctests", 26)


def on_config(config):
    """Called by MkDocs."""
    config["markdown_extensions"].append(DoctestsExtension())
    return config


_PICTURE = re.compile(r'<img alt="([^"]*)" src="([^":]*\.svg)"[^>]*>')


def with_pictures(html: str, page: str, folder: Path) -> str:
    """A page with its drawings inline.

    Args:
        html: the text of the page.
        page: its place, as in ``how-to/witness.html``.
        folder: where the places of pictures begin.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.svg").write_text("<svg/>")
    ...     with_pictures('<p><img alt="A" src="../a.svg"></p>', "how-to/b.html", Path(folder))
    '<p><span class="picture" role="figure" aria-label="A" style="display:block"><svg/></span></p>'
    """

    def inline(found: re.Match[str]) -> str:
        file = folder / posixpath.normpath(posixpath.join(posixpath.dirname(page), found[2]))
        drawn = file.read_text(encoding="utf-8").strip()
        return f'<span class="picture" role="figure" aria-label="{found[1]}" style="display:block">{drawn}</span>'

    return _PICTURE.sub(inline, html)


def on_page_content(html, page, config, files):
    """Called by MkDocs."""
    return with_pictures(html, page.url, Path(config["docs_dir"]))
