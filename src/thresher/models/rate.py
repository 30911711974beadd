"""How often a server may be called: so many times a minute, whoever in the process calls it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from urllib.parse import urlsplit

from thresher.errors import BudgetSpent
from thresher.models.meter import without_password

MINUTE = 60.0


class Rate:
    """At most `per_minute` calls begin in any minute; callers are served in the order they come.

    Safe to use from several threads. `clock` and `sleep` are for tests.
    """

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._sleep = sleep
        self._begun: deque[float] = deque(maxlen=per_minute)
        """When the last calls began or, for those that wait, will begin."""
        self._lock = threading.Lock()

    def wait(self, seconds_left: float | None = None) -> None:
        """Wait for one's turn. Raises BudgetSpent at once when it comes after `seconds_left`."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._begun[0] + MINUTE) if len(self._begun) == self.per_minute else now
            if seconds_left is not None and turn - now > seconds_left:
                raise BudgetSpent(
                    f"the limit of {self.per_minute} calls per minute leaves no turn within the budget's seconds"
                )
            self._begun.append(turn)
        if turn > now:
            self._sleep(turn - now)


_shared: dict[tuple[str, int], Rate] = {}
_sharing = threading.Lock()


def shared_rate(url: str, per_minute: int) -> Rate:
    """The one limiter of a server in this process; another limit for the same server is another limiter."""
    server = urlsplit(without_password(url)).netloc.lower()
    with _sharing:
        return _shared.setdefault((server, per_minute), Rate(per_minute))
