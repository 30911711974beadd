"""`thresher demo`: a question answered, and one that the documents do not answer, by plain RAG and with correction."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.cli import output
from thresher.cli.options import AsJson, Home, target_of
from thresher.cli.questions import say_answer
from thresher.errors import StoreError
from thresher.tracing.explain import counted

if TYPE_CHECKING:
    from thresher.collection.engine import Engine
    from thresher.recipes import Recipe

COLLECTION = "demo"
OUTSIDE = "demo-almanac"  # a second collection, from which the last answer is corrected

ANSWERED = "How is the boiler of a locomotive tested?"
UNANSWERED = "Who won the football world cup of 1998?"
"""No page of the museum says it; the almanac does."""

MADE_UP = "Brazil won the football world cup of 1998 [1]."
"""What a chat model might write from memory; France won it."""


def samples(name: str) -> Path:
    """A folder of sample documents: beside the package in an installation, among the examples in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "samples" / name, package.parent.parent / "examples" / name):
        if folder.exists():
            return folder
    next_step = "reinstall thresher, or index your own documents"
    raise StoreError("the sample documents are not installed", next_step=next_step)


def demo(home: Home = None, json: AsJson = False) -> None:
    """Try it on a sample handbook: a question it answers, and one it does not, by plain RAG and with correction."""
    from thresher.collection.engine import Engine

    target = target_of(home, COLLECTION, {}, json)
    with Engine(target.home, completing=output.Completing()) as engine:
        collection, outside = engine.collection(COLLECTION), engine.collection(OUTSIDE)
        plain = scripted_rag(engine)
        with output.indexing() as progress:
            report = collection.add(samples("museum"), recipe=("corrective", plain), prune=True, progress=progress)
            outside.add(samples("almanac"), prune=True)
        answers = [
            collection.ask(ANSWERED),
            collection.ask(UNANSWERED, recipe=plain),
            collection.ask(UNANSWERED),
            collection.ask(UNANSWERED, outside=f"collection:{OUTSIDE}"),
        ]
    if json:
        output.as_json({"index": report, "answers": answers})
        return
    indexed = counted(report.added + report.updated + report.unchanged, "document")
    output.say(f"Indexed {indexed} of a museum that does not exist, in {report.seconds:.1f} s.")
    options = target.options
    replied = "They do not answer. Plain RAG answers all the same: the reply of its chat model is scripted."
    corrected = f"{options} --outside collection:{OUTSIDE}"
    asked = [
        ("The documents answer, and the answer is cited.", options, ""),
        (replied, f"{options} --recipe rag", "  # with the scripted model"),
        ("Thresher judges what was retrieved first, and refuses.", options, ""),
        ("The same question, with a second collection to correct from.", corrected, ""),
    ]
    for number, ((title, given, remark), answer) in enumerate(zip(asked, answers, strict=True), start=1):
        output.say()
        output.say(f"{number}. {title}")
        output.say(f"$ thresher ask{given} {answer.question!r}{remark}")
        say_answer(answer, options=options)
    command = called_as()
    output.say()
    output.say("Your own documents:")
    output.say(f"$ {command} index FOLDER")
    output.say(f'$ {command} ask "A question?"')


def scripted_rag(engine: Engine) -> Recipe:
    """`rag` with a chat model whose only reply is `MADE_UP`, shown as it came and checked like any other."""
    from thresher import recipes
    from thresher.answering.chat_model import GroundedGenerator
    from thresher.answering.citations import abstention
    from thresher.testing.fakes import ScriptedModel
    from thresher.verification.check import Checker

    check = Checker(engine.models.checker())
    model = ScriptedModel(lambda system, user: MADE_UP)
    generate = GroundedGenerator(model, check, lambda query, evidence: abstention("Nothing was retrieved."), "none")
    return recipes.derive("rag", name="rag", generate=generate)


def called_as() -> str:
    """The command as it is typed: its name where the shell finds it, else the file."""
    here, found = Path(sys.argv[0]), shutil.which("thresher")
    if not here.exists() or (found and Path(found).samefile(here)):
        return "thresher"
    return os.path.relpath(here)
