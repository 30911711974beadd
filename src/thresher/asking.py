"""The options of a question, and the errors of a wrong call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from thresher import recipes
from thresher.answer import Answer
from thresher.errors import UnknownSetting, UsageError, WrongType, check_awaits_nothing, check_type
from thresher.protocols import in_silence

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch


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


def turn(turn: tuple[str, str] | Answer) -> tuple[str, str]:
    """A question as it stands alone, with its answer. Raises WrongType."""
    if isinstance(turn, Answer):
        return turn.standalone or turn.question, turn.text
    match turn:
        case (str() as question, str() as answer):
            return question, answer
    raise WrongType("history", turn, "pairs of a question and its answer, or answers")


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


def check_max_tokens(given: object) -> None:
    """Raise WrongType or UsageError for what is no number of tokens."""
    check_type("max_tokens", given, int, "a whole number")
    if isinstance(given, int) and given < 1:
        raise UsageError("must be at least 1", subject=f"`max_tokens` {given}")


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
        check_max_tokens(options["max_tokens"])
    check_type("strict", options.get("strict", False), bool, "True or False")
    if not callable(options.get("on_sentence", in_silence)):
        raise WrongType("on_sentence", options["on_sentence"], "a function that takes a text")
    check_awaits_nothing("on_sentence", options.get("on_sentence"))
