"""What a person or a program sees of a command: lines, tables, one JSON document, and how far a long command is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError, UsageError
from thresher.text.markup import json_text, shown
from thresher.tracing.explain import shortened

if TYPE_CHECKING:
    from thresher.indexing.inputs import IndexProgress

__all__ = ["as_json", "complain", "counting", "failures", "indexing", "say", "table"]


def on_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    """Lines on stdout."""
    sys.stdout.write(shown(text) + "\n")


def complain(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(shown(" ".join(text.split())) + "\n")


def as_json(value: Any) -> None:
    """One JSON document on stdout, on one line; `to_dict` of a value counts."""
    say(json_text(value, default=lambda one: one.to_dict() if hasattr(one, "to_dict") else str(one)))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table for a person, tab-separated lines with a heading in a pipe."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not on_terminal():
        say("\t".join(columns))
        for row in cells:
            say("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title, title_justify="left")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in cells:
        drawn.add_row(*(Text(shown(cell)) for cell in row))
    Console().print(drawn)


def megabytes(number: int) -> str:
    """Bytes for a person."""
    return f"{number / 1e6:.1f} MB"


def failures(failed: Sequence[DocumentError]) -> None:
    """One line on stderr for each reason why inputs could not be read; files that share it are counted."""
    alike: dict[tuple[str, str], list[DocumentError]] = {}
    for error in failed:
        alike.setdefault((error.what, error.next_step), []).append(error)
    for first, *others in alike.values():
        complain(
            f"not read: {first}" + (f"; and {len(others)} more like it (all of them with --json)" if others else "")
        )


def not_configured(settings: Mapping[str, Any]) -> None:
    """What a recipe would use if it were configured, a line each."""
    if not settings.get("llm.model"):
        say("no chat model is configured (llm.base_url, llm.model): answers are read out of the documents")
    if "web.provider" in settings and settings["web.provider"] in (None, "", "none"):
        say("no web search is configured (web.provider): --outside takes another collection")


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person on stderr; raises UsageError without a terminal, or if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(question.rstrip("?"), next_step="this needs a confirmation: add --yes")
    sys.stderr.write(f"{shown(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise UsageError("nothing was changed", next_step="answer y, or add --yes")


# --- how far a command is ---------------------------------------------------------------------------------------------

SECONDS_BETWEEN_LINES = 5.0  # of progress in a pipe
FILE_CHARACTERS = 40  # of the name of the file in work, so that a line of a terminal has room for the rest

MOST_MOVED = 0.25
"""The share of an estimate by which the next may differ beyond the seconds that passed: a wrong one is mended within a
few lines, and no line shows half or twice of the line before."""


FIRST_SHARE = 0.1
"""Of the first batch, that must be encoded before the time left is estimated by it."""


class _Clock:
    """Seconds since the start, the time for another line, and a steady estimate of the seconds left."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._started = self._last_line = self._estimated = now()
        self._left: float | None = None

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._now() - self._started

    def due(self) -> bool:
        """Whether the last line is some seconds ago; if so, one counts as written now."""
        due = self._now() - self._last_line >= SECONDS_BETWEEN_LINES
        self._last_line = self._now() if due else self._last_line
        return due

    def steady(self, left: float) -> float:
        """The seconds that seem to be left, drawn towards the last estimate."""
        now = self._now()
        passed, self._estimated = now - self._estimated, now
        if self._left is not None:
            expected = max(0.0, self._left - passed)
            most = MOST_MOVED * max(self._left, SECONDS_BETWEEN_LINES) * min(1.0, passed / SECONDS_BETWEEN_LINES)
            left = min(max(left, expected - most), expected + most)
        self._left = left
        return left


class Pace:
    """How fast an `index` is, in words.

    Reading runs ahead of encoding by a batch: how long all takes is told by the bytes that were read when a batch is
    encoded and reading goes on, and within the first one by the share of its chunks that is encoded.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.clock = _Clock(now)
        self._read = self._chunks = self._encoded = 0
        self._whole = self._begun = 0.0

    def __call__(self, progress: IndexProgress) -> str:
        """Share of the bytes that was read, chunks, chunks per second, the file in work and, once known, the time."""
        read, of = (size - progress.unchanged_bytes for size in (progress.done_bytes, progress.total_bytes))
        file_done = progress.chunks == self._chunks  # the one that filled the batch; else it may go on
        if self._chunks > self._encoded and (file_done or read > self._read):
            encoded = read if file_done else self._read
            self._whole = self.clock.seconds * of / encoded if encoded else 0.0
            self._encoded = self._chunks
        elif progress.waiting and not self._encoded:
            self._begun = self._begun or self.clock.seconds
            share = progress.chunks / (progress.chunks + progress.waiting)
            if share >= FIRST_SHARE:
                batch = self._begun + (self.clock.seconds - self._begun) / share
                self._whole = batch * of / max(1, progress.batch_bytes - progress.unchanged_bytes)
        self._read, self._chunks = read, progress.chunks
        share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0.0
        rate = progress.chunks / self.clock.seconds if self.clock.seconds else 0.0
        seconds = self.clock.steady(max(0.0, self._whole - self.clock.seconds)) if self._whole else 0.0
        left = f", about {seconds:.0f} s left" if seconds >= 1 else ""
        file = f", {shown(shortened(Path(progress.file).name, FILE_CHARACTERS))}" if progress.file else ""
        return f"{share:.0%} read, {progress.chunks} chunks encoded, {rate:.0f} a second{left}{file}"


@contextmanager
def indexing() -> Iterator[Callable[[IndexProgress], None]]:
    """Shows how far an `index` is, with rate and time left: a bar for a person, a line now and then in a pipe."""
    pace = Pace()
    if not sys.stderr.isatty():

        def line(progress: IndexProgress) -> None:
            text = pace(progress)
            if pace.clock.due():
                complain(text)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (SpinnerColumn(), TextColumn("indexing"), BarColumn(), rate, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None, rate="")
        yield lambda progress: bar.update(
            task, total=progress.total_bytes or None, completed=progress.done_bytes, rate=pace(progress)
        )


@contextmanager
def waiting(model: str) -> Iterator[None]:
    """Shows a person which chat model is awaited, and since how many seconds; nothing where there is none."""
    if not (model and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("waiting for {task.description}", markup=False)
    with Progress(SpinnerColumn(), text, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as line:
        line.add_task(shown(shortened(model, FILE_CHARACTERS)), total=None)
        yield


class Completing:
    """Says on stderr, at once and then now and then, that a chunk table is being made from the stored text."""

    def __init__(self) -> None:
        self._clock = _Clock()

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` documents have their chunks."""
        if done == 0:
            self._clock = _Clock()
            complain(f"making the chunks of this recipe from the stored text of {total}")
        elif done < total and self._clock.due():
            left = self._clock.steady(self._clock.seconds * (total - done) / done)
            complain(f"{done} of {total} documents, about {left:.0f} s left")


@contextmanager
def counting(total: int, what: str, note: Callable[[], str] = str) -> Iterator[Callable[[int], None]]:
    """Shows how many of a known number of things are done: a bar for a person, a line now and then in a pipe.

    `note` is shown beside the count. The first count does not enter the pace: it may come from an earlier run.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress, TextColumn

        columns = (*Progress.get_default_columns(), TextColumn("{task.fields[note]}", markup=False))
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total, note="")
            yield lambda done: bar.update(task, advance=done, note=shown(note()))
        return
    clock = _Clock()
    finished = before = 0

    def count(done: int) -> None:
        nonlocal clock, finished, before
        if not finished:
            clock, before = _Clock(), done
        finished += done
        if finished > before and clock.due():
            left = clock.steady(clock.seconds * (total - finished) / (finished - before))
            line = f"{finished} of {total} {what}, about {left:.0f} s left"
            complain("; ".join(filter(None, [line, note()])))

    yield count
