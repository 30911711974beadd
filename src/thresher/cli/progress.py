"""How far a long command is: bytes, chunks, the file in work and a steady estimate of the seconds left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from thresher.cli.output import complain

if TYPE_CHECKING:
    from thresher.inputs import IndexProgress

SECONDS_BETWEEN_LINES = 5.0
"""Of progress in a pipe."""


class _Clock:
    """Seconds since the start, and whether it is time for another line."""

    def __init__(self) -> None:
        self._started = self._last_line = monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return monotonic() - self._started

    def due(self) -> bool:
        """Whether the last line is some seconds ago; the one that is asked for counts as written."""
        due = monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        self._last_line = monotonic() if due else self._last_line
        return due


@contextmanager
def indexing() -> Iterator[Callable[[IndexProgress], None]]:
    """Shows how far an `index` is, with rate and time left: a bar for a person, a line now and then in a pipe."""
    clock = _Clock()
    if not sys.stderr.isatty():
        yield lambda progress: complain(_rate(progress, clock.seconds)) if clock.due() else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (SpinnerColumn(), TextColumn("indexing"), BarColumn(), rate, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None, rate="")
        yield lambda progress: bar.update(
            task,
            total=progress.total_bytes or None,
            completed=progress.done_bytes,
            rate=_rate(progress, clock.seconds),
        )


def _rate(progress: IndexProgress, seconds: float) -> str:
    """Chunks so far, chunks per second, share of the bytes that was read and, once that is steady, seconds left."""
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0.0
    steady = 0 < share < 1 and seconds >= SECONDS_BETWEEN_LINES and progress.chunks
    left = f", about {seconds * (1 - share) / share:.0f} s left" if steady else ""
    rate = progress.chunks / seconds if seconds else 0.0
    return f"{share:.0%} read, {progress.chunks} chunks encoded, {rate:.0f} a second{left}"


class Completing:
    """Says on stderr, at once and then now and then, that a chunk table is being made from the stored text."""

    def __init__(self) -> None:
        self._clock = _Clock()

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` documents have their chunks."""
        if done == 0:
            self._clock = _Clock()
            complain(f"this recipe cuts documents in a way of its own: preparing {total} from the stored text")
        elif self._clock.due():
            left = self._clock.seconds * (total - done) / done
            complain(f"{done} of {total} documents, about {left:.0f} s left")


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Shows how many of a known number of things are done: a bar for a person, a line now and then in a pipe.

    The first count says nothing of the pace: it may be what an earlier run did.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
        return
    clock = _Clock()
    finished = before = 0

    def count(done: int) -> None:
        nonlocal clock, finished, before
        if not finished:
            clock, before = _Clock(), done
        finished += done
        if finished > before and clock.due():
            left = clock.seconds * (total - finished) / (finished - before)
            complain(f"{finished} of {total} {what}, about {left:.0f} s left")

    yield count
