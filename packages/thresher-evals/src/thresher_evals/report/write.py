"""From folders of runs and studies to the files of a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher_evals.report.blocks import Figure, Part, Section
from thresher_evals.report.comparison import (
    ablation_sections,
    category_section,
    comparison_section,
    difference_section,
    rival_section,
)
from thresher_evals.report.cost import cost_section, degraded_part, grouped, people_section, power_section, share_of
from thresher_evals.report.data import Block, Run, is_study, outcome_section, read_measured, read_study
from thresher_evals.report.plots import render, standing_alone
from thresher_evals.report.render import markdown, page, without_zeros
from thresher_evals.report.run import SHOWN, change_sections, changes, head, overview, sentences
from thresher_evals.report.verdicts import knowing_section
from thresher_evals.rows import written

TITLE = "What was measured"


@dataclass(frozen=True, slots=True)
class Report:
    """The files that were written."""

    html: Path
    markdown: Path
    sections: tuple[str, ...]
    """Titles, each with the part it belongs to."""
    figures: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "html": str(self.html),
            "markdown": str(self.markdown),
            "sections": list(self.sections),
            "figures": [str(path) for path in self.figures],
        }


def write_report(
    directories: Sequence[Path],
    out: Path,
    *,
    title: str = TITLE,
    baseline: str | None = None,
    shown: int = SHOWN,
    full_changes: bool = False,
) -> Report:
    """Read the folders and write report.html, report.md and figures/*.svg into `out`.

    Up to `shown` questions that a recipe gained, and that it lost, stand in the report; `full_changes` writes all to
    changes/RUN.jsonl as well. The same folders give the same bytes. Figures and changes that an earlier report left
    in `out` are removed.
    """
    if out.exists() and not out.is_dir():
        raise UsageError("is not a folder", subject=str(out), next_step="give another --out")
    if not directories:
        raise UsageError("nothing to report", subject=str(out), next_step="give the folder of a run or of a study")
    names = unique([slug(directory.resolve().name) for directory in directories])
    told: list[Run | Section] = [
        read_study(directory) if is_study(directory) else read_measured(directory, name, baseline=baseline)
        for directory, name in zip(directories, names, strict=True)
    ]
    worse = [one for one in told if isinstance(one, Run) and share_of(one) is not None]
    runs = [one for one in told if isinstance(one, Run) and one not in worse]
    first = {group[0].name: group for group in grouped(worse)}
    parts: list[Part] = []
    for one in told:
        if isinstance(one, Section):
            parts.append(Part(one.title, [one]))
        elif one in runs:
            heading = f"{one.name}: {one.dataset['kind']} {one.dataset['name']}"
            parts.append(Part(heading, list(sections(one, shown, file=full_changes))))
        elif one.name in first:
            parts.append(degraded_part(first[one.name]))
    parts = named(parts)
    top = overview(runs, worse)
    drawn = {figure.name: render(figure) for part in parts for one in part.sections for figure in one.figures}
    out.mkdir(parents=True, exist_ok=True)
    html, text = out / "report.html", out / "report.md"
    html.write_text(page(title, top, parts, lambda figure: drawn[figure.name]), encoding="utf-8", errors=ESCAPED)
    text.write_text(markdown(title, top, parts, "figures"), encoding="utf-8", errors=ESCAPED)
    write_changes(runs if full_changes else [], out / "changes")
    titles = tuple(f"{part.title}: {one.title}" for part in parts for one in part.sections)
    return Report(html, text, titles, write_figures(drawn, out / "figures"))


ESCAPED = "backslashreplace"
"""What a model wrote may hold half of a character, which no file can."""


def sections(run: Run, shown: int = SHOWN, *, file: bool = False) -> Iterator[Section]:
    """Everything a run has data for, block by block, without columns in which nothing stands."""
    yield head(run)
    for place, block in enumerate(run.blocks):
        prefix = f"{run.name}-{place}" if len(run.blocks) > 1 else run.name
        of = f" ({block.generator or 'generator not told'})" if len(run.blocks) > 1 else ""
        for one in block_sections(run, block, prefix, shown, file=file):
            yield replace(one, title=f"{one.title}{of}", tables=[without_zeros(table) for table in one.tables])


def block_sections(run: Run, block: Block, prefix: str, shown: int, *, file: bool) -> Iterator[Section]:
    """The sections of one generator's recipes."""
    yield Section("In short", list(sentences(block)))
    yield from rival_section(block, prefix)
    yield comparison_section(run, block, prefix)
    yield from people_section(run, block, prefix)
    yield outcome_section(block)
    yield from difference_section(block, prefix)
    yield from ablation_sections(run, block, prefix)
    yield from category_section(block)
    yield from knowing_section(run, block, prefix)
    yield cost_section(run, block, prefix)
    yield from power_section(run, block, prefix)
    yield from change_sections(run, block, shown, file=file)


def write_figures(drawn: dict[str, str], folder: Path) -> tuple[Path, ...]:
    """One file for each figure, and no others."""
    emptied(folder, "*.svg")
    for name, element in drawn.items():
        (folder / f"{name}.svg").write_text(standing_alone(element), encoding="utf-8")
    return tuple(folder / f"{name}.svg" for name in drawn)


def write_changes(runs: Sequence[Run], folder: Path) -> None:
    """Every question that changed, one line each, a file for each run; no folder where there are no runs."""
    if runs or folder.is_dir():
        emptied(folder, "*.jsonl")
    for run in runs:
        lines = (written(change.to_dict()) for block in run.blocks for change in changes(block))
        (folder / f"{run.name}.jsonl").write_bytes(b"".join(lines))
    if not runs and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def emptied(folder: Path, of: str) -> None:
    """A folder without the files of an earlier report."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob(of):
        path.unlink()


def named(parts: Sequence[Part]) -> list[Part]:
    """The same parts, each figure with a name that is a file name and nobody else's."""
    figures = [figure for part in parts for one in part.sections for figure in one.figures]
    names = iter(unique([slug(figure.name) for figure in figures]))

    def renamed(figure: Figure) -> Figure:
        return replace(figure, name=next(names))

    return [
        replace(
            part, sections=[replace(one, figures=[renamed(figure) for figure in one.figures]) for one in part.sections]
        )
        for part in parts
    ]


def slug(name: str) -> str:
    """Letters, digits and hyphens, beginning with a letter, as ids and file names may."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "unnamed"
    return plain if plain[0].isalpha() else f"run-{plain}"


def unique(names: Sequence[str]) -> list[str]:
    """The same names, later ones of the same kind with a number."""
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return told
