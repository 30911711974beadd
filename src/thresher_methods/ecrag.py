"""`ecrag`: chunk summaries first, then the subchunks of the best chunks; a confidence of cosine and BM25 decides.

Follows:   ECRAG thesis, sections 4.2, 5.2 and 5.3: sentence-packed chunks of 2500 characters (overlap 100, at least
           300), subchunks of 300 (overlap 50); a summary of each chunk is encoded, and each subchunk; the nearest
           summaries, then the nearest among their subchunks; confidence C = 0.7 cosine + 0.3 BM25 (k1 1.2, b 0.75),
           kept from 0.50; the query is internal, ambiguous or external (our correct, ambiguous, incorrect), and the
           last two go outside.
Departs:   X1, X2, X4 the printed pseudo-code loses overlaps, minimum and the last subchunk of every chunk, and gives a
           short chunk none; here nothing is lost. X5 the overlap of subchunks begins at a word. X6 the formula's "1" is
           l. X8 the confidence is the weighted one of the text, not the sum of the figure. X9 the figure drops the
           worst candidate of each list whatever its score, and everything when there is one; here a candidate goes only
           when its raw cosine or its raw BM25 is not above 0. X11 BM25 counts the whole collection, not the handful
           that was retrieved. Chunks and subchunks are identified by document, level and span, not by the global
           counters of section 4.2: also unique, and adding or deleting a document renames none of another. The title
           of its document precedes a summary or subchunk for the encoder and BM25 (the preset is without).
           Vectors are in LanceDB, not in FAISS; sentences are cut by sentencex, not by NLTK.
Left open: k1 = 5 chunks, k2 = 10 subchunks, 5 handed on. X10 how the confidence routes: by its absolute form (cosine
           clipped to 0..1, BM25 divided by the most a question can reach), internal from 0.50, external below 0.30
           (CRAG's lower bound). The refinement that the thesis names and does not describe: strips, as in CRAG, of what
           was found outside; subchunks are hardly longer than a strip and are handed on whole (`refine.of=all` cuts
           them too). X18 the summariser: the chat model where one is configured, else, which every answer says, whole
           sentences within the printed bounds of 0.20 and 0.50 of a chunk's tokens stand in for the abstracts of
           facebook/bart-large-cnn; a chunk too short for that is its own summary. The encoder (all-MiniLM-L6-v2).
           X7 vectors have unit length, so L2 (the printed index) and cosine order alike; both are in the trace.
Answer:    written by the chat model where one is configured and shown as it came, as published, with the state of each
           sentence beside it (`answer.check=none`). Without a model, and where it fails, the best passage or cell.
Settings:  `subchunk.tail` (X4), `subchunk.overlap` (X5), `metric` (X7), `kdm.combine` (X8),
           `kdm.nonzero_rule` (X9), `kdm.internal`, `kdm.external` (X10), `kdm.fit`, `kdm.idf` (X11), `summary`
           (X18); for ablations `flat` (no summaries first), `kdm.route=off` (never outside), `refine.of`. X3 the
           formulas for numbers of chunks are estimates; `thresher status --json` has them beside the numbers there are.

`ecrag-literal` is the code as printed, to measure what its defects do; it encodes chunks without titles.
"""

from __future__ import annotations

from thresher.parts.answering import corrector, generator, quote_checker, strips
from thresher.parts.chunking import Components
from thresher.parts.judging import ABSOLUTE, Bounds, Fixed, ScoringJudge, ThreeWay, evaluator, stand_in
from thresher.pipeline import Pipeline, always_correct
from thresher.protocols import ChunkTable, Decider, Judge
from thresher_methods import cuts
from thresher_methods.coarse_to_fine import CoarseToFineRetriever
from thresher_methods.confidence import KDM, ConfidenceJudge, LexicalConfidence, Survivors
from thresher_methods.settings import EcragSettings
from thresher_methods.summaries import ExtractiveSummarizer

FINAL = 5
"""Subchunks handed on; the thesis gives k1 and k2 no values, and evaluates at 5."""

STRIP_LOWER = 0.3
"""Score a strip needs: CRAG's lower bound, since the thesis does not say how it refines."""

EXTRACTED = (
    "retrieve: no chat model is configured (llm.base_url, llm.model); chunks are found by sentences of theirs, not by "
    "summaries"
)

NOT_SUMMARISED = (
    "retrieve: the chat model's summaries are not made for every document; found by sentences of the chunks "
    "(`thresher index PATH --recipe ecrag` with this model makes them)"
)


def pipeline(settings: EcragSettings, parts: Components, name: str) -> Pipeline:
    """Coarse to fine, chosen and routed by the confidence, corrected, refined."""
    index = cuts.ecrag(settings, parts)
    # Decided once: that what is not prepared is not, would be seen anew by every part.
    prepared = settings
    lacks: tuple[str, ...] = ()
    if isinstance(index.summarizer, ExtractiveSummarizer) and settings.summary in ("auto", "llm"):
        prepared = settings.model_copy(update={"summary": "extractive"})
        lacks = (NOT_SUMMARISED if settings.llm.configured else EXTRACTED,)
    table = parts.table(index, "subchunk")
    judge, decide, degraded = judged(settings, parts, table)
    scorer, _ = evaluator(settings.model_copy(update={"judge": "auto"}), parts, table)
    correct, without_words = corrector(settings, parts, lambda there: _retriever(prepared, there))
    generate, without_model = generator(settings, parts, table)
    return Pipeline(
        recipe=name,
        retrieve=_retriever(prepared, parts),
        judge=judge,
        decide=decide,
        correct=correct,
        refine=strips(settings, scorer, STRIP_LOWER),
        generate=generate,
        verify=quote_checker(parts),
        meter=parts.meter,
        degraded=(*lacks, *degraded, *without_words, *without_model),
    )


def judged(settings: EcragSettings, parts: Components, table: ChunkTable) -> tuple[Judge, Decider, tuple[str, ...]]:
    """The confidence and its routing, or another judge with the same bounds; and what it lacks."""
    kdm = settings.kdm
    if settings.judge != "kdm":
        scorer, lacks = evaluator(settings, parts, table)
        bounds = Bounds(kdm.external, kdm.internal, "code", scorer.scale)
        other = ScoringJudge(scorer, Fixed(kdm.external), otherwise=stand_in(settings, parts, table, scorer))
        return other, always_correct if kdm.route == "off" else ThreeWay(bounds), lacks
    lexical = LexicalConfidence(table, fit=kdm.fit, kind=kdm.idf, titled=settings.titled)
    judge = ConfidenceJudge(
        lexical, lexical.ceiling, kdm.combine, kdm.cosine_weight, kdm.nonzero_rule, kdm.cut, keep=FINAL
    )
    routes: dict[str, Decider] = {
        "absolute": ThreeWay(Bounds(kdm.external, kdm.internal, "code", KDM), ABSOLUTE),
        "survivors": Survivors(),
        "off": always_correct,
    }
    return judge, routes[kdm.route], ()


def _retriever(settings: EcragSettings, parts: Components) -> CoarseToFineRetriever:
    cut = cuts.ecrag(settings, parts)
    return CoarseToFineRetriever(
        parts.table(cut, "chunk"),
        parts.table(cut, "subchunk"),
        parts.encoder(settings),
        settings.coarse,
        settings.fine,
        literal=settings.literal,
        flat=settings.flat,
        metric=settings.metric,
    )
