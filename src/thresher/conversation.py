"""A question of a conversation: what it asks, given the turns before it, and what asks nothing at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from thresher.answer import Answer
from thresher.questions import cannot_stand_alone
from thresher.types import Query, Usage

if TYPE_CHECKING:
    from thresher.pipeline import Pipeline
    from thresher.recipes.components import Components
    from thresher.recipes.settings import RecipeSettings

_WORD = re.compile(r"\w+")
_THANKS = frozenset(("thanks", "thank", "thx", "cheers", "danke", "merci", "gracias"))
_HELLO = frozenset(("hello", "hi", "hey", "hallo", "bonjour", "hola", "morning", "afternoon", "evening"))
_BYE = frozenset(("bye", "goodbye"))
_BESIDES = frozenset(
    ("a", "again", "all", "and", "everyone", "for", "good", "great", "help", "lot", "many", "much", "ok")
)
_BESIDES |= {"nice", "okay", "perfect", "so", "that", "the", "there", "very", "you", "your"}
_WHO = frozenset(("who are you", "what are you", "what can you do", "what do you do", "how are you"))


def courtesy(question: str) -> str:
    """The line that answers thanks, a greeting or "who are you"; empty for any other text."""
    words = [word.lower() for word in _WORD.findall(question)]
    spoken = set(words)
    if " ".join(word for word in words if word not in _HELLO) in _WHO:
        return "I answer questions from the documents of this collection, with citations, and say where they do not."
    if not spoken <= _THANKS | _HELLO | _BYE | _BESIDES:
        return ""
    if spoken & _THANKS:
        return "You are welcome."
    if spoken & _BYE:
        return "Goodbye."
    return "Hello. What would you like to know from the documents?" if spoken & _HELLO else ""


def polite(question: str, recipe: str, line: str) -> Answer:
    """The answer to what asks nothing: a line, without steps, and without a trace."""
    return Answer(
        question=question,
        recipe=recipe,
        text=line,
        abstained=False,
        reason=None,
        verdict=None,
        confidence=None,
        citations=(),
        conflicts=(),
        steps=(),
        usage=Usage(),
        degraded=(),
        trace="",
    )


def understood(
    query: Query,
    history: Sequence[tuple[str, str]],
    pipeline: Pipeline,
    settings: RecipeSettings,
    parts: Components,
) -> Query:
    """The reading of a question that the evidence decides for; the same query for one that stands alone."""
    if not history or not cannot_stand_alone(query.question):
        return query
    from thresher.retrieval.follow_up import FollowUp, best_found

    judge = parts.running(settings).models.judge()
    return FollowUp(partial(best_found, pipeline.retrieve, judge), parts.language_model(settings.llm))(query, history)
