"""The options of `ask`, `search` and `add`, and what is checked of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict

from thresher import recipes
from thresher.answer import Answer
from thresher.errors import UnknownSetting, UsageError, WrongType, check_awaits_nothing, check_type
from thresher.protocols import in_silence
from thresher.types import Metadata

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.indexing.inputs import IndexProgress

DEFAULT_LIMIT = 5


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


class SearchOptions(TypedDict, total=False):
    """How a collection is searched."""

    recipe: str | recipes.Recipe
    """`corrective` when not given."""
    limit: int
    """Hits at most; 5 when not given."""
    where: str | None
    """A filter on metadata."""
    settings: Mapping[str, Any] | None
    strict: bool
    """Raise Degraded instead of doing without a part of the recipe."""
    max_tokens: int | None
    """Instead of hits the best verbatim spans that fit, and the verdict."""


class AddOptions(TypedDict, total=False):
    """How files, folders and addresses are taken in."""

    recipe: str | recipes.Recipe | Sequence[str | recipes.Recipe]
    """For which recipes it is indexed; `corrective` when not given."""
    include: str | Sequence[str]
    """Patterns of files; others are passed by."""
    exclude: str | Sequence[str]
    prune: bool | None
    """Forget the files that are gone from the given folders; None unless most of a folder is gone."""
    reread: bool | None
    """Read unchanged files too; None those that an older version of the extraction read, False none."""
    metadata: Metadata | None
    """Fields that every document gets."""
    settings: Mapping[str, Any] | None
    stdin: BinaryIO | None
    """What `-` reads."""
    progress: Callable[[IndexProgress], None] | None
    announce: Callable[[str], None] | None
    """Gets, before it is done, what takes long or a chat model is paid for."""
    stop: Callable[[], bool] | None
    """Asked between two documents; once it says so, what was read is committed and the rest is left."""
    public_only: bool
    """An address must be on the public internet."""
    processes: int
    """That read, cut and encode on this machine; this one commits."""
    on: str | None
    """The Ray cluster at an address in place of processes (extra `ray`)."""


def check_question(question: str) -> None:
    """Raise WrongType or UsageError for what asks nothing."""
    check_type("question", question, str, "a text")
    if not question.strip():
        raise UsageError("the question is empty", next_step="ask something")


def check_number(name: str, given: object, *, least: int) -> None:
    """Raise WrongType or UsageError for what is no whole number, or too small."""
    check_type(name, given, int, "a whole number")
    if isinstance(given, int) and given < least:
        raise UsageError(f"must be at least {least}", subject=f"`{name}` {given}")


def check_options(options: Mapping[str, object]) -> None:
    """Raise UnknownSetting for an option that `ask` does not have, WrongType for a callback that is no function."""
    check_names("ask", options, AskOptions)
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


LIMITS = ("k", "n", "top_k", "number", "size")
"""What other libraries call the limit of a search."""


def check_names(call: str, options: Mapping[str, object], known: type) -> None:
    """Raise UnknownSetting for an option that a call does not have."""
    for name in options.keys() - known.__annotations__.keys():
        if name in LIMITS and "limit" in known.__annotations__:
            raise UsageError(f"unknown option of `{call}`", subject=name, next_step="say `limit`")
        raise UnknownSetting(name, known.__annotations__, kind=f"option of `{call}`")
