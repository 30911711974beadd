"""What became of a question, as it is recorded and compared, and whether it meets what is expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from thresher import Answer, Citation
from thresher.types import ClaimState, Document, Origin
from thresher_ci.context import Context, context_of
from thresher_ci.knowledge import Expected

AROUND = re.compile(r"[\s*_`|#>]+")
"""White space and marks of Markdown, which do not count when words are compared."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place that an answer shows: the sentence that answers, the passage around it, and where it stands."""

    sentence: str
    passage: str
    source: str
    where: str
    """Page, heading, row and so on; empty where the source has none."""
    context: Context = field(default=Context(), repr=False)
    """What stands around the sentence; empty of a place outside the collection."""

    def __str__(self) -> str:
        return f"{self.source}, {self.where}" if self.where else self.source

    def to_dict(self) -> dict[str, str]:
        """As JSON, without its context."""
        return {"sentence": self.sentence, "passage": self.passage, "source": self.source, "where": self.where}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a question in one state of the documents."""

    question: str
    state: str
    text: str
    by_model: bool
    cited: tuple[Place, ...]
    """What the answer rests on, the most important place first."""
    alternatives: tuple[Place, ...]
    conflicts: tuple[tuple[Place, Place], ...]
    """Places that contradict each other."""
    footprint: str
    """Fingerprint of everything that the answer depends on; see `asking`."""

    @property
    def lead(self) -> Place | None:
        """The place that answers; None for a refusal."""
        return self.cited[0] if self.cited else None

    @property
    def shown(self) -> tuple[Place, ...]:
        """All places that a person sees."""
        return (*self.cited, *self.alternatives)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Outcome:
        """What `to_dict` gave. Raises KeyError and TypeError for anything else."""

        def place(one: Mapping[str, Any]) -> Place:
            return Place(**{**one, "context": Context.from_dict(one["context"])})

        places = {name: tuple(map(place, stored[name])) for name in ("cited", "alternatives")}
        conflicts = tuple((place(one), place(other)) for one, other in stored["conflicts"])
        return cls(**{**stored, **places, "conflicts": conflicts})


def outcome_of(
    answer: Answer, footprint: str, relative: Callable[[str], str], document: Callable[[str], Document]
) -> Outcome:
    """What is recorded of an answer; `relative` names a source below the folder of documents."""

    def place(citation: Citation) -> Place:
        first, last = (at - citation.start for at in citation.focus)
        page = "" if citation.page is None else f"page {citation.page}"
        where = citation.locator or page
        inside = citation.origin == Origin.INSIDE
        context = context_of(document(citation.document_id), *citation.focus) if inside else Context()
        return Place(citation.quote[first:last], citation.quote, relative(citation.source), where, context)

    cited = {citation.marker: place(citation) for citation in answer.citations}
    conflicts = tuple((cited[one], cited[other]) for one, other in answer.conflicts)
    rivals = {other for _, other in answer.conflicts}
    return Outcome(
        answer.question,
        answer.state,
        answer.text,
        answer.answered_by == "model",
        tuple(one for marker, one in cited.items() if marker not in rivals),
        tuple(place(one.citation) for one in answer.alternatives),
        conflicts,
        footprint,
    )


# --- whether it meets what is expected --------------------------------------------------------------------------------


class Checks(Protocol):
    """What the engine reads of sentences."""

    def __call__(self, sentence: str, passage: str) -> str:
        """Whether a passage supports a sentence: `quoted`, `supported`, `unverified` or `contradicted`."""
        ...

    def answers(self, question: str, sentence: str, title: str) -> bool:
        """Whether a sentence by itself, below a title, rather answers a question than not."""
        ...


def unmet(expected: Expected, outcome: Outcome, check: Checks) -> str:
    """Why an expectation is not met; empty where it is.

    A refusal is met by a doubtful answer too, which asserts nothing. A quote is met wherever it is shown, in any source
    (`comparison` says that it moved), and by a leading passage that supports it in other words. A value is met by the
    leading place alone, or by the words of a chat model.
    """
    if expected.is_refusal:
        return "" if outcome.state in ("refused", "doubtful") else "is answered, and a refusal is expected"
    if outcome.lead is None:
        return "is refused"
    if expected.value:
        read = [outcome.lead.passage, *([outcome.text] if outcome.by_model else [])]
        return "" if any(holds(text, expected.value) for text in read) else f"does not say “{expected.value}”"
    if any(holds(place.passage, expected.quote) for place in outcome.shown):
        return ""
    found = check(expected.quote, outcome.lead.passage)
    if ClaimState(found).holds or ClaimState(check(expected.quote, outcome.lead.sentence)).holds:
        return ""
    return f"does not show “{expected.quote}” ({found} by what is shown)"


def holds(text: str, words: str) -> bool:
    """Whether a text holds words as whole words, whatever their case, line breaks and Markdown."""
    return re.search(rf"(?<!\w){re.escape(plain(words))}(?!\w)", plain(text)) is not None


def plain(text: str) -> str:
    """A text in lower case with single blanks, without marks of Markdown and the stop at its end."""
    return AROUND.sub(" ", text).strip().rstrip(".").casefold()
