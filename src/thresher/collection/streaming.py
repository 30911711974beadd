"""A question whose sentences come as soon as they are written and checked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from queue import SimpleQueue
from threading import Event, Thread

from thresher.answer import Answer
from thresher.errors import Cancelled
from thresher.models.usage import Meter
from thresher.types import Step


def streamed(
    run: Callable[[Callable[[str], None]], Iterable[Step | Answer]], meter: Meter
) -> Generator[str | Answer, None, None]:
    """The sentences that `run` tells of, each as soon as it is written and checked, and the whole answer last."""
    events: SimpleQueue[str | Answer | BaseException] = SimpleQueue()
    left = Event()
    meter.on_cancel(left.set)

    def ask() -> None:
        try:
            for step in run(events.put):
                if left.is_set():
                    raise Cancelled("the question was cancelled")  # before the answer is stored
                if isinstance(step, Answer):
                    events.put(step)
        except BaseException as error:  # raised below, in the thread that waits
            events.put(error)

    asking = Thread(target=ask, name="stream", daemon=True)
    asking.start()
    try:
        while not isinstance(event := events.get(), Answer):
            if isinstance(event, BaseException):
                raise event
            yield event
    except (GeneratorExit, KeyboardInterrupt):
        meter.cancel()
        raise
    finally:
        asking.join()  # whoever left may close the collection next
    yield event
