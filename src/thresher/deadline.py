"""How long work on this machine may go on: the budget of the question it is done for.

Models are shared between questions, so they are not made with a budget: the runner of a slot states it by `within`,
and what takes long (a model that reads many texts) asks `watch()` between two pieces of work. Who asks a server
through a shared model says `until` when, and the model waits no longer than to `ends()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

__all__ = ["watch", "within"]

Allow = Callable[[], None]
"""Returns while work may go on. Raises BudgetSpent."""


def _always() -> None:
    """Without a budget work may go on."""


_allow: ContextVar[Allow] = ContextVar("allow", default=_always)


@contextmanager
def within(allow: Allow) -> Iterator[None]:
    """Work of this thread inside the block is done for the budget that `allow` asks."""
    token = _allow.set(allow)
    try:
        yield
    finally:
        _allow.reset(token)


def watch() -> Allow:
    """What to call before each piece of work. Taken in the thread of the question, it may be called from others."""
    return _allow.get()


_ends: ContextVar[float] = ContextVar("ends", default=inf)


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Servers that this thread asks inside the block are waited for to a moment of `time.monotonic` at the longest."""
    token = _ends.set(min(moment, _ends.get()))
    try:
        yield
    finally:
        _ends.reset(token)


def ends() -> float:
    """The moment of `time.monotonic` to which a server may be waited for; infinite without a budget."""
    return _ends.get()
