"""`thresher chat`: question after question, each a follow-up on those before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from thresher.cli import output
from thresher.cli.options import RecipeName, Strict, Target, Where, on_collection
from thresher.cli.questions import Outside, recipe_of, remember
from thresher.errors import ThresherError

if TYPE_CHECKING:
    from thresher.answer import Answer

HELP = "Ask a question, or: /why (how the last answer came about), /new (forget the conversation), /quit"


@on_collection()
def chat(
    target: Target, recipe: RecipeName = None, outside: Outside = None, where: Where = None, strict: Strict = None
) -> None:
    """Ask question after question; each may follow up on those before. Ends with /quit or Ctrl-D."""
    history: list[Answer] = []
    chosen = recipe_of(recipe, target)
    with target.open() as collection:
        collection.settings(chosen, target.settings)  # what is wrong is refused before anything is asked
        collection.documents()
        if output.on_terminal():
            output.say(HELP)
        for line in _lines():
            match line:
                case "":
                    continue
                case "/quit" | "/exit":
                    return
                case "/new":
                    history.clear()
                    continue
                case "/why":
                    output.say(history[-1].explain() if history else "nothing was asked yet")
                    continue
                case _ if line.startswith("/"):
                    output.say(HELP)
                    continue
            try:
                answer = collection.ask(
                    line,
                    recipe=chosen,
                    outside=outside,
                    where=where,
                    settings=target.settings,
                    strict=bool(strict),
                    history=history,
                )
            except ThresherError as error:  # the next question may fare better
                output.complain(f"thresher: {error}")
                continue
            history.append(answer)
            remember(target, answer.trace)
            target.show(answer, output.answer)
            sys.stdout.flush()


def _lines() -> Iterator[str]:
    """The lines typed, until the end of the input."""
    while True:
        if sys.stdin.isatty():
            sys.stderr.write("> ")
            sys.stderr.flush()
        if not (line := sys.stdin.readline()):
            return
        yield line.strip()
