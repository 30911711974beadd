"""`corrective`: our own recipe and the default. It takes from each published method what measurements confirmed.

Follows:   CRAG: judge, decide, correct, refine (arXiv:2401.15884v3, section 4). ECRAG: chunks with subchunks (section
           4.2). ChunkRAG: redundancy before judging, best first (Algorithm 1, lines 5 to 10). Hybrid report: dense and
           BM25 together, a cross-encoder where one is configured.
Departs:   Refinement keeps the eight best chunks whole, without sentences that give orders; `refine.of=all` cuts them
           into strips as CRAG does, which lost what sentences mean together (docs/decisions.md). The title of its
           document stands in front of a chunk; references of papers are left out. Only subchunks are encoded: the score
           of a chunk is that of its nearest subchunk. Scores are probabilities, fitted on labelled questions and, with
           `thresher calibrate`, on the collection; the bounds of the verdicts are fitted with them, not published
           constants.
           If the calibration cannot separate good from bad evidence, the verdict between the bounds is `unsure`, which
           acts as ambiguous. The trained judge scores twelve chunks, the chat model only those between the bounds; of
           these the best three or five go on where one of them is probable and not all are. Without one it scores
           eight, or three or five where one of them is probable. The question is rewritten only if the first search
           found nothing good. A `correct` verdict below 0.83 searches outside too, as a second opinion. Chunks from
           outside are judged like those from inside; dropped ones are not used. The verdict for a question of one word
           is at most ambiguous.
Answer:    written by the chat model; without one, or if it fails, the best passage or cell. Each sentence of the model
           is checked against the documents: unverified ones are marked, contradicted ones removed and counted, citation
           markers corrected (`answer.check=mark`, `answer.mode`). A question about a document as a whole gets its
           outline, or a summary that the chat model writes part by part.
Left open: nothing is published about it; docs/decisions.md has the measurement of every number. Without a chat model
           nothing is rewritten, the trained judge decides alone, and the best passage or cell is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from thresher.judging.calibration import Calibration
from thresher.judging.judge import ORDER, Fixed, RankedJudge, ScoringJudge
from thresher.judging.scorers import BandedScorer, CalibratedScorer, EachPartScorer
from thresher.judging.verdicts import Calibrated
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, Judge, LanguageModel, Retriever, Scorer
from thresher.recipes import cuts
from thresher.recipes.build import answerer, corrector, generator, redundancy, strips, verifier
from thresher.recipes.components import STATIC, Components
from thresher.recipes.judges import calibration, mapping, raw_scorer, weight_note
from thresher.recipes.settings import CorrectiveSettings
from thresher.refinement.refine import BestHits
from thresher.retrieval.search import (
    CutRetriever,
    EachPartRetriever,
    ExactRetriever,
    HierarchyRetriever,
    weighted_fusion,
)
from thresher.retrieval.wrappers import (
    INTRODUCES,
    DeduplicatedRetriever,
    IntroducingRetriever,
    RerankedRetriever,
    SecondLookRetriever,
)
from thresher.text.entities import facts_in
from thresher.types import Hit, Query

if TYPE_CHECKING:
    from thresher.judging.calibration import ModelWeight
    from thresher.models.usage import Meter

MOST_JUDGED = 12
"""Chunks that are judged; of more (a long list of results was asked for) the others follow unjudged. Of 405 questions
of seven sets one of three is right for 371 with 8, 372 with 10, 371 with 12, 370 with 20 and 369 with all 35."""

MOST_JUDGED_ALONE = 8
"""Chunks that are judged without a chat model. Of 186 questions with an answer, the half of five sets for choosing, the
first is right for 163 and one of three for 177 (with twelve 163, 176); of the other 150 133 and 142 (133, 142)."""

ENOUGH = ((3, 0.8), (5, 0.5))
"""Chunks, and the probability of one from which those behind are not needed. Without a chat model these are not judged:
of 164 questions with an answer, the half for choosing, the first is right for 145 (145 with all eight) and one of three
for 156 (156); of the other 172 151 (151) and 163 (163), and .77 of the tokens of five at once are read. A chat model is
not given them: 538 of 570 questions have what is expected in the others, 539 in the best eight, a third longer."""

SECOND_OPINION_BELOW = 0.83
"""Probability below which a correct verdict gets a second opinion from another collection (docs/decisions.md)."""

RANK_WEIGHT = 0.235
"""Of the logarithm of a chunk's rank beside the log odds of its probability: 0.5 beside the judge's logit."""

INTRODUCTION = 1.4
"""Log odds for the passage of a document that first names the subject of "What is X?"."""

MOST_REFINED = 8
"""Chunks handed on, inside and outside each, the best judged ones: what a small chat model reads at once."""

STRIP_LOWER = 0.2
"""Raw score of our judge that a sentence needs to become evidence."""


def pipeline(settings: CorrectiveSettings, parts: Components, name: str) -> Pipeline:
    """Retrieved over the hierarchy, judged, corrected, refined, answered, verified."""
    chunks, found = searched(settings, parts)
    scorer = EachPartScorer(raw_scorer(settings, parts, chunks))
    learned = calibration(settings, parts, scorer.name)
    # The trained judge reads no vectors, so static ones do not change what its score means.
    fits = settings.encoder == STATIC or learned.encoder == parts.encoder(settings).name
    lower, upper = bounds(settings, learned)
    model = parts.language_model(settings.llm)
    weight = measured_weight(learned, model)

    def judge(raw: Scorer) -> Judge:
        """Our probabilities; where they are unsure, with those of a chat model that was found to help."""
        judging: Scorer = CalibratedScorer(raw, learned)
        if model is not None and settings.judge == "auto" and weight is not None and weight.counts:
            judging = BandedScorer(judging, model_relevance(settings, model, parts.meter), lower, upper, weight)
        scored = ScoringJudge(judging, Fixed(settings.min_probability), order=False)
        # For a chat model all are judged: the best of twelve is not always among the first.
        stages = () if model else ENOUGH
        return RankedJudge(scored, RANK_WEIGHT, most_judged(settings), stages, (INTRODUCES, INTRODUCTION))

    def judge_of(there: Components) -> Judge:
        if there is parts:
            return judge(scorer)
        return judge(EachPartScorer(raw_scorer(settings, there, searched(settings, there)[0])))

    correct, _ = corrector(
        settings, parts, lambda there: searched(settings, there)[1], judge=judge_of, sure=SECOND_OPINION_BELOW
    )
    offline = answerer(settings, parts, chunks, rivals=True)
    generate, degraded = generator(settings, parts, chunks, offline)
    shown = replace(offline, answered_from=inf, certified_from=None)
    nearest, _ = generator(settings, parts, chunks, shown, insufficient=True)
    used = mapping(learned, fits=fits) + weight_note(weight)
    return Pipeline(
        recipe=name,
        retrieve=second_look(found, model if settings.rewrite else None, CalibratedScorer(scorer, learned), upper),
        judge=judge(scorer),
        decide=Calibrated(lower, upper, learned.separated and fits, mapping=used, calibrated=fits),
        correct=correct,
        refine=BestHits(strips(settings, scorer, STRIP_LOWER), MOST_REFINED, by=ORDER, enough=ENOUGH if model else ()),
        generate=generate,
        nearest=nearest,
        refuse=replace(offline, min_confidence=inf),
        verify=verifier(settings.answer, parts),
        meter=parts.meter,
        degraded=degraded,
    )


def bounds(settings: CorrectiveSettings, learned: Calibration) -> tuple[float, float]:
    """LOWER and UPPER: those of the settings, or the calibration's; its LOWER gives way to an UPPER below it."""
    upper = learned.upper if settings.upper is None else settings.upper
    return min(learned.lower, upper) if settings.lower is None else settings.lower, upper


def searched(settings: CorrectiveSettings, parts: Components) -> tuple[ChunkTable, Retriever]:
    """The chunks, and what finds them.

    Two lists over the hierarchy, without repetition, reranked where a cross-encoder is configured, cut.
    """
    cut = cuts.corrective(settings, parts)
    chunks = parts.table(cut, "chunk")
    weights = (settings.fuse.dense_weight, settings.fuse.lexical_weight)
    found: Retriever = HierarchyRetriever(
        chunks,
        parts.table(cut, "subchunk"),
        parts.encoder(settings),
        settings.dense.depth,
        settings.lexical.depth,
        partial(weighted_fusion, weights=weights),
    )
    alike = redundancy(settings.dedup, chunks, facts=lambda hit: facts_in(hit.chunk.titled))
    found = DeduplicatedRetriever(ExactRetriever(EachPartRetriever(found), chunks), alike)
    reranker = parts.reranker(settings)
    if reranker is not None:
        found = RerankedRetriever(found, reranker, titled=settings.titled)
    # None follows unjudged but where a longer list is asked for: what is left of the others would pass for good.
    return chunks, CutRetriever(IntroducingRetriever(found), least=most_judged(settings))


def most_judged(settings: CorrectiveSettings) -> int:
    """Chunks that are judged, fewer without a chat model."""
    return MOST_JUDGED if settings.llm.configured else MOST_JUDGED_ALONE


def second_look(found: Retriever, model: LanguageModel | None, scorer: Scorer, upper: float) -> Retriever:
    """The retriever; with a chat model, a question that finds nothing good is reworded and searched again."""
    if model is None:
        return found
    from thresher.question.rewrite import LLMRewriter

    def suffices(query: Query, hits: Sequence[Hit]) -> bool:
        scores = scorer(query, hits).scores
        return any(score is not None and score.value >= upper for score in scores)

    return SecondLookRetriever(found, LLMRewriter(model), suffices)


def measured_weight(learned: Calibration, model: LanguageModel | None) -> ModelWeight | None:
    """The weight of this chat model, where it was measured in this collection."""
    return learned.model if model is not None and learned.model and learned.model.model == model.name else None


def model_relevance(settings: CorrectiveSettings, model: LanguageModel, meter: Meter) -> Scorer:
    """How the chat model judges; a budget of calls is for one call that grades all chunks."""
    from thresher.judging.llm_scorers import GRADES, LikelihoodRelevance, LLMRelevance

    workers = settings.llm.concurrency
    graded = LLMRelevance(model, batch=settings.batch, workers=workers, prompt=GRADES)
    return LikelihoodRelevance(model, graded, workers=workers) if meter.max_calls is None else graded
