"""Which answers stay within budgets of tokens in one collection: `calibrate --budget`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from thresher.errors import UsageError
from thresher.pipeline import Pipeline
from thresher.recipes import Recipe
from thresher.recipes.calibrate import MADE, questions_of
from thresher.recipes.components import Components
from thresher.recipes.evidence import Spending, spending
from thresher.recipes.settings import RecipeSettings
from thresher.types import Evidence, Public, Query
from thresher_evals.answerer_worth import Share, holds

BUDGETS = (100, 200, 400, 800, 1600, 3200)
"""Tokens, each twice the one before: from a line of a tool's result to more than the chunks of most questions have."""


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
        kept, low, high = (100 * share for share in (self.kept.value, self.kept.low, self.kept.high))
        answers = f"{kept:.1f} % [{low:.1f}, {high:.1f}] of the answers"
        return f"{self.max_tokens} tokens keep {answers}, {100 * self.of_chunks:.0f} % of the chunks"


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

    def __str__(self) -> str:
        found = self.found
        lines = [
            f"{found.n} questions ({self.source}), asked with {self.recipe}",
            f"of {found.right} the answer is in the chunks, {self.chunk_tokens:,.0f} tokens on average; of these",
        ]
        return "\n".join([*lines, *(f"  {point}" for point in self.points)])


@dataclass(frozen=True, slots=True)
class Sought:
    """A question, and its answer, given by its place or by its words."""

    question: str
    answers: Sequence[str] = ()
    document_id: str = ""
    place: tuple[int, int] = (0, 0)

    def stands_in(self, evidence: Sequence[Evidence]) -> bool:
        """Whether evidence holds the place of the answer, or the words of one, case and marks aside."""
        if self.document_id:
            start, end = self.place
            own = [one for one in evidence if one.hit.chunk.document_id == self.document_id]
            return any(one.start <= start and end <= one.end for one in own)
        return any(holds(one.text, self.answers) for one in evidence)


def budget_curve(
    recipe: Recipe,
    settings: RecipeSettings,
    parts: Components,
    questions: Sequence[tuple[str, Sequence[str]]] | None,
    *,
    number: int,
    seed: int,
    limit: int,
    budgets: Sequence[int],
    progress: Callable[[int], None] | None,
) -> BudgetCurve:
    """Search for every question once, or for `number` made ones, and spend every budget on what is found.

    Raises UsageError where no question has an answer.
    """
    config = recipe.index_config(settings, parts)
    if config is None:
        raise UsageError("retrieves nothing", subject=f"recipe {recipe.name}", next_step="name another recipe")
    parts.store.check_encoder(config)
    if questions is None:
        made = questions_of(parts.table(config), number, seed)
        sought = [Sought(one.question, document_id=one.document_id, place=one.place) for one in made]
    else:
        sought = [Sought(question, answers) for question, answers in questions if answers]
    if not sought:
        raise UsageError("have no answers", subject="the questions", next_step='give "answers" with each of them')
    pipeline, spend, budgets = recipe.pipeline(settings, parts), spending(parts), budgets or BUDGETS
    tokens: list[int] = []
    spent: list[list[tuple[int, bool]]] = []  # per question and budget the tokens, and whether the answer stays
    for one in sought:
        evidence = _evidence(pipeline, Query(one.question, one.question, limit))
        if one.stands_in(evidence):
            spent.append(_spent(one, spend, evidence, budgets))
            tokens.append(sum(spend.count(piece.text) for piece in evidence))
        if progress is not None:
            progress(1)
    chunks, found = sum(tokens), len(spent)
    points = [_point(most, [one[at] for one in spent], chunks) for at, most in enumerate(budgets)]
    source: Literal["questions made of the collection", "labels"] = MADE if questions is None else "labels"
    mean = chunks / found if found else 0.0
    return BudgetCurve(pipeline.recipe, source, Share(found, len(sought)), mean, tuple(points))


def _evidence(pipeline: Pipeline, query: Query) -> Sequence[Evidence]:
    """What a generator would be given, whatever the verdict."""
    asked = pipeline.rewrite(query)
    judged = pipeline.judge(asked, pipeline.retrieve(asked).kept)
    return pipeline.refine(asked, judged.kept).evidence


def _spent(
    one: Sought, spend: Spending, evidence: Sequence[Evidence], budgets: Sequence[int]
) -> list[tuple[int, bool]]:
    read = spend.read(Query(one.question, one.question), evidence)
    found = []
    for most in budgets:
        excerpts = read.within(most, spend.count)
        kept = [excerpt.evidence for excerpt in excerpts if excerpt.evidence is not None]
        found.append((sum(excerpt.tokens for excerpt in excerpts), one.stands_in(kept)))
    return found


def _point(most: int, spent: Sequence[tuple[int, bool]], chunks: int) -> BudgetPoint:
    tokens = sum(tokens for tokens, _ in spent)
    kept = Share(sum(stays for _, stays in spent), len(spent))
    return BudgetPoint(most, kept, tokens / max(1, len(spent)), tokens / max(1, chunks))
