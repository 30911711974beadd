from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import UsageError
from thresher.recipes.build import RefinerInPart
from thresher.refinement.refine import STRIP, BestHits, PassageRefiner, StripRefiner, selection, sentences
from thresher.types import (
    COSINE,
    NO_NOTES,
    UNIT,
    Chunk,
    Hit,
    Notes,
    Origin,
    Query,
    Refined,
    Scale,
    Score,
    Scores,
)

Make = Callable[..., Hit]
QUERY = Query("What is the capital of France?", "What is the capital of France?")
CUT = sentences


@dataclass(frozen=True)
class Given:
    """Scores by what a text holds; the first that matches counts, None is unreadable."""

    values: Mapping[str, float | None]
    otherwise: float | None = 0.0
    notes: Notes = NO_NOTES
    seen: list[list[str]] = field(default_factory=list)
    name: str = "given"
    scale: Scale = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        self.seen.append([hit.chunk.text for hit in hits])
        values = [next((v for k, v in self.values.items() if k in hit.chunk.text), self.otherwise) for hit in hits]
        return Scores(tuple(None if v is None else Score(v, UNIT) for v in values), self.notes)


FRANCE = (
    "Lyon is famous for its food. Marseille is a port on the sea. Paris is the capital of France. "
    "Nice lies in the south. Bordeaux makes wine."
)
ABOUT_PARIS = Given({"capital": 0.95, "Lyon": 0.2, "Marseille": 0.1})


@pytest.fixture
def hits(make_hit: Make) -> list[Hit]:
    """Letters are worth what `LETTERS` says; two chunks of one document, and one of another."""
    return [
        make_hit("late", rank=1, document="d1", start=100, text="About c this. About a this."),
        make_hit("other", rank=2, document="d2", text="About b this. About d this. About e this."),
        make_hit("early", rank=3, document="d1", text="About f this. About g this."),
    ]


LETTERS = Given({" a ": 0.9, " b ": 0.8, " c ": 0.7, " d ": 0.6, " e ": 0.5, " f ": 0.4, " g ": 0.1})


def texts(refined: Refined) -> list[str]:
    return [piece.text for piece in refined.evidence]


def letters(refined: Refined) -> str:
    return "".join(piece.text.split()[1] for piece in refined.evidence)


def reasons(refined: Refined) -> dict[str, tuple[bool, str]]:
    return {judgement.hit.chunk.id: (judgement.keep, judgement.reason) for judgement in refined.judgements}


# --- the example of the guide -----------------------------------------------------------------------------------------


def test_of_the_french_cities_the_capital_stays(make_hit: Make) -> None:
    hit = make_hit("france", text=FRANCE, start=40)
    refined = StripRefiner(CUT, ABOUT_PARIS, min_score=0.3)(QUERY, [hit])
    (piece,) = refined.evidence
    assert piece.text == "Paris is the capital of France."
    assert (piece.start, piece.end) == (40 + FRANCE.index("Paris"), 40 + FRANCE.index("Paris") + len(piece.text))
    assert piece.hit.chunk == hit.chunk
    assert piece.hit.scores[STRIP] == Score(0.95, UNIT)
    (judgement,) = refined.judgements
    assert (judgement.keep, judgement.reason) == (True, "1 of 5 strips stays, best 0.95")
    assert judgement.score == Score(0.95, UNIT)


def test_a_library_that_says_nothing_of_it_leaves_nothing(make_hit: Make) -> None:
    hit = make_hit("trees", text="A decision tree splits on features. A forest votes.")
    refined = StripRefiner(CUT, Given({"tree": 0.21}, 0.1), min_score=0.3)(QUERY, [hit])
    assert refined.evidence == ()
    assert reasons(refined) == {"trees": (False, "no strip reaches 0.30, best 0.21")}


# --- filter and order -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "stay"),
    [
        ({"top_k": 5, "min_score": 0.55}, "cabd"),
        ({"top_k": 3, "min_score": 0.55}, "cab"),
        ({"top_k": 6}, "fcabde"),
        ({"top_k": None, "min_score": 0.6}, "cabd"),  # d just reaches it
        ({"top_k": 6, "order": "score"}, "abcdef"),  # the released code
        ({"min_score": 0.95}, ""),
    ],
)
def test_strips_stay_by_number_and_by_score(hits: list[Hit], settings: dict[str, Any], stay: str) -> None:
    assert letters(StripRefiner(CUT, LETTERS, **settings)(QUERY, hits)) == stay


def test_what_stays_and_what_does_not_is_told_of_every_hit(hits: list[Hit]) -> None:
    assert reasons(StripRefiner(CUT, LETTERS, top_k=3)(QUERY, hits)) == {
        "late": (True, "2 of 2 strips stay, best 0.90"),
        "other": (True, "1 of 3 strips stays, best 0.80"),
        "early": (False, "its best strip is below the best 3, best 0.40"),
    }


def test_strips_of_a_single_word_are_not_judged(make_hit: Make) -> None:
    scorer = Given({}, 0.9)
    hit, alone = make_hit("c1", text="BERT. It has twelve layers."), make_hit("c2", text="BERT.")
    refined = StripRefiner(CUT, scorer)(QUERY, [hit, alone])
    assert scorer.seen == [["It has twelve layers."]]
    assert reasons(refined)["c2"] == (False, "its best strip is too short")
    assert refined.notes.facts["too_short"] == 2
    cats = make_hit(text="Dogs bark loud. Cats meow all night.")
    assert texts(StripRefiner(CUT, scorer, min_words=4)(QUERY, [cats])) == ["Cats meow all night."]


def test_all_strips_are_scored_in_one_call_and_without_hits_there_is_none(hits: list[Hit]) -> None:
    scorer = Given({})
    assert StripRefiner(CUT, scorer)(QUERY, []).evidence == ()
    StripRefiner(CUT, scorer)(QUERY, hits)
    assert [len(call) for call in scorer.seen] == [7]


def test_a_threshold_off_the_scale_is_refused() -> None:
    with pytest.raises(UsageError, match="not on the scale"):
        StripRefiner(CUT, LETTERS, min_score=-0.5)


def test_overlapping_strips_of_one_chunk_are_one_piece(make_hit: Make) -> None:
    def windows(hit: Hit) -> list[tuple[int, int]]:
        return [(0, 10), (6, 16), (16, 20)]

    refined = StripRefiner(windows, Given({"gh": 0.7}, 0.5))(QUERY, [make_hit(text="ab cd ef gh ij kl mn", start=5)])
    assert [(piece.start, piece.end, piece.text) for piece in refined.evidence] == [
        (5, 21, "ab cd ef gh ij k"),
        (21, 25, "l mn"),
    ]
    assert refined.evidence[0].hit.scores[STRIP].value == 0.7


# --- inside and outside -----------------------------------------------------------------------------------------------


@pytest.fixture
def both(make_hit: Make) -> list[Hit]:
    outside = Origin.OUTSIDE
    return [
        make_hit("in", text="About a this. About e this. About g this.", label="Doc1-Chunk1"),
        make_hit("out", text="About b this. About  A this. About f this.", document="web", origin=outside),
        make_hit("copy", text="About a this.", document="web2", origin=outside),
    ]


def test_inside_and_outside_have_five_each_and_inside_comes_first(both: list[Hit]) -> None:
    refined = StripRefiner(CUT, LETTERS, top_k=2)(QUERY, [both[1], both[0]])
    assert [(piece.hit.origin.value, piece.text) for piece in refined.evidence] == [
        ("inside", "About a this."),
        ("inside", "About e this."),
        ("outside", "About b this."),
        ("outside", "About f this."),
    ]


def test_what_is_said_twice_is_handed_over_once_and_both_sources_are_known(both: list[Hit]) -> None:
    refined = StripRefiner(CUT, LETTERS, top_k=3)(QUERY, both)
    assert letters(refined) == "aegbf"
    assert refined.judgements[0].stood_for == ("out", "copy")
    assert reasons(refined)["copy"] == (False, "says what Doc1-Chunk1 says, best 0.90")
    assert refined.notes.facts["copies"] == 2


# --- what a scorer cannot do ------------------------------------------------------------------------------------------


UNREADABLE = Given({" a ": None, " b ": None, " g ": 0.1}, 0.5, Notes(unreadable=2, facts={"truncated": 1}))


def test_an_unreadable_strip_is_kept_behind_the_others_whatever_the_threshold(hits: list[Hit]) -> None:
    refined = StripRefiner(CUT, UNREADABLE, top_k=5, min_score=0.2)(QUERY, hits)
    assert letters(refined) == "fcade"
    refined = StripRefiner(CUT, UNREADABLE, top_k=4, min_score=0.2)(QUERY, hits)
    assert letters(refined) == "fcde"
    assert (refined.notes.unreadable, refined.notes.facts["truncated"], refined.notes.facts["unscored"]) == (2, 1, 2)


def test_without_any_score_the_chunks_are_handed_over_whole_and_it_is_told(hits: list[Hit]) -> None:
    scorer = Given({}, None, Notes(("judge: no answer; not scored",)))
    refined = StripRefiner(CUT, scorer, top_k=2)(QUERY, hits)
    assert texts(refined) == [hits[0].chunk.text, hits[1].chunk.text]
    assert [judgement.hit.chunk.id for judgement in refined.judgements] == ["late", "other", "early"]
    assert refined.notes.degraded == (
        "judge: no answer; not scored",
        "refine: no strip could be scored; the chunks were kept whole",
    )


# --- contradictions ---------------------------------------------------------------------------------------------------


def test_contradictions_are_looked_for_in_the_evidence_as_it_is_numbered(make_hit: Make) -> None:
    texts = ("Nothing of it.", "BERT-base has 12 layers.", "BERT-base has 24 layers.")
    chunks = [make_hit(str(at), text=text, document=f"d{at}") for at, text in enumerate(texts)]
    for of in ("all", "inside", "outside", "none"):
        refined = RefinerInPart(StripRefiner(CUT, Given({"Nothing": 0.1}, 0.9)), of)(QUERY, chunks)  # type: ignore[arg-type]
        assert (refined.conflicts, refined.notes.facts["conflicts"]) == (((2, 3),), {"by_rules": 1})


# --- passages ---------------------------------------------------------------------------------------------------------


def test_passages_are_whole_chunks_in_an_order(hits: list[Hit]) -> None:
    for order, ids in (("given", "late other early"), ("edge", "late early other")):
        refined = PassageRefiner(order)(QUERY, hits)  # type: ignore[arg-type]
        assert [piece.hit.chunk.id for piece in refined.evidence] == ids.split()
        assert texts(refined) == [piece.hit.chunk.text for piece in refined.evidence]
    refined = StripRefiner(selection, LETTERS, top_k=1, order="score", min_words=4)(QUERY, hits)
    assert texts(refined) == [hits[0].chunk.text]


def test_the_best_of_each_side_are_refined_and_the_others_are_dropped(make_hit: Make) -> None:
    inside = [make_hit(id) for id in "abc"]
    outside = [make_hit(id, origin=Origin.OUTSIDE) for id in "xyz"]
    refined = BestHits(PassageRefiner(), 2)(QUERY, [*inside, *outside])
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["a", "b", "x", "y"]
    dropped = {one.hit.chunk.id: one.reason for one in refined.judgements if not one.keep}
    assert dropped == {"c": "below the best 2", "z": "below the best 2"}
    assert len(BestHits(PassageRefiner(), 5)(QUERY, [make_hit("a")]).evidence) == 1
    judged = [make_hit(id, value, name="judge") for id, value in {"a": 0.2, "b": 0.9, "c": 0.5}.items()]
    refined = BestHits(PassageRefiner(), 2, by="judge")(QUERY, [*judged, make_hit("d")])
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["b", "c"]
    dropped = {one.hit.chunk.id: one.reason for one in refined.judgements if not one.keep}
    assert dropped == {"a": "below the best 2", "d": "not judged"}
    refined = BestHits(PassageRefiner(), 4, by="judge")(QUERY, [make_hit("d"), *judged])
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["b", "c", "a"]
    refined = BestHits(PassageRefiner(), 4, by="judge")(QUERY, inside)
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["a", "b", "c"]


# --- laws -------------------------------------------------------------------------------------------------------------


@st.composite
def made_hits(draw: st.DrawFn) -> list[Hit]:
    texts = draw(st.lists(st.text(alphabet="ab .\n", max_size=60), max_size=5))
    hits = []
    for number, text in enumerate(texts):
        document = draw(st.sampled_from(["d1", "d2"]))
        chunk = Chunk(f"c{number}", document, document, "", 1000 * number, 1000 * number + len(text), text)
        hits.append(Hit(chunk, Score(0.5, COSINE), number + 1, draw(st.sampled_from(Origin))))
    return hits


@given(
    hits=made_hits(),
    top_k=st.integers(1, 4),
    min_score=st.sampled_from([None, 0.5]),
    values=st.dictionaries(st.sampled_from(["a", "bb", "b a"]), st.none() | st.floats(0, 1)),
)
def test_evidence_is_bounded_in_document_order_and_every_hit_is_judged(
    hits: list[Hit],
    top_k: int,
    min_score: float | None,
    values: dict[str, float | None],
) -> None:
    refiner = StripRefiner(CUT, Given(values), top_k, min_score, min_words=1)
    refined = refiner(QUERY, hits)
    assert sorted(j.hit.chunk.id for j in refined.judgements) == [hit.chunk.id for hit in hits]
    assert all(judgement.reason for judgement in refined.judgements)
    kept = {judgement.hit.chunk.id for judgement in refined.judgements if judgement.keep}
    assert {piece.hit.chunk.id for piece in refined.evidence} == kept
    for piece in refined.evidence:
        chunk = piece.hit.chunk
        assert chunk.text[piece.start - chunk.start : piece.end - chunk.start] == piece.text
    scored = refined.notes.facts["unscored"] == 0
    for origin in Origin:
        group = [piece for piece in refined.evidence if piece.hit.origin is origin]
        assert len(group) <= top_k
        for document in ("d1", "d2"):
            starts = [piece.start for piece in group if piece.hit.chunk.document_id == document]
            assert starts == sorted(starts) or not scored


@pytest.mark.parametrize(
    ("values", "question", "limit", "given"),
    [
        ([0.9, 0.3, 0.2, 0.2], "Who wrote it?", 3, "ab"),  # .9 is enough of two
        ([0.9, 0.6, 0.2, 0.2], "Who wrote it?", 3, "abc"),  # where both have .5 it is enough of three
        ([0.7, 0.4, 0.2, 0.2], "Who wrote it?", 3, "abc"),  # .7 is enough of three
        ([0.7, 0.6, 0.6, 0.2], "Who wrote it?", 3, "abcd"),  # there may be more such ones
        ([0.4, 0.4, 0.2, 0.2], "Who wrote it?", 3, "abcd"),
        ([0.9, 0.3, 0.2, 0.2], "Who wrote it?", 4, "abcd"),  # more results are wanted
        ([0.9, 0.3, 0.2, 0.2], "Who wrote it, and when was it printed?", 3, "abcd"),
    ],
)
def test_fewer_are_refined_where_the_best_one_probably_answers_and_not_all_do(
    make_hit: Make, values: Sequence[float], question: str, limit: int, given: str
) -> None:
    hits = [make_hit(id, value, name="judge") for id, value in zip("abcd", values, strict=True)]
    best = BestHits(PassageRefiner(), 4, by="judge", enough=((2, 0.8), (3, 0.5)))
    refined = best(Query(question, question, limit), hits)
    assert "".join(piece.hit.chunk.id for piece in refined.evidence) == given
    assert {one.reason for one in refined.judgements if not one.keep} <= {f"below the best {len(given)}"}
