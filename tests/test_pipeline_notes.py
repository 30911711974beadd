"""Whatever a part had to do without reaches the answer, whichever parts are wrapped around it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from thresher.answering.chat_model import GroundedGenerator
from thresher.answering.checked_answer import ClaimVerifier
from thresher.answering.citations import SUPPORT, ConflictCiter, QuoteChecker, Sentence, cite
from thresher.correction.corrector import RetrieverSource, SearchingCorrector
from thresher.correction.search_query import SearchQuery
from thresher.errors import ProviderError
from thresher.judging.calibration import SHIPPED, ModelWeight
from thresher.judging.judge import KeepAll, RankedJudge, ScoringJudge, ThresholdResult
from thresher.judging.scorers import BandedScorer, CalibratedScorer
from thresher.models.usage import Meter
from thresher.pipeline import Pipeline
from thresher.protocols import Judge, Refiner, Retriever, Scorer
from thresher.recipes.build import RefinerInPart
from thresher.refinement.refine import BestHits, StripRefiner, selection
from thresher.retrieval.search import CutRetriever, FusedRetriever, reciprocal_rank_fusion
from thresher.retrieval.wrappers import (
    DeduplicatedRetriever,
    Redundancy,
    RerankedRetriever,
    SecondLookRetriever,
)
from thresher.structure.locators import locate
from thresher.testing.fakes import HashEncoder, ScriptedModel
from thresher.types import (
    COSINE,
    NO_NOTES,
    UNIT,
    Chunk,
    ClaimState,
    Decision,
    Evidence,
    Generation,
    Hit,
    Judged,
    Judgement,
    Notes,
    Query,
    Refined,
    Scale,
    Score,
    Scores,
    Verdict,
)
from thresher.verification.claims import Cited, Finding, Findings
from thresher_methods.ordering import RerankedJudge
from thresher_methods.stages import MultiStageScorer

PARTS = (
    *("rewrite", "dense", "lexical", "rerank", "redundancy", "other words", "scorer", "second scorer", "stage"),
    *("threshold", "order", "search words", "outside", "outside judge", "strips", "reader", "model"),
    "check",
)
SCORERS = ("calibrated", "banded", "staged")


def hits(*names: str) -> tuple[Hit, ...]:
    score = Score(0.5, COSINE)
    chunks = [Chunk(name, f"of {name}", name, "", 0, 19, f"The {name} is 9 m high.") for name in names]
    return tuple(Hit(chunk, score, rank, scores={"dense": score}) for rank, chunk in enumerate(chunks, 1))


@dataclass(frozen=True)
class Engine:
    """Parts of every room, of which those named in `down` fail or say that they are degraded."""

    down: Collection[str]

    def notes(self, part: str) -> Notes:
        return Notes((f"<{part}>",)) if part in self.down else NO_NOTES

    def works(self, part: str) -> None:
        if part in self.down:
            raise ProviderError(f"<{part}>")

    def search(self, part: str, *names: str) -> Retriever:
        return lambda query: Judged(tuple(Judgement(hit, keep=True) for hit in hits(*names)), self.notes(part))

    def cross_encoder(self, part: str) -> Callable[[str, Sequence[str]], list[Score]]:
        def score(question: str, texts: Sequence[str]) -> list[Score]:
            self.works(part)
            return [Score(0.5, UNIT) for _ in texts]

        score.name = part  # type: ignore[attr-defined]
        return score

    def scorer(self, part: str, scale: Scale = UNIT) -> Scorer:
        engine = self

        class Half:
            name = part

            def __init__(self) -> None:
                self.scale = scale

            def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
                return Scores(tuple(Score(0.5, scale) for _ in hits), engine.notes(part))

        return Half()

    def retriever(self, wrappers: Sequence[str]) -> Retriever:
        def embed(hits: Sequence[Hit]):  # type: ignore[no-untyped-def]
            self.works("redundancy")
            return HashEncoder().encode([hit.chunk.text for hit in hits])

        def rewritten(query: Query) -> Query:
            return replace(query, search="other words", notes=self.notes("other words"))

        lists = (self.search("dense", "mast", "dome"), self.search("lexical", "dome", "spire"))
        found: Retriever = FusedRetriever(lists, reciprocal_rank_fusion)
        for wrapper in wrappers:
            match wrapper:
                case "rerank":
                    found = RerankedRetriever(found, self.cross_encoder("rerank"))  # type: ignore[arg-type]
                case "redundancy":
                    found = DeduplicatedRetriever(found, Redundancy(embed=embed))
                case "other words":
                    found = SecondLookRetriever(found, rewritten, lambda query, hits: False)
                case _:
                    found = CutRetriever(found, protect=1)
        return found

    def judge(self, wrappers: Sequence[str]) -> Judge:
        scorer = self.scorer("scorer")
        for wrapper in wrappers:
            match wrapper:
                case "calibrated" if scorer.scale == UNIT:
                    scorer = CalibratedScorer(scorer, SHIPPED["local"])
                case "banded":
                    scorer = BandedScorer(
                        scorer,
                        self.scorer("second scorer"),
                        0.0,
                        1.0,
                        ModelWeight("m", 1.0, 1.0, 0.0, 99, 0.2, (0.1, 0.3)),
                    )
                case _:
                    scorer = MultiStageScorer(scorer, lambda query, hits, earlier: self.stage(hits), None)
        judge = ScoringJudge(scorer, _Noting(self.notes("threshold")), order=False)
        return RankedJudge(RerankedJudge(judge, self.cross_encoder("order")), 0.5, 5)  # type: ignore[arg-type]

    def stage(self, hits: Sequence[Hit]) -> Scores:
        return Scores(tuple(Score(0.5, UNIT) for _ in hits), self.notes("stage"))

    def corrector(self) -> SearchingCorrector:
        def judge(query: Query, hits: Sequence[Hit]) -> Judged:
            return Judged(tuple(Judgement(hit, keep=True) for hit in hits), self.notes("outside judge"))

        source = RetrieverSource(self.search("outside", "gate"), "collection:other")
        return SearchingCorrector(lambda query: SearchQuery("gate", self.notes("search words")), source, judge)

    def refiner(self, wrapper: str) -> Refiner:
        strips = StripRefiner(selection, self.scorer("strips"))
        return RefinerInPart(strips, "inside") if wrapper == "in part" else BestHits(strips, 3)

    def generator(self) -> GroundedGenerator:
        def quote(query: Query, evidence: Sequence[Evidence]) -> Generation:
            cited = tuple(cite(at, Sentence.whole(piece, Score(0.5, SUPPORT))) for at, piece in enumerate(evidence, 1))
            return Generation("It is 9 m high. [1]", cited, notes=self.notes("reader"))

        def reply(system: str, user: str) -> str:
            raise ProviderError("<model>")

        return GroundedGenerator(ScriptedModel(reply), Holding(self), quote)

    def verify(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        checked = ClaimVerifier(lambda: Holding(self))(query, draft, refined)
        quotes = QuoteChecker(lambda ids: {}, locate)
        return ConflictCiter(quotes, quotes.placed)(query, checked, refined)


@dataclass(frozen=True)
class Holding:
    """A check that finds everything supported by the first piece."""

    engine: Engine

    def __call__(self, question: str, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        finding = Finding(ClaimState.SUPPORTED, 1.0, pieces=(0,), places=(evidence[0],))
        return Findings(tuple(finding for _ in claims), self.engine.notes("check"))

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        return 0, len(piece.text), 0.5


@dataclass(frozen=True)
class _Noting:
    notes: Notes

    def check(self, scale: Scale) -> None: ...

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        return replace(KeepAll()(query, scored), notes=self.notes)


@given(
    st.sets(st.sampled_from(PARTS)),
    st.permutations(["rerank", "redundancy", "other words", "cut"]),
    st.permutations(SCORERS),
    st.sampled_from(["in part", "best hits"]),
)
def test_every_degradation_reaches_the_answer(
    down: set[str], retrieval: list[str], judging: list[str], refinement: str
) -> None:
    engine = Engine({*down, "model"})
    pipeline = Pipeline(
        "made",
        rewrite=lambda query: replace(query, notes=engine.notes("rewrite")),
        retrieve=engine.retriever(retrieval),
        judge=engine.judge(judging),
        decide=lambda query, judged: Decision(Verdict.AMBIGUOUS, notes=Notes(("<decide>",))),
        correct=engine.corrector(),
        refine=engine.refiner(refinement),
        generate=engine.generator(),
        verify=engine.verify,
        meter=Meter(),
        degraded=("<recipe>",),
    )
    answer = pipeline.answer(Query("How high is it?", "high"))
    told = {part for part in PARTS if any(f"<{part}>" in lack for lack in answer.degraded)}
    assert told == {*down, "model"}
    assert {"<recipe>", "<decide>"} <= set(answer.degraded)
    assert len(answer.degraded) == len(set(answer.degraded))
