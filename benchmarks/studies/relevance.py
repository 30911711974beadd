"""How relevant what is handed on is, before and after a filter, by the same judge on both sides.

ChunkRAG (arXiv:2410.19572v2), Table 3: 0.180 for a naive retriever, 0.467 for ChunkRAG. Who judged, and how many chunks
each side had, is not said. A filter that keeps the best of what it has raises the mean by keeping less; so each filter
also stands beside the first chunks of its own ranking, as many as it handed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from pydantic import Field

from benchmarks.studies.study import (
    INTERVALS,
    Cells,
    Findings,
    Materials,
    Opened,
    Row,
    Study,
    Table,
    change,
    difference_of,
    mean,
    mean_of,
    split_names,
    spread,
)
from thresher.errors import UsageError
from thresher.protocols import Scorer
from thresher.recipes.judges import evaluator
from thresher.recipes.settings import JudgeSettings
from thresher.settings import Frozen
from thresher.types import Hit, Query

PLAIN = "rag"
"""Plain top-k, each chunk trusted as it is."""

UNFILTERED = "{}, unfiltered"
"""The side of a filter's own ranking before it filters."""

PUBLISHED = (("naive retriever", 0.180), ("ChunkRAG, theta 0.8", 0.467))
"""ChunkRAG v2, Table 3."""

Grades = Mapping[str, Sequence[float | None]]
"""Side to the grades of one question's chunks."""


class Settings(Frozen):
    """Settings of the study."""

    filters: str = Field("chunkrag,corrective", description="recipes that filter, separated by commas")
    judges: str = Field("local,trained", description="what grades every side: 'local', 'trained', 'llm' or a model")
    limit: int = Field(5, ge=1, description="chunks of plain top-k, and of a filter at most")


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each question: the grades of the chunks of each side, by each judge, in the order handed on."""
    here = Opened.of(materials)
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


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
    """Table 3 by each judge, the paired differences, and what was published."""
    n = len(rows)
    judges = {judge: [row["grades"][judge] for row in rows] for judge in split_names(settings.judges)}
    text = (
        f"Each question's chunks are graded by one judge, the same on both sides: plain top-{settings.limit} ({PLAIN}),"
        " the first chunks of a filter's own ranking (repetitions removed), and what the filter hands on. "
        f"n = {n} questions; a question's grade is the mean over its chunks; a side that hands on nothing has none.",
        "A filter that goes by the judge that grades it is bound to rise (without a chat model, chunkrag filters by "
        "the local judge and corrective by the trained one): read it by the other judge. And a filter that keeps fewer "
        "chunks keeps the better ones: against the first as many says what the filter does beyond stopping earlier.",
    )
    sides: list[Cells] = [
        {
            "judge": judge,
            "side": side,
            **spread("mean relevance", mean_of(means := side_means(grades, side), seed)),
            **spread("chunks handed on", mean_of([float(len(one[side])) for one in grades], seed)),
            "questions with none": sum(value is None for value in means),
        }
        for judge, grades in judges.items()
        for side in grades[0]
    ]
    differences: list[Cells] = [
        {"judge": judge, "filter": name, "against": words, **change("difference", compared), "n": compared.n}
        for judge, grades in judges.items()
        for name in split_names(settings.filters)
        for words, other in rivals(grades, name).items()
        for compared in (difference_of(other, side_means(grades, name), seed),)
    ]
    published: list[Cells] = [{"retriever": name, "average relevance": value} for name, value in PUBLISHED]
    paired = "Paired bootstrap over the questions that have chunks on both sides; p is not corrected for the rows."
    unsaid = "Judge, n and number of chunks are not given."
    return Findings(
        text,
        (
            Table("sides", f"Mean relevance of what is handed on, n = {n}", sides, INTERVALS),
            Table("differences", f"Paired differences, n = {n}", differences, paired),
            Table("published", "As published: ChunkRAG v2, Table 3", published, unsaid),
        ),
    )


def rivals(grades: Sequence[Grades], name: str) -> dict[str, list[float | None]]:
    """What a filter is held against: plain top-k, its own ranking, and as many of the first of that."""
    unfiltered = UNFILTERED.format(name)
    return {
        f"plain top-k ({PLAIN})": side_means(grades, PLAIN),
        "its own ranking": side_means(grades, unfiltered),
        "the first as many of it": [
            mean([grade for grade in one[unfiltered][: len(one[name])] if grade is not None]) for one in grades
        ],
    }


def side_means(grades: Sequence[Grades], side: str) -> list[float | None]:
    """The mean grade of each question's chunks on a side."""
    return [mean([grade for grade in one[side] if grade is not None]) for one in grades]


STUDY = Study(
    "relevance",
    "Relevance of what is handed on",
    Settings,
    lambda settings: (PLAIN, *split_names(settings.filters)),
    measure,
    tell,
)
