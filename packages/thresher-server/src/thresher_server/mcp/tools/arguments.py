"""Arguments of several tools, with their descriptions for agents."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

from mcp_types import ToolAnnotations
from pydantic import Field

LONGEST_FILTER = 2000

MOST_TOKENS = 4000
"""Upper bound of the evidence in one call: five times the default."""

CollectionName = Annotated[
    str | None,
    Field(max_length=100, description="which collection; list_documents names them; leave out for the usual"),
]
Recipe = Annotated[
    str | None,
    Field(max_length=100, description="how to search and judge; leave out unless the person names a recipe"),
]
Where = Annotated[
    str | None,
    Field(
        max_length=LONGEST_FILTER,
        description="a filter on documents: kind, source, title, page, date, added or their metadata, "
        "e.g. kind = 'pdf' AND page <= 3; title LIKE '%report%'",
    ),
]
Question = Annotated[
    str, Field(min_length=1, description="one question about one thing, in whole words and with the names it is about")
]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
READS_THE_WEB = ToolAnnotations(read_only_hint=True, open_world_hint=True)


def described(tool: Callable[..., Any]) -> str:
    """A tool's description for agents: its docstring, each paragraph on one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(tool) or "")
