"""Texts of anybody's search put in order by the bundled judge: no collection, no chat model, nothing is sent anywhere.

    import thresher

    for one in thresher.rerank("How many layers has BERT-base?", texts, top_n=3):
        print(one.score, texts[one.index])

The score is what the trained judge of `corrective` gives, through the calibration it comes with: the probability that a
text suffices to answer the question, where half of the questions can be answered. `Reranker.decide` makes a verdict of
it. Mean nDCG@10 of the best 20 of BM25 put in order, 40 questions each of Cranfield, SciFact, PopQA and NQ: BM25 alone
.665, the cross-encoder alone .657, this .702 (.700 with the rarity of a word among the 20).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from thresher.errors import UsageError, check_type
from thresher.judging.calibration import SHIPPED
from thresher.judging.scorers import EachPartScorer, TrainedScorer
from thresher.judging.verdicts import Calibrated
from thresher.recipes.components import BUNDLED, Models
from thresher.recipes.settings import EncoderSettings
from thresher.refinement.refine import STRIP, StripRefiner, sentences
from thresher.types import PROBABILITY, Chunk, Decision, Hit, Judgement, Query, Score, logistic

SPAN_SCORE = 0.2
"""Probability that a sentence needs to be shown as relevant, as a strip does to become evidence (`corrective`)."""

_TRAINED = SHIPPED["trained"]


@dataclass(frozen=True, slots=True)
class RelevantSpan:
    """A sentence, or a row, of a text: `text[start:end]`, with the probability that it suffices, 0 to 1."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class RankedText:
    """One of the texts that were given: its position among them from 0, and the probability that it suffices."""

    index: int
    score: float
    """0 to 1; of one question the best text's is what a verdict is made of."""
    spans: tuple[RelevantSpan, ...] = ()
    """In the order of the text; empty where none was asked for, or none is relevant."""


class Reranker:
    """The bundled judge for texts that are given; cheap to make, loaded at first use, safe from several threads.

    `models` are those of an `Engine`, where the process has one; without, they are loaded once for all that is open.
    """

    def __init__(self, models: Models | None = None) -> None:
        self._models = models or Models()

    def warm_up(self) -> None:
        """Load the judge and the encoder. Raises ModelError when their weights are not there."""
        for model in (self._models.judge(), self._models.encoder(BUNDLED, EncoderSettings())):
            model.warm_up()

    def __call__(
        self,
        question: str,
        texts: Sequence[str],
        titles: Sequence[str] | None = None,
        *,
        top_n: int | None = None,
        spans: bool = False,
        span_score: float = SPAN_SCORE,
    ) -> list[RankedText]:
        """The texts, best first, equal ones as they came; all of them, or the best `top_n`.

        A title is read before its text. With `spans` the sentences of those that are returned which reach `span_score`,
        which takes a reading of each. Raises UsageError for an empty question and for titles that are too few.
        """
        hits = _hits(texts, titles)
        _check(question, top_n, span_score)
        query, scorer = Query(question, question), EachPartScorer(TrainedScorer(self._models.judge()))
        raw = [0.0 if score is None else score.value for score in scorer(query, hits).scores]
        best = sorted(range(len(hits)), key=lambda at: -raw[at])[:top_n]
        refine = StripRefiner(sentences, scorer, top_k=None, min_score=_TRAINED.raw(span_score))
        return [
            RankedText(at, _probability(raw[at]), _relevant(refine, query, hits[at]) if spans else ()) for at in best
        ]

    def decide(self, question: str, ranked: Sequence[RankedText]) -> Decision:
        """The verdict on ranked texts by the bounds of `corrective`, with the best score as confidence."""
        decider = Calibrated(_TRAINED.lower, _TRAINED.upper, _TRAINED.separated, mapping="shipped")
        judged = [
            Judgement(hit, keep=True, score=Score(one.score, PROBABILITY))
            for one, hit in zip(ranked, _hits([""] * len(ranked), None), strict=True)
        ]
        return decider(Query(question, question), judged)


@lru_cache(maxsize=1)
def shared_reranker() -> Reranker:
    """The one that `rerank` asks, so that a second call loads nothing."""
    return Reranker()


def rerank(
    question: str,
    texts: Sequence[str],
    titles: Sequence[str] | None = None,
    *,
    top_n: int | None = None,
    spans: bool = False,
    span_score: float = SPAN_SCORE,
) -> list[RankedText]:
    """Texts put in order by the bundled judge, as `Reranker` does; its models stay loaded."""
    return shared_reranker()(question, texts, titles, top_n=top_n, spans=spans, span_score=span_score)


def _probability(raw: float) -> float:
    """As `Calibration.probability`, but not cut off at its ends: no two texts there may share a score."""
    ((slope, intercept),) = _TRAINED.parameters
    return logistic(slope * log(raw / (1 - raw)) + intercept) if 0 < raw < 1 else raw


def _hits(texts: Sequence[str], titles: Sequence[str] | None) -> list[Hit]:
    """Given texts as hits. Raises UsageError for what is none, and for titles that are not one for each."""
    for name, given in (("texts", texts), ("titles", titles or ())):
        if isinstance(given, str):
            raise UsageError("is one text", subject=f"`{name}`", next_step="give a list of them")
        for one in given:
            check_type(name, one, str, "a list of texts")
    named = [""] * len(texts) if titles is None else titles
    if len(named) != len(texts):
        raise UsageError(f"are {len(named)} for {len(texts)} texts", subject="`titles`", next_step="give one for each")
    return [
        Hit(Chunk(f"text {at}", f"text {at}", "", title, 0, len(text), text), Score(0.0, PROBABILITY), at + 1)
        for at, (text, title) in enumerate(zip(texts, named, strict=True))
    ]


def _check(question: str, top_n: int | None, span_score: float) -> None:
    check_type("question", question, str, "a text")
    check_type("top_n", top_n or 0, int, "a whole number")
    check_type("span_score", span_score, (int, float), "a number from 0 to 1")
    if not question.strip():
        raise UsageError("the question is empty", next_step="ask something")
    if top_n is not None and top_n < 1:
        raise UsageError("must be at least 1", subject=f"`top_n` {top_n}")
    if not 0 <= span_score <= 1:
        raise UsageError("is no probability", subject=f"`span_score` {span_score}", next_step="give one from 0 to 1")


def _relevant(refine: StripRefiner, query: Query, hit: Hit) -> tuple[RelevantSpan, ...]:
    pieces = refine(query, [hit]).evidence
    return tuple(RelevantSpan(piece.start, piece.end, _probability(piece.hit.scores[STRIP].value)) for piece in pieces)
