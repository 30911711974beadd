"""A written answer, checked sentence by sentence as it comes, and what of it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from thresher.answering.citations import (
    SUPPORT,
    UNREAD,
    LocalReading,
    Sentence,
    abstention,
    beside,
    cite,
    is_quoted_from,
    quoted,
    same_place,
)
from thresher.protocols import in_silence
from thresher.text.answer_types import missing_answer
from thresher.text.entities import missing_name
from thresher.text.injection import without_mark
from thresher.text.language import foreign_language, other_language
from thresher.text.numbers import quantities
from thresher.text.terms import STOP_WORDS, overlap, term_set
from thresher.types import (
    HERE,
    IN_DOUBT,
    Citation,
    ClaimState,
    Evidence,
    Generation,
    Notes,
    Query,
    Refined,
    Score,
)
from thresher.verification.claims import (
    CheckedSentences,
    Cited,
    CitedText,
    Claim,
    ClaimCheck,
    ClaimReader,
    Finding,
    is_value,
    sentences_of,
    without_markers,
)
from thresher.verification.contradiction import NEGATIONS

if TYPE_CHECKING:
    from thresher.answering.second_reader import SecondReader

NOT_FOUND = "NOT IN THE EVIDENCE"

PERHAPS = "Perhaps: "
"""Before the answer of a model that rests on nothing which answers the question."""

Display = Literal["none", "open", "mark", "strict"]
"""What is shown: the words as they came; everything, with what is not supported marked; unverified sentences marked and
contradicted ones removed; quoted and supported sentences alone."""

UNSUPPORTED = "Nothing supports what the model wrote; your documents say:"
FOUND_NOTHING = "The model found no answer; your documents may say it:"
"""Above the passage that answers where no sentence of the model's does."""

WROTE = "The model wrote:"
"""Below it, before the sentences that nothing supports."""

STATE_MARKS = {ClaimState.UNVERIFIED: "unverified", ClaimState.CONTRADICTED: "contradicted"}
"""What stands in brackets behind a sentence that is shown though it is not supported."""


_ABOUT_THE_ANSWER = term_set("the answer to this question is, based on the given or provided evidence and information")
"""With a colon behind them such words ("The answer is:") say nothing."""

_ABOUT_DOCUMENTS = _ABOUT_THE_ANSWER | term_set(
    "the documents, context, passages do not say, state, mention, contain it"
)
"""A sentence that adds nothing but such words to its question and denies something says that there is no answer."""

ADDED_SHARE = 1 / 2
"""Least share of the terms that a sentence adds to its question which the evidence has, where it states something."""

SAME_VALUE = 1 / 2
"""Share of the terms of two values that both have, from which they are the same."""

VALUE_FROM = 0.5
"""Probability of the check from which a value is supported that the reader without the model has too."""

OTHER_WORDS = "read without the model, the evidence does not answer with these words"

_COPIED_FORM = re.compile(r"</?evidence\b|^#{1,6} ")


class _Taken(NamedTuple):
    """A sentence that was checked."""

    claim: Claim
    own: tuple[int, ...]
    """Positions in the evidence of what it cites."""
    markers: tuple[int | None, ...]
    """What its markers mean; None for none of the evidence."""
    finding: Finding


@dataclass(slots=True)
class CheckedAnswer:
    """A text as it is read: sentences checked one by one, and shown as the display has it."""

    query: Query
    evidence: Sequence[Evidence]
    check: ClaimCheck
    display: Display
    show: Callable[[str], None] = in_silence
    max_words: int | None = None
    """The answer ends with the sentence that reaches them."""
    positions: Callable[[int], int | None] = lambda marker: marker - 1
    """The position in the evidence, from 0, that a marker means: markers count from 1."""
    local: LocalReading = UNREAD
    """What the evidence says without the model: it stands where no sentence of the model's does."""
    second: SecondReader | None = None
    """Reads sentences again when the reply is over, those that the check leaves open; what follows them waits."""
    other_time: Callable[[str], str] = without_mark
    """The remark on a document that is not in force at the time asked about: since when it is superseded."""
    doubtful: bool = False
    """Whether the first sentence that is shown rests on nothing that answers."""
    cited: CitedText = field(default_factory=CitedText)
    written: str = ""
    """All the model wrote, for the trace."""
    refused: bool = False
    """Whether it wrote that the evidence does not say."""
    checked: CheckedSentences = field(default_factory=CheckedSentences)
    _seen: set[str] = field(default_factory=set)
    _words: int = 0
    _waiting: list[_Taken] = field(default_factory=list)
    _unshown: str = ""
    _reader: ClaimReader = field(default_factory=ClaimReader)

    def read(self, piece: str) -> None:
        """Check and show the sentences that are whole with this piece of the reply."""
        self.written += piece
        for claim in self._reader.feed(piece):
            self._take(claim)

    def end(self) -> None:
        """The reply is over."""
        for claim in self._reader.end():
            self._take(claim)
        if self._waiting and self.second is not None:
            texts, local = [one.claim.text for one in self._waiting], [one.finding for one in self._waiting]
            findings, notes = self.second(texts, local, self.evidence)
            self.checked.notes_of_check += notes
            both = zip(self._waiting, findings, strict=True)
            self._waiting = [one._replace(finding=finding) for one, finding in both]
        self._settle()
        if self._instead() is None:
            self._shown()

    def generation(self, notes: Notes) -> Generation:
        """What was shown, the passage that answers in its place, or a refusal that says why there is nothing."""
        notes += self.checked.notes
        removed = tuple(self.checked.removed)
        if (passage := self._instead()) is not None:
            return self._of_passage(passage, notes)
        if not self.cited.text:
            refusal = abstention(self._why_nothing(), notes + Notes(facts={"model_said": self.written.strip()}))
            return replace(refusal, answered_by="model", removed=removed, alternatives=tuple(self.local.nearest))
        missing = self._missing()
        citations, conflicts = self._contradicted(self.cited.citations)
        supported = not self.doubtful and all(one.state.holds for one in self.checked.shown)
        return Generation(
            self.cited.text,
            citations,
            conflicts=conflicts,
            abstained=bool(missing),
            doubtful=self.doubtful,
            reason=f"The question asks {missing}, and no sentence of the model's answer says so." if missing else None,
            notes=notes,
            exact=True,
            answered_by="model",
            sentences=tuple(self.checked.shown),
            removed=removed,
            alternatives=() if supported else beside(self.local.nearest, citations),
        )

    def _contradicted(
        self, citations: tuple[Citation, ...]
    ) -> tuple[tuple[Citation, ...], tuple[tuple[int, int], ...]]:
        """The citations and what contradicts them as it was read without the model, and the pairs of their markers."""
        pairs = dict[tuple[int, int], None]()
        for one, other in (both[::way] for both in self.local.conflicts for way in (1, -1)):
            for mine in [citation for citation in citations if same_place(citation, one)]:
                if not any(same_place(citation, other) for citation in citations):
                    citations = (*citations, replace(other, marker=len(citations) + 1))
                against = next(citation for citation in citations if same_place(citation, other))
                pairs[min(mine.marker, against.marker), max(mine.marker, against.marker)] = None
        return citations, tuple(pairs)

    def _instead(self) -> Generation | None:
        """The passage that answers, or the refusal, where no sentence of the model's is supported."""
        chosen = self.display in ("mark", "strict")
        return None if not chosen or any(one.state.holds for one in self.checked.shown) else self.local.answer

    def _of_passage(self, passage: Generation, notes: Notes) -> Generation:
        """The passage, with the sentences that nothing supports behind it; in doubt where the model finds no answer.

        A refusal stands alone.
        """
        removed = tuple(self.checked.removed)
        if passage.abstained:
            return replace(passage, notes=passage.notes + notes, removed=removed)
        written = tuple(replace(one, citations=()) for one in self.checked.shown)
        silent = not written and not self.checked.removed
        text = passage.text.replace(HERE, IN_DOUBT, 1) if silent else passage.text
        text = f"{FOUND_NOTHING if silent else UNSUPPORTED}\n{text}"
        if written:
            marked = (f"{one.text} ({STATE_MARKS[one.state]})" for one in written)
            text = f"{text}\n{WROTE} {' '.join(marked)}"
        return replace(
            passage,
            text=text,
            doubtful=passage.doubtful or silent,
            reason="The model found no answer in the evidence." if silent else passage.reason,
            notes=passage.notes + notes,
            answered_by="reader",
            sentences=(*sentences_of(passage.text, passage.citations), *written),
            removed=removed,
        )

    def _missing(self) -> str:
        """What the question asks for and no sentence of the answer states; "" for nothing."""
        if self.display not in ("mark", "strict") or foreign_language(self.query.question):
            return ""
        text = without_markers(self.cited.text)
        abroad = other_language(text, " ".join(piece.text for piece in self.evidence))
        return "" if abroad else missing_answer(self.query.question, text)

    def _why_nothing(self) -> str:
        if self.checked.removed:
            return f"No sentence of the model's answer is supported: {self.checked.removed[0].reason}."
        return "The model found no answer in the evidence." if self.refused else "The model wrote nothing."

    def _take(self, claim: Claim) -> None:
        if is_not_found(claim.text):
            self.refused = True
            return
        words = self._words + sum(len(one.claim.text.split()) for one in self._waiting)
        if self._is_noise(claim.text) or (self.max_words and words >= self.max_words):
            return
        self._seen.add(claim.text)
        named = dict.fromkeys(self.positions(number) for number in claim.numbers)
        own = tuple(at for at in named if at is not None and 0 <= at < len(self.evidence))
        found = self.check(self.query.question, [Cited(claim.text, own)], self.evidence)
        finding = self._agreed(claim.text, *found.each)
        self.checked.notes_of_check += found.notes
        if not own and not finding.holds and self._declines(claim.text):
            self.refused = True
            return
        self._waiting.append(_Taken(claim, own, tuple(named), finding))
        if self.second is None or not any(self.second.wants(one.finding) for one in self._waiting):
            self._settle()

    def _agreed(self, claim: str, found: Finding) -> Finding:
        """What was found of a claim; a value is supported where the reader without the model has the same words."""
        decided = found.bounded or found.state is ClaimState.CONTRADICTED
        if decided or self.local.answering is None or not is_value(claim):
            return found
        added = term_set(claim) - term_set(self.query.question) or term_set(claim)
        same = any(overlap(added, term_set(words)) >= SAME_VALUE for words in self.local.words)
        if same and found.support >= VALUE_FROM:
            return replace(found, state=ClaimState.SUPPORTED, reason="")
        return replace(found, state=ClaimState.UNVERIFIED, reason=found.reason or OTHER_WORDS)

    def _settle(self) -> None:
        """Show or remove the sentences that wait."""
        for one in self._waiting:
            self._place(*one)
        self._waiting.clear()

    def _place(self, claim: Claim, own: tuple[int, ...], markers: tuple[int | None, ...], finding: Finding) -> None:
        if not shown_of(self.display, finding):
            self.checked.remove(claim, finding, len(markers))
            return
        pieces = own if self.display == "none" else (finding.pieces if finding.holds else own)
        citations = self._citations(claim.text, finding, pieces)
        if finding.holds and (since := self._superseded(claim.text, finding)):
            finding = replace(finding, reason=since, remarks=(*finding.remarks, since))
        mark = STATE_MARKS.get(finding.state, "") if self.display in ("open", "mark") else ""
        remarks = [*finding.remarks, mark] if self.display != "none" else []
        if not self.cited.text:
            known = self.local.answering
            self.doubtful = known is not None and not any(at in known for at in pieces)
        opening = PERHAPS if self.doubtful else ""
        added = self.cited.add(claim, citations, "; ".join(filter(None, remarks)), opening)
        self.checked.take(claim, finding, added, own, wrong=sum(at not in pieces for at in markers))
        self._words += len(claim.text.split())
        self._unshown += added.text
        if self._instead() is None:
            self._shown()

    def _shown(self) -> None:
        """Show what is known to stand."""
        if self._unshown:
            self.show(self._unshown)
        self._unshown = ""

    def _superseded(self, sentence: str, finding: Finding) -> str:
        """Since when what supports a sentence is superseded, if without it the evidence does not support it."""
        times = [self.other_time(piece.hit.chunk.document_id) for piece in self.evidence]
        since = next((times[at] for at in finding.pieces if times[at]), "")
        in_force = [piece for piece, time in zip(self.evidence, times, strict=True) if not time]
        if not since or not in_force:
            return since
        (found,) = self.check(self.query.question, [Cited(sentence)], in_force).each
        return "" if found.holds else since

    def _is_noise(self, sentence: str) -> bool:
        """Whether a sentence is noise: repeated, cut off, a question, part of the prompt; never with display "none"."""
        if self.display == "none":
            return False
        cut_off = sentence.split()[-1] in STOP_WORDS or sentence.endswith("?")
        leads_in = sentence.endswith(":") and term_set(sentence) <= _ABOUT_THE_ANSWER | term_set(self.query.question)
        return sentence in self._seen or cut_off or leads_in or bool(_COPIED_FORM.search(sentence))

    def _declines(self, sentence: str) -> bool:
        """Whether an unsupported sentence denies something and has no number, name or most added terms of the evidence.

        "I do not know", "The documents do not mention it".
        """
        words = sentence.lower().replace("’", "'").replace("n't", " not").split()
        if NEGATIONS.isdisjoint(word.strip(".,;:!") for word in words):
            return False
        question, evidence = self.query.question, " ".join(piece.text for piece in self.evidence)
        added = term_set(sentence) - term_set(question)
        if added and added <= _ABOUT_DOCUMENTS:
            return True
        held = len(added & term_set(evidence)) >= ADDED_SHARE * len(added)
        return not (quantities(sentence) or missing_name(sentence, question) or held)

    def _citations(self, claim: str, finding: Finding, pieces: Sequence[int]) -> list[Citation]:
        """The sentence nearest to a claim in each place that supports it, or in the pieces that it cites."""
        places = dict(zip(finding.pieces, finding.places, strict=True))
        return [cite(0, self._nearest(claim, places.get(at, self.evidence[at]))) for at in pieces]

    def _nearest(self, claim: str, piece: Evidence) -> Sentence:
        start, end, near = self.check.nearest(claim, piece)
        text = piece.text[start:end]
        return Sentence(piece, piece.start + start, piece.start + end, text, Score(near, SUPPORT))


def shown_of(display: Display, finding: Finding) -> bool:
    """Whether a sentence of this state is shown."""
    match finding.state:
        case ClaimState.QUOTED | ClaimState.SUPPORTED:
            return True
        case ClaimState.UNVERIFIED:
            return display != "strict"
        case ClaimState.CONTRADICTED:
            return display in ("none", "open")


def is_not_found(sentence: str) -> bool:
    """Whether a sentence is, or has in it, the words for "the evidence does not say"."""
    return NOT_FOUND.casefold() in re.sub(r"[^\w]+", " ", sentence).casefold()


@dataclass(frozen=True, slots=True)
class ClaimVerifier:
    """Checks the sentences of a draft, sets and moves its markers, and shows what the display shows.

    A draft of quotes alone is supported by construction; one that was checked while it was written is left as it is.
    """

    check: Callable[[], ClaimCheck]
    """Makes the check, which a draft of quotes alone does without."""
    display: Display = "mark"
    about: ClassVar[str] = "each sentence"

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The draft with the states of its sentences, or an abstention when none is shown."""
        if draft.abstained or draft.exact:
            return draft
        evidence = refined.evidence
        places = {
            citation.marker: next((at for at, piece in enumerate(evidence) if is_quoted_from(piece, citation)), None)
            for citation in draft.citations
        }
        rest = draft.text
        for citation in draft.citations:
            rest = rest.replace(quoted(citation), "", 1)
        if draft.citations and not rest.strip() and None not in places.values():
            return replace(draft, notes=draft.notes + Notes(facts={"sentences": len(places), "quoted": len(places)}))
        answer = CheckedAnswer(query, evidence, self.check(), self.display, positions=places.get)
        answer.read(draft.text)
        answer.end()
        return replace(answer.generation(draft.notes), certainty=draft.certainty, answered_by=draft.answered_by)
