"""Every error Thresher raises on purpose.

    ThresherError
    ├── UsageError            the caller asked for something that does not exist or cannot be (exit code 2)
    │   ├── UnknownSetting    a setting or recipe name; carries the nearest known name
    │   └── WrongType         an argument of another type than it must be; a TypeError too
    ├── DocumentError         one input could not be read; the others go on (exit code 3 when some succeeded)
    ├── StoreError            the collection on disk is missing, foreign or damaged
    │   ├── EncoderMismatch   a collection whose vectors come from another encoder
    │   ├── NotIndexed        a collection without the index of a recipe, for a caller who may not make it
    │   └── StoreAway         what keeps the collection does not answer; trying again can help
    ├── ModelError            a model could not be loaded or run
    │   ├── MissingExtra      an optional package is not installed
    │   └── ProviderError     a remote model failed; `retryable` says whether trying again can help
    │       └── TooLong       what it was given is longer than it reads at once
    ├── WorkerDied            a process that worked for this one ended, and so did the next that tried
    ├── PartError             a part of the caller's own raised; its error is the cause
    ├── BudgetSpent           a question used up its calls, tokens or seconds
    ├── Cancelled             a question was ended by its caller
    ├── NotRecorded           a stored answer asked again needs something from outside that was not stored with it
    └── Degraded              `strict` was asked for and a part of the recipe is not available

An error says what happened, to what, and what to do next, in one line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any

LONGEST_SHOWN = 60
"""Characters of a wrong value in a message."""

FEW = 15
"""So many known names are listed where none is near to a wrong one."""

_NAME_AND_PASSWORD = re.compile(r"(?<=://)[^/?#\s]*@")


def without_password(text: str) -> str:
    """A text whose addresses have no name and password before the host."""
    return _NAME_AND_PASSWORD.sub("", text)


class ThresherError(Exception):
    """Base of all errors raised on purpose: what happened, to what (`subject`), what to do next (`next_step`).

    None of them holds the password of an address.
    """

    def __init__(self, what: str, *, subject: str = "", next_step: str = "") -> None:
        self.what = without_password(what)
        self.subject = without_password(subject)
        self.next_step = without_password(next_step)
        super().__init__(self.what, self.subject, self.next_step)

    def __reduce__(self) -> tuple[Any, ...]:
        """So that an error travels between processes, however it is made."""
        return _remade, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        head = f"{self.subject}: {self.what}" if self.subject else self.what
        return f"{head}; {self.next_step}" if self.next_step else head


def _remade(kind: type[ThresherError], arguments: tuple[str, ...], fields: dict[str, Any]) -> ThresherError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


class UsageError(ThresherError):
    """Something was asked for that does not exist or cannot be."""


class UnknownSetting(UsageError):
    """A name that no setting, recipe or field has; the nearest known name is offered."""

    def __init__(self, name: str, known: Iterable[str], *, kind: str = "setting") -> None:
        known = sorted(known)
        # A leaf given without its prefix ("overlap" for "chunk.overlap") is the likeliest slip, so it is tried first.
        by_leaf = [full for full in known if kind == "setting" and full.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1]]
        by_folded = {full.casefold(): full for full in known}
        nearest = by_leaf[:1] or difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.0)
        advice = f"did you mean '{by_folded.get(nearest[0], nearest[0])}'?" if nearest else ""
        if len(known) <= FEW and kind != "source" and not difflib.get_close_matches(name.casefold(), by_folded, n=1):
            advice = f"there are: {', '.join(known)}"
        super().__init__(f"unknown {kind}", subject=name, next_step=advice)


class MisplacedSetting(UnknownSetting):
    """A setting that there is, given where it does not belong."""

    def __init__(self, name: str, what: str, next_step: str) -> None:
        UsageError.__init__(self, what, subject=name, next_step=next_step)


class WrongType(UsageError, TypeError):
    """An argument is of another type than it must be; `wanted` says in words what it must be."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
        super().__init__(f"is {shown} ({type(value).__name__})", subject=f"`{name}`", next_step=f"give {wanted}")


def check_type(name: str, value: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise WrongType unless the argument `name` is of one of the kinds; a bool is no number."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is int):
        raise WrongType(name, value, wanted)


def check_awaits_nothing(name: str, called: object) -> None:
    """Raise UsageError for an async function, or what is called as one: the engine calls, and awaits nothing."""
    if iscoroutinefunction(called) or iscoroutinefunction(getattr(called, "__call__", None)):  # noqa: B004
        shown = getattr(called, "__name__", type(called).__name__)
        raise UsageError(
            "is an async function, which nothing here awaits",
            subject=f"`{name}` {shown}",
            next_step="give a plain function",
        )


class DocumentError(ThresherError):
    """One input could not be read."""


class StoreError(ThresherError):
    """The collection on disk is missing, foreign or damaged."""


class EncoderMismatch(StoreError):
    """Vectors of two encoders would have been compared."""


class NotIndexed(StoreError):
    """A collection lacks the index of a recipe, and who asks may not make it."""

    def __init__(self, recipe: str, collection: str) -> None:
        self.recipe = recipe
        self.collection = collection
        super().__init__(
            "is not there, and questions do not make it",
            subject=f"the index of recipe {recipe} in collection {collection}",
            next_step=f"make it with `index({recipe!r})`",
        )


class StoreAway(StoreError):
    """What keeps the collection does not answer; what was committed is kept."""


class ModelError(ThresherError):
    """A model could not be loaded or run."""


class MissingExtra(ModelError):
    """An optional package is not installed: one of an extra, or of another distribution on top."""

    def __init__(self, package: str, *, extra: str = "", distribution: str = "") -> None:
        wanted = f"./packages/{distribution}" if distribution else f"'.[{extra}]'"  # no index has ours before a release
        what, advice = f"the package '{package}' is not installed", f"in a checkout: pip install {wanted}"
        super().__init__(what, next_step=advice)


BROUGHT_BY: Mapping[str, Mapping[str, str]] = {
    "thresher.stores": {"postgres": "postgres"},
    "thresher.homes": {"s3": "bucket", "gs": "bucket", "az": "bucket"},
    "thresher.settings": {"postgres": "postgres", "bucket": "bucket", "server": "server"},
    "thresher.clusters": {"ray": "ray"},
    "thresher.training": {"judge": "training"},
    "thresher.questions": {"made": "evals"},
    "thresher.measures": {"answers": "evals", "budget": "evals"},
}
"""Group and name of an entry point of ours, and the extra that installs its distribution, `thresher-EXTRA`."""


def missing(group: str, name: str) -> MissingExtra | None:
    """The error for a module of a distribution that is not installed; None for a module of none of them."""
    extra = BROUGHT_BY[group].get(name)
    return None if extra is None else MissingExtra(f"thresher-{extra}", distribution=f"thresher-{extra}")


class ProviderError(ModelError):
    """A remote model failed."""

    def __init__(self, what: str, *, subject: str = "", next_step: str = "", retryable: bool = False) -> None:
        super().__init__(what, subject=subject, next_step=next_step)
        self.retryable = retryable


class TooLong(ProviderError):
    """A remote model refused a request for its length: a shorter one may be answered."""


class WorkerDied(ThresherError):
    """A process that worked for this one ended before it was done, and so did the one that tried again."""


class PartError(ThresherError):
    """A part of the caller's own raised; `subject` names its slot, and `__cause__` is its error."""


class BudgetSpent(ThresherError):
    """A question used up its calls, tokens or seconds."""


class Cancelled(ThresherError):
    """A question was ended by its caller."""


class NotRecorded(ThresherError):
    """A question that is asked again without a network needs something that was not recorded the first time."""


class Degraded(ThresherError):
    """A part of the recipe is not available and `strict` forbids going on without it."""
