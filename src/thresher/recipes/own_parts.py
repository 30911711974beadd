"""Parts of a caller's own in the slots of a recipe: checked when they are given, and what they return when they run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from thresher.errors import PartError, ThresherError, UnknownSetting, UsageError, WrongType, check_awaits_nothing
from thresher.pipeline import SLOTS, Pipeline, as_decided
from thresher.protocols import (
    Corrector,
    Decider,
    Generator,
    Judge,
    Refiner,
    Retriever,
    Rewriter,
    Verifier,
    about,
)
from thresher.types import Decision, Judgement

SHAPES = dict(zip(SLOTS, (Rewriter, Retriever, Judge, Decider, Corrector, Refiner, Generator, Verifier), strict=True))
"""The protocol of each slot."""


@dataclass(frozen=True, slots=True)
class OwnPart:
    """A part of the caller's in a slot: what it returns must be what the slot hands on."""

    slot: str
    part: Callable[..., Any]

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.part)

    def __call__(self, *given: Any) -> Any:
        """What the part makes of it. Raises UsageError for another type than the slot's, PartError where it raises."""
        try:
            made = self.part(*given)
        except ThresherError as error:
            error.add_note(f"raised in the slot `{self.slot}`")
            raise
        except Exception as error:
            raise PartError(
                f"raised {type(error).__name__}: {error}",
                subject=f"`{self.slot}` {self.about}",
                next_step="repair the part; its own error is the cause",
            ) from error
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
    """A recipe's own decider over another judge's scores: they are no probabilities that were calibrated."""

    decide: Decider

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.decide)

    def __call__(self, judged: Sequence[Judgement]) -> Decision:
        """The decision, without its confidence."""
        return replace(self.decide(judged), confidence=None)


def check_parts(parts: Mapping[str, object]) -> None:
    """Raise UsageError for a slot that there is not, and for what cannot be called as the slot's parts are."""
    for slot, part in parts.items():
        if slot not in SHAPES:
            raise UnknownSetting(slot, SLOTS, kind="slot")
        if isinstance(part, type) or not callable(part):
            raise WrongType(slot, part, f"something callable, see thresher.protocols.{SHAPES[slot].__name__}")
        check_awaits_nothing(slot, part)
        _, *names = inspect.signature(SHAPES[slot].__call__).parameters
        try:
            inspect.signature(part).bind(*names)
        except TypeError as error:
            raise UsageError(
                f"cannot be called with ({', '.join(names)}): {error}",
                subject=f"`{slot}` {about(part)}",
                next_step=f"see thresher.protocols.{SHAPES[slot].__name__}",
            ) from error
        except ValueError:  # some things of C have no signature
            continue


def with_parts(made: Pipeline, parts: Mapping[str, Callable[..., Any]]) -> Pipeline:
    """The pipeline with other parts in their slots; every question goes through them, and what they do away with."""
    own = {slot: OwnPart(slot, part) for slot, part in parts.items()}
    if "judge" in own and "decide" not in own:
        own["decide"] = WithoutConfidence(made.decide)  # type: ignore[assignment]
    lacks = tuple(lack for lack in made.degraded if lack.partition(":")[0] not in parts)
    settle = as_decided if "decide" in parts else made.settle
    return replace(made, **own, degraded=lacks, settle=settle)  # type: ignore[arg-type]
