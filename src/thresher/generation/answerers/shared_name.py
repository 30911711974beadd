"""Questions that describe one thing several times, each time as another document may: the name that fits them all."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.text.answer_types import AnswerType
from thresher.text.entities import whole_names
from thresher.text.terms import term_set
from thresher.types import Evidence, Generation, Query

NEAREST = 8
"""Sentences that may be meant by one description."""

LONE = 0.85
"""What a name of one word counts for where a person is asked for."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name, and for each description the sentence nearest to it that has the name, by its number."""

    name: str
    sentences: dict[int, Sentence]

    @property
    def support(self) -> float:
        """Of its sentences together."""
        return sum(sentence.support.value for sentence in self.sentences.values())

    @property
    def places(self) -> list[Sentence]:
        """Its sentences, each once."""
        sentences = self.sentences.values()
        return list({(one.evidence.hit.chunk.document_id, one.start): one for one in sentences}.values())


@dataclass(frozen=True, slots=True)
class SharedNameAnswerer:
    """Proposes the names that the sentences nearest to the descriptions have in common.

    No passage has all that is said of the thing, and what a passage says of it hardly ever names it as its subject: a
    publisher sues the company that is asked for. Which name the descriptions share tells more than each passage alone.
    """

    support: SupportJudge
    name: ClassVar[str] = "shared_name"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The best name that two sentences share, with a citation of each."""
        descriptions = query.intent.descriptions
        names = shared_names(descriptions, query.intent.wants, query.question, material.evidence, self.support)
        if not names or len(names[0].places) < 2:
            return ()
        best, behind = names[0], names[1].support if len(names) > 1 else 0.0
        citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(best.places, start=1))
        markers = "".join(f"[{citation.marker}]" for citation in citations)
        answer = Generation(f"{best.name} {markers}", citations, exact=True)
        each = len(descriptions)
        signs = Signs(support=best.support / each, ahead=max(0.0, best.support - behind) / each)
        return [Candidate(answer, self.name, signs)]


def shared_names(
    descriptions: Sequence[str],
    wants: AnswerType,
    question: str,
    evidence: Sequence[Evidence],
    support: SupportJudge,
) -> list[Named]:
    """The names in the sentences nearest to the descriptions and not in the question, the best supported first."""
    asked = term_set(question)
    found: dict[str, dict[int, Sentence]] = defaultdict(dict)
    for number, description in enumerate(descriptions):
        for sentence in support(description, evidence)[:NEAREST]:
            for name in whole_names(sentence.text):
                if (words := term_set(name)) and not words & asked:
                    found[name].setdefault(number, sentence)
    texts = " ".join(f"{piece.hit.chunk.title} . {piece.text}" for piece in evidence)
    together: dict[str, dict[int, Sentence]] = defaultdict(dict)
    for name in found:
        whole = _fullest(name, texts)
        for number, sentence in found[name].items():
            known = together[whole].setdefault(number, sentence)
            if known.support.value < sentence.support.value:
                together[whole][number] = sentence
    names = [Named(name, sentences) for name, sentences in together.items()]
    return sorted(names, key=lambda one: -one.support * (LONE if wants == "person" and " " not in one.name else 1.0))


def _fullest(name: str, texts: str) -> str:
    """A name of one word with those that stand before it most often: Sam Bankman-Fried for Bankman-Fried."""
    before = re.findall(rf"((?:[A-Z][\w'’-]+ ){{1,2}}){re.escape(name)}(?!\w)", texts) if " " not in name else []
    named = Counter(words for words in before if all(map(term_set, words.split())))
    return f"{named.most_common(1)[0][0]}{name}" if named else name
