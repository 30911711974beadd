"""The sentences of the evidence that answer a question together: chosen for it and for each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from thresher.generation.certainty import weighed
from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.protocols import PairReader
from thresher.text.boilerplate import asks_for_references, heading_above, is_bibliography, leans, says_nothing
from thresher.text.entities import lacking
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

NEAR_RELEVANCE = 0.5
"""Share of the best sentence's probability that a further one needs: it costs a hundredth of the answers of the
questions for choosing, and what goes are sentences that are near to the question and answer another one."""

DEFINES = 0.0
"""Least logit of a sentence that says "X is a" to who asks what X is: the judge knows little of so short a question."""

MOST_WORDS = 130
"""Of an explanation in all."""

_CUT_OFF = re.compile(r"\b(?:in|of|the|and|to|an?|for|with|by|or|on|as|that|is|are|from)$|[√=+∈≤≥×(]$", re.IGNORECASE)
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
    r"(?:what|who) (?:is|are|'s|does|do|was|were) (?:an? |the )?(?P<thing>.+?)(?: \([^()]*\))?"
    r"(?: mean| refer to| stand for| do)?\s*\?*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """The chosen sentences, the best document's first and in its order."""

    sentences: tuple[Sentence, ...]
    relevance: float
    """Probability that the best sentence answers the question, 0 to 1; 0 where there was nothing to read."""
    signs: PassageSigns | None = None
    """What is known of the sentences; None where there are none."""

    @property
    def certainty(self) -> float:
        """Probability that the sentences hold the answer, 0 to 1."""
        return 0.0 if self.signs is None else LEARNT.probability(self.signs)


@dataclass(frozen=True, slots=True)
class PassageSigns:
    """What is known of chosen sentences."""

    relevance: float
    """Logit of the judge for the one that was chosen first."""
    terms: float
    """Share of the question's terms, weighted by rarity, that they, their titles and headings hold, 0 to 1."""
    lacking: float
    """Names and numbers of the question that stand in none of these, 3 at most."""


@dataclass(frozen=True, slots=True)
class PassageWeights:
    """A logistic regression over `PassageSigns`."""

    relevance: float
    terms: float
    lacking: float
    intercept: float

    def probability(self, signs: PassageSigns) -> float:
        """That the sentences hold the answer, 0 to 1."""
        return weighed(self, signs)


LEARNT = PassageWeights(relevance=0.4, terms=0.59, lacking=-0.55, intercept=-1.24)
"""Fitted as research/reader/passages.py does, on its sets and the tune fifths of SQuAD, NQ and TriviaQA together;
docs/decisions.md tells the held-out errors."""


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
        usable = _naming(question, [piece for piece in evidence if _is_text(piece, question)])
        every = self.support(question, usable)
        stating = _distinct(s for s in every if _states(s.text, question) and (fits is None or fits(s)))[:READ]
        before = {(_document(sentence), sentence.end): sentence for sentence in every}
        texts = [_with_support(sentence, before) for sentence in stating]
        titles = [_above(sentence) for sentence in stating]
        readings = self.reader.read(question, [" ".join(one.text for one in text) for text in texts], titles)
        relevances = [reading.probability for reading in readings]
        best = max(relevances, default=0.0)
        cue = _cue(question)
        # "Heron is the electric tug" says what Heron is, whatever the judge makes of so short a question
        defined = _DEFINED.match(question) and cue and any(cue.search(sentence.text) for sentence in stating)
        if best < self.min_relevance and not defined:
            return Passage((), best)
        scores = [
            (relevance + sentence.support.value) / 2 + (CUE if cue and cue.search(sentence.text) else 0.0)
            for relevance, sentence in zip(relevances, stating, strict=True)
        ]
        # several are quoted for what each says itself, not for its words alone
        first = max(range(len(stating)), key=lambda at: (scores[at], -at))
        near = [at for at, one in enumerate(relevances) if one >= NEAR_RELEVANCE * best or at == first]
        places = self._chosen([stating[at] for at in near], [scores[at] for at in near], most)
        chosen = [texts[near[at]] for at in places]
        # one that leans on a sentence which is not there reads as if it spoke of the one shown before it
        standing = [text for number, text in enumerate(chosen) if not number or not leans(text[0].text)]
        together = {(_document(one), one.start): one for text in standing for one in text}
        sentences = tuple(_in_order(list(together.values())[: max(most, 2)]))
        at = near[places[0]]
        relevance = readings[at].relevance
        if defined and cue and cue.search(stating[at].text):
            relevance = max(relevance, DEFINES)
        return Passage(sentences, best, self._signs(question, sentences, relevance))

    def _signs(self, question: str, sentences: Sequence[Sentence], relevance: float) -> PassageSigns:
        known = ". ".join(dict.fromkeys(text for one in sentences for text in (_above(one), one.text)))
        rarity = self.support.rarity(question)
        held = term_set(known)
        shared = sum(weight for term, weight in rarity.items() if term in held) / (sum(rarity.values()) or 1.0)
        return PassageSigns(relevance, shared, float(min(3, len(lacking(question, known)))))

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


def _naming(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The pieces of the documents that name most of what the question names: why Fernby was closed, no other branch."""
    known: dict[str, str] = {}
    for piece in evidence:
        document = piece.hit.chunk.document_id
        known[document] = f"{known.get(document, piece.hit.chunk.title)}\n{piece.text}"
    missing = {document: len(lacking(question, text)) for document, text in known.items()}
    fewest = min(missing.values(), default=0)
    return [piece for piece in evidence if missing[piece.hit.chunk.document_id] == fewest]


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


def _above(sentence: Sentence) -> str:
    """The title of its document and the heading of its section."""
    piece = sentence.evidence
    lines = (piece.hit.chunk.title, heading_above(piece.text, sentence.start - piece.start))
    return ". ".join(line for line in dict.fromkeys(lines) if line and not is_command(line))


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
        rf"\b{thing}\w*(?:\s*\([^)]*\))?,?\s+(?:is|are|was|were|refers?|means?|denotes?|consists?|describes?|a|an|the)\b"
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
