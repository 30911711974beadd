"""How relevant what is handed on is, before and after a filter, by the same judge on both sides.

ChunkRAG (arXiv:2410.19572v2), Table 3: 0.180 for a naive retriever, 0.467 for ChunkRAG. Who judged, and how many chunks
each side had, is not said. A filter that keeps the best of what it has raises the mean by keeping less; so each filter
also stands beside the first chunks of its own ranking, as many as it handed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from thresher.errors import UsageError
from thresher.protocols import Scorer
from thresher.recipes.judges import evaluator
from thresher.recipes.settings import JudgeSettings
from thresher.settings import Frozen
from thresher.types import Hit, Query
from thresher_evals.report.blocks import Cell, Figure, Section, Table
from thresher_evals.studies.runner import (
    INTERVALS,
    Kind,
    Materials,
    Opened,
    Study,
    StudyRow,
    difference_of,
    mean,
    mean_of,
    opened,
    shown,
    shown_difference,
    split_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = "rag"
"""Plain top-k, each chunk trusted as it is."""

UNFILTERED = "{}, unfiltered"
"""The side of a filter's own ranking before it filters."""

PUBLISHED = (("naive retriever", 0.180), ("ChunkRAG, theta 0.8", 0.467))
"""ChunkRAG v2, Table 3."""


class Settings(Frozen):
    """Settings of the study."""

    filters: str = Field("chunkrag,corrective", description="recipes that filter, separated by commas")
    judges: str = Field("local,trained", description="what grades every side: 'local', 'trained', 'llm' or a model")
    limit: int = Field(5, ge=1, description="chunks of plain top-k, and of a filter at most")


def recipes_of(settings: Settings) -> Sequence[str]:
    """Plain retrieval and the filters."""
    return (PLAIN, *split_names(settings.filters))


def measure(materials: Materials, done: Set[str]) -> Iterator[StudyRow]:
    """A row for each question: the grades of the chunks of each side, by each judge, in the order handed on."""
    here = opened(materials.home, materials.collection, materials.given)
    settings: Settings = materials.settings
    judges = {name: judge_of(here, name) for name in split_names(settings.judges)}
    plain = here.pipeline(PLAIN)
    filters = {name: here.pipeline(name) for name in split_names(settings.filters)}
    for question in materials.left(done):
        asked = Query(question.question, question.question, settings.limit)
        sides = {PLAIN: plain.search(asked).hits}
        for name, pipeline in filters.items():
            sides[UNFILTERED.format(name)] = pipeline.retrieve(pipeline.rewrite(asked)).kept[: settings.limit]
            sides[name] = pipeline.search(asked).hits
        grades = {
            judge: {side: grades_of(scorer, asked, hits) for side, hits in sides.items()}
            for judge, scorer in judges.items()
        }
        yield {"id": question.id, "question": question.question, "grades": grades}


def judge_of(here: Opened, name: str) -> Scorer:
    """The judge of that name, with the words of the plain recipe's table: one judge, whichever side it grades."""
    settings = here.configured("crag", {"judge": name})
    assert isinstance(settings, JudgeSettings)
    if name == "llm" and not settings.llm.configured:
        raise UsageError(
            "no chat model is configured", subject="judge llm", next_step="give llm.base_url and llm.model with --set"
        )
    return evaluator(settings, here.parts, here.table(PLAIN))[0]


def grades_of(scorer: Scorer, query: Query, hits: Sequence[Hit]) -> list[float | None]:
    """One grade for each chunk; None where a reply could not be read."""
    return [None if score is None else score.value for score in scorer(query, hits).scores] if hits else []


Grades = Mapping[str, Sequence[float | None]]
"""Side to the grades of one question."""


def section(rows: Sequence[StudyRow], study: Study) -> Section:
    """Table 3 by each judge, the paired differences, and what was published."""
    n = len(rows)
    filters = split_names(study.settings["filters"])
    judges = {judge: [row["grades"][judge] for row in rows] for judge in split_names(study.settings["judges"])}
    text = (
        f"Each question's chunks are graded by one judge, the same on both sides: plain top-{study.settings['limit']} "
        f"({PLAIN}), the first chunks of a filter's own ranking (repetitions removed), and what the filter hands on. "
        f"n = {n} questions; a question's grade is the mean over its chunks; a side that hands on nothing has none.",
        "A filter that goes by the judge that grades it is bound to rise (without a chat model, chunkrag filters by "
        "the local judge and corrective by the trained one): read it by the other judge. And a filter that keeps fewer "
        "chunks keeps the better ones: against the first as many says what the filter does beyond stopping earlier.",
    )
    tables = [
        *(side_table(judge, grades, n, study.seed) for judge, grades in judges.items()),
        difference_table(judges, filters, n, study.seed),
        Table(
            "As published: ChunkRAG v2, Table 3",
            ("retriever", "average relevance"),
            PUBLISHED,
            "Judge, n and number of chunks are not given.",
        ),
    ]
    figure = Figure(
        "relevance-filtered",
        "Mean relevance of what is handed on",
        partial(draw, judges),
        n,
        "Hollow: as published (ChunkRAG v2, Table 3), by an unnamed judge. Bars: 95 % intervals over the questions.",
    )
    return Section(study.title, text, tables, (figure,))


def side_means(grades: Sequence[Grades], side: str) -> list[float | None]:
    """The mean grade of each question's chunks on a side."""
    return [mean([grade for grade in one[side] if grade is not None]) for one in grades]


def first_means(grades: Sequence[Grades], side: str, counted: str) -> list[float | None]:
    """As `side_means`, of only so many first chunks as the side `counted` has."""
    return [mean([grade for grade in one[side][: len(one[counted])] if grade is not None]) for one in grades]


def side_table(judge: str, grades: Sequence[Grades], n: int, seed: int) -> Table:
    """The sides by one judge."""
    rows: list[Sequence[Cell]] = []
    for side in grades[0]:
        means = side_means(grades, side)
        handed = [float(len(one[side])) for one in grades]
        empty = sum(value is None for value in means)
        rows.append((side, shown(mean_of(means, seed)), shown(mean_of(handed, seed), 1), empty))
    columns = ("side", "mean relevance", "chunks handed on", "questions with none")
    return Table(f"Mean relevance by the judge '{judge}', n = {n}", columns, rows, INTERVALS)


def difference_table(judges: Mapping[str, Sequence[Grades]], filters: Sequence[str], n: int, seed: int) -> Table:
    """Each filter against plain top-k, against its own ranking, and against as many of that."""
    rows: list[Sequence[Cell]] = []
    for judge, grades in judges.items():
        for name in filters:
            filtered, own = side_means(grades, name), UNFILTERED.format(name)
            against = {
                f"plain top-k ({PLAIN})": side_means(grades, PLAIN),
                "its own ranking": side_means(grades, own),
                "the first as many of it": first_means(grades, own, name),
            }
            for words, other in against.items():
                compared = difference_of(other, filtered, seed)
                rows.append((judge, name, words, shown_difference(compared), compared.n))
    columns = ("judge", "filter", "against", "difference", "n")
    note = "Paired bootstrap over the questions that have chunks on both sides; p is not corrected for the rows."
    return Table(f"Paired differences, n = {n}", columns, rows, note)


def draw(judges: Mapping[str, Sequence[Grades]], axes: Axes) -> None:
    """A group of bars for each side, a bar for each judge; the published pair hollow."""
    sides = list(next(iter(judges.values()))[0])
    width = 0.8 / len(judges)
    for place, (judge, grades) in enumerate(judges.items()):
        intervals = [mean_of(side_means(grades, side), 0) for side in sides]
        values = [one.value or 0.0 for one in intervals]
        below = [value - (one.low or 0.0) for value, one in zip(values, intervals, strict=True)]
        above = [(one.high or 0.0) - value for value, one in zip(values, intervals, strict=True)]
        at = [number + place * width for number in range(len(sides))]
        axes.bar(at, values, width, yerr=[below, above], capsize=2, label=f"judge {judge}")
    at = [len(sides) + number for number in range(len(PUBLISHED))]
    axes.bar(at, [value for _, value in PUBLISHED], width, fill=False, label="published")
    names = [*sides, *(name for name, _ in PUBLISHED)]
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_ylabel("mean relevance")
    axes.legend()


KIND = Kind("relevance", "Relevance of what is handed on", Settings, recipes_of, measure, section)
