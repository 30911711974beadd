"""How a question is asked: its options, the errors of a wrong call, the turns before it, and what asks nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from thresher import recipes
from thresher.answer import Answer
from thresher.errors import UnknownSetting, UsageError, WrongType, check_awaits_nothing, check_type
from thresher.protocols import in_silence
from thresher.questions import cannot_stand_alone
from thresher.types import Query, Usage

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.pipeline import Pipeline
    from thresher.recipes.components import Components
    from thresher.recipes.settings import RecipeSettings


class AskOptions(TypedDict, total=False):
    """How a question is asked."""

    recipe: str | recipes.Recipe
    """`corrective` when not given; a name, or one with parts of your own (`recipes.derive`)."""
    outside: str | WebSearch | None
    """Where a recipe that corrects may look: `none`, `web`, `collection:NAME`, or a web search of your own
    (`thresher.correction.providers.WebSearch`); None is what the setting says."""
    where: str | None
    """A filter on metadata, e.g. `kind = 'pdf' AND page <= 3`."""
    settings: Mapping[str, Any] | None
    """By dotted key; they win over `thresher.toml` and the environment."""
    history: Sequence[tuple[str, str] | Answer]
    """Earlier questions with their answers, oldest first: a question that follows up on them is put into words that
    stand alone (`Answer.standalone`)."""
    on_sentence: Callable[[str], None]
    """Called with each sentence of the answer once it is written and checked; together they are its text."""
    strict: bool
    """Raise Degraded instead of doing without a part of the recipe."""
    budget_calls: int | None
    """A budget ends the question with what it has by then."""
    budget_tokens: int | None
    budget_seconds: float | None
    max_tokens: int | None
    """Tokens of evidence that the answer is written from: of what was found the best spans that fit."""


def check_question(question: str) -> None:
    """Raise WrongType or UsageError for what asks nothing."""
    check_type("question", question, str, "a text")
    if not question.strip():
        raise UsageError("the question is empty", next_step="ask something")


def search_option(name: str) -> str:
    """What to say instead of an option that `search` does not have."""
    if name in ("k", "n", "top_k", "number", "size"):
        return "say `limit`"
    return "there are: limit, max_tokens, recipe, settings, strict, where"


def check_number(name: str, given: object, *, least: int) -> None:
    """Raise WrongType or UsageError for what is no whole number, or too small."""
    check_type(name, given, int, "a whole number")
    if isinstance(given, int) and given < least:
        raise UsageError(f"must be at least {least}", subject=f"`{name}` {given}")


def check_options(options: Mapping[str, object]) -> None:
    """Raise UnknownSetting for an option that `ask` does not have, WrongType for a callback that is no function."""
    for name in options:
        if name not in AskOptions.__annotations__:
            raise UnknownSetting(name, AskOptions.__annotations__, kind="option of `ask`")
    for name in ("budget_calls", "budget_tokens", "budget_seconds"):
        check_type(name, given := options.get(name) or 0, (int, float), "a number")
        if isinstance(given, (int, float)) and given < 0:
            raise UsageError("must be at least 0", subject=f"`{name}` {given}")
    if options.get("max_tokens") is not None:
        check_number("max_tokens", options["max_tokens"], least=1)
    check_type("strict", options.get("strict", False), bool, "True or False")
    if not callable(options.get("on_sentence", in_silence)):
        raise WrongType("on_sentence", options["on_sentence"], "a function that takes a text")
    check_awaits_nothing("on_sentence", options.get("on_sentence"))


# --- a conversation ---------------------------------------------------------------------------------------------------


def turn(turn: tuple[str, str] | Answer) -> tuple[str, str]:
    """A question as it stands alone, with its answer. Raises WrongType."""
    if isinstance(turn, Answer):
        return turn.standalone or turn.question, turn.text
    match turn:
        case (str() as question, str() as answer):
            return question, answer
    raise WrongType("history", turn, "pairs of a question and its answer, or answers")


def understood(
    query: Query, history: Sequence[tuple[str, str]], pipeline: Pipeline, settings: RecipeSettings, parts: Components
) -> Query:
    """The reading of a question that the evidence decides for; the same query for one that stands alone."""
    if not history or not cannot_stand_alone(query.question):
        return query
    from thresher.retrieval.rewrite import FollowUp, best_found

    judge = parts.models.judge()
    return FollowUp(partial(best_found, pipeline.retrieve, judge), parts.language_model(settings.llm))(query, history)


_WORD = re.compile(r"\w+")
_THANKS = {"thanks", "thank", "thx", "cheers", "danke", "merci", "gracias"}
_HELLO = {"hello", "hi", "hey", "hallo", "bonjour", "hola", "morning", "afternoon", "evening"}
_BYE = {"bye", "goodbye"}
_BESIDES = {"a", "again", "all", "and", "everyone", "for", "good", "great", "help", "lot", "many", "much", "ok"}
_BESIDES |= {"nice", "okay", "perfect", "so", "that", "the", "there", "very", "you", "your"}
_WHO = {"who are you", "what are you", "what can you do", "what do you do", "how are you"}


def courtesy(question: str) -> str:
    """The line that answers thanks, a greeting or "who are you"; empty for any other text."""
    words = [word.lower() for word in _WORD.findall(question)]
    if " ".join(word for word in words if word not in _HELLO) in _WHO:
        return "I answer questions from the documents of this collection, with citations, and say where they do not."
    if not set(words) <= _THANKS | _HELLO | _BYE | _BESIDES:
        return ""
    if not _THANKS.isdisjoint(words):
        return "You are welcome."
    if not _BYE.isdisjoint(words):
        return "Goodbye."
    return "" if _HELLO.isdisjoint(words) else "Hello. What would you like to know from the documents?"


def polite(question: str, recipe: str, line: str) -> Answer:
    """The answer to what asks nothing: a line, without steps, and without a trace."""
    return Answer(question, recipe, line, False, None, None, None, (), (), (), Usage(), (), "")
