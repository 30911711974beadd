"""The sentences of the evidence that answer a question together: chosen for it and for each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.protocols import PairReader
from thresher.text.boilerplate import asks_for_references, is_bibliography, leans, says_nothing
from thresher.text.injection import is_command
from thresher.text.terms import term_set
from thresher.types import Evidence

if TYPE_CHECKING:
    from thresher.types import Vectors

READ = 16
"""The best supported sentences are read by the trained judge; reading is what choosing costs."""

FEWEST_WORDS = 5
"""Fewer are a heading with a full stop behind it."""

NEXT = 3
"""Characters at most between two sentences of which one follows the other."""

RELEVANCE_WEIGHT = 0.8
"""Of score against likeness to what is chosen already (maximal marginal relevance, Carbonell and Goldstein 1998)."""

SAME = 0.92
"""Cosine from which two sentences say the same."""

NEIGHBOUR = 0.1
"""Added for a sentence beside a chosen one: two that follow each other read as an explanation."""

CUE = 0.1
"""Added for a sentence that speaks as an answer to such a question does: "because", "is a"."""

NEAR_BEST = 0.75
"""Share of the best sentence's score that a further one needs."""

MOST_WORDS = 130
"""Of an explanation in all."""

_CUT_OFF = re.compile(r"\b(?:in|of|the|and|to|an?|for|with|by|or|on|as|that|is|are|from)$", re.IGNORECASE)
"""Where a page's layout broke a sentence."""

_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|so that|in order to|thus|therefore|hence|as a result|reasons?|caused?|"
    r"leads? to|allows?|enables?|prevents?|helps?|avoids?|addresse?s?)\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"\b(?:by|first|then|next|finally|steps?|uses?|using|works?|through|via|instead of)\b", re.IGNORECASE
)
_DEFINED = re.compile(
    r"what (?:is|are|'s|does|do|was|were) (?:an? |the )?(?P<thing>.+?)(?: mean| refer to| stand for| do)?\s*\?*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """The chosen sentences, the best document's first and in its order."""

    sentences: tuple[Sentence, ...]
    relevance: float
    """Probability that the best sentence answers the question, 0 to 1; 0 where there was nothing to read."""


@dataclass(frozen=True, slots=True)
class PassageChooser:
    """Chooses sentences by what the trained judge says of each and by its support: half and half."""

    reader: PairReader
    support: SupportJudge
    min_relevance: float
    """Probability that the best sentence needs for any to be chosen."""

    def __call__(
        self, question: str, evidence: Sequence[Evidence], *, most: int, fits: Callable[[Sentence], bool] | None = None
    ) -> Passage:
        """At most `most` sentences, of those that fit."""
        usable = [piece for piece in evidence if _is_text(piece, question)]
        every = self.support(question, usable)
        stating = _distinct(s for s in every if _states(s.text, question) and (fits is None or fits(s)))[:READ]
        before = {(_document(sentence), sentence.end): sentence for sentence in every}
        texts = [_with_support(sentence, before) for sentence in stating]
        titles = [_title(sentence) for sentence in stating]
        readings = self.reader.read(question, [" ".join(one.text for one in text) for text in texts], titles)
        relevances = [reading.probability for reading in readings]
        best = max(relevances, default=0.0)
        if best < self.min_relevance:
            return Passage((), best)
        cue = _cue(question)
        scores = [
            (relevance + sentence.support.value) / 2 + (CUE if cue and cue.search(sentence.text) else 0.0)
            for relevance, sentence in zip(relevances, stating, strict=True)
        ]
        chosen = [texts[at] for at in self._chosen(stating, scores, most)]
        # one that leans on a sentence which is not there reads as if it spoke of the one shown before it
        standing = [text for number, text in enumerate(chosen) if not number or not leans(text[0].text)]
        together = {(_document(one), one.start): one for text in standing for one in text}
        return Passage(tuple(_in_order(list(together.values())[: max(most, 2)])), best)

    def _chosen(self, sentences: Sequence[Sentence], scores: Sequence[float], most: int) -> list[int]:
        """Places by maximal marginal relevance, neighbours preferred, while they are nearly as good as the best."""
        vectors = self.support.encoder.encode([sentence.text for sentence in sentences])
        chosen = [max(range(len(sentences)), key=lambda at: (scores[at], -at))]
        words = len(sentences[chosen[0]].text.split())
        while len(chosen) < most:
            rest = [
                at
                for at in range(len(sentences))
                if at not in chosen
                and scores[at] >= NEAR_BEST * scores[chosen[0]]
                and words + len(sentences[at].text.split()) <= MOST_WORDS
                and all(float(vectors[at] @ vectors[other]) < SAME for other in chosen)
            ]
            if not rest:
                break
            best = max(rest, key=lambda at: (self._gain(at, chosen, sentences, scores, vectors), -at))
            words += len(sentences[best].text.split())
            chosen.append(best)
        return chosen

    def _gain(
        self, at: int, chosen: Sequence[int], sentences: Sequence[Sentence], scores: Sequence[float], vectors: Vectors
    ) -> float:
        likeness = max(float(vectors[at] @ vectors[other]) for other in chosen)
        beside = any(_follows(sentences[at], sentences[other]) for other in chosen)
        return RELEVANCE_WEIGHT * scores[at] - (1 - RELEVANCE_WEIGHT) * likeness + (NEIGHBOUR if beside else 0.0)


def _is_text(piece: Evidence, question: str) -> bool:
    """Running text; a bibliography only for who asks for one."""
    return piece.hit.chunk.kind == "text" and (asks_for_references(question) or not is_bibliography(piece.text))


def _states(text: str, question: str) -> bool:
    """Whether a sentence says something that the question does not: no question, no order, no heading."""
    asks = text.rstrip(" \"'”’)").endswith("?")
    empty = says_nothing(text) and not asks_for_references(question)
    words = text.split()
    whole = len(words) >= FEWEST_WORDS and not words[0].islower() and not _CUT_OFF.search(text.rstrip())
    return whole and not (asks or empty or is_command(text) or term_set(text) <= term_set(question))


def _distinct(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Each text and each place once, the best supported first."""
    kept: list[Sentence] = []
    texts: set[str] = set()
    for sentence in sentences:
        text = " ".join(sentence.text.split())
        if text not in texts and not any(_overlap(sentence, other) for other in kept):
            texts.add(text)
            kept.append(sentence)
    return kept


def _with_support(sentence: Sentence, before: Mapping[tuple[str, int], Sentence]) -> tuple[Sentence, ...]:
    """A sentence, behind the one before it where it leans on that."""
    if not leans(sentence.text):
        return (sentence,)
    ends = ((_document(sentence), sentence.start - gap) for gap in range(NEXT + 1))
    support = next((before[end] for end in ends if end in before), None)
    return (sentence,) if support is None or is_command(support.text) else (support, sentence)


def _title(sentence: Sentence) -> str:
    title = sentence.evidence.hit.chunk.title
    return "" if is_command(title) else title


def _in_order(sentences: Sequence[Sentence]) -> list[Sentence]:
    documents = list(dict.fromkeys(_document(sentence) for sentence in sentences))
    return sorted(sentences, key=lambda sentence: (documents.index(_document(sentence)), sentence.start))


@lru_cache(maxsize=64)
def _cue(question: str) -> re.Pattern[str] | None:
    """What sentences say that answer such a question."""
    plain = " ".join(question.split())
    if re.match(r"(?:why|what (?:is|are) the reason|how come)\b", plain, re.IGNORECASE):
        return _CAUSE
    if re.match(r"how\b", plain, re.IGNORECASE):
        return _MANNER
    defined = _DEFINED.match(plain)
    if not defined:
        return None
    thing = r"\W+".join(map(re.escape, defined["thing"].rstrip("s").split()))
    return re.compile(
        rf"\b{thing}\w*(?:\s*\([^)]*\))?,?\s+(?:is|are|refers?|means?|denotes?|consists?|describes?|a|an|the)\b"
        rf"|\b(?:called?|define[sd]?|known as|termed?|propose|introduce|present)\b[^.]{{0,40}}\b{thing}",
        re.IGNORECASE,
    )


def _document(sentence: Sentence) -> str:
    return sentence.evidence.hit.chunk.document_id


def _overlap(one: Sentence, other: Sentence) -> bool:
    return _document(one) == _document(other) and one.start < other.end and other.start < one.end


def _follows(one: Sentence, other: Sentence) -> bool:
    """Whether one stands right before or behind the other."""
    near = min(abs(one.start - other.end), abs(other.start - one.end))
    return _document(one) == _document(other) and near <= NEXT
