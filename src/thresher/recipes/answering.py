"""The parts that answer, made from settings: the answerer without a chat model, the chat model, their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.answering.citations import ConflictCiter, QuoteChecker
from thresher.protocols import ChunkTable, Generator, Verifier
from thresher.recipes.components import Components
from thresher.recipes.settings import AnswerSettings, RecipeSettings
from thresher.structure.locators import locate

if TYPE_CHECKING:
    from thresher.answering.answerer import Answerer
    from thresher.answering.chat_model import Style
    from thresher.answering.checked_answer import Display
    from thresher.verification.check import Checker

OF_ANSWERS = 0.8
"""Prior share of a chat model's sentences that are supported: it was shown the evidence (docs/decisions.md)."""

HEDGE_BELOW = 0.5
"""Without a model: probability of the best passage below which it is shown as doubtful."""

NO_MODEL = "generate: no chat model is configured (llm.base_url, llm.model); answered by quoting"


def generator(
    settings: RecipeSettings, parts: Components, table: ChunkTable, *, rivals: bool = False
) -> tuple[Generator, tuple[str, ...]]:
    """The chat model, or the answerer where none is configured, and what is lacking; `rivals` is the answerer's."""
    offline = without_model(settings, parts, table, rivals=rivals)
    model = parts.language_model(settings.llm)
    if model is None:
        return offline, (NO_MODEL,)
    if settings.answer.by == "reader":
        return offline, ()
    from thresher.answering.chat_model import GroundedGenerator

    written = GroundedGenerator(
        model,
        checker(settings, parts),
        offline,
        display_of(settings.answer),
        style_of(settings.answer),
        settings.llm.context_tokens,
        settings.llm.max_tokens,
        parts.on_sentence,
    )
    return written, ()


def without_model(settings: RecipeSettings, parts: Components, table: ChunkTable, *, rivals: bool) -> Answerer:
    """The answerer: it shows the best passage or cell."""
    from thresher.answering.answerer import Answerer
    from thresher.answering.spans import Confidence, SpanFinder

    answer, confidence = settings.answer, Confidence.load()
    return Answerer(
        SpanFinder(parts.models.judge(), parts.rarity(table), confidence.span),
        parts.models.judge(),
        parts.whole_documents(),
        confidence,
        answer.abstain_below,
        HEDGE_BELOW,
        rivals,
    )


def checker(settings: RecipeSettings, parts: Components, prior: float = OF_ANSWERS) -> Checker:
    """Checks sentences against the documents; `prior` is the share of supported ones that is assumed."""
    from thresher.verification.check import Checker
    from thresher.verification.windows import rows_in_words

    return Checker(parts.models.checker(), parts.whole_documents(), rows_in_words, prior)


def quotes(parts: Components) -> QuoteChecker:
    """Looks citations up in their documents."""
    return QuoteChecker(parts.whole_documents(), locate)


def quote_checker(parts: Components) -> Verifier:
    """Looks every citation up in its document, here or in the other collection, and cites contradictions."""
    looks_up = quotes(parts)
    return ConflictCiter(looks_up, looks_up.placed, parts.whole_documents())


def style_of(answer: AnswerSettings) -> Style:
    """Style, length and further instructions for a chat model."""
    from thresher.answering.chat_model import Style

    return Style(answer.style, answer.max_words, answer.instructions)


def display_of(answer: AnswerSettings) -> Display:
    """Which sentences of an answer are shown; the mode wins over the check."""
    of_mode: dict[str, Display] = {"strict": "strict", "balanced": "mark", "open": "open"}
    return of_mode[answer.mode] if answer.mode else answer.check
