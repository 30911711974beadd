"""Asks questions in other processes, for example of a cluster, that reach the same collection; they return rows.

A process opens the collection and loads the models once, before it measures its first question. It refuses if its
settings differ from those of the run: another `thresher.toml`, or another environment.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from thresher.errors import StoreError, UsageError
from thresher_evals.asker import CollectionAsker, Put
from thresher_evals.dataset import Question, Task
from thresher_evals.rows import Row, config_of, finite

if TYPE_CHECKING:
    from thresher.indexing.processes import Pool
    from thresher.protocols import Home


@dataclass(frozen=True, slots=True)
class Asking:
    """What another process needs to ask a question as this one does."""

    home: Home
    collection: str
    settings: Mapping[str, Any]
    outside: str | None
    degraded: float | None
    task: Task
    limit: int
    configs: Mapping[str, str]


class Elsewhere:
    """A pool of processes that ask questions."""

    def __init__(self, asker: CollectionAsker, pool: Pool) -> None:
        self._asker, self._pool = asker, pool
        self.most = 2 * pool.number
        """Questions in progress at a time, with those that wait for an earlier row."""

    def put(self, task: Task, limit: int, configs: Mapping[str, str]) -> Callable[[str, Question], Future[Row]]:
        """A function that starts to ask a recipe a question."""
        asker = self._asker
        collection = asker.collection
        home = collection.home
        place = home.absolute() if isinstance(home, Path) else home, collection.name
        asking = pickle.dumps(Asking(*place, asker.settings, asker.outside, asker.degraded, task, limit, configs))

        def begun(recipe: str, question: Question) -> Future[Row]:
            return self._pool.submit(row, asking, recipe, question, asker.hidden.get(question.question))

        return begun


# --- in the other process ---------------------------------------------------------------------------------------------


def row(asking: bytes, recipe: str, question: Question, hidden: str | None) -> Row:
    """The row of a question to a recipe; `hidden` is the filter that hides documents from it."""
    asker, put = _put(asking)
    _warmed_up(asking, recipe)
    if hidden is not None:
        asker.hidden[question.question] = hidden
    return put(recipe, question)


@cache
def _put(asking: bytes) -> tuple[CollectionAsker, Put]:
    from thresher import Engine

    wanted: Asking = pickle.loads(asking)
    collection = Engine(wanted.home).collection(wanted.collection)
    try:
        collection.documents()
    except StoreError as error:
        raise UsageError(
            f"cannot be asked on the machine {gethostname()} ({error.what})",
            subject=f"collection {wanted.collection} in {wanted.home}",
            next_step="keep it where every machine reaches it by that name",
        ) from error
    asker = CollectionAsker(collection, wanted.settings, outside=wanted.outside, degraded=wanted.degraded)
    return asker, Put(asker, wanted.task, wanted.limit, wanted.configs, alone=True)


@cache
def _warmed_up(asking: bytes, recipe: str) -> None:
    """Load what a recipe needs. Raises UsageError if its settings here differ from those of the run."""
    asker, _ = _put(asking)
    wanted: Asking = pickle.loads(asking)
    if config_of(recipe, finite(asker.settings_of(recipe))) != wanted.configs[recipe]:
        raise UsageError(
            f"has other settings on the machine {gethostname()}",
            subject=f"recipe {recipe}",
            next_step="give every machine the same thresher.toml and environment, or use --set",
        )
    asker.warm_up(recipe)
