"""A caller's own parts in the slots of a recipe: their shape is checked when given, what they return when they run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from thresher.errors import PartError, ThresherError, UnknownSetting, UsageError, WrongType, check_awaits_nothing
from thresher.pipeline import SLOTS, Pipeline
from thresher.protocols import Corrector, Decider, Generator, Judge, Refiner, Retriever, Rewriter, Verifier, about
from thresher.types import Decision, Judgement, Query

SHAPES = dict(zip(SLOTS, (Rewriter, Retriever, Judge, Decider, Corrector, Refiner, Generator, Verifier), strict=True))
"""The protocol of each slot."""


@dataclass(frozen=True, slots=True)
class OwnPart:
    """A caller's part in a slot; it must return the type of the slot."""

    slot: str
    part: Callable[..., Any]
    left_out: int = 0
    """First arguments of the slot that the part does not take: a decider may leave the query out."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.part)

    def __call__(self, *given: Any) -> Any:
        """What the part returns. Raises UsageError for another type than the slot's, PartError where it raises."""
        try:
            made = self.part(*given[self.left_out :])
        except ThresherError as error:
            error.add_note(f"raised in the slot `{self.slot}`")
            raise
        except Exception as error:
            subject, next_step = f"`{self.slot}` {self.about}", "repair the part; its own error is the cause"
            raise PartError(f"raised {type(error).__name__}: {error}", subject=subject, next_step=next_step) from error
        wanted: type = get_type_hints(SHAPES[self.slot].__call__)["return"]
        if not isinstance(made, wanted):
            raise UsageError(
                f"returned {type(made).__name__}, not {wanted.__name__}",
                subject=f"`{self.slot}` {self.about}",
                next_step=f"see thresher.protocols.{SHAPES[self.slot].__name__}",
            )
        return made


@dataclass(frozen=True, slots=True)
class WithoutConfidence:
    """A recipe's decider over another judge's scores, which are not calibrated."""

    decide: Decider

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.decide)

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The decision, without its confidence."""
        return replace(self.decide(query, judged), confidence=None)


def check_parts(parts: Mapping[str, object]) -> None:
    """Raise UsageError for an unknown slot, and for a part that cannot be called as the slot's parts are."""
    for slot, part in parts.items():
        if slot not in SHAPES:
            raise UnknownSetting(slot, SLOTS, kind="slot")
        if isinstance(part, type) or not callable(part):
            raise WrongType(slot, part, f"something callable, see thresher.protocols.{SHAPES[slot].__name__}")
        check_awaits_nothing(slot, part)
        names = _arguments(slot)
        try:
            inspect.signature(part).bind(*names[_left_out(slot, part) :])
        except TypeError as error:
            raise UsageError(
                f"cannot be called with ({', '.join(names)}): {error}",
                subject=f"`{slot}` {about(part)}",
                next_step=f"see thresher.protocols.{SHAPES[slot].__name__}",
            ) from error
        except ValueError:  # some things of C have no signature
            continue


def _arguments(slot: str) -> list[str]:
    _, *names = inspect.signature(SHAPES[slot].__call__).parameters
    return names


def _left_out(slot: str, part: Callable[..., Any]) -> int:
    """1 for a decider of the judged hits alone, else 0."""
    return int(slot == "decide" and not _takes(part, _arguments(slot)) and _takes(part, ["judged"]))


def _takes(part: Callable[..., Any], names: Sequence[str]) -> bool:
    """Whether a part can be called so; some things of C have no signature."""
    try:
        inspect.signature(part).bind(*names)
    except (TypeError, ValueError) as error:
        return isinstance(error, ValueError)
    return True


def with_parts(made: Pipeline, parts: Mapping[str, Callable[..., Any]]) -> Pipeline:
    """The pipeline with a caller's parts in their slots."""
    own = {slot: OwnPart(slot, part, _left_out(slot, part)) for slot, part in parts.items()}
    if "judge" in own and "decide" not in own:
        own["decide"] = WithoutConfidence(made.decide)  # type: ignore[assignment]
    lacks = tuple(lack for lack in made.degraded if lack.partition(":")[0] not in parts)
    return replace(made, **own, degraded=lacks)  # type: ignore[arg-type]
