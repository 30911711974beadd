"""The log of the engine on stderr, for `--log-level`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from thresher.text import markup

Level = Literal["debug", "info", "warning", "error"]

OPTION = "--log-level"

LOGGERS = ("thresher", "thresher_evals")  # ours alone: a user did not ask for the log of other libraries


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return markup.shown(super().format(record))


@contextmanager
def shown(level: Level) -> Iterator[None]:
    """Inside, what is logged from this level on is shown."""
    handler = logging.StreamHandler()  # on stderr
    handler.setFormatter(_Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level.upper())
    try:
        yield
    finally:
        for logger, earlier in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(earlier)


def taken_out(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The option with its value wherever it stands before `--`, and the other arguments.

    >>> taken_out(["ask", "--log-level", "info", "Who?"])
    (['--log-level', 'info'], ['ask', 'Who?'])
    """
    taken: list[str] = []
    others: list[str] = []
    wants_value = False
    for number, one in enumerate(args):
        if one == "--":
            return taken, [*others, *args[number:]]
        if wants_value or one == OPTION or one.startswith(f"{OPTION}="):
            taken.append(one)
            wants_value = one == OPTION
        else:
            others.append(one)
    return taken, others
