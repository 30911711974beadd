"""Readers that end badly or tell where they are; a process that reads can import them from here."""

from __future__ import annotations

import json
import os
import sys
import threading

from thresher.documents.assembly import Parsed
from thresher.documents.registry import RawFile


def hang(file: RawFile) -> Parsed:
    """Open the pipe that the file names, and never end."""
    with open(file.data.decode(), "wb"):
        threading.Event().wait()
    raise AssertionError("waited for nothing")


def leave(file: RawFile) -> Parsed:
    """End the process with a word on standard error."""
    os.write(2, b"some lines\nand the last words\n")
    os._exit(7)


def dive(file: RawFile) -> Parsed:
    """Call itself until the stack is used up, as a parser does of elements in elements."""
    sys.setrecursionlimit(10**8)

    def deeper(_: int) -> list[int]:
        return sorted([0], key=deeper)  # 2 kB of stack: Python 3.12 and 3.13 end some thousand smaller calls themselves

    return Parsed(str(deeper(0)))


def fail(file: RawFile) -> Parsed:
    """Raise what no reader means to."""
    raise AssertionError("we should not get here!")


def devour(file: RawFile) -> Parsed:
    """Take more and more memory."""
    taken: list[bytes] = []
    while True:
        taken.append(bytes(16_000_000))


def tell(file: RawFile) -> Parsed:
    """Which process this is, and its environment."""
    return Parsed("read", metadata={"process": os.getpid(), "environment": json.dumps(dict(os.environ))})
