"""What a person gets, its forms (plain text, JSON, Markdown, HTML for a notebook), and the words of a refusal.

Texts of documents and of the web are escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from thresher.text.injection import is_command
from thresher.text.markup import Block, flat, plain, replaced, table, unescaped
from thresher.tracing.explain import also_lines, citation_line, in_full, picture, sentence_lines, shortened
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
    from collections.abc import Iterable, Sequence

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
        return _markdown(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, its citations, and what was kept and dropped."""
        return _html(self)

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


def place_of(citation: Citation) -> str:
    """Title, source and place of a citation."""
    page = "" if citation.page is None else f"page {citation.page}"
    return _named(citation.title, citation.source, citation.locator or page)


def _named(title: str, source: str, place: str) -> str:
    """`Title (source), page 3`."""
    where = f"{title} ({source})" if title and title != source else source
    return f"{where}, {place}" if place else where


def _summary(answer: Answer) -> str:
    """Recipe, verdict, certainty and what had to be done without, in one line."""
    certainty = "" if answer.certainty is None else f"certainty {answer.certainty:.2f}"
    verdict = "" if answer.verdict is None else f"evidence {answer.verdict}"
    lacks = [lack for lack in answer.degraded if NOT_CONFIGURED not in lack]
    return "; ".join(filter(None, (answer.recipe, verdict, certainty, *lacks)))


# --- Markdown ---------------------------------------------------------------------------------------------------------


def _markdown(answer: Answer) -> str:
    """The question as a heading, the answer, why where it was refused, and a numbered list of citations."""
    lines = [f"### {_literal(answer.question)}", ""]
    if answer.standalone:
        lines += [f"*Understood as: {_literal(answer.standalone)}*", ""]
    lines.append(_bold_markdown(in_full(answer.text, answer.reason), answer.citations))
    if states := sentence_lines(answer.to_dict()):
        lines += ["", f"- Sentences: {_literal(states[0])}", *(f"- {_literal(line.strip())}" for line in states[1:])]
    if answer.citations:
        lines.append("")
    for citation in answer.citations:
        lines += [f"{citation.marker}. {_literal(place_of(citation))}", f"   > {_literal(flat(citation.quote))}"]
    for one in answer.alternatives:
        place = f"{one.citation.marker}. {_literal(place_of(one.citation))}"
        lines += ["", f"Also: {_bold_markdown(one.text, [one.citation])}", "", place]
    return "\n".join([*lines, "", f"*{_literal(_summary(answer))}*", ""])


def _literal(text: str) -> str:
    """Text that Markdown shows as it is."""
    return MARKUP.sub(r"\\\1", text)


def _bold_markdown(text: str, citations: Sequence[Citation]) -> str:
    marked = marks_places(citations)

    def form(block: Block) -> str:
        match block.kind:
            case "code":
                return f"```\n{block.text}\n```"
            case "heading":
                return f"#### {_literal(block.text)}"
            case "table":
                rows = [[_literal(unescaped(cell)) for cell in row] for row in block.rows]
                shown = table(rows, headed=block.headed)
            case _:
                shown = _literal(block.text)
        return BOLD.sub(r"**\1**", shown) if marked else shown

    return replaced(text, form)


# --- HTML -------------------------------------------------------------------------------------------------------------


def _html(answer: Answer) -> str:
    """The answer, its citations and its chunks as one element, without script or style sheet."""
    parts = [f"<p><strong>{escape(answer.question)}</strong></p>"]
    if answer.standalone:
        parts.append(f"<p><em>Understood as: {escape(answer.standalone)}</em></p>")
    shown = _bold_html(escape(in_full(answer.text, answer.reason)), answer.citations)
    parts.append(f'<div style="white-space:pre-line">{shown}</div>')
    if states := sentence_lines(answer.to_dict()):
        parts.append(f"<p>Sentences: {'<br>'.join(map(escape, states))}</p>")
    if answer.citations:
        parts.append(
            _list_html((one, f"<blockquote>{escape(flat(one.quote))}</blockquote>") for one in answer.citations)
        )
    if answer.alternatives:
        others = ((one.citation, f"<br>{_bold_html(escape(one.text), [one.citation])}") for one in answer.alternatives)
        parts.append(f"<p>Also:</p>{_list_html(others)}")
    parts.append(f"<p><small>{escape(_summary(answer))}</small></p>")
    if answer.chunks:
        kept = sum(fate.kept for fate in answer.chunks)
        rows = "".join(map(_chunk_html, sorted(answer.chunks, key=lambda fate: not fate.kept)))
        head = "<tr><th></th><th>source</th><th>score</th><th>why</th><th>text</th></tr>"
        shown = f"{kept} of {len(answer.chunks)} chunks kept"
        parts.append(f"<details><summary>{shown}</summary><table>{head}{rows}</table></details>")
    return f'<div class="thresher-answer">{"".join(parts)}</div>'


def _list_html(items: Iterable[tuple[Citation, str]]) -> str:
    """The places of citations under their numbers, each with what is shown there."""
    lines = (f'<li value="{cited.marker}">{escape(place_of(cited))}{shown}</li>' for cited, shown in items)
    return f"<ol>{''.join(lines)}</ol>"


def _bold_html(escaped: str, citations: Sequence[Citation]) -> str:
    """A text, escaped already, with its blocks and its marked places in bold."""
    shown = replaced(escaped, _block_html)
    return BOLD_HTML.sub(r"<b>\1</b>", shown) if marks_places(citations) else shown


def _block_html(block: Block) -> str:
    match block.kind:
        case "table":
            kinds = ["th" if block.headed and not at else "td" for at in range(len(block.rows))]
            lines = (
                "".join(f"<{kind}>{unescaped(cell)}</{kind}>" for cell in row)
                for kind, row in zip(kinds, block.rows, strict=True)
            )
            return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        case "heading":
            return f"<strong>{block.text}</strong>"
        case "code":
            return f"<pre>{block.text}</pre>"
        case _:
            return block.text


def _chunk_html(fate: ChunkTrace) -> str:
    """One chunk: kept or dropped, where, by which score, why."""
    chunk, score = fate.hit.chunk, fate.hit.scores.get("judge", fate.hit.score)
    background = "" if fate.kept else ' style="opacity:0.55"'
    state = "kept" if fate.kept else f"dropped by {fate.dropped_by}"
    where = _named(chunk.title, chunk.source, "" if chunk.page is None else f"page {chunk.page}")
    cells = (state, where, f"{score.value:.2f}", fate.reason, shortened(flat(chunk.text), SHOWN))
    return f"<tr{background}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


# --- why a question has no answer -------------------------------------------------------------------------------------

NOT_ANSWERED = "Nothing in your documents answers this."

NEAREST = " Nearest: “"

IN_DOUBT = "Nothing in your documents answers this with certainty."

MOST_QUOTED = 200
"""Characters of what is nearest: enough to see whether it is about the question."""


def not_answered(quote: str = "", where: str = "", *, outside: bool = False) -> str:
    """That the documents do not answer, the passage that is nearest, and whether it was looked for outside in vain."""
    reason = NOT_ANSWERED
    if (words := flat(quote)) and not is_command(words):
        short = words if len(words) <= MOST_QUOTED else f"{words[:MOST_QUOTED].rsplit(' ', 1)[0]} …"
        reason += f"{NEAREST}{short}” ({where})."
    return f"{reason} Nothing was found outside either." if outside else reason


def not_certain(evidence: str) -> str:
    """That only sufficient evidence is answered from (`answer.mode=strict`), and what this evidence is called."""
    return f"{IN_DOUBT} With answer.mode=strict only sufficient evidence is answered from; it is {evidence}."
