"""Documents prepared in other processes, as this one would prepare them.

A `Making` travels with every unit of work: the settings of recipes, resolved here, so that neither the environment nor
a `thresher.toml` over there counts. A process makes its configs of it once. They must have the same fingerprints as
those here; with another Thresher, or other weights, they have not.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from thresher.errors import ThresherError, UsageError, check_type
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.prepare import Prepared, Workers, WorkUnit, prepare
from thresher.recipes.components import Components, Models
from thresher.recipes.registry import Recipe

if TYPE_CHECKING:
    from thresher.protocols import Encoder
    from thresher.recipes.settings import RecipeSettings

AHEAD = 2
"""Units of work for each process that are under way or wait for the committer: one is worked on, one is at hand."""


@contextmanager
def workers(processes: int, on: str | None, making: Callable[[], bytes]) -> Iterator[Workers | None]:
    """Who prepares documents, ended at the end; None for this process alone. `making` gives the `Making` as bytes."""
    check_type("processes", processes, int, "a whole number from 1")
    if processes == 1 and on is None:
        yield None
        return
    from thresher.indexing.processes import pool

    chosen = pool(processes, on)
    assert chosen is not None
    packed = making()
    with chosen as opened:
        yield Workers(partial(opened.submit, prepared, packed), AHEAD * opened.number)


@dataclass(frozen=True, slots=True)
class Making:
    """Recipes with their settings, and what is to come of them."""

    recipes: Sequence[tuple[Recipe, RecipeSettings]]
    fingerprints: Sequence[str]
    own_encoder: Encoder | None
    """The caller's, where a recipe uses it."""

    def configs(self) -> list[IndexConfig]:
        """How to cut and encode. Raises ThresherError where this process would do it otherwise."""
        parts = Components.sketch(Models(own_encoder=self.own_encoder))
        made = [recipe.index_config(settings, parts) for recipe, settings in self.recipes]
        configs = [config for config in made if config is not None]
        if [config.fingerprint for config in configs] != list(self.fingerprints):
            raise ThresherError(
                "another process would cut or encode documents otherwise than this one",
                subject=", ".join(recipe.name for recipe, _ in self.recipes),
                next_step="install the same version of thresher, with the same models, on every machine",
            )
        return configs


def described(
    recipes: Sequence[tuple[Recipe, RecipeSettings, IndexConfig]], own_encoder: Encoder | None = None
) -> bytes:
    """A `Making` as it travels. Left out is what a chat model is paid for: that is announced, and done, here.

    Raises UsageError for an encoder that cannot travel.
    """
    found = {config.fingerprint: (recipe, settings) for recipe, settings, config in recipes if config.announce is None}
    if own_encoder is not None and all(settings.encoder != own_encoder.name for _, settings in found.values()):
        own_encoder = None
    travelling = [(replace(recipe, parts={}), settings) for recipe, settings in found.values()]
    try:
        if type(own_encoder).__module__ == "__main__":
            raise TypeError("its class is in the program that was started, which no other process imports")
        return pickle.dumps(Making(travelling, list(found), own_encoder))
    except Exception as error:  # whatever an object of a program's own raises
        raise UsageError(
            f"cannot be sent to another process ({error})",
            subject=f"encoder {getattr(own_encoder, 'name', '')}",
            next_step="put its class into a module, or index in one process",
        ) from error


def prepared(making: bytes, unit: WorkUnit) -> Prepared:
    """A unit, prepared as `making` says."""
    return prepare(unit, _configs(making))


@cache
def _configs(making: bytes) -> list[IndexConfig]:
    made: Making = pickle.loads(making)
    return made.configs()
