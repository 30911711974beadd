"""Whether the Lance that is installed beside LanceDB is the one inside it.

LanceDB has a Lance of its own compiled in. The package `pylance`, which `lance-ray` brings along, is a second one. Two
of different versions write one table, but the indexes that one builds the other does not see.
"""

from __future__ import annotations

import mmap
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from thresher.errors import UsageError

COMPILED_IN = re.compile(rb"/lance-(\d+\.\d+\.\d+)/src/")
"""The folder of Lance's source, which stands in the messages of what was compiled from it."""


def check_lance() -> None:
    """Raise UsageError for a Lance beside LanceDB that is another than the one inside it."""
    beside = _installed("pylance")
    if beside is None:
        return
    inside = lance_inside()
    if beside != inside:
        raise UsageError(
            f"is not the Lance inside lancedb {_installed('lancedb')} ({inside or 'which is not known'}): "
            "indexes that one of them builds, the other does not see",
            subject=f"pylance {beside}",
            next_step=f"pip install pylance=={inside}, or uninstall it" if inside else "uninstall it",
        )


@cache
def lance_inside() -> str | None:
    """The version of the Lance that LanceDB was compiled with; None where its library does not say."""
    package = find_spec("lancedb")
    folders = package.submodule_search_locations if package is not None else None
    for library in sorted(file for folder in folders or () for file in Path(folder).glob("_lancedb*")):
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = COMPILED_IN.search(content)
            if found is not None:
                return found[1].decode()
    return None


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
