"""How the time of a computation grows with its input, whatever the machine."""

import time
from collections.abc import Callable


def growth(act: Callable[[int], object], size: int) -> float:
    """How many times longer `act(4 * size)` takes than `act(size)`, in CPU time: 4 is linear, 16 is quadratic."""
    return _seconds(act, 4 * size) / _seconds(act, size)


def _seconds(act: Callable[[int], object], size: int) -> float:
    """The shortest of three runs, so that a busy machine does not count."""

    def once() -> float:
        started = time.process_time()
        act(size)
        return time.process_time() - started

    return min(once() for _ in range(3))
