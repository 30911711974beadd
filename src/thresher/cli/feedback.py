"""What a person says of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from thresher.cli import output
from thresher.cli.options import Target, on_collection
from thresher.cli.questions import trace_of
from thresher.tracing.explain import counted, shortened

SHOWN_CHARACTERS = 80
"""Of a question that a label is about."""


@on_collection(reads_settings=False)
def feedback(
    target: Target,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="Id of a trace, or `last`: this shell's last answer.")],
    judgement: Annotated[Literal["right", "wrong"], typer.Argument(metavar="right|wrong", help="What you say of it.")],
    answer: Annotated[
        str | None, typer.Option("--answer", metavar="TEXT", help="The right answer, as the documents have it.")
    ] = None,
) -> None:
    """Keep whether an answer, or a refusal, was right; calibrate and train-judge learn from it."""
    with target.open() as collection:
        label = collection.feedback(trace_of(trace, target), judgement == "right", answer)
        number = len(collection.labels.labels())
    shown = f"{judgement}: “{shortened(label.question, SHOWN_CHARACTERS)}”"
    target.show(label, lambda _: output.say(f"{shown}; {counted(number, 'label')} in this collection"))
