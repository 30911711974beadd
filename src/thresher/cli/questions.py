"""Commands that search, ask, converse and check, and that show how an answer came about."""

from __future__ import annotations

import json
import os
import pydoc
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thresher.answer import Answer, marks_places
from thresher.cli import output
from thresher.cli.options import (
    FAILED,
    REFUSED,
    Question,
    RecipeName,
    RecipeNames,
    Strict,
    Target,
    Where,
    on_collection,
)
from thresher.errors import ThresherError, UsageError
from thresher.text.markup import blocks, flat, plain, shown, unescaped
from thresher.tracing.explain import (
    also,
    assessment,
    citation_line,
    counted,
    facts,
    in_full,
    marked_sentence,
    picture,
    sentence_lines,
    shortened,
    shortened_line,
)
from thresher.tracing.explain import where as place_of
from thresher.types import Check, Excerpt, Hit, SearchResult, Step

if TYPE_CHECKING:
    from thresher.home.places import Home

FOLDED = 200
"""Characters of the sentence that stands for a passage which is not shown whole."""

Mode = Literal["strict", "balanced", "open"]

MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Tokens of evidence at most: the best spans that fit.")
]

Outside = Annotated[
    str | None, typer.Option("--outside", metavar="PLACE", help="Where to correct from: none, web or collection:NAME.")
]


@on_collection()
def search(
    target: Target,
    question: Question,
    recipe: RecipeName = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many results.")] = 5,
    max_tokens: MaxTokens = None,
    where: Where = None,
    strict: Strict = None,
) -> None:
    """Show the chunks a recipe finds for a question, or the best spans of them within a budget of tokens."""
    with target.open() as collection:
        result = collection.search(
            " ".join(question),
            recipe=target.recipe(recipe),
            limit=limit,
            where=where,
            settings=target.settings,
            strict=target.strict(strict),
            max_tokens=max_tokens,
        )
    target.show(result, partial(_say_hits, filtered=bool(where)))


@on_collection()
def ask(
    target: Target,
    question: Question,
    recipe: RecipeNames = None,
    outside: Outside = None,
    where: Where = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="TRACE", help="Follow up on a stored answer: its id, or `last`.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Show each step, and a model's sentences as they are checked.")
    ] = False,
    strict: Strict = None,
    mode: Annotated[
        Mode | None,
        typer.Option("--mode", help="strict: nothing unverified; balanced: unverified is marked; open: all is shown."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 4 when the answer is a refusal.")] = False,
    budget_calls: Annotated[int | None, typer.Option("--budget-calls", min=0, help="Model calls at most.")] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=0, help="Model tokens at most.")] = None,
    budget_seconds: Annotated[float | None, typer.Option("--budget-seconds", min=0.0, help="Seconds at most.")] = None,
    max_tokens: MaxTokens = None,
) -> None:
    """Answer a question from the documents, with citations, or say why not; by each recipe where several are named."""
    from thresher.protocols import in_silence

    settings = target.settings if mode is None else {**target.settings, "answer.mode": mode}
    answers = list[Answer]()
    with target.open() as collection:
        recipes = list(dict.fromkeys(recipe or [target.recipe(None)]))
        models = [collection.settings(name, settings)["llm.model"] for name in recipes]
        history = [] if after is None else collection.traces.conversation(trace_of(after, target))
        for name, model in zip(recipes, models, strict=True):
            if len(recipes) > 1 and not target.json:
                output.say(("\n" if answers else "") + f"--- {name}")
            watched = _Watched(target, model or "", filtered=bool(where), stream=stream)
            run = collection.run(
                " ".join(question),
                on_sentence=watched.sentence if stream and model else in_silence,
                history=history,
                recipe=name,
                outside=outside,
                where=where,
                settings=settings,
                strict=target.strict(strict),
                budget_calls=budget_calls,
                budget_tokens=budget_tokens,
                budget_seconds=budget_seconds,
                max_tokens=max_tokens,
            )
            answers.append(watched.to_its_end(run))
    if exit_code and all(answer.abstained for answer in answers):
        raise typer.Exit(REFUSED)


@dataclass(slots=True)
class _Watched:
    """A question that is being answered, as a person or a program sees it."""

    target: Target
    model: str
    """Name of the chat model that is asked; "" for none."""
    filtered: bool
    stream: bool
    generated: bool = False

    def sentence(self, text: str) -> None:
        """Show a sentence of a model; none of an answer that was not written sentence by sentence."""
        if not self.generated:
            self.target.show({"sentence": text}, lambda shown: output.say(f"sentence  {shown['sentence'].strip()}"))
            sys.stdout.flush()

    def to_its_end(self, run: Iterator[Step | Answer]) -> Answer:
        """Show each step of a stream, and the answer, which this shell remembers; a person sees what is awaited."""
        answer: Answer | None = None
        found = False
        with output.waiting("" if self.stream else self.model):
            for step in run:
                if not isinstance(step, Step):
                    answer = step
                    continue
                self.generated = self.generated or step.name == "generate"
                found = found or (step.name == "retrieve" and step.kept > 0)
                if self.stream:
                    self.target.show(step, _say_step)
                    sys.stdout.flush()  # a program that reads it waits for each line too
        assert answer is not None
        self.target.show(answer, partial(say_answer, options=self.target.options))
        if self.filtered and not found and not self.target.json:
            output.complain(NOTHING_MATCHES)
        remember(self.target, answer.trace)
        return answer


@on_collection(reads_settings=False)
def explain(
    target: Target,
    trace: Annotated[str, typer.Argument(help="Id of a trace, or `last`: this shell's last answer.")] = "last",
    everything: Annotated[bool, typer.Option("--all", help="List the dropped chunks too.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Show every score of a chunk.")] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Ask again with the stored replies, without a network, and compare.")
    ] = False,
) -> None:
    """Show how an answer came about: every step, and each chunk that was kept or dropped, and why."""
    trace = trace_of(trace, target)
    with target.open() as collection:
        described = collection.traces.load(trace)
        labels = collection.traces.labels(trace)
        differences: list[str] = []
        if replay:
            answer, differences = collection.replay(trace)
            described = answer.to_dict(chunks=True)
    width = shutil.get_terminal_size().columns if output.on_terminal() else 1_000  # in a pipe lines are searched
    shown = partial(picture, labels=labels, dropped=everything, scores=scores, width=width)
    target.show(described, lambda trace: _paged(shown(trace)))
    if differences:
        output.complain(f"thresher: the replay differs from the stored answer in: {', '.join(differences)}")
        raise typer.Exit(FAILED)
    if replay:
        output.complain("the replay reached the stored answer")


# --- the last answer of a shell ---------------------------------------------------------------------------------------


def remember(target: Target, trace: str | None) -> None:
    """Note an answer as this shell's last one; a failure to do so is ignored."""
    from thresher.home.places import make_folder

    if not trace:
        return
    file = _shell(target.home)
    try:
        make_folder(file.parent)
        for other in file.parent.iterdir():
            if not Path(f"/proc/{other.name}").exists() and Path("/proc").exists():
                other.unlink(missing_ok=True)  # of a shell that has ended
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        beside.write_text(json.dumps({**_remembered(file), target.collection: trace}), encoding="utf-8")
        beside.replace(file)
    except OSError:
        return


def trace_of(given: str, target: Target) -> str:
    """The id of a trace; `last` is this shell's last answer, or the collection's where it has asked nothing."""
    if given.strip() == "":
        raise UsageError("is no trace", subject=repr(given), next_step="give an id, or last")
    return _remembered(_shell(target.home)).get(target.collection, given) if given == "last" else given


def _shell(home: Home) -> Path:
    """The file that remembers the last trace of each collection in this shell."""
    from thresher.home.places import working_folder

    return working_folder(home) / "shells" / str(os.getppid())


def _remembered(file: Path) -> dict[str, str]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


# --- feedback ---------------------------------------------------------------------------------------------------------


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
    shown = f"{judgement}: “{shortened(label.question, 80)}”"
    target.show(label, lambda _: output.say(f"{shown}; {counted(number, 'label')} in this collection"))


# --- a conversation ---------------------------------------------------------------------------------------------------

HELP = "Ask a question, or: /why (how the last answer came about), /new (forget the conversation), /quit"


@on_collection()
def chat(
    target: Target, recipe: RecipeName = None, outside: Outside = None, where: Where = None, strict: Strict = None
) -> None:
    """Ask question after question; each may follow up on those before. Ends with /quit or Ctrl-D."""
    history: list[Answer] = []
    chosen = target.recipe(recipe)
    with target.open() as collection:
        model = collection.settings(chosen, target.settings)["llm.model"]  # what is wrong is refused before all else
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
                with output.waiting(model or ""):
                    answer = collection.ask(
                        line,
                        recipe=chosen,
                        outside=outside,
                        where=where,
                        settings=target.settings,
                        strict=target.strict(strict),
                        history=history,
                    )
            except ThresherError as error:  # the next question may fare better
                output.complain(f"thresher: {error}")
                continue
            history.append(answer)
            remember(target, answer.trace)
            target.show(answer, partial(say_answer, options=target.options))
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


# --- a text held against the documents --------------------------------------------------------------------------------


@on_collection(sends=False)
def check(
    target: Target,
    text: Annotated[str, typer.Argument(metavar="TEXT|FILE|-", help="A text, a file with one, or - for stdin.")],
    where: Where = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 where a claim is not supported.")] = False,
) -> None:
    """Hold every claim of a text against the documents; exit 1 where they contradict one."""
    with target.open() as collection:
        found = collection.check(_text_of(text), where=where, settings=target.settings)
    target.show(found, _say_claims)
    if found.contradicted or (strict and not all(claim.state.holds for claim in found.claims)):
        raise typer.Exit(FAILED)


def _text_of(given: str) -> str:
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


# --- in words ---------------------------------------------------------------------------------------------------------

NOTHING_MATCHES = "nothing matches the filter and the words; see what there is: thresher documents --fields"

SHOWN_CHARACTERS = 240  # of a chunk's text in a list of hits: three lines of a terminal


def _say_hits(result: SearchResult, *, filtered: bool = False) -> None:
    """Each hit, or each span of a budget, for a person, and what the search had to do without."""
    for hit in result.hits:
        output.say(_hit_line(hit))
    for span in result.spans or ():
        output.say(_span_lines(span))
    if result.spans:
        worth = assessment(result.verdict, None)
        output.say(f"{counted(result.tokens, 'token')} in all{f'; {worth}' if worth else ''}")
    if not result.hits and not result.spans:
        unfiltered = "nothing matches; ask in other words, or see what there is: thresher documents"
        output.complain(NOTHING_MATCHES if filtered else unfiltered)
    for degradation in _happened(result.degraded):
        output.complain(f"note: {degradation}")


def _hit_line(hit: Hit) -> str:
    """Rank, score, place and the beginning of the text."""
    place = place_of(hit.chunk.source, hit.chunk.page)
    head = f"{hit.rank:>2}. {place}  ({hit.score.scale.name} {hit.score.value:.4f})"
    opened = f"\n    {hit.url}" if hit.url and hit.url != hit.chunk.source else ""
    return f"{head}\n    {shortened(flat(hit.chunk.text), SHOWN_CHARACTERS)}{opened}"


def _span_lines(span: Excerpt) -> str:
    """Rank, score, place and heading of a span, and its whole text."""
    place = place_of(span.source, span.page)
    heading = f"  under “{span.heading}”" if span.heading else ""
    head = f"{span.rank:>2}. {place}{heading}  ({span.score.value:.2f}, {counted(span.tokens, 'token')})"
    lines = [*plain(span.text).splitlines(), *([span.url] if span.url and span.url != span.source else [])]
    return "\n".join([head, *(f"    {line}" for line in lines)])


def _say_step(done: Step) -> None:
    """What a slot did, in one line."""
    detail = facts(done.detail)
    line = f"{done.name:<9} {done.considered:>4} in {done.kept:>4} out {done.seconds * 1000:8.1f} ms"
    output.say(f"{line}  {detail}" if detail else line)


def say_answer(given: Answer, *, options: str = "") -> None:
    """The answer for a person; `options` name the collection on a command line, where it is not the usual one."""
    for done in given.steps:
        if corrected := done.detail.get("corrected"):
            output.say(f"({corrected})")
    if given.standalone:
        output.say(f"(understood as: {given.standalone})")
    text = in_full(given.text, given.reason if given.abstained else None)
    _say_passage(text, marked=marks_places(given.citations, given.text))
    if given.reason and not given.abstained:
        output.say(f"In doubt: {given.reason}")
    for number, line in enumerate(sentence_lines(given.to_dict())):
        output.say(line if number else f"Sentences: {line}")
    for citation in given.citations:
        output.say(citation_line(citation.to_dict(), given.text))
    if given.alternatives:
        first = given.alternatives[0].citation.marker
        label = also(given.abstained)
        output.say(f"{label[:-1]}, whole with thresher show {first}{options}:" if given.trace else label)
    for other in given.alternatives:
        cited = other.citation.to_dict()
        output.say(f"  “{shortened_line(marked_sentence(cited), FOLDED)}” [{other.citation.marker}]")
        output.say(citation_line(cited, other.text))
    for left, right in given.conflicts:
        output.say(f"  [{left}] and [{right}] contradict each other: look at both")
    if line := assessment(given.verdict, given.certainty, given.state):
        output.say(line)
    if given.certificate is not None:
        output.say(given.certificate.line)
    for degradation in _happened(given.degraded):
        output.complain(f"note: {degradation}")
    if given.trace:
        output.complain(f"how it came about: thresher explain {given.trace}{options}")


def say_cited(target: Target, marker: int) -> None:
    """The passage with a marker of this shell's last answer, with the text around it; an alternative as it answers."""
    with target.open() as collection:
        stored = collection.traces.load(trace_of("last", target))
    passages = {one["citation"]["marker"]: one["text"] for one in stored.get("alternatives", ())}
    passages |= {one["marker"]: _quoted(one) for one in stored["citations"]}
    cited = [*stored["citations"], *(one["citation"] for one in stored.get("alternatives", ()))]
    known = {one["marker"]: one for one in cited}
    if marker not in known:
        there = f"it has {', '.join(map(str, sorted(known)))}" if known else "it cites nothing"
        raise UsageError("is no passage of the last answer", subject=str(marker), next_step=there)
    before, after = _around(known[marker], stored["chunks"])

    def say(shown: Mapping[str, Any]) -> None:
        parts = filter(None, (before, passages[marker], after))
        _say_passage("\n\n".join(parts), marked="**" not in f"{before}{shown['quote']}{after}")
        output.say(citation_line(shown, passages[marker]))

    target.show({**known[marker], "before": before, "after": after}, say)


def _quoted(cited: Mapping[str, Any]) -> str:
    """The quote of a citation in quotation marks, which a table stands between, its marked sentence in bold."""
    quote, found = cited["quote"], blocks(cited["quote"])
    start, end = (at - cited["start"] for at in cited.get("mark") or (cited["start"], cited["start"]))
    if "**" not in quote and any(one.kind == "prose" and one.start <= start < end <= one.end for one in found):
        quote = f"{quote[:start]}**{quote[start:end]}**{quote[end:]}"
    line = "" if all(one.kind == "prose" for one in found) else "\n"
    return f"“{line}{quote}{line}” [{cited['marker']}]"


def _around(cited: Mapping[str, Any], chunks: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """What stands before and after a citation in the chunk that holds it; nothing where none does."""
    from thresher.text.passages import cut_around

    for chunk in chunks:
        text, start, end = chunk["text"], cited["start"] - chunk["start"], cited["end"] - chunk["start"]
        if chunk["source"] == cited["source"] and start >= 0 and text[start:end] == cited["quote"]:
            low, high = cut_around(text, start, end)
            return text[low:start].strip(), text[end:high].strip()
    return "", ""


def _say_passage(text: str, *, marked: bool = True) -> None:
    """A text of an answer without signs of Markdown; on a terminal with tables drawn, and in bold what is `marked`."""
    if not output.on_terminal():
        output.say(plain(text))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def bold(piece: str) -> Text:
        parts = piece.split("**") if marked else [piece]
        return Text.assemble(*((part, "bold" if at % 2 else "") for at, part in enumerate(parts)))

    console, text, behind = Console(highlight=False), shown(text), 0
    for block in blocks(text):
        console.print("\n" * (text.count("\n", behind, block.start) - 1 if behind else 0), end="")
        behind = block.end
        match block.kind:
            case "table":
                names = block.rows[0] if block.headed else [""] * max(map(len, block.rows))
                drawn = Table(box=SIMPLE_HEAD, show_header=block.headed)
                for name in names:
                    drawn.add_column(bold(unescaped(name)), overflow="fold")
                for row in block.rows[block.headed :]:
                    drawn.add_row(*map(bold, map(unescaped, row)))
                console.print(drawn)
            case "heading":
                console.print(Text(block.text, "bold"))
            case "code":
                console.print(Text(plain(text[block.start : block.end])), soft_wrap=True)
            case _:
                console.print(bold(block.text), soft_wrap=True)


def _say_claims(found: Check) -> None:
    """Each claim of a checked text with its state and the spans that show it."""
    for claim in found.claims:
        why = f": {claim.reason}" if claim.reason else ""
        output.say(f"{claim.state:<12} {claim.support:.2f}  {' '.join(claim.text.split())}{why}")
        for citation in claim.citations:
            output.say(f"           {citation_line(citation.to_dict(), '')}")
    if found.support is None:
        output.complain("there is no claim in the text")
    else:
        held = sum(claim.state.holds for claim in found.claims)
        denied = f", {found.contradicted} contradicted" if found.contradicted else ""
        output.say(f"{held} of {len(found.claims)} claims are supported{denied}")


def _happened(degraded: Sequence[str]) -> list[str]:
    """What a question did without, less what is not configured: `status` and `config` say that, once."""
    return [one for one in degraded if "is configured (" not in one]  # other remarks are about this question


def _paged(text: str) -> None:
    """A text on stdout; on a terminal that it does not fit on, through $PAGER."""
    if output.on_terminal() and text.count("\n") >= shutil.get_terminal_size().lines - 1:
        os.environ.setdefault("LESS", "-FRSX")
        pydoc.pager(shown(text) + "\n")
    else:
        output.say(text)
