"""How far an `index` is, as it is told: the file in work, and an estimate of the time left that can be relied on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from thresher.cli.output import SECONDS_BETWEEN_LINES, Pace
from thresher.indexing.inputs import IndexProgress

File = tuple[str, int, int]
"""Name, bytes, chunks."""


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def looks(
    clock: Clock, batches: Sequence[Sequence[File]], chunks_a_second: float, unchanged: int = 0
) -> Iterator[IndexProgress]:
    """What an `index` tells: each batch of files is read, a second a file, then encoded ten chunks at a time.

    The last file of a batch counts with the few bytes of its text until the batch is encoded.
    """
    total = unchanged + sum(size for batch in batches for _, size, _ in batch)
    done, chunks, name = unchanged, 0, ""
    for batch in batches:
        for number, (name, size, _) in enumerate(batch, start=1):
            yield IndexProgress(total, done, chunks, name, unchanged)
            clock.seconds += 1
            if number == len(batch):
                left = sum(count for _, _, count in batch)
                for _ in range(left // 10):
                    clock.seconds += 10 / chunks_a_second
                    chunks += 10
                    left -= 10
                    yield IndexProgress(total, done + size // 20, chunks, name, unchanged, left, done + size)
            done += size
            yield IndexProgress(total, done, chunks, name, unchanged)


def told(clock: Clock, looks: Iterator[IndexProgress]) -> list[tuple[float, float]]:
    """When a line was written, and how many seconds it says are left."""
    pace, lines = Pace(clock), []
    for look in looks:
        line = pace(look)
        if pace.clock.due() and (left := re.search(r"about (\d+) s left", line)):
            lines.append((clock(), float(left[1])))
    return lines


ALIKE = [[(f"{batch}-{n}.pdf", 1_000_000, 300) for n in range(3)] for batch in range(10)]
UNLIKE = [
    [(f"{batch}.pdf", size, chunks)]
    for batch, (size, chunks) in enumerate(
        [(1_000_000, 900), (9_000_000, 900), (500_000, 900), (4_000_000, 900), (200_000, 300), (2_000_000, 1500)] * 3
    )
]
"""A file of pictures is many bytes and few chunks, a text the other way round."""


@pytest.mark.parametrize("batches", [ALIKE, UNLIKE], ids=["alike", "unlike"])
def test_an_estimate_does_not_swing_by_half_from_line_to_line(batches: Sequence[Sequence[File]]) -> None:
    clock = Clock()
    lines = told(clock, looks(clock, batches, chunks_a_second=60))
    assert len(lines) > 10
    for (earlier, before), (later, after) in pairwise(lines):
        expected = before - (later - earlier)
        assert abs(after - expected) <= max(before / 2, SECONDS_BETWEEN_LINES)


@pytest.mark.parametrize("unchanged", [0, 100_000_000])
def test_an_estimate_is_about_right_although_reading_runs_ahead_and_known_files_cost_nothing(unchanged: int) -> None:
    clock = Clock()
    lines = told(clock, looks(clock, ALIKE, chunks_a_second=60, unchanged=unchanged))
    for at, left in lines:
        assert left == pytest.approx(clock.seconds - at, rel=0.2, abs=SECONDS_BETWEEN_LINES)


@pytest.mark.parametrize("batches", [ALIKE[:1], ALIKE[:3], ALIKE])
def test_an_estimate_is_there_after_a_third_even_of_one_batch_and_within_a_factor_of_two(
    batches: Sequence[Sequence[File]],
) -> None:
    clock = Clock()
    lines = told(clock, looks(clock, batches, chunks_a_second=25))
    assert lines[0][0] <= clock.seconds / 3
    for at, left in lines:
        if clock.seconds / 3 <= at <= clock.seconds - SECONDS_BETWEEN_LINES:
            assert 0.5 <= left / (clock.seconds - at) <= 2
