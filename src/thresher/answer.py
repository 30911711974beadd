"""What a person gets, its forms (plain text, JSON, Markdown), and the words of a refusal.

Texts of documents and of the web are escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from thresher.text.markup import EMPHASIS, Block, flat, one_line, plain, replaced, table, unescaped
from thresher.tracing.explain import STALE, also, also_lines, citation_line, in_full, picture, sentence_lines
from thresher.types import (
    Alternative,
    AnswerSentence,
    Certified,
    ChunkTrace,
    Citation,
    Evidence,
    Refined,
    State,
    Step,
    Usage,
    Verdict,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_CONFIGURED = "no chat model is configured"
"""Not shown with an answer, since a chat model is optional; `degraded` contains it."""

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
"""What Markdown takes for a sign of its own within a line; markers such as [1] stay readable when they are escaped."""


BOLD = re.compile(r"\\\*\\\*(.+?)\\\*\\\*")
"""What an answer marks in a passage, once it is escaped for Markdown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person gets, and everything needed to see why."""

    question: str
    recipe: str
    text: str
    abstained: bool = False
    reason: str | None = None
    verdict: Verdict | None = None
    confidence: float | None = None
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[tuple[int, int], ...] = ()
    """Markers of citations that contradict each other."""
    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()
    trace: str = ""
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
    """Further passages that may answer, at most two; the nearest sentences, of a refusal and beside what a chat model
    says without support."""
    state: State = "answered"
    """`refused` where `abstained`; `doubtful` where what is shown is the nearest and asserts nothing."""
    certificate: Certified | None = None
    """What the certificate of the recipe says of it; None where there is none."""

    WHERE_THERE: ClassVar[str] = "removed certificate"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the generator was given, in its order; nothing for an answer that took none of the path's slots."""
        return next((step.value.evidence for step in self.steps if isinstance(step.value, Refined)), ())

    def __str__(self) -> str:
        """The answer and its citations, as `print` shows them."""
        shown = self.to_dict()
        cited = [citation_line(citation, self.text) for citation in shown["citations"]]
        certified = [] if self.certificate is None else [self.certificate.line]
        return "\n".join([plain(in_full(self.text, self.reason)), *cited, *also_lines(shown), *certified])

    def to_markdown(self) -> str:
        """The question, the answer and its numbered citations, with page and quote."""
        return _markdown(self)

    _repr_markdown_ = to_markdown  # what a notebook shows

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


def marks_places(citations: Sequence[Citation], text: str) -> bool:
    """Whether what is bold in a text marks places in its quotes, and is not the documents' own markup."""
    quotes = [citation.quote for citation in citations]
    own = any(found[0] in text for quote in quotes for found in EMPHASIS.finditer(quote))
    return not own and not any("**" in EMPHASIS.sub("", quote) for quote in quotes)


def place_of(citation: Citation) -> str:
    """`Title (source), page 3`, and what became of the file since it was indexed."""
    title, source = one_line(citation.title), one_line(citation.source)
    where = f"{title} ({source})" if title and title != source else source
    page = "" if citation.page is None else f"page {citation.page}"
    return ", ".join(filter(None, (where, citation.locator or page, STALE.get(citation.stale))))


def _summary(answer: Answer) -> str:
    """Recipe, verdict, certainty and what had to be done without, in one line."""
    certainty = "" if answer.certainty is None else f"certainty {answer.certainty:.2f}"
    verdict = "" if answer.verdict is None else f"evidence {answer.verdict}"
    lacks = [lack for lack in answer.degraded if NOT_CONFIGURED not in lack]
    certified = "" if answer.certificate is None else answer.certificate.line
    return "; ".join(filter(None, (answer.recipe, verdict, certainty, certified, *lacks)))


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
        lines += ["", f"{also(answer.abstained)} {_bold_markdown(one.text, [one.citation])}", "", place]
    return "\n".join([*lines, "", f"*{_literal(_summary(answer))}*", ""])


def _literal(text: str) -> str:
    """Text that Markdown shows as it is."""
    return MARKUP.sub(r"\\\1", text)


def _bold_markdown(text: str, citations: Sequence[Citation]) -> str:
    marked = marks_places(citations, text)

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


# --- why a question has no answer -------------------------------------------------------------------------------------

NOT_ANSWERED = "No answer found in your documents."

UNCERTAIN = "No answer found in your documents that is certain."


def not_answered(*, outside: bool = False) -> str:
    """That no answer was found, and whether it was sought outside."""
    return f"{NOT_ANSWERED} None was found outside either." if outside else NOT_ANSWERED


def not_certain(evidence: str) -> str:
    """That only sufficient evidence is answered from (`answer.mode=strict`), and what this evidence is called."""
    return f"{UNCERTAIN} With answer.mode=strict only sufficient evidence is answered from; it is {evidence}."
