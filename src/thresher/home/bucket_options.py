"""How a bucket is asked: what the settings around a home say, else the environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thresher.home.places import BucketFolder


@dataclass(frozen=True, slots=True)
class BucketOptions:
    """How a bucket is asked; where it is and with which keys comes from the environment."""

    timeout_seconds: float = 10.0
    """For one request; the bound of a part of 5 MB at .5 MB/s."""
    seconds_behind: float = 5.0
    """That what a question reads may be old: within them a table is not asked for its version again."""


def _of_environment(folder: BucketFolder) -> BucketOptions:
    given = {one.name: os.environ.get(f"THRESHER_BUCKET__{one.name.upper()}") for one in fields(BucketOptions)}
    return BucketOptions(**{name: float(value) for name, value in given.items() if value})


around: Callable[[BucketFolder], BucketOptions] = _of_environment
"""What the settings around a home say; nothing here reads settings, `thresher.recipes` puts its own here."""
