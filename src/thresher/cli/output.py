"""Words on the terminal: tables and colours for a person, plain lines in a pipe, one JSON document for a program."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.answer import Answer, marks_places
from thresher.errors import DocumentError
from thresher.text.markup import blocks, flat, json_text, plain, shown, unescaped
from thresher.tracing.explain import (
    assessment,
    citation_line,
    counted,
    facts,
    in_full,
    sentence_lines,
    shortened,
    where,
)
from thresher.types import Check, Excerpt, Hit, SearchResult, Step

if TYPE_CHECKING:
    from thresher.indexing.catalog import DocumentRecord
    from thresher.indexing.ingest import Remark, Report
    from thresher.judging.calibration import Calibration, ModelWeight


def on_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    """Lines on stdout."""
    sys.stdout.write(shown(text) + "\n")


def complain(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(shown(" ".join(text.split())) + "\n")


def as_json(value: Any) -> None:
    """One JSON document on stdout, on one line; `to_dict` of a value counts."""
    say(json_text(value, default=lambda one: one.to_dict() if hasattr(one, "to_dict") else str(one)))


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
        drawn.add_row(*(Text(shown(cell)) for cell in row))
    Console().print(drawn)


def passage(text: str, *, marked: bool = True) -> None:
    """A text of an answer without signs of Markdown; on a terminal with tables drawn, and in bold what is `marked`."""
    if not on_terminal():
        say(plain(text))
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


SHOWN_VALUES = 5  # of a field, the most frequent first
MOST_REMARKS = 5
REREAD = "thresher index --reread PATH reads files anew"


# --- documents --------------------------------------------------------------------------------------------------------


def report(done: Report) -> None:
    """The counts of an `index`, those of 0 left out."""
    kinds = ("added", "updated", "unchanged", "duplicates", "removed")
    counts = {**{kind: getattr(done, kind) for kind in kinds}, "not read": len(done.failed)}
    summary = ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "nothing found"
    say(f"{summary}; {counted(done.chunks, 'new chunk')} in {done.seconds:.1f} s")


def failures(failed: Sequence[DocumentError]) -> None:
    """One line on stderr for each input that could not be read."""
    for error in failed:
        complain(f"not read: {error}")


def remarks(made: Sequence[Remark]) -> None:
    """One line on stderr for each of the first remarks."""
    for remark in made[:MOST_REMARKS]:
        complain(f"{where(remark.source, None)}: {remark.remark}; {remark.next}")
    if len(made) > MOST_REMARKS:
        complain(f"... and {len(made) - MOST_REMARKS} more such files (all of them with --json)")


def status(described: Mapping[str, Any]) -> None:
    """The size of a collection and its chunk tables."""
    sizes = ", ".join(counted(described[f"{what}s"], what) for what in ("document", "page", "character"))
    say(f"collection {described['collection']} in {described['home']}: {sizes}")
    kept = described["storage"]
    versions = f"a table keeps {counted(kept['versions'], 'version')} at most"
    say(f"on disk: {megabytes(kept['bytes'])} in {counted(kept['files'], 'file')}; {versions}")
    older, unknown = described["extractions"]["older"], described["extractions"]["unknown"]
    if older:
        say(f"{counted(older, 'document')} {'was' if older == 1 else 'were'} read by an older extraction; {REREAD}")
    if unknown:
        say(f"which extraction read {counted(unknown, 'document')} is not known; {REREAD}")
    columns = ["cut and encoded", "level", "chunks", "expected by formula"]
    keys = ("fingerprint", "level", "chunks", "estimated")
    table("chunk tables", columns, [[row[key] for key in keys] for row in described["tables"]])


def documents(records: Sequence[DocumentRecord]) -> None:
    """A row for each document."""
    rows = []
    for one in records:
        authors = str(one.metadata.get("author") or "")
        first, *others = authors.split(", ")
        authors = f"{first} and {len(others)} more" if len(others) > 2 else authors  # all of them with --json
        size = (one.kind, one.pages or None, one.characters)
        rows.append([f"Doc{one.number}", *size, one.date, one.title, authors, one.source, ", ".join(one.also)])
    columns = ["document", "kind", "pages", "characters", "date", "title", "authors", "source", "also"]
    table(counted(len(records), "document"), columns, rows)


def fields(counts: Mapping[str, Mapping[str, int]]) -> None:
    """A row for each field of the documents, with its most frequent values."""
    rows = []
    for name, values in counts.items():
        first = [f"{shortened(value, 40)} ({number})" for value, number in list(values.items())[:SHOWN_VALUES]]
        rows.append([name, len(values), ", ".join(first) + (", …" if len(values) > SHOWN_VALUES else "")])
    table("fields", ["field", "values", "documents of each"], rows)


def diagnosis(found: Mapping[str, Any]) -> None:
    """What `doctor` found and mended."""
    for finding in found["findings"]:
        say(f"{'mended' if finding.mended else 'found'}: {finding.where}: {finding.what}")
    left = sum(not finding.mended for finding in found["findings"])
    say(f"{left} things are left" if left else "the collection is sound")


def holding(found: Mapping[str, Sequence[str]]) -> None:
    """Where texts are still kept."""
    for text, places in found.items():
        say(f"“{text}” is in no table and no file" if not places else f"“{text}” is in:")
        for place in places:
            say(f"  {place}")


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


NOTHING_MATCHES = "nothing matches the filter and the words; see what there is: thresher documents --fields"

NOT_CONFIGURED = "is configured ("
"""In a recipe's remark about a part that is not configured; its other remarks are about this question."""

SHOWN_CHARACTERS = 240  # of a chunk's text in a list of hits: three lines of a terminal


def hits(result: SearchResult, *, filtered: bool = False) -> None:
    """Each hit, or each span of a budget, for a person, and what the search had to do without."""
    for hit in result.hits:
        say(hit_line(hit))
    for span in result.spans or ():
        say(span_lines(span))
    if result.spans:
        worth = assessment(result.verdict, result.confidence, None)
        say(f"{counted(result.tokens, 'token')} in all{f'; {worth}' if worth else ''}")
    if not result.hits and not result.spans:
        unfiltered = "nothing matches; ask in other words, or see what there is: thresher documents"
        complain(NOTHING_MATCHES if filtered else unfiltered)
    for degradation in happened(result.degraded):
        complain(f"note: {degradation}")


def hit_line(hit: Hit) -> str:
    """Rank, score, place and the beginning of the text."""
    place = where(hit.chunk.source, hit.chunk.page)
    head = f"{hit.rank:>2}. {place}  ({hit.score.scale.name} {hit.score.value:.4f})"
    opened = f"\n    {hit.url}" if hit.url and hit.url != hit.chunk.source else ""
    return f"{head}\n    {shortened(flat(hit.chunk.text), SHOWN_CHARACTERS)}{opened}"


def span_lines(span: Excerpt) -> str:
    """Rank, score, place and heading of a span, and its whole text."""
    place = where(span.source, span.page)
    heading = f"  under “{span.heading}”" if span.heading else ""
    head = f"{span.rank:>2}. {place}{heading}  ({span.score.value:.2f}, {counted(span.tokens, 'token')})"
    lines = [*plain(span.text).splitlines(), *([span.url] if span.url and span.url != span.source else [])]
    return "\n".join([head, *(f"    {line}" for line in lines)])


def step(done: Step) -> None:
    """What a slot did, in one line."""
    detail = facts(done.detail)
    line = f"{done.name:<9} {done.considered:>4} in {done.kept:>4} out {done.seconds * 1000:8.1f} ms"
    say(f"{line}  {detail}" if detail else line)


def answer(given: Answer, *, steps: bool = False, options: str = "") -> None:
    """The answer for a person; `options` name the collection on a command line, where it is not the usual one."""
    for done in given.steps:
        if corrected := done.detail.get("corrected"):
            say(f"({corrected})")
    if given.standalone:
        say(f"(understood as: {given.standalone})")
    passage(in_full(given.text, given.reason), marked=marks_places(given.citations))
    for number, line in enumerate(sentence_lines(given.to_dict())):
        say(line if number else f"Sentences: {line}")
    for citation in given.citations:
        say(citation_line(citation.to_dict(), given.text))
    if given.alternatives:
        say("Also:")
    for other in given.alternatives:
        passage(other.text, marked=marks_places([other.citation]))
        say(citation_line(other.citation.to_dict(), other.text))
    for left, right in given.conflicts:
        say(f"  [{left}] and [{right}] contradict each other: look at both")
    if line := assessment(given.verdict, given.confidence, given.certainty):
        say(line)
    if steps:
        say()
        for done in given.steps:
            step(done)
    for degradation in happened(given.degraded):
        complain(f"note: {degradation}")
    if given.trace:
        complain(f"how it came about: thresher explain {given.trace}{options}")


def checked(found: Check) -> None:
    """Each claim of a checked text with its state and the spans that show it."""
    for claim in found.claims:
        why = f": {claim.reason}" if claim.reason else ""
        say(f"{claim.state:<12} {claim.support:.2f}  {' '.join(claim.text.split())}{why}")
        for citation in claim.citations:
            say(f"           {citation_line(citation.to_dict(), '')}")
    if found.support is None:
        complain("there is no claim in the text")
    else:
        held = sum(claim.state == "supported" for claim in found.claims)
        say(f"{held} of {len(found.claims)} claims are supported")


def happened(degraded: Sequence[str]) -> list[str]:
    """What a question did without, less what is not configured: `status` and `config` say that, once."""
    return [one for one in degraded if NOT_CONFIGURED not in one]


def not_configured(settings: Mapping[str, Any]) -> None:
    """What a recipe would use if it were configured, a line each."""
    if not settings.get("llm.model"):
        say("no chat model is configured (llm.base_url, llm.model): answers are read out of the documents")
    if "web.provider" in settings and settings["web.provider"] in (None, "", "none"):
        say("no web search is configured (web.provider): --outside takes another collection")


def configuration(found: Mapping[str, Any]) -> None:
    """Every setting with its value and its origin, and the files that were read."""
    say(f"read: {', '.join(found['files']) or 'no thresher.toml'}")
    rows = [[key, _value(one["value"]), one["origin"]] for key, one in found["settings"].items()]
    table("settings", ["setting", "value", "from"], rows)


def trusted(file: Path, settings: Mapping[str, str], *, forget: bool) -> None:
    """The settings that a file may make from now on, or no longer."""
    if not settings:
        say(f"{file} sets nothing that has to be trusted")
        return
    say(f"{file} is {'no longer trusted' if forget else 'trusted'} to set:")
    for key, value in settings.items():
        say(f"  {key} = {value}")
    if not forget:
        say("Keys from the environment and the command line are sent to the addresses above.")


def megabytes(number: int) -> str:
    """Bytes for a person."""
    return f"{number / 1e6:.1f} MB"


def ask(question: str) -> None:
    """A question on stderr that waits for its answer on the same line."""
    sys.stderr.write(f"{shown(question)} [y/N] ")
    sys.stderr.flush()


def paged(text: str) -> None:
    """A text on stdout; on a terminal that it does not fit on, through $PAGER."""
    if on_terminal() and text.count("\n") >= shutil.get_terminal_size().lines - 1:
        os.environ.setdefault("LESS", "-FRSX")
        pydoc.pager(shown(text) + "\n")
    else:
        say(text)


def width() -> int:
    """Characters of a line on this terminal; in a pipe, where lines are searched, many."""
    return shutil.get_terminal_size().columns if on_terminal() else 1_000


def calibration(made: Calibration, bounds: tuple[float, ...] | None = None) -> None:
    """A calibration, for a person; `bounds` are those of a published recipe, or its floor, on its scale."""
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
    if bounds is not None:
        deciding = "it decides here by {:.3g} and {:.3g}, on its own scale"
        say((deciding if len(bounds) == 2 else "chunks below {:.3g} are dropped here").format(*bounds))
    if not made.separated:
        between = "between the bounds the verdict will be `unsure`, which acts as ambiguous"
        say(f"no clean separation: {between if bounds is None else 'scores separate little here, whatever the bounds'}")
    if made.model is not None:
        say(_of_the_model(made.model))


def _of_the_model(weight: ModelWeight) -> str:
    low, high = weight.gain_interval
    gain = f"log loss {-weight.gain:+.3f} [{-high:+.3f}, {-low:+.3f}] on {weight.questions} unsure questions"
    if weight.counts:
        asked = f"asked where the judge is unsure, with weight {weight.model_weight:.2f}"
        return f"{weight.model} helps ({gain}): it is {asked}"
    return f"{weight.model} does not help ({gain}): it is not asked to judge in this collection"
