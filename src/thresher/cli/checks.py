"""The command that holds a text against the documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import output
from thresher.cli.options import Target, Where, on_collection
from thresher.errors import UsageError
from thresher.tracing.explain import citation_line

if TYPE_CHECKING:
    from thresher.types import Check


@on_collection(sends=False)
def check(
    target: Target,
    text: Annotated[str, typer.Argument(metavar="TEXT|FILE|-", help="A text, a file with one, or - for stdin.")],
    where: Where = None,
) -> None:
    """Hold every claim of a text against the documents: supported, unverified or contradicted, and what shows it."""
    with target.open() as collection:
        found = collection.check(_text(text), where=where, settings=target.settings)
    target.show(found, _show)


def _text(given: str) -> str:
    """The text itself, of a file where there is one of that name, or of stdin."""
    if given == "-":
        return sys.stdin.read()
    try:
        file = Path(given)
        return file.read_text(encoding="utf-8") if file.is_file() else given
    except UnicodeDecodeError:
        next_step = "check a .txt or .md file; index other kinds of files"
        raise UsageError("is no text in UTF-8", subject=given, next_step=next_step) from None
    except OSError:  # longer than a file's name may be, or with a NUL
        return given


def _show(found: Check) -> None:
    """Each claim with its state and the spans that show it."""
    for claim in found.claims:
        why = f": {claim.reason}" if claim.reason else ""
        output.say(f"{claim.state:<12} {claim.support:.2f}  {' '.join(claim.text.split())}{why}")
        for citation in claim.citations:
            output.say(f"           {citation_line(citation.to_dict(), '')}")
    if found.support is None:
        output.complain("there is no claim in the text")
    else:
        held = sum(claim.state == "supported" for claim in found.claims)
        output.say(f"{held} of {len(found.claims)} claims are supported")
