"""Writes a report from folders of runs and studies: pages from templates, and every number as CSV."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from thresher.errors import UsageError
from thresher_evals.judges.human import harmless
from thresher_evals.report.blocks import Cell, Figure, Link, Number, Page, shown
from thresher_evals.report.data import Run, read_measured
from thresher_evals.report.pages import dataset_pages, summary
from thresher_evals.report.plots import render
from thresher_evals.report.questions import question_lines
from thresher_evals.report.study import is_study, study_section
from thresher_evals.report.tables import bounds_lines

TITLE = "What was measured"
SHOWN = 10
"""Default number of changed questions on a page."""

Lines = Iterable[Mapping[str, Any]]

CITE = "Made with Thresher; the file CITATION.cff of its repository says how to cite it."


@dataclass(frozen=True, slots=True)
class Report:
    """The written files."""

    html: Path
    markdown: Path
    pages: tuple[Path, ...]
    """One for each dataset and each study."""
    tables: tuple[Path, ...]
    """CSV."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        lists = {"pages": [str(path) for path in self.pages], "tables": [str(path) for path in self.tables]}
        return {"html": str(self.html), "markdown": str(self.markdown), **lists}


def write_report(
    directories: Sequence[Path],
    out: Path,
    *,
    title: str = TITLE,
    baseline: str | None = None,
    shown: int = SHOWN,
) -> Report:
    """Read the folders and write report.md, report.html, datasets/*.md and the tables into `out`. Raises UsageError.

    A page shows up to `shown` changed questions. The same folders give the same bytes. Pages of an earlier report in
    `out` are removed.
    """
    if out.exists() and not out.is_dir():
        raise UsageError("is not a folder", subject=str(out), next_step="give another `out`")
    if not directories:
        raise UsageError("nothing to report", subject=str(out), next_step="give the folder of a run or of a study")
    runs: list[Run] = []
    studies: list[Page] = []
    names = unique([slug(directory.resolve().name) for directory in directories])
    for directory, name in zip(directories, names, strict=True):
        if is_study(directory):
            section = study_section(directory, name)
            studies.append(Page(section.title, [replace(section, title="")], name))
        else:
            runs.append(read_measured(directory, name, baseline=baseline))
    out.mkdir(parents=True, exist_ok=True)
    tables = write_tables(runs, out)
    pages = [*dataset_pages(runs, shown), *studies]
    addresses = dict(zip((page.key for page in pages), unique([slug(page.title) for page in pages]), strict=True))
    markdown, html = markdown_template(addresses), html_template(addresses, out.resolve())
    folder = emptied(out / "datasets")
    files = [path.relative_to(out).as_posix() for path in tables]
    whole = {
        "title": title,
        "sections": summary(runs),
        "pages": [(addresses[page.key], page) for page in pages],
        "cite": CITE,
    }
    written_pages = [
        write(
            folder / f"{addresses[page.key]}.md",
            markdown.render(title=page.title, sections=page.sections, pages=(), files=()),
        )
        for page in pages
    ]
    return Report(
        write(out / "report.html", html.render(**whole, files=files)),
        write(out / "report.md", markdown.render(**whole, files=files)),
        tuple(written_pages),
        tuple(tables),
    )


def write_tables(runs: Sequence[Run], out: Path) -> list[Path]:
    """The CSV files that have lines."""
    blocks = [block for run in runs for block in run.blocks]
    lines: Mapping[str, Lines] = {
        "measures": (one._asdict() for block in blocks for one in block.measurements.values()),
        "differences": (line for block in blocks for line in block.difference_lines()),
        "questions": (line for run in runs for line in question_lines(run)),
        "bounds": (line for run in runs for line in bounds_lines(run)),
    }
    return [path for name, of in lines.items() for path in write_csv(out / f"{name}.csv", of)]


def write_csv(path: Path, lines: Lines) -> list[Path]:
    """A CSV file with numbers in six digits, and no text that a spreadsheet would calculate; no file without lines."""
    path.unlink(missing_ok=True)
    file = io.StringIO(newline="")
    table = csv.writer(file, lineterminator="\n")
    for place, line in enumerate(lines):
        if place == 0:
            table.writerow(line)
        table.writerow(map(_cell, line.values()))
    return [write(path, file.getvalue())] if file.getvalue() else []


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else harmless(value) if isinstance(value, str) else value


def write(path: Path, text: str) -> Path:
    """Write a text file; lone surrogates of a model's text are escaped."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return path


def emptied(folder: Path) -> Path:
    """The folder, without pages of an earlier report."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        path.unlink()
    return folder


def slug(name: str) -> str:
    """Letters, digits and hyphens, starting with a letter: valid in ids and file names."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "unnamed"
    return plain if plain[0].isalpha() else f"run-{plain}"


def unique(names: Sequence[str]) -> list[str]:
    """The names, with a number on repeated ones."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return numbered


# --- the templates ----------------------------------------------------------------------------------------------------

MEANING = re.compile(r"[\\`*|]|\](?=\()|^(?=[#>+-])")
"""Markup of Markdown that data must not trigger."""


def template(name: str, **filters: Callable[..., str]) -> jinja2.Template:
    """A template of this package; HTML is escaped."""
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
    """The template of a Markdown file; `addresses` maps a page's key to its name."""

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
    """The template of the page, which fetches and runs nothing. Links to row files are relative to `out`."""

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
    """A paragraph with code between backticks."""
    pieces = paragraph.split("`")
    if len(pieces) % 2 == 0:
        return text(paragraph)
    return "".join(code(piece) if place % 2 else text(piece) for place, piece in enumerate(pieces))


def plain(text: str) -> str:
    """Text on one line, escaped for Markdown and HTML."""
    line = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return MEANING.sub(lambda found: f"\\{found[0]}", line)


def in_few_digits(one: str | float | None) -> str:
    """A cell without an interval: text, a count, a number, or a dash."""
    if one is None:
        return "–"
    return shown(one) if isinstance(one, float) else str(one)
