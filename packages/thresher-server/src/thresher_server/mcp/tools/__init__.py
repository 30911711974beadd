"""The tools, and their common arguments with descriptions for agents."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST_EVIDENCE = 4000
"""Upper bound of the tokens of evidence in one call: five times the default."""

CollectionName = Annotated[
    str | None,
    Field(max_length=100, description="which collection; list_documents names them; leave out for the usual"),
]
Recipe = Annotated[
    str | None, Field(max_length=100, description="how to search and judge; leave out unless the person names a recipe")
]
Where = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="a filter on documents: kind, source, title, page, date, added or their metadata, "
        "e.g. kind = 'pdf' AND page <= 3; title LIKE '%report%'",
    ),
]
Question = Annotated[
    str, Field(min_length=1, description="one question about one thing, in whole words and with the names it is about")
]
