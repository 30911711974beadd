"""`crag`: judge what was retrieved, refine it strip by strip, and go and search when it is not enough.

Follows:   CRAG (Yan et al., arXiv:2401.15884v3, sections 4.2 to 4.5) in the reading of an implementation guide to it: a
           score from 0 to 1 for each chunk; correct when one is above 0.7, incorrect when all are at most 0.3,
           ambiguous otherwise; the chunks above 0.3 are refined when correct, what was found outside when incorrect,
           both when ambiguous. Refinement cuts into sentences, keeps the 5 best that reach the lower bound and puts
           them together in document order. Search words are rewritten to 6 to 14 words. 10 chunks are judged, and 5
           results of a search are read (the paper's repository).
Departs:   Z4, Z5 what was found outside is refined too, and ambiguous goes outside too (one heading and a figure of the
           guide say otherwise). Z7 strips are cut off by number and by score (the paper; its code by number alone). Z9
           inside and outside stay two groups, refined each by itself, without repetition, with their sources. Many
           chunks are judged in one call; `batch=1` is a call for each, as published. The title of its document stands
           in front of a chunk for the encoder and a cross-encoder that judges (the presets are without).
Left open: the chunks (900 characters without overlap, the guide's example); the prompts, which are our own wording of
           the purposes; Z11 what to do when the search fails: the results' snippets, then the collection alone
           (ambiguous), then an abstention (incorrect). Without a chat model the local judge scores, and the question
           itself is searched for, both visibly.
Answer:    written by the chat model where one is configured and shown as it came, as published, with the state of each
           sentence beside it (`answer.check=none`). Without a model, and where it fails, the best passage or cell.
CragSettings:  Z1 `bounds`: `blog` (> upper is correct, all <= lower is incorrect), `paper` (all < lower), `code` (>=
           upper). Z2 `upper`, `lower`; the scale is the preset's. Z3 one chunk above the lower bound is enough for
           ambiguous. Z7 `refine.top_k`, `refine.min_score`, `refine.order`. Z8 `decompose`. Z10 `search.style`. Z6 an
           empty retrieval is incorrect. The ablations of Tables 2, 3 and 11 are `actions`, `refine.of` and
           `search.style=question`.

`crag-paper` has the fine-tuned evaluator's scale (-1 to 1, bounds 0.59 and -0.99, strips from -0.5) and at most three
keywords; the evaluator itself cannot be had, so `judge` is a cross-encoder with one logit, or else twice our
probability minus one, which every answer says. `crag-code` is the repository's run script: bounds 0.592 and -0.995 with
>=, whole chunks as strips (`selection`), the best 3 in the order of their scores, no score to reach; of the web it
searches Wikipedia alone (`web.sites`). Both encode chunks without titles.
"""

from __future__ import annotations

from dataclasses import replace

from thresher.parts.answering import corrector, generator, quote_checker, strips
from thresher.parts.chunking import Components
from thresher.parts.judging import Bounds, CrossEncoderScorer, ScoringJudge, ThreeWay, evaluator, stand_in
from thresher.parts.retrieval import DenseRetriever
from thresher.pipeline import Pipeline
from thresher.types import T5
from thresher_methods import cuts
from thresher_methods.actions import RestrictedDecider, threshold
from thresher_methods.settings import CragSettings
from thresher_methods.t5 import StandInForT5


def pipeline(settings: CragSettings, parts: Components, name: str) -> Pipeline:
    """Dense retrieval, evaluated, corrected, refined."""
    table = parts.table(cuts.crag(settings, parts))
    scorer, degraded = evaluator(settings, parts, table)
    if isinstance(scorer, CrossEncoderScorer):
        scorer = replace(scorer, titled=settings.titled)
        if settings.t5:  # a cross-encoder's logit as it is
            scorer = replace(scorer, scale=T5)
    elif settings.t5:
        scorer = StandInForT5(scorer)
    bounds = Bounds(settings.lower, settings.upper, settings.bounds, scorer.scale)
    instead = stand_in(settings, parts, table, scorer)
    judge = ScoringJudge(scorer, threshold(bounds, settings.actions), otherwise=instead)
    correct, without_words = corrector(settings, parts, lambda there: _retriever(settings, there))
    generate, without_model = generator(settings, parts, table)
    return Pipeline(
        recipe=name,
        retrieve=_retriever(settings, parts),
        judge=judge,
        decide=RestrictedDecider(ThreeWay(bounds), settings.actions),
        correct=correct,
        refine=strips(settings, scorer, settings.lower),
        generate=generate,
        verify=quote_checker(parts),
        meter=parts.meter,
        degraded=(*degraded, *without_words, *without_model),
    )


def _retriever(settings: CragSettings, parts: Components) -> DenseRetriever:
    return DenseRetriever(parts.table(cuts.crag(settings, parts)), parts.encoder(settings), settings.dense.depth)
