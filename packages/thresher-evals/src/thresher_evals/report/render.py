"""Pages as HTML and as Markdown, by the templates; what was answered is shown as text, whatever it holds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from thresher_evals.report.blocks import Cell, Figure, Link, Number, shown
from thresher_evals.report.plots import render

MEANING = re.compile(r"[\\`*|]|\](?=\()|^(?=[#>+-])")
"""What Markdown would take for its own where it stands in data."""


def template(name: str, **filters: Callable[..., str]) -> jinja2.Template:
    """A template of this package; that of HTML escapes what it shows."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("thresher_evals.report"),
        autoescape="html" in name,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(filters)
    return environment.get_template(name)


def markdown_template(addresses: Mapping[str, str]) -> jinja2.Template:
    """The template of a Markdown file; `addresses` has the name of each page by its key."""

    def cell(one: Cell) -> str:
        match one:
            case Number(claimed=True):
                return f"*{one}*"
            case Number():
                return str(one)
            case Link():
                return f"[{plain(one.text)}](datasets/{addresses[one.page]}.md)"
            case _:
                return plain(in_few_digits(one))

    return template("report.md.j2", plain=plain, words=partial(words, code="`{}`".format, text=plain), cell=cell)


def html_template(addresses: Mapping[str, str], out: Path) -> jinja2.Template:
    """The template of the page, in which nothing is fetched or run. Files of rows are linked as they lie from `out`."""

    def cell(one: Cell) -> str:
        match one:
            case Number():
                value = Markup("<i>{}</i>" if one.claimed else "{}").format(one.shown + " ★" * one.mark)
                return value + Markup("").join(Markup("<small>{}</small>").format(detail) for detail in one.details)
            case Link():
                return Markup('<a href="#{}">{}</a>').format(addresses[one.page], one.text)
            case _:
                return in_few_digits(one)

    def marked(paragraph: str) -> Markup:
        return Markup(words(paragraph, code=Markup("<code>{}</code>").format, text=escape))

    def drawn(figure: Figure) -> Markup:
        return Markup(render(figure))

    def address(path: Path) -> str:
        return quote(Path(os.path.relpath(path, out)).as_posix())

    return template("report.html.j2", words=marked, cell=cell, drawn=drawn, address=address)


def words(paragraph: str, *, code: Callable[[str], str], text: Callable[[str], str]) -> str:
    """A paragraph; what stands between backticks is code."""
    pieces = paragraph.split("`")
    if len(pieces) % 2 == 0:
        return text(paragraph)
    return "".join(code(piece) if place % 2 else text(piece) for place, piece in enumerate(pieces))


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    line = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return MEANING.sub(lambda found: f"\\{found[0]}", line)


def in_few_digits(one: str | float | None) -> str:
    """A cell without an interval: words, a count, a number, or a dash."""
    if one is None:
        return "–"
    return shown(one) if isinstance(one, float) else str(one)
