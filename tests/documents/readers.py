"""Readers that end badly or tell where they are; a process that reads can import them from here."""

from __future__ import annotations

import json
import os
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


def tell(file: RawFile) -> Parsed:
    """Which process this is, and its environment."""
    return Parsed("read", metadata={"process": os.getpid(), "environment": json.dumps(dict(os.environ))})
