"""Scorers without a chat model: the local and the trained judge, any cross-encoder, and what changes their scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from thresher.errors import BudgetSpent, ModelError, ProviderError, UsageError
from thresher.judging.calibration import Calibration, ModelWeight
from thresher.judging.judge import parts_of, value_of
from thresher.protocols import CrossEncoder, Encoder, PairReader, Scorer, about
from thresher.question.intent import intent_of
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import (
    LOGIT,
    NO_NOTES,
    PROBABILITY,
    UNIT,
    Hit,
    Notes,
    Query,
    Scale,
    Score,
    Scores,
    logistic,
)

QueryText = Literal["search", "question"]
"""Which words a chunk is scored against: those that were searched, or those a person asked (Y14 in docs/methods.md)."""

SENTENCE_WEIGHT = 0.7
"""The best sentence's cosine has 0.7 and the question's terms have 0.3: the weights of ECRAG's confidence (X8 in
docs/methods.md). On the training questions every weight of the terms from 0.3 to 0.4 is within 0.001 AUROC of the
best, and weights fitted on three question sets did worse on the fourth."""

MIDDLE, SLOPE = 0.62, 10.6
"""Where the relevance is 0.5, and how fast it rises: a logistic fit to the best chunk of questions whose answer is
among the candidates and of the same questions with it taken away (PopQA, NQ, TriviaQA and SQuAD training questions,
each set weighing the same)."""

SENTENCES = 3
"""Sentences of a text that are encoded, those that share most with the question first. Training questions, mean AUROC:
one .813, two .825, three .829, four .828, all .827."""

SENTENCE_CHARACTERS = (20, 600)
"""Shorter pieces are headings and cells and are read only where nothing else is there; a longer one is a table or a
list and is read by its lines."""


def words_of(query: Query, text: QueryText) -> str:
    """The words a chunk is scored against."""
    return query.search if text == "search" else query.question


class Parts(NamedTuple):
    """The parts of the relevance of one text, of its best sentence."""

    sentence: float
    """Cosine of the question and the sentence that supports it best, 0 to 1."""
    terms: float
    """Share of the question's terms, weighted by their rarity, that the sentence or the title holds, 0 to 1."""

    @property
    def support(self) -> float:
        """The weighted sum, 0 to 1."""
        return SENTENCE_WEIGHT * self.sentence + (1 - SENTENCE_WEIGHT) * self.terms

    @property
    def relevance(self) -> float:
        """One number, 0 to 1."""
        return logistic(SLOPE * (self.support - MIDDLE))


@dataclass(frozen=True, slots=True)
class LocalScorer:
    """Relevance of each hit, or strip, to the question a person asked, 0 to 1; no probability before calibration.

    Relevance = logistic(slope * (support - middle)), support = 0.7 sentence + 0.3 terms, of the best sentence. Tried on
    the training questions and left out, because they gained nothing on a question set they were not fitted on: the
    cosine of the whole text, BM25 as a share of its ceiling, terms of the title alone, whether the rarest term stands
    there, names, dates and numbers of the wanted kind, cosine of the question without the title's words. Similarity
    word by word gained 0.007 AUROC (NQ, SQuAD), and would have every word of the sentences encoded.
    """

    encoder: Encoder
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question in the collection, larger for rarer ones."""
    name: ClassVar[str] = "local"
    scale: ClassVar[Scale] = UNIT
    about: ClassVar[str] = "relevance by the local judge"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit; `others` has its parts. A `dense` score of the hit is not computed again."""
        judged = self.judged(
            query.question,
            [hit.chunk.text for hit in hits],
            [hit.chunk.title for hit in hits],
            cosines=[hit.scores["dense"].value if "dense" in hit.scores else None for hit in hits],
        )
        return Scores(
            scores=tuple(Score(parts.relevance, UNIT) for parts in judged),
            others=tuple(
                {"sentence": Score(parts.sentence, UNIT), "terms": Score(parts.terms, UNIT)} for parts in judged
            ),
        )

    def judged(
        self,
        question: str,
        texts: Sequence[str],
        titles: Sequence[str] | None = None,
        *,
        cosines: Sequence[float | None] | None = None,
    ) -> list[Parts]:
        """The parts of each text. `cosines` are those of whole texts: one of one sentence is not encoded again."""
        weights, given = self.rarity(question), cosines or [None] * len(texts)
        titled = zip(texts, titles or [""] * len(texts), strict=True)
        sentences = [_sentences(text, title, weights) for text, title in titled]
        known = [cosine if len(found) == 1 else None for found, cosine in zip(sentences, given, strict=True)]
        of_text = list(zip(sentences, known, strict=True))
        read = self._cosines(question, [text for found, cosine in of_text if cosine is None for text, _ in found])
        return [
            max(
                (Parts(min(1.0, max(0.0, read[text] if cosine is None else cosine)), share) for text, share in found),
                key=lambda parts: parts.support,
            )
            for found, cosine in of_text
        ]

    def _cosines(self, question: str, sentences: Sequence[str]) -> Mapping[str, float]:
        """Each distinct sentence is encoded once: chunks that overlap share some."""
        distinct = list(dict.fromkeys(sentences))
        if not distinct:
            return {}
        asked = self.encoder.encode_query(question)
        # One by one: the last digits of a product of matrices depend on how many rows there are.
        return {
            text: float(vector @ asked) for text, vector in zip(distinct, self.encoder.encode(distinct), strict=True)
        }


def _sentences(text: str, title: str, weights: Mapping[str, float]) -> list[tuple[str, float]]:
    """The sentences worth reading, at least one, each with its share of the question's terms, by their rarity."""
    above, total = term_set(title), sum(weights.values())

    def share(sentence: str) -> float:
        present = above | term_set(sentence)
        return sum(weight for term, weight in weights.items() if term in present) / total if total else 0.0

    sentences = [(text[start:end], share(text[start:end])) for start, end in _readable(text, sentence_spans(text))]
    return sorted(sentences, key=lambda sentence: -sentence[1])[:SENTENCES]


def _readable(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentences of a readable length, too long ones by their lines; the whole text where there is none."""
    low, high = SENTENCE_CHARACTERS
    pieces: list[tuple[int, int]] = []
    for start, end in spans:
        if end - start <= high:
            pieces.append((start, end))
            continue
        for line in text[start:end].splitlines(keepends=True):
            pieces.append((start, start + len(line.rstrip())))
            start += len(line)
    return [(start, end) for start, end in pieces if end - start >= low] or [(0, len(text))]


LOGIT_WEIGHT, INTERCEPT = 0.482, -0.911
"""A logistic regression on questions the cross-encoder was not trained on: the tune fifths of PopQA, NQ, TriviaQA and
SQuAD, and the dev questions of benchmarks/real_text to papers and manuals, each set weighing the same, asked with and
without what answers them (`research/judge`). With the cosine of the best sentence and the question's words beside it
the mean AUROC over the six sets is the same to 0.001, and lower on manuals and on what SQuAD marks unanswerable."""


@dataclass(frozen=True, slots=True)
class LogOdds:
    """From the cross-encoder's logit to the log odds of a score."""

    logit: float = LOGIT_WEIGHT
    intercept: float = INTERCEPT

    def __call__(self, logit: float) -> float:
        """The score, 0 to 1."""
        return logistic(self.logit * logit + self.intercept)


@dataclass(frozen=True, slots=True)
class TrainedScorer:
    """Relevance of each hit to the question a person asked, 0 to 1: logistic(0.482 logit of the cross-encoder - 0.911).

    It is the probability that the hit suffices where half of the questions can be answered.
    """

    reader: PairReader
    name: str = "trained"
    odds: LogOdds = LogOdds()
    scale: ClassVar[Scale] = UNIT

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"relevance by the {self.name} judge"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit; `others` has the cross-encoder's logit as `answers`."""
        if not hits:
            return Scores(())
        texts, titles = [hit.chunk.text for hit in hits], [hit.chunk.title for hit in hits]
        logits = [reading.relevance for reading in self.reader.read(query.question, texts, titles)]
        return Scores(
            tuple(Score(self.odds(logit), UNIT) for logit in logits),
            Notes(facts={"model": self.reader.name}),
            tuple({"answers": Score(logit, LOGIT)} for logit in logits),
        )


JUDGE_FILE = "judge.json"
"""In the folder of a judge that was trained further, beside its weights."""


@dataclass(frozen=True, slots=True)
class TunedJudge:
    """What a judge is besides its weights. Its name is `calibration.judge`."""

    odds: LogOdds
    calibration: Calibration

    @classmethod
    def read(cls, folder: Path) -> TunedJudge:
        """Of a folder that `thresher train-judge` wrote. Raises UsageError for another one, ModelError for damage."""
        file = folder / JUDGE_FILE
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            return cls(LogOdds(**stored["odds"]), Calibration.from_dict(stored["calibration"]))
        except OSError as error:
            next_step = "give `judge_model` a folder that `thresher train-judge` wrote, or 'bundled'"
            raise UsageError("holds no trained judge", subject=str(folder), next_step=next_step) from error
        except (ValueError, TypeError, KeyError, UsageError) as error:
            next_step = "train the judge again"
            raise ModelError("is damaged, or of an older version", subject=str(file), next_step=next_step) from error

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"odds": asdict(self.odds), "calibration": self.calibration.to_dict()}


@dataclass(frozen=True, slots=True)
class CrossEncoderScorer:
    """A cross-encoder's logits through a logistic function to 0..1, or as they are on another scale.

    Another scale is that of an evaluator whose logit was trained to lie on it; a value beyond is clipped. What an
    endpoint answers from 0 to 1 is left as it is, and stretched to another scale.
    """

    cross_encoder: CrossEncoder
    scale: Scale = UNIT
    query_text: QueryText = "search"
    titled: bool = True
    """Whether it reads a chunk with its title in front."""

    name: ClassVar[str] = "relevance"

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"relevance by cross-encoder {self.cross_encoder.name.partition('@')[0]}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit; None for all of them when the cross-encoder failed."""
        facts = {"model": self.cross_encoder.name}
        texts = [hit.chunk.titled if self.titled else hit.chunk.text for hit in hits]
        try:
            scores = self.cross_encoder(words_of(query, self.query_text), texts)
        except (ProviderError, BudgetSpent) as error:
            lack = f"judge: {error}; {len(hits)} chunks were not scored"
            return Scores((None,) * len(hits), Notes((lack,), facts=facts), failed=tuple(range(len(hits))))
        return Scores(tuple(Score(self._value(score), self.scale) for score in scores), Notes(facts=facts))

    def _value(self, score: Score) -> float:
        low, high = self.scale.low, self.scale.high
        if score.scale != LOGIT:
            return low + (high - low) * score.value
        return logistic(score.value) if self.scale == UNIT else min(high, max(low, score.value))


@dataclass(frozen=True, slots=True)
class WrappedScorer:
    """Base of scorers that change what another one reads: name and scale are the other's, its calibration holds."""

    scorer: Scorer

    @property
    def name(self) -> str:
        """The other scorer's: calibrations go by it."""
        return self.scorer.name

    @property
    def scale(self) -> Scale:
        """The other scorer's."""
        return self.scorer.scale

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.scorer)


@dataclass(frozen=True, slots=True)
class EachPartScorer(WrappedScorer):
    """The best score of each hit over a question and its parts: a chunk that answers one part is evidence."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit, with what that one is made of."""
        found = [self.scorer(replace(query, question=asked), hits) for asked in intent_of(query.question).searches]
        if len(found) == 1:
            return found[0]
        best = [max(found, key=lambda scores: value_of(scores.scores[at])) for at in range(len(hits))]
        return Scores(
            tuple(scores.scores[at] for at, scores in enumerate(best)),
            sum((scores.notes for scores in found), NO_NOTES),
            tuple(parts_of(scores)[at] for at, scores in enumerate(best)),
            found[0].failed,
        )


@dataclass(frozen=True, slots=True)
class CalibratedScorer:
    """Another scorer's scores as probabilities: of a chunk, that of a question whose best chunk scores like it."""

    scorer: Scorer
    calibration: Calibration
    scale: ClassVar[Scale] = PROBABILITY

    @property
    def name(self) -> str:
        """The scorer's name, marked."""
        return f"{self.scorer.name}, calibrated"

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.scorer)}, calibrated"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """Probabilities; the raw scores are among `others`."""
        raw = self.scorer(query, hits)
        probabilities = tuple(
            None if score is None else Score(self.calibration.probability(score.value), PROBABILITY)
            for score in raw.scores
        )
        return replace(raw, scores=probabilities, others=tuple(_with_own(self.scorer.name, raw)))


def _with_own(name: str, scored: Scores) -> list[dict[str, Score]]:
    """The parts of each score, and the score itself among them."""
    return [
        {**parts, **({} if score is None else {name: score})}
        for parts, score in zip(parts_of(scored), scored.scores, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class BandedScorer:
    """Scores of `local`; those from `lower` to below `upper` are combined with those of `second`. Not published.

    `local` gives probabilities, `second` a relevance from 0 to 1, combined by `weight`. A chunk without a score of
    `second` keeps its own.
    """

    local: Scorer
    second: Scorer
    lower: float
    upper: float
    weight: ModelWeight
    name: ClassVar[str] = "judge"
    scale: ClassVar[Scale] = PROBABILITY

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.local)}, {about(self.second)} where it is unsure"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One probability per hit; `others` has the local score and, for unsure hits, the second one."""
        first = self.local(query, hits)
        own = {at: score.value for at, score in enumerate(first.scores) if score is not None}
        unsure = [at for at, value in own.items() if self.lower <= value < self.upper]
        scores, others = list(first.scores), _with_own(self.local.name, first)
        notes = first.notes + Notes(facts={"unsure": len(unsure)})
        if unsure:
            second = self.second(query, [hits[at] for at in unsure])
            for at, score in zip(unsure, second.scores, strict=True):
                if score is not None:
                    others[at][self.second.name] = score
                    scores[at] = Score(self.weight.probability(own[at], score.value), PROBABILITY)
            lacks = tuple(f"{lack}; their local score stands" for lack in second.notes.degraded)
            notes += replace(second.notes, degraded=lacks)
        return Scores(tuple(scores), notes, tuple(others), failed=first.missing)
