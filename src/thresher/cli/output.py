"""Words on the terminal: tables and colours for a person, plain lines in a pipe, one JSON document for a program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError
from thresher.types import Answer, Hit, SearchResult, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from thresher.indexing.ingest import Remark, Report
    from thresher.indexing.records import DocumentRecord
    from thresher.inputs import IndexProgress
    from thresher.judging.calibration import Calibration
    from thresher.recipes.train_judge import Trained

SECONDS_BETWEEN_LINES = 5.0
"""Of progress in a pipe."""


def on_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    """One line on stdout."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(" ".join(text.split()) + "\n")


def as_json(value: Any) -> None:
    """One JSON document on stdout, on one line; what has a form for JSON is written in that."""

    def form(one: Any) -> Any:
        return one.to_dict() if hasattr(one, "to_dict") else str(one)

    say(json.dumps(value, ensure_ascii=False, default=form))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table for a person, tab-separated lines with a heading in a pipe."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not on_terminal():
        say("\t".join(columns))
        for row in cells:
            say("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title, title_justify="left")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in cells:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


# --- progress ---------------------------------------------------------------------------------------------------------


class _Clock:
    """Seconds since the start, and whether it is time for another line."""

    def __init__(self) -> None:
        self._started = self._last_line = monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return monotonic() - self._started

    def due(self) -> bool:
        """Whether the last line is some seconds ago; the one that is asked for counts as written."""
        due = monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        self._last_line = monotonic() if due else self._last_line
        return due


@contextmanager
def indexing() -> Iterator[Callable[[IndexProgress], None]]:
    """Shows how far an `index` is, with rate and time left: a bar for a person, a line now and then in a pipe."""
    clock = _Clock()
    if not sys.stderr.isatty():
        yield lambda progress: complain(_rate(progress, clock.seconds)) if clock.due() else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (SpinnerColumn(), TextColumn("indexing"), BarColumn(), rate, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None, rate="")
        yield lambda progress: bar.update(
            task,
            total=progress.total_bytes or None,
            completed=progress.done_bytes,
            rate=_rate(progress, clock.seconds),
        )


def _rate(progress: IndexProgress, seconds: float) -> str:
    """Chunks so far, chunks per second, share of the bytes that was read and, once that is steady, seconds left."""
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0.0
    steady = 0 < share < 1 and seconds >= SECONDS_BETWEEN_LINES and progress.chunks
    left = f", about {seconds * (1 - share) / share:.0f} s left" if steady else ""
    rate = progress.chunks / seconds if seconds else 0.0
    return f"{share:.0%} read, {progress.chunks} chunks encoded, {rate:.0f} a second{left}"


class Completing:
    """Says on stderr, at once and then now and then, that a chunk table is being made from the stored text."""

    def __init__(self) -> None:
        self._clock = _Clock()

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` documents have their chunks."""
        if done == 0:
            self._clock = _Clock()
            complain(f"this recipe cuts documents in a way of its own: preparing {total} from the stored text")
        elif self._clock.due():
            left = self._clock.seconds * (total - done) / done
            complain(f"{done} of {total} documents, about {left:.0f} s left")


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Shows how many of a known number of things are done: a bar for a person, a line now and then in a pipe.

    The first count says nothing of the pace: it may be what an earlier run did.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
        return
    clock = _Clock()
    finished = before = 0

    def count(done: int) -> None:
        nonlocal clock, finished, before
        if not finished:
            clock, before = _Clock(), done
        finished += done
        if finished > before and clock.due():
            left = clock.seconds * (total - finished) / (finished - before)
            complain(f"{finished} of {total} {what}, about {left:.0f} s left")

    yield count


# --- documents --------------------------------------------------------------------------------------------------------


def report(done: Report) -> None:
    """What an `index` did, leaving out what it did not do."""
    kinds = ("added", "updated", "unchanged", "duplicates", "removed")
    counts = {**{kind: getattr(done, kind) for kind in kinds}, "not read": len(done.failed)}
    summary = ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "nothing found"
    say(f"{summary}; {counted(done.chunks, 'new chunk')} in {done.seconds:.1f} s")


def failures(failed: Sequence[DocumentError]) -> None:
    """One line on stderr for each input that could not be read."""
    for error in failed:
        complain(f"not read: {error}")


MOST_REMARKS = 5


def remarks(made: Sequence[Remark]) -> None:
    """One line on stderr for the first sources that something is to be known of."""
    for remark in made[:MOST_REMARKS]:
        complain(f"{where(remark.source, None)}: {remark.remark}; {remark.next}")
    if len(made) > MOST_REMARKS:
        complain(f"... and {len(made) - MOST_REMARKS} more such files (all of them with --json)")


def status(described: Mapping[str, Any]) -> None:
    """The size of a collection and its chunk tables."""
    sizes = ", ".join(counted(described[f"{what}s"], what) for what in ("document", "page", "character"))
    say(f"collection {described['collection']} in {described['home']}: {sizes}")
    columns = ["cut and encoded", "level", "chunks", "expected by formula"]
    keys = ("fingerprint", "level", "chunks", "estimated")
    table("chunk tables", columns, [[row[key] for key in keys] for row in described["tables"]])


def documents(records: Sequence[DocumentRecord]) -> None:
    """A row for each document."""
    rows = [
        [
            *(f"Doc{r.number}", r.kind, r.pages or None, r.characters, r.date, r.title),
            *(_names(str(r.metadata.get("author") or "")), r.source, ", ".join(r.also)),
        ]
        for r in records
    ]
    columns = ["document", "kind", "pages", "characters", "date", "title", "authors", "source", "also"]
    table(counted(len(records), "document"), columns, rows)


def _names(authors: str) -> str:
    """The first of the authors, and how many more there are; `--json` has them all."""
    first, *others = authors.split(", ")
    return f"{first} and {len(others)} more" if len(others) > 2 else authors


def diagnosis(found: Mapping[str, Any]) -> None:
    """What `doctor` found and mended."""
    for finding in found["findings"]:
        say(f"{'mended' if finding.mended else 'found'}: {finding.where}: {finding.what}")
    left = sum(not finding.mended for finding in found["findings"])
    say(f"{left} things are left" if left else "the collection is sound")


def deleted(result: Mapping[str, Any]) -> None:
    """How many sources went, and the first of them."""
    gone = result["deleted"]
    say(f"{len(gone)} deleted: {', '.join(gone[:10])}{', …' if len(gone) > 10 else ''}")


# --- recipes ----------------------------------------------------------------------------------------------------------


def recipe(described: Mapping[str, Any], descriptions: Mapping[str, str]) -> None:
    """What a recipe follows, its slots and its settings."""
    say(described["follows"].strip())
    say()
    table("slots", ["slot", "part"], list(described["slots"].items()))
    rows = [[key, _value(value), descriptions.get(key, "")] for key, value in described["settings"].items()]
    table("settings", ["setting", "value", "what it is"], rows)


def recipe_differences(names: tuple[str, str], differences: Sequence[Mapping[str, Any]]) -> None:
    """The slots and settings in which two recipes differ."""
    rows = [[row["key"], *(_value(row[name]) for name in names)] for row in differences]
    table(" and ".join(names), ["key", *names], rows)


def _value(value: Any) -> Any:
    return "not set" if value in (None, "") else value


# --- answers ----------------------------------------------------------------------------------------------------------


SHOWN_CHARACTERS = 240
"""Of a chunk's text in a list of hits: three lines of a terminal."""


def hits(result: SearchResult) -> None:
    """Each hit for a person, and what the search had to do without."""
    for hit in result.hits:
        say(hit_line(hit))
    if not result.hits:
        complain("nothing matches; ask in other words, or see what there is: thresher documents")
    for degradation in result.degraded:
        complain(f"note: {degradation}")


def hit_line(hit: Hit) -> str:
    """Rank, score, place and the beginning of the text."""
    place = where(hit.chunk.source, hit.chunk.page)
    return f"{hit.rank:>2}. {place}  ({hit.score.scale.name} {hit.score.value:.4f})\n    {shortened(hit.chunk.text)}"


def shortened(text: str, characters: int = SHOWN_CHARACTERS) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def where(source: str, page: int | None) -> str:
    """Source and page; a file below the folder one is in by its path from there."""
    here = f"{os.getcwd()}{os.sep}"
    place = source.removeprefix(here)
    return f"{place}, page {page}" if page else place


def counted(number: int, what: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def step(done: Step) -> None:
    """What a slot did, in one line."""
    facts = _facts(done.detail)
    line = f"{done.name:<9} {done.considered:>4} in {done.kept:>4} out {done.seconds * 1000:8.1f} ms"
    say(f"{line}  {facts}" if facts else line)


def _short(value: Any) -> str:
    """A fact in few characters: a list of words (ids, reasons) by their number."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}"
        case list() if value and isinstance(value[0], str | Mapping):
            return str(len(value))
        case list():
            return " + ".join(map(str, value))
        case _:
            return " ".join(str(value).split())


def citation_line(cited: Mapping[str, Any], answer: str) -> str:
    """Marker and place of a citation, and its quote unless the answer holds it already."""
    quote = " ".join(cited["quote"].split())
    looked_up = cited.get("locator") or (f"page {cited['page']}" if cited["page"] else "")  # older traces have none
    at = f", {looked_up}" if looked_up else ""
    place = f"  [{cited['marker']}] {where(cited['source'], None)}{at}, characters {cited['start']}-{cited['end']}"
    return place if quote in answer else f"{place}: “{quote}”"


def answer(given: Answer, *, steps: bool = False, options: str = "") -> None:
    """The answer for a person: text, citations, what was done without, and where to look further.

    `options` name the collection on a command line, where it is not the usual one.
    """
    for done in given.steps:
        if corrected := done.detail.get("corrected"):
            say(f"({corrected})")
    if given.standalone:
        say(f"(understood as: {given.standalone})")
    say(given.text)
    if given.answered_by == "reader" and not given.degraded:
        say("(Answered by the reader: the chat model's answer did not hold; `explain` shows it.)")
    if given.abstained:
        say(f"Why: {given.reason}")
    for citation in given.citations:
        say(citation_line(citation.to_dict(), given.text))
    for one, other in given.conflicts:
        say(f"  [{one}] and [{other}] contradict each other: look at both")
    if given.verdict is not None or given.certainty is not None:
        opinions = (("that the evidence suffices", given.confidence), ("that the answer is right", given.certainty))
        sure = ", ".join(f"{what}: {value:.2f}" for what, value in opinions if value is not None)
        say(f"Verdict: {given.verdict or 'none'}{f' (probability {sure})' if sure else ''}")
    if steps:
        say()
        for done in given.steps:
            step(done)
    for degradation in given.degraded:
        complain(f"note: {degradation}")
    if given.trace:
        complain(f"how it came about: thresher explain {given.trace}{options}")


def calibration(made: Calibration) -> None:
    """What a calibration found, for a person."""
    low, high = made.auroc_interval
    questions = f"{made.n_positive} questions the collection can answer and {made.n_negative} it cannot"
    say(f"calibrated the judge '{made.judge}' from {made.source}: {questions}")
    table(
        "",
        ["", "value", "95 % interval"],
        [
            ["AUROC", f"{made.auroc:.3f}", f"{low:.3f} to {high:.3f}"],
            ["expected calibration error", f"{made.ece:.3f}", ""],
            ["LOWER", f"{made.lower:.3f}", "{:.3f} to {:.3f}".format(*made.lower_interval)],
            ["UPPER", f"{made.upper:.3f}", "{:.3f} to {:.3f}".format(*made.upper_interval)],
        ],
    )
    if not made.separated:
        say("no clean separation: between the bounds the verdict will be `unsure`, which acts as ambiguous")


def trained(made: Trained) -> None:
    """What a training of the judge came to, for a person."""
    counts = ", ".join(f"{number} questions to {part}" for part, number in list(made.questions.items())[:2])
    say(f"{counts}, {made.comparison.questions} held out; {made.passages} passages")

    def cell(value: float, bounds: tuple[float, float], sign: str = "") -> str:
        return f"{value:{sign}.3f} [{bounds[0]:{sign}.3f}, {bounds[1]:{sign}.3f}]"

    rows = [
        [
            one.name,
            cell(one.before, one.before_interval),
            cell(one.after, one.after_interval),
            cell(one.difference, one.difference_interval, "+"),
        ]
        for one in made.comparison.measured
    ]
    table("", ["held out, 95 % intervals", "before", "after", "difference"], rows)
    if made.installed is None:
        say("not better on the held-out questions beyond chance: the judge stays as it was, nothing was installed")
    else:
        say(f"installed: {made.installed}")
        say(f"use it: --set judge_model={quote(str(made.installed))}, or judge_model = ... in thresher.toml")
    say(f"report: {made.report}")


def explanation(trace: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    """A stored answer with every chunk that was touched, for a person; `labels` name the chunks."""
    say(f"question  {trace['question']}")
    say(f"recipe    {trace['recipe']}")
    if trace["verdict"]:
        say(f"verdict   {trace['verdict']}")
    say(f"answer    {trace['text']}")
    if trace["reason"]:
        say(f"why       {trace['reason']}")
    for cited in trace["citations"]:
        say(f"        {citation_line(cited, trace['text'])}")
    for one, other in trace["conflicts"]:
        say(f"conflict  [{one}] and [{other}] contradict each other")
    for degradation in trace["degraded"]:
        say(f"without   {degradation}")
    usage = trace["usage"]
    if usage["hosts"]:
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        spent = f"{counted(usage['llm_calls'], 'model call')}, {counted(tokens, 'token')}"
        if usage["web_requests"]:
            spent += f", {counted(usage['web_requests'], 'web request')}"
        say(f"spent     {spent}, sent to {', '.join(usage['hosts'])}")
    say()
    steps = [
        [step["name"], step["considered"], step["kept"], f"{step['seconds'] * 1000:.1f}", _facts(step["detail"])]
        for step in trace["steps"]
    ]
    table("steps", ["step", "in", "out", "ms", "detail"], steps)
    table(
        "chunks",
        ["", "chunk", "place", "scores", "why", "text"],
        [_fate(chunk, labels.get(chunk["id"], "")) for chunk in trace["chunks"]],
    )


def _facts(detail: Mapping[str, Any]) -> str:
    """What a step says about itself, without what it says nothing about and what is a table of its own."""
    facts = {key: value for key, value in detail.items() if value and not isinstance(value, Mapping)}
    if "search" in facts and facts["search"] == facts.get("question"):
        return ""  # searched for as it was asked
    return ", ".join(f"{key} {_short(value)}" for key, value in facts.items())


def _fate(chunk: Mapping[str, Any], label: str) -> list[str]:
    scores = ", ".join(f"{name} {score['value']:.3f}" for name, score in chunk["scores"].items())
    reason = chunk["reason"] if chunk["kept"] else f"{chunk['dropped_by']}: {chunk['reason']}"
    fate = "kept" if chunk["kept"] else "dropped"
    if chunk["origin"] == "outside":
        fate += ", outside"
    return [fate, label, where(chunk["source"], chunk["page"]), scores, reason, shortened(chunk["text"], 80)]
