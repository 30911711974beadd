"""A budget of tokens for evidence: the parts that spend it, and what budgets keep in one collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from thresher.errors import UsageError
from thresher.models.encoders import token_count
from thresher.pipeline import Cut, Pipeline
from thresher.recipes.answerer import Share, plain
from thresher.recipes.components import Components
from thresher.recipes.made_questions import MADE, questions_of
from thresher.recipes.registry import Recipe
from thresher.recipes.settings import RecipeSettings
from thresher.refinement.excerpts import BudgetedRefiner, EvidenceReader
from thresher.types import Evidence, Excerpt, Public, Query

BUDGETS = (100, 200, 400, 800, 1600, 3200)
"""Tokens, each twice the one before: from a line of a tool's result to more than the chunks of most questions have."""

MOST_OF_CHUNKS = 0.2
"""Share from which on the part of the chunks is given in per cent."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Spending:
    """Reads evidence and counts tokens; made once for a recipe."""

    read: EvidenceReader
    count: Callable[[str], int]

    def cut(self, most: int) -> Cut:
        """Evidence to the excerpts that fit into `most` tokens."""
        return lambda query, evidence: self.read(query, evidence).within(most, self.count)

    def budgeted(self, pipeline: Pipeline, most: int) -> Pipeline:
        """A recipe whose generator is given no more than `most` tokens of evidence."""
        return replace(pipeline, refine=BudgetedRefiner(pipeline.refine, self.read, most, self.count))


def spending(settings: RecipeSettings, parts: Components) -> Spending:
    """The bundled judge over the documents, and the bundled tokenizer."""
    models = parts.running(settings).models
    return Spending(EvidenceReader(models.judge(), parts.whole_documents()), token_count)


@dataclass(frozen=True, slots=True)
class BudgetPoint(Public):
    """One budget: the share of the answers in the chunks that the spans keep, and their tokens."""

    max_tokens: int
    kept: Share
    tokens: float
    """Per question, on average; may be fewer than the budget."""
    of_chunks: float
    """Share of the tokens of the chunks."""

    def __str__(self) -> str:
        """For people, in a sentence."""
        kept, low, high = (100 * share for share in (self.kept.value, self.kept.low, self.kept.high))
        return f"{self.max_tokens} tokens keep {kept:.1f} % [{low:.1f}, {high:.1f}] of the answers, {self._part}"

    @property
    def _part(self) -> str:
        """`a 14th of the chunks`; from a fifth on in per cent, where one is not like the next."""
        if self.of_chunks >= MOST_OF_CHUNKS or not self.of_chunks:
            return f"{100 * self.of_chunks:.0f} % of the chunks"
        nth = round(1 / self.of_chunks)
        ending = {1: "st", 2: "nd", 3: "rd"}.get(nth % 10, "th") if nth // 10 != 1 else "th"
        article = "an" if nth in (8, 11, 18) or 80 <= nth < 90 else "a"
        return f"{article} {nth}{ending} of the chunks"


@dataclass(frozen=True, slots=True)
class BudgetCurve(Public):
    """What budgets of tokens keep in a collection, over the questions whose answers are in the chunks."""

    recipe: str
    source: Literal["questions made of the collection", "labels"]
    found: Share
    """Questions whose answer is in the chunks that the recipe hands on whole."""
    chunk_tokens: float
    """Of those chunks, per question, on average."""
    points: tuple[BudgetPoint, ...]


@dataclass(frozen=True, slots=True)
class Sought:
    """A question, and its answer, given by its place or by its words."""

    question: str
    answers: tuple[str, ...] = ()
    document_id: str = ""
    place: tuple[int, int] = (0, 0)

    def stands_in(self, evidence: Sequence[Evidence]) -> bool:
        """Whether evidence holds the place of the answer, or the words of one, case and marks aside."""
        if self.document_id:
            start, end = self.place
            own = [one for one in evidence if one.hit.chunk.document_id == self.document_id]
            return any(one.start <= start and end <= one.end for one in own)
        text = " ".join(f" {plain(one.text)} " for one in evidence)
        return any(f" {plain(answer)} " in text for answer in self.answers if plain(answer))


def labelled(questions: Sequence[tuple[str, Sequence[str]]]) -> list[Sought]:
    """Questions with answers, those without any left out."""
    return [Sought(question, tuple(answers)) for question, answers in questions if answers]


def made(recipe: Recipe, settings: RecipeSettings, parts: Components, number: int, seed: int) -> list[Sought]:
    """Questions made of the collection's own texts. Raises UsageError where none can be made."""
    config = recipe.index_config(settings, parts)
    if config is None:
        raise UsageError("retrieves nothing", subject=f"recipe {recipe.name}", next_step="name another recipe")
    questions = questions_of(parts.table(config), number, seed)
    return [Sought(one.question, document_id=one.document_id, place=one.place) for one in questions]


def measured(
    pipeline: Pipeline,
    spend: Spending,
    sought: Sequence[Sought],
    query: Callable[[str], Query],
    *,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress | None = None,
) -> BudgetCurve:
    """Search for every question once and spend every budget on what is found. Raises UsageError for no questions."""
    if not sought:
        raise UsageError("have no answers", subject="the questions", next_step='give "answers" with each of them')
    tokens: list[int] = []
    spans: list[list[tuple[int, bool]]] = []  # per question and budget the tokens, and whether the answer stays
    for one in sought:
        asked = pipeline.rewrite(query(one.question))
        judged = pipeline.judge(asked, pipeline.retrieve(asked).kept)
        evidence = pipeline.refine(asked, judged.kept).evidence
        if one.stands_in(evidence):
            read = spend.read(asked, evidence)
            spans.append([_spent(one, read.within(most, spend.count)) for most in budgets])
            tokens.append(sum(spend.count(piece.text) for piece in evidence))
        if progress is not None:
            progress(1)
    chunks = sum(tokens)
    return BudgetCurve(
        pipeline.recipe,
        MADE if sought[0].document_id else "labels",
        Share(len(spans), len(sought)),
        chunks / len(spans) if spans else 0.0,
        tuple(_point(most, [one[at] for one in spans], chunks) for at, most in enumerate(budgets)),
    )


def _spent(one: Sought, excerpts: Sequence[Excerpt]) -> tuple[int, bool]:
    evidence = [excerpt.evidence for excerpt in excerpts if excerpt.evidence is not None]
    return sum(excerpt.tokens for excerpt in excerpts), one.stands_in(evidence)


def _point(most: int, spans: Sequence[tuple[int, bool]], chunks: int) -> BudgetPoint:
    tokens = sum(tokens for tokens, _ in spans)
    kept = Share(sum(stays for _, stays in spans), len(spans))
    return BudgetPoint(most, kept, tokens / max(1, len(spans)), tokens / max(1, chunks))
