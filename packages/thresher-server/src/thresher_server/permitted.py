"""Settings that a request may change: how a question is answered, not where data goes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from thresher.settings import dotted
from thresher.trusted import guarded
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller, Scope

TABLES = (
    "answer",
    "combine",
    "critic",
    "dedup",
    "dense",
    "fuse",
    "kdm",
    "lexical",
    "protect",
    "refine",
)
"""Tables of settings that anyone may change for a question."""

SINGLE = (
    "actions",
    "coarse",
    "fine",
    "lower",
    "min_keep",
    "min_probability",
    "rewrite",
    "score_floor",
    "threshold",
    "upper",
)
"""Single settings; none for models, addresses, keys, chunking, encoding, or the use of processes and the web."""


MOST_SETTINGS = 200
"""Of one request; recipes have fewer."""


def may_change(key: str, value: Any = None) -> bool:
    """Whether anyone may change a setting for a question."""
    table, dot, _ = key.partition(".")
    known = (bool(dot) and table in TABLES) or key in SINGLE
    return known and not guarded({key: value})


def check_settings(caller: Caller, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings by dotted key. Raises Problem 403 for one that only an admin may change, 422 for too many."""
    given = dict(islice(dotted(settings or {}), MOST_SETTINGS + 1))
    if len(given) > MOST_SETTINGS:
        raise Problem(422, f"are more than {MOST_SETTINGS}", subject="the settings", next_step="bring fewer")
    refused = [key for key, value in given.items() if not may_change(key, value)]
    if refused and not caller.may(Scope.ADMIN):
        raise Problem(
            403,
            "is the operator's to set",
            subject=f"setting {refused[0]}",
            next_step="leave it out; GET /api/recipes/NAME says which may be changed",
        )
    return given
