"""What a person gets, and its forms: plain text, JSON, Markdown, HTML for a notebook.

Texts of documents and of the web are escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from thresher.text.markup import Block, flat, plain, replaced, table, unescaped
from thresher.tracing.explain import also_lines, citation_line, in_full, picture, sentence_lines
from thresher.types import (
    Alternative,
    AnswerSentence,
    ChunkTrace,
    Citation,
    Evidence,
    Refined,
    Step,
    Usage,
    Verdict,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_CONFIGURED = "no chat model is configured"
"""Not shown with an answer, since a chat model is optional; `degraded` contains it."""

SHOWN = 240
"""Characters of a chunk in the picture of kept and dropped."""

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
"""What Markdown takes for a sign of its own within a line; markers such as [1] stay readable when they are escaped."""


BOLD = re.compile(r"\\\*\\\*(.+?)\\\*\\\*")
"""What an answer marks in a passage, once it is escaped for Markdown."""
BOLD_HTML = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person gets, and everything needed to see why."""

    question: str
    recipe: str
    text: str
    abstained: bool
    reason: str | None
    verdict: Verdict | None
    confidence: float | None
    citations: tuple[Citation, ...]
    conflicts: tuple[tuple[int, int], ...]
    """Markers of citations that contradict each other."""
    steps: tuple[Step, ...]
    usage: Usage
    degraded: tuple[str, ...]
    trace: str
    chunks: tuple[ChunkTrace, ...] = ()
    certainty: float | None = None
    """Probability that the answer itself is right, 0 to 1; `confidence` is that the evidence suffices."""
    standalone: str | None = None
    """What was answered, where the question followed up on others and was put into words that stand alone."""
    answered_by: str | None = None
    """`model`; `reader`, where a chat model was asked and failed; None where none was asked."""
    sentences: tuple[AnswerSentence, ...] = ()
    """What the text consists of, each with what the documents say to it."""
    removed: tuple[AnswerSentence, ...] = ()
    """Sentences that were written and are not shown."""
    alternatives: tuple[Alternative, ...] = ()
    """Further passages that may answer, where no chat model wrote; at most two."""

    WHERE_THERE: ClassVar[str] = "removed"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the generator was given, in its order; nothing for an answer that took none of the path's slots."""
        return next((step.value.evidence for step in self.steps if isinstance(step.value, Refined)), ())

    def __str__(self) -> str:
        """The answer and its citations, as `print` shows them."""
        shown = self.to_dict()
        cited = [citation_line(citation, self.text) for citation in shown["citations"]]
        return "\n".join([plain(in_full(self.text, self.reason)), *cited, *also_lines(shown)])

    def to_markdown(self) -> str:
        """The question, the answer and its numbered citations, with page and quote."""
        return markdown(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, its citations, and what was kept and dropped."""
        return html(self)

    def to_dict(self, *, chunks: bool = False) -> dict[str, Any]:
        """JSON form of the public contract; `chunks=True` adds what `explain` shows."""
        shown: dict[str, Any] = to_json(self if chunks else replace(self, chunks=()))
        if not chunks:
            del shown["chunks"]
        return shown

    def explain(self, *, dropped: bool = False, scores: bool = False) -> str:
        """How it came about, as `thresher explain` prints it: steps, and a line for each chunk that was kept.

        `dropped` lists the dropped chunks too, `scores` shows every score of a chunk.
        """
        labels = {fate.hit.chunk.id: fate.hit.chunk.label for fate in self.chunks}
        return picture(self.to_dict(chunks=True), labels, dropped=dropped, scores=scores)


def marks_places(citations: Sequence[Citation]) -> bool:
    """Whether what is bold in a text marks places in its quotes, and is not the documents' own markup."""
    return not any("**" in citation.quote for citation in citations)


def _bold_markdown(text: str, citations: Sequence[Citation]) -> str:
    marked = marks_places(citations)

    def form(block: Block) -> str:
        if block.kind == "code":
            return f"```\n{block.text}\n```"
        if block.kind == "heading":
            return f"#### {literal(block.text)}"
        shown = (
            literal(block.text)
            if block.kind == "prose"
            else table([[literal(unescaped(cell)) for cell in row] for row in block.rows], headed=block.headed)
        )
        return BOLD.sub(r"**\1**", shown) if marked else shown

    return replaced(text, form)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def markdown(answer: Answer) -> str:
    """The question as a heading, the answer, why where it was refused, and a numbered list of citations."""
    lines = [f"### {literal(answer.question)}", ""]
    if answer.standalone:
        lines += [f"*Understood as: {literal(answer.standalone)}*", ""]
    lines.append(_bold_markdown(in_full(answer.text, answer.reason), answer.citations))
    lines += [literal(line) and f"- {literal(line.strip())}" for line in states_of(answer)]
    if answer.citations:
        lines.append("")
    for citation in answer.citations:
        lines += [f"{citation.marker}. {literal(place_of(citation))}", f"   > {literal(flat(citation.quote))}"]
    for one in answer.alternatives:
        place = f"{one.citation.marker}. {literal(place_of(one.citation))}"
        lines += ["", f"Also: {_bold_markdown(one.text, [one.citation])}", "", place]
    lines += ["", f"*{literal(summary_of(answer))}*", ""]
    return "\n".join(lines)


def literal(text: str) -> str:
    """Text that Markdown shows as it is."""
    return MARKUP.sub(r"\\\1", text)


# --- HTML -------------------------------------------------------------------------------------------------------------


def html(answer: Answer) -> str:
    """The answer, its citations and its chunks as one element, without script or style sheet."""
    gone = "".join(f"<li>{escape(one.text)} <em>{escape(one.reason)}</em></li>" for one in answer.removed)
    removed = f"<details><summary>{len(answer.removed)} removed</summary><ul>{gone}</ul></details>" if gone else ""
    cited = "".join(map(citation_html, answer.citations))
    others = "".join(map(alternative_html, answer.alternatives))
    rows = "".join(map(chunk_html, sorted(answer.chunks, key=lambda fate: not fate.kept)))
    kept = sum(fate.kept for fate in answer.chunks)
    chunks = (
        f"<details><summary>{kept} of {len(answer.chunks)} chunks kept</summary>"
        "<table><tr><th></th><th>source</th><th>score</th><th>why</th><th>text</th></tr>"
        f"{rows}</table></details>"
        if answer.chunks
        else ""
    )
    read = f"<p><em>Understood as: {escape(answer.standalone)}</em></p>" if answer.standalone else ""
    return (
        f'<div class="thresher-answer"><p><strong>{escape(answer.question)}</strong></p>{read}'
        f'<div style="white-space:pre-line">{text_html(answer)}</div>{removed}'
        f"{f'<ol>{cited}</ol>' if cited else ''}{f'<p>Also:</p><ol>{others}</ol>' if others else ''}"
        f"<p><small>{escape(summary_of(answer))}</small></p>{chunks}</div>"
    )


STATE_STYLES = {
    "unverified": "text-decoration:underline dotted",
    "contradicted": "text-decoration:underline wavy",
}


def text_html(answer: Answer) -> str:
    """The text, each sentence that is not supported underlined, its state and reason in its title."""
    parts, behind = [], 0
    for one in answer.sentences:
        style = STATE_STYLES.get(one.state)
        if style and one.start >= behind:
            title = escape(f"{one.state}: {one.reason}", quote=True)
            marked = f'<span style="{style}" title="{title}">{escape(answer.text[one.start : one.end])}</span>'
            parts += [escape(answer.text[behind : one.start]), marked]
            behind = one.end
    rest = in_full(answer.text, answer.reason)[behind:]
    return bold_html("".join([*parts, escape(rest)]), answer.citations)


def bold_html(escaped: str, citations: Sequence[Citation]) -> str:
    """A text, escaped already, with its blocks and its marked places in bold."""
    shown = replaced(escaped, _block_html)
    return BOLD_HTML.sub(r"<b>\1</b>", shown) if marks_places(citations) else shown


def _block_html(block: Block) -> str:
    match block.kind:
        case "table":
            kinds = ["th" if block.headed and not at else "td" for at in range(len(block.rows))]
            lines = [
                "".join(f"<{kind}>{unescaped(cell)}</{kind}>" for cell in row)
                for kind, row in zip(kinds, block.rows, strict=True)
            ]
            return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        case "heading":
            return f"<strong>{block.text}</strong>"
        case "code":
            return f"<pre>{block.text}</pre>"
        case _:
            return block.text


def citation_html(citation: Citation) -> str:
    """One place with its quote, under its own number."""
    quote = escape(flat(citation.quote))
    return f'<li value="{citation.marker}">{escape(place_of(citation))}<blockquote>{quote}</blockquote></li>'


def alternative_html(one: Alternative) -> str:
    """A further passage that may answer, under the number of its place."""
    text = bold_html(escape(one.text), [one.citation])
    return f'<li value="{one.citation.marker}">{text}<br><small>{escape(place_of(one.citation))}</small></li>'


def chunk_html(fate: ChunkTrace) -> str:
    """One chunk: kept or dropped, where, by which score, why."""
    chunk, score = fate.hit.chunk, fate.hit.scores.get("judge", fate.hit.score)
    background = "" if fate.kept else ' style="opacity:0.55"'
    state = "kept" if fate.kept else f"dropped by {fate.dropped_by}"
    page = "" if chunk.page is None else f"page {chunk.page}"
    cells = (state, named(chunk.title, chunk.source, page), f"{score.value:.2f}", fate.reason)
    text = flat(chunk.text)
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN].rstrip()}…"
    return f"<tr{background}>{''.join(f'<td>{escape(cell)}</td>' for cell in (*cells, shown))}</tr>"


# --- words that both have ---------------------------------------------------------------------------------------------


def place_of(citation: Citation) -> str:
    """Title, source and place of a citation."""
    page = "" if citation.page is None else f"page {citation.page}"
    return named(citation.title, citation.source, citation.locator or page)


def named(title: str, source: str, place: str) -> str:
    """`Title (source), page 3`."""
    where = f"{title} ({source})" if title and title != source else source
    return f"{where}, {place}" if place else where


def summary_of(answer: Answer) -> str:
    """Recipe, verdict, certainty and what had to be done without, in one line."""
    certainty = "" if answer.certainty is None else f"certainty {answer.certainty:.2f}"
    verdict = "" if answer.verdict is None else f"evidence {answer.verdict}"
    lacks = [lack for lack in answer.degraded if NOT_CONFIGURED not in lack]
    return "; ".join(filter(None, (answer.recipe, verdict, certainty, *lacks)))


def states_of(answer: Answer) -> list[str]:
    """The states of a model's sentences: their counts, then what is not supported and why."""
    lines = sentence_lines(answer.to_dict())
    return ["", f"Sentences: {lines[0]}", *lines[1:]] if lines else []
