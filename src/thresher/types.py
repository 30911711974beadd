"""What travels between the parts: frozen values with few fields.

Offsets are code points into the document's cleaned text, end exclusive; pages count from 1; seconds are floats.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from math import exp, log
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Metadata = Mapping[str, str | int | float | bool]

Terms = Callable[[str], Sequence[str]]
"""A text to its index terms."""


# --- JSON -------------------------------------------------------------------------------------------------------------


def to_json(value: Any) -> Any:
    """A value as JSON, key order as written. Of a dataclass its fields, or the attributes that its `PUBLIC` names.

    A key is the last name of a dotted path; a `score` is two keys, its number and its scale.
    """
    match value:
        case StrEnum() | Scale():
            return str(value)
        case Mapping():
            return {key: to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case _ if not is_dataclass(value):
            return value
    shown: dict[str, Any] = {}
    for path in getattr(value, "PUBLIC", "").split() or [one.name for one in fields(value)]:
        key, item = path.rpartition(".")[2], attrgetter(path)(value)
        if key in getattr(value, "WHERE_THERE", "").split() and not item:
            continue
        if key == "score":
            shown |= {"score": item.value, "scale": str(item.scale)}
        else:
            shown[key] = to_json(item)
    return shown


class Public:
    """A dataclass that the public contract (docs/reference) shows as JSON."""

    __slots__ = ()
    PUBLIC: ClassVar[str] = ""
    """What is shown, with spaces between; all fields where nothing is named."""
    WHERE_THERE: ClassVar[str] = ""
    """Of these, what is shown only where it holds something."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form of the public contract."""
        shown: dict[str, Any] = to_json(self)
        return shown


# --- documents and chunks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Page:
    """Where one page lies in the document's text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """Where one table lies in the document's text; `rows` are (start, end) spans, the header first."""

    start: int
    end: int
    rows: tuple[tuple[int, int], ...]


MarkKind = Literal["heading", "sheet", "part", "hidden", "columns", "path", "table", "row", "cells", "line", "card"]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where in its file the text stands that begins at `start`, until the next mark of the same kind."""

    start: int
    kind: MarkKind
    """Of `row`, `cells` and `line` the name is that of the first one; each line of the text is one further. Of `hidden`
    it is what a program does not show, "" where it shows everything again, of `columns` the hidden ones of a sheet."""
    name: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document after clean-up. `id` is a hash of `text`: two sources with the same text are one document."""

    id: str
    source: str
    title: str
    text: str
    kind: str
    """The name of its `FileKind`, passage (a BEIR row), or quote (a mail in a mail)."""
    pages: tuple[Page, ...] = ()
    tables: tuple[Table, ...] = ()
    date: str | None = None
    """ISO 8601 date of the document itself (not of its adding), where it states one."""
    metadata: Metadata = field(default_factory=dict)
    container: str = ""
    """The file that held this document when it held several (a BEIR corpus); `source` is unique within it."""
    marks: tuple[Mark, ...] = ()
    """In the order of the text."""
    figures: tuple[tuple[int, int], ...] = ()
    """Spans of text inside pictures (axis ticks, legends, labels), in order: no sentence, quote or field of a form."""
    grids: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `thresher.structure` has read of it, its tables above all: a question reads each many times."""

    @property
    def card(self) -> int:
        """Where the card begins (`thresher.documents.read`); the end of the text where there is none."""
        return self.marks[-1].start if self.marks and self.marks[-1].kind == "card" else len(self.text)

    def tables_over(self, start: int, end: int) -> tuple[Table, ...]:
        """The tables that overlap a span; `tables` are in the order of the text and do not overlap."""
        first = bisect_right(self.tables, start, key=attrgetter("end"))
        return self.tables[first : bisect_left(self.tables, end, key=attrgetter("start"))]

    def page_at(self, offset: int) -> int | None:
        """Number of the page that holds `offset`; None for documents without pages, and for the card."""
        last = None
        if offset >= self.card:
            return None
        for page in self.pages:
            if page.start > offset:
                break
            last = page.number
        return last


def text_id(text: str) -> str:
    """The id of a document: 128 bits of a hash of its cleaned text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document: `document.text[start:end] == text`, always."""

    id: str
    document_id: str
    source: str
    title: str
    start: int
    end: int
    text: str
    page: int | None = None
    kind: Literal["text", "table"] = "text"
    level: Literal["chunk", "subchunk"] = "chunk"
    parent_id: str | None = None
    number: int = 1
    """Position among the chunks of the same parent (document or chunk), from 1."""
    label: str = ""
    """For people, e.g. `Doc3-Chunk7-Sub2`; from counters of the collection that are never reused."""

    @property
    def titled(self) -> str:
        """What models read: the text with the title in front, unless it begins with it."""
        if not self.title or self.text.startswith(self.title):
            return self.text
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One chunk as it is stored: itself, the fields of its document that filters use, and its vector."""

    chunk: Chunk
    kind: str
    added: str
    date: str | None
    vector: Vectors
    """(dimension,) float32 of unit length."""
    titled: bool = True
    """Whether the index terms are to be those of the title and the text; of the text alone otherwise."""

    @property
    def indexed_title(self) -> str:
        """The title whose terms are indexed with the text's; empty where they are not."""
        return self.chunk.title if self.titled else ""


# --- filters ----------------------------------------------------------------------------------------------------------

Value = str | int | float | bool
Operator = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field compared with a value."""

    field: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """A field equal to one of some values; of none, it is false."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """A field whose whole text a pattern matches."""

    field: str
    pattern: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """A field that is not there."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; of what is neither true nor false, that again."""

    operand: Filter


@dataclass(frozen=True, slots=True)
class And:
    """All of them; true of none."""

    operands: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them; false of none."""

    operands: tuple[Filter, ...]


Filter = Comparison | In | Like | IsNull | Not | And | Or


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scale:
    """The name and bounds of a score; a threshold is checked against it."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        closing = ")" if self.high == float("inf") else "]"
        return f"{self.name} [{self.low:g}, {self.high:g}{closing}"


COSINE = Scale("cosine", -1.0, 1.0)
BM25 = Scale("BM25", 0.0, float("inf"))
RECIPROCAL_RANK = Scale("RRF", 0.0, 1.0)
WEIGHTED_FUSION = Scale("weighted fusion", 0.0, 1.0)
UNIT = Scale("relevance", 0.0, 1.0)
LOGIT = Scale("logit", float("-inf"), float("inf"))
PROBABILITY = Scale("probability", 0.0, 1.0)
L2 = Scale("L2 distance", 0.0, 2.0)
T5 = Scale("T5 evaluator", -1.0, 1.0)
"""The scale of the CRAG paper's fine-tuned evaluator (labels -1 and 1)."""


@dataclass(frozen=True, slots=True)
class Score(Public):
    """A number and the scale it is on."""

    value: float
    scale: Scale


# --- the ask path -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notes:
    """What a part says of its own run; `+` puts together what several parts say (associative, `Notes()` is neutral)."""

    degraded: tuple[str, ...] = ()
    """What it had to do without, in words for people; each once."""
    unreadable: int = 0
    """Replies of a model that could not be read."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the trace, as JSON; nothing is decided by them."""

    def __add__(self, other: Notes) -> Notes:
        """Both, in order; of two facts with one name the right one."""
        return Notes(
            tuple(dict.fromkeys((*self.degraded, *other.degraded))),
            self.unreadable + other.unreadable,
            {**self.facts, **other.facts},
        )

    @property
    def without_facts(self) -> Notes:
        """The notes of a part within another: the facts of the outer one stand for both."""
        return replace(self, facts={})

    def to_dict(self) -> dict[str, Any]:
        """What a step's `detail` has of them: the facts, and `unreadable` where there was any."""
        return {**self.facts, **({"unreadable": self.unreadable} if self.unreadable else {})}


NO_NOTES = Notes()


def logistic(logit: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    if logit >= 0:
        return 1 / (1 + exp(-logit))
    return exp(logit) / (1 + exp(logit))


def log_odds(probability: float, least: float) -> float:
    """ln(p / (1 - p)), of a probability that is kept `least` from 0 and from 1."""
    kept = min(max(probability, least), 1 - least)
    return log(kept / (1 - kept))


class Origin(StrEnum):
    """Whether a chunk came from the collection that was asked or from somewhere else."""

    INSIDE = "inside"
    OUTSIDE = "outside"


class Verdict(StrEnum):
    """What the retrieved chunks are worth (CRAG, section 4.3; `unsure` is ours: the judge does not separate)."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"
    UNSURE = "unsure"


class ClaimState(StrEnum):
    """What the documents say to one sentence of an answer, or one claim of a text."""

    QUOTED = "quoted"
    """One statement of theirs says it in the same words."""
    SUPPORTED = "supported"
    """They say it in other words, as far as it was read: of sentences false in one place one of twenty passes."""
    UNVERIFIED = "unverified"
    """It rests on the statement that is cited, or on nothing, and is not confirmed."""
    CONTRADICTED = "contradicted"
    """They say otherwise of the same thing (another number or value, the opposite); nothing supports it."""

    @property
    def holds(self) -> bool:
        """Whether the documents say it."""
        return self in (ClaimState.QUOTED, ClaimState.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Query:
    """The question a person asked, the words that are searched for it, and what the search is restricted to."""

    question: str
    search: str
    limit: int = 5
    """How many results are wanted."""
    where: Filter | None = None
    """Which chunks may be found."""
    today: str = ""
    """ISO 8601 date of the asking, for questions about what is recent."""
    notes: Notes = NO_NOTES
    """Of the rewriting."""
    asked: str = ""
    """What the person typed, where `question` was put into words that stand alone; empty otherwise."""
    topic: str = ""
    """The title of the document that alone is asked, because a follow-up is about it; empty otherwise."""
    outside: str = ""
    """What another source may be asked instead of `question`, which may have the title of a document in it."""

    @property
    def standalone(self) -> str:
        """The question with its topic in brackets, as a later turn reads it."""
        return f"{self.question} ({self.topic})" if self.topic else self.question

    @property
    def to_send(self) -> str:
        """The question in words that may leave this machine: none of the documents'."""
        return self.outside or self.question


@dataclass(frozen=True, slots=True)
class Hit(Public):
    """A retrieved chunk: the score it is ranked by, its rank from 1, and every other score it was given on the way."""

    PUBLIC = "rank score chunk.source chunk.title chunk.page chunk.start chunk.end chunk.text url"
    WHERE_THERE = "url"
    chunk: Chunk
    score: Score
    rank: int
    origin: Origin = Origin.INSIDE
    scores: Mapping[str, Score] = field(default_factory=dict)
    fetched: str | None = None
    """ISO 8601 time of the fetch, for text from outside."""
    url: str = ""
    """Where a person opens it (`thresher.links`); empty where `public_url` is not set and its source is no address."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text says to a question."""

    relevance: float
    """Logit that the text answers the question."""
    support: float
    """Logit that the text supports the question, read as a claim, rather than denies it."""
    start: int
    """Where the likeliest answer begins in the text, in code points."""
    end: int
    """Where it ends, exclusive; equal to `start` in a text without words."""
    certainty: float
    """Probability of that place among all places of the text, 0 to 1; it says nothing about whether there is one."""

    @property
    def probability(self) -> float:
        """That the text answers the question, 0 to 1."""
        return logistic(self.relevance)


@dataclass(frozen=True, slots=True)
class SupportReading:
    """What one text says to a claim: probabilities, which with that of neither add up to 1."""

    supported: float
    contradicted: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """One hit, whether it stays, why, and for whom it stands (ids of the chunks dropped as its copies)."""

    hit: Hit
    keep: bool
    reason: str = ""
    score: Score | None = None
    stood_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What a part kept and what it dropped, best first; nothing that came in is missing."""

    judgements: tuple[Judgement, ...]
    notes: Notes = NO_NOTES

    @property
    def kept(self) -> tuple[Hit, ...]:
        """The hits that stay, in order."""
        return tuple(judgement.hit for judgement in self.judgements if judgement.keep)


@dataclass(frozen=True, slots=True)
class Scores:
    """What a scorer gave each hit, in their order; None where its reply could not be read or it failed."""

    scores: tuple[Score | None, ...]
    notes: Notes = NO_NOTES
    others: tuple[Mapping[str, Score], ...] = ()
    """Scores on the way to the final one, by name, for each hit (base, reflection, critic); empty for none."""
    failed: tuple[int, ...] | None = None
    """Positions of the hits that have no score because the scorer failed; None: of a degraded one, all without."""

    @property
    def missing(self) -> tuple[int, ...]:
        """Positions without a score because the scorer failed, as opposed to a reply that could not be read."""
        if not self.notes.degraded:
            return ()
        without = (at for at, score in enumerate(self.scores) if score is None)
        return tuple(at for at in without if self.failed is None or at in self.failed)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the judged hits are worth together; `verdict` and `confidence` are None where the recipe does not decide."""

    verdict: Verdict | None
    confidence: float | None = None
    """Calibrated probability that the evidence suffices; None when the judge is not calibrated."""
    reason: str = ""
    notes: Notes = NO_NOTES


@dataclass(frozen=True, slots=True)
class Correction:
    """What was found outside, if the recipe went there, kept or not; best first."""

    judgements: tuple[Judgement, ...] = ()
    outcome: str = ""
    """What came of looking outside, in a word or two for people; empty for a recipe that never looks."""
    notes: Notes = NO_NOTES

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found and kept, in order."""
        return tuple(judgement.hit for judgement in self.judgements if judgement.keep)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a hit's chunk that is handed to the generator; `start` and `end` are offsets in the document."""

    hit: Hit
    start: int
    end: int
    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Refined:
    """What is left of the hits after refinement; `judgements` covers every hit that came in."""

    evidence: tuple[Evidence, ...]
    judgements: tuple[Judgement, ...] = ()
    conflicts: tuple[tuple[int, int], ...] = ()
    """Pairs of positions in `evidence`, from 1, that contradict each other."""
    notes: Notes = NO_NOTES


Stale = Literal["", "changed", "gone"]
"""A local file whose size or time of change is another than when it was indexed, one that is no longer there."""


@dataclass(frozen=True, slots=True)
class Citation(Public):
    """A place in a document that supports the answer; `quote` is the document's text from `start` to `end`."""

    PUBLIC = "marker source title page locator start end quote score origin fetched url mark stale"
    WHERE_THERE = "url mark stale"
    marker: int
    document_id: str
    source: str
    title: str
    page: int | None
    start: int
    end: int
    quote: str
    score: Score
    origin: Origin = Origin.INSIDE
    fetched: str | None = None
    locator: str = ""
    """Where to look in the file, for people: page, heading, sheet and cells, row, slide, item, part, path, line."""
    url: str = ""
    """Where a person opens the quote, as of `Hit`."""
    mark: tuple[int, int] | None = None
    """Of a passage the sentence in which the answer stands, as offsets in the document."""
    stale: Stale = ""
    """What became of its file since it was indexed, as of the answer."""

    @property
    def focus(self) -> tuple[int, int]:
        """What of the quote is cited: the marked sentence, or all of it."""
        return self.mark or (self.start, self.end)


@dataclass(frozen=True, slots=True)
class AnswerSentence(Public):
    """One sentence of an answer: its place in the text, what the documents say to it, and what it rests on."""

    WHERE_THERE = "reason"
    start: int
    """Offsets in the answer's text, end exclusive; both 0 for a sentence that was removed."""
    end: int
    text: str
    state: ClaimState
    support: float
    """Probability that what it cites supports it, 0 to 1."""
    citations: tuple[int, ...] = ()
    """Markers of what supports it, or of what it was checked against."""
    reason: str = ""
    """Why it is not supported, or since when what supports it is superseded."""


@dataclass(frozen=True, slots=True)
class CheckedClaim(Public):
    """One claim of a text that was checked: its place in the text, its state, and the spans that show it."""

    WHERE_THERE = "reason"
    start: int
    end: int
    text: str
    state: ClaimState
    support: float
    """Probability that the evidence supports it, 0 to 1."""
    citations: tuple[Citation, ...] = ()
    """The spans that support it or say otherwise; of an unverified claim the nearest statement, if any is near."""
    reason: str = ""
    """Why it is not supported."""


@dataclass(frozen=True, slots=True)
class Check(Public):
    """A text checked against documents, claim by claim."""

    text: str
    support: float | None
    """Share of its claims that are quoted or supported, 0 to 1; None for a text without claims."""
    claims: tuple[CheckedClaim, ...]

    @property
    def contradicted(self) -> int:
        """How many of its claims the documents contradict."""
        return sum(claim.state is ClaimState.CONTRADICTED for claim in self.claims)


HERE = "Here: "
"""Before a passage in which the answer stands."""

IN_DOUBT = "In doubt, the nearest passage: "
"""Before passages that are not probable enough to be shown as the answer."""

State = Literal["answered", "doubtful", "refused"]
"""What became of a question: an answer is shown, the nearest passages are shown and assert nothing, or nothing is."""


@dataclass(frozen=True, slots=True)
class Certified(Public):
    """What the certificate of a recipe says of one answer."""

    WHERE_THERE = "why"
    state: Literal["holds", "doubtful", "void"]
    """`doubtful` where recent questions are unlike the labelled ones, `void` where it is of something else."""
    covers: bool
    """Whether the statement is about this answer: its certainty reaches the threshold."""
    statement: str
    threshold: float
    evidence: str
    """What the statement rests on: labels, errors among them, date."""
    why: str = ""
    """Of a doubtful or void one."""

    @property
    def line(self) -> str:
        """In one line."""
        statement = f"{self.statement} {self.evidence}"
        if self.state == "void":
            return f"Note for administrators: the certificate is void, because {self.why}"
        head = "Certified" if self.covers else f"Not under the certificate (certainty below {self.threshold:.2f})"
        warned = f"; in doubt: {self.why}" if self.why else ""
        return f"{head}: {statement}{warned}"


@dataclass(frozen=True, slots=True)
class Alternative(Public):
    """A further passage that may answer, of another place than the answer."""

    text: str
    """As it is shown, with the marker of its citation."""
    citation: Citation
    probability: float
    """That it answers, 0 to 1."""

    def numbered(self, marker: int) -> Alternative:
        """The same with another marker."""
        old = f"[{self.citation.marker}]"
        at = self.text.rfind(old) if self.text.endswith(old) else self.text.find(old)
        text = f"{self.text[:at]}[{marker}]{self.text[at + len(old) :]}" if at >= 0 else self.text
        return replace(self, text=text, citation=replace(self.citation, marker=marker))


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer as the generator left it. An abstention has a reason and no citations, what is in doubt has both."""

    text: str
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    reason: str | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    """Markers of citations that contradict each other."""
    certainty: float | None = None
    """Probability that the answer is right, 0 to 1; None if the generator has no estimate."""
    doubtful: bool = False
    """Whether what is shown asserts nothing: it is the nearest."""
    notes: Notes = NO_NOTES
    exact: bool = False
    """Put together from the cited places by rule, or checked as it was written: only the quotes are left to check."""
    answered_by: str | None = None
    """`model` or `reader` where a chat model was asked; None where none was."""
    sentences: tuple[AnswerSentence, ...] = ()
    """What the text consists of, where its sentences were checked."""
    removed: tuple[AnswerSentence, ...] = ()
    """What was written and is not shown."""
    alternatives: tuple[Alternative, ...] = ()
    """Further passages that may answer, the most probable first; at most two."""

    @property
    def state(self) -> State:
        """What became of the question."""
        return "refused" if self.abstained else "doubtful" if self.doubtful else "answered"


@dataclass(frozen=True, slots=True)
class Usage(Public):
    """What a question cost."""

    WHERE_THERE = "retries cost"
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    web_requests: int = 0
    hosts: tuple[str, ...] = ()
    retries: tuple[str, ...] = ()
    """Why calls were sent again, a reason for each; they are among `llm_calls`."""
    cost: float | None = None
    """Money for the tokens, in the currency of `llm.price_prompt`; None where no price is known."""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Usage:
        """What `to_dict` gave, also after a trip through JSON."""
        return cls(**{**stored, "hosts": tuple(stored["hosts"]), "retries": tuple(stored.get("retries", ()))})


@dataclass(frozen=True, slots=True)
class Step(Public):
    """One slot's run: how long, how many things went in, how many came out; `value` is what the slot returned."""

    PUBLIC = "name seconds considered kept detail"
    name: str
    seconds: float
    considered: int
    kept: int
    detail: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None


@dataclass(frozen=True, slots=True)
class ChunkTrace(Public):
    """The fate of one chunk that a question touched."""

    PUBLIC = (
        "hit.chunk.id hit.chunk.source hit.chunk.page hit.chunk.start hit.chunk.end hit.origin hit.chunk.text "
        "hit.scores kept dropped_by reason stood_for"
    )
    hit: Hit
    kept: bool
    dropped_by: str | None
    reason: str
    stood_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt(Public):
    """A span of a document that a budget of tokens was spent on: `document.text[start:end] == text`."""

    PUBLIC = "rank score source title page heading start end text tokens url"
    WHERE_THERE = "url"
    rank: int
    score: Score
    """Of its best sentence."""
    source: str
    title: str
    page: int | None
    heading: str
    """What stands above it in the document; of a row of a table the names of the columns. Empty for nothing."""
    start: int
    end: int
    text: str
    tokens: int
    """Of heading and text, as of `SearchResult.tokens`."""
    url: str = ""
    evidence: Evidence | None = field(default=None, repr=False)
    """The same span as the generator is given it."""


@dataclass(frozen=True, slots=True)
class SearchResult(Public):
    """Ranked hits for a question; with `max_tokens` none, but spans in their place, and what the evidence is worth."""

    question: str
    recipe: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    spans: tuple[Excerpt, ...] | None = None
    """Best first, together at most `max_tokens`; None where no budget was given."""
    verdict: Verdict | None = None
    """Of the evidence, where a budget was given and the recipe decides."""
    confidence: float | None = None
    """As of `Answer`."""
    tokens: int = 0
    """Of the headings and texts of all spans, counted as the bundled encoder cuts words (`token_count`)."""
    reason: str = ""
    """Of the verdict, in words; like `dropped` not in the JSON form."""
    dropped: tuple[Judgement, ...] = field(default=(), repr=False)
    """What the judge dropped, where a budget was given."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form of the public contract; spans, verdict, confidence and tokens where a budget was given."""
        shown: dict[str, Any] = to_json(replace(self, dropped=()))
        del shown["reason"], shown["dropped"]
        of_budget = ("spans", "verdict", "confidence", "tokens")
        return {key: value for key, value in shown.items() if self.spans is not None or key not in of_budget}


def ranked(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The same hits with ranks 1, 2, ... in the order given."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def ranked_judgements(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """The same judgements, their hits with ranks 1, 2, ... in the order given."""
    return tuple(replace(one, hit=replace(one.hit, rank=rank)) for rank, one in enumerate(judgements, start=1))
