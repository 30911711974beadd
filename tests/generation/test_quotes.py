from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thresher.generation.citations import NO_EVIDENCE, QuoteChecker, cite, quoted
from thresher.generation.quotes import ExtractiveReader
from thresher.generation.sentence_support import SUPPORT, Sentence, SupportJudge, rarity_from
from thresher.structure.locators import locate
from thresher.testing.fakes import HashEncoder
from thresher.text.terms import index_terms
from thresher.types import COSINE, Chunk, Document, Evidence, Generation, Hit, Origin, Page, Query, Refined, Score

TEXT = (
    "The Kõpu lighthouse was built in 1531. It stands on the island of Hiiumaa.\n\n"
    "The Sõrve lighthouse was built in 1960 after the war. Visitors climb its 248 steps every summer."
)
BREAK = TEXT.index("The Sõrve")
DOCUMENT = Document("d1", "lights.pdf", "Lights", TEXT, "pdf", (Page(1, 0, BREAK), Page(2, BREAK, len(TEXT))))


def whole(
    document: Document, start: int = 0, end: int | None = None, *, kind: str = "text", id: str = "c1"
) -> Evidence:
    end = len(document.text) if end is None else end
    text = document.text[start:end]
    chunk = Chunk(
        id,
        document.id,
        document.source,
        document.title,
        start,
        end,
        text,
        document.page_at(start),
        kind,  # type: ignore[arg-type]
    )
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, end, text, chunk.page)


@pytest.fixture
def support() -> SupportJudge:
    def rarity(question: str) -> dict[str, float]:
        return rarity_from(dict.fromkeys(index_terms(question), 1), 10)

    return SupportJudge(HashEncoder(256), rarity)


@pytest.fixture
def read(support: SupportJudge) -> Callable[..., Generation]:
    def answer(question: str, *evidence: Evidence, min_support: float = 0.3, max_sentences: int = 2) -> Generation:
        query = Query(question, question)
        draft = ExtractiveReader(support, min_support, max_sentences)(query, evidence)
        return QuoteChecker(lambda ids: {id: DOCUMENT for id in ids if id == DOCUMENT.id}, locate)(
            query, draft, Refined((*evidence,))
        )

    return answer


def test_a_quote_is_the_document_word_for_word(read: Callable[..., Generation]) -> None:
    (citation,) = read("When was the Kõpu lighthouse built?", whole(DOCUMENT), max_sentences=1).citations
    assert DOCUMENT.text[citation.start : citation.end] == citation.quote == "The Kõpu lighthouse was built in 1531."


def test_the_page_is_the_quotes_own_on_a_chunk_that_spans_two(read: Callable[..., Generation]) -> None:
    assert whole(DOCUMENT).page == 1
    (citation,) = read("How many steps do visitors climb every summer?", whole(DOCUMENT), max_sentences=1).citations
    assert (citation.quote[:8], citation.page) == ("Visitors", 2)


def test_offsets_are_the_documents_on_a_chunk_that_starts_later(read: Callable[..., Generation]) -> None:
    (citation,) = read("When was the Sõrve lighthouse built?", whole(DOCUMENT, BREAK), max_sentences=1).citations
    assert citation.start == BREAK
    assert DOCUMENT.text[citation.start : citation.end] == citation.quote


def test_weak_support_is_an_abstention_that_says_how_weak(read: Callable[..., Generation]) -> None:
    draft = read("Who won the football world cup?", whole(DOCUMENT), min_support=0.9)
    assert draft.abstained
    assert draft.citations == ()
    assert "0.90 is asked for" in (draft.reason or "")


def test_nothing_retrieved_is_an_abstention(read: Callable[..., Generation]) -> None:
    draft = read("When?")
    assert (draft.abstained, draft.reason) == (True, NO_EVIDENCE)


def test_a_sentence_is_quoted_once_though_two_overlapping_chunks_hold_it(read: Callable[..., Generation]) -> None:
    question = "When was the Kõpu lighthouse built?"
    draft = read(question, whole(DOCUMENT), whole(DOCUMENT, 0, BREAK, id="c2"), min_support=0.0, max_sentences=9)
    spans = [(citation.start, citation.end) for citation in draft.citations]
    assert len(spans) == len(set(spans))
    assert draft.text.count("1531") == 1


def test_a_sentence_that_stands_in_two_documents_is_quoted_once(support: SupportJudge) -> None:
    other = Document("d2", "copy.txt", "", TEXT, "text")
    query = Query("When was the Kõpu lighthouse built?", "")
    draft = ExtractiveReader(support, 0.0, 9)(query, [whole(DOCUMENT), whole(other, id="c2")])
    quotes = [citation.quote for citation in draft.citations]
    assert len(quotes) == len(set(quotes))


def test_only_sentences_nearly_as_good_as_the_best_are_quoted_and_no_more_than_asked_for(
    read: Callable[..., Generation],
) -> None:
    draft = read("When was the Kõpu lighthouse built?", whole(DOCUMENT), min_support=0.0, max_sentences=9)
    scores = [citation.score.value for citation in draft.citations]
    assert min(scores) >= max(scores) - 0.05
    assert len(read("lighthouse", whole(DOCUMENT), min_support=0.0, max_sentences=1).citations) == 1


def test_a_table_is_quoted_by_its_row(support: SupportJudge) -> None:
    text = "| Name | Height of the tower | Year |\n| Kõpu | 36 metres of stone | 1531 |\n| Sõrve | 53 metres | 1960 |"
    table = Document("d1", "lights.csv", "", text, "csv")
    draft = ExtractiveReader(support, 0.0, 1)(Query("How many metres is Sõrve?", ""), [whole(table, kind="table")])
    (citation,) = draft.citations
    assert citation.quote == "| Sõrve | 53 metres | 1960 |"
    assert text[citation.start : citation.end] == citation.quote


def test_markers_count_from_one_in_the_order_of_the_quotes(read: Callable[..., Generation]) -> None:
    draft = read("lighthouse built", whole(DOCUMENT), min_support=0.0, max_sentences=2)
    assert [citation.marker for citation in draft.citations] == list(range(1, len(draft.citations) + 1))
    assert all(f"“{citation.quote}” [{citation.marker}]" in draft.text for citation in draft.citations)


def test_support_stays_in_its_scale(support: SupportJudge) -> None:
    for question in ("Kõpu lighthouse built 1531", "zzz", "?"):
        assert all(0 <= s.support.value <= 1 for s in support(question, [whole(DOCUMENT)]))


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    weights = rarity_from({"rare": 1, "common": 90, "absent": 0}, 100)
    assert weights["absent"] > weights["rare"] > weights["common"] > 0


# --- looking quotes up ------------------------------------------------------------------------------------------------


def test_a_quote_that_does_not_stand_there_any_more_is_removed_with_its_words() -> None:
    evidence = [whole(DOCUMENT)]
    places = [(0, 38), (BREAK, BREAK + 52)]
    sentences = [Sentence(evidence[0], low, high, TEXT[low:high], Score(0.9, SUPPORT)) for low, high in places]
    citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(sentences, start=1))
    draft = Generation(" ".join(quoted(citation) for citation in citations), citations)
    gone = citations[0]
    damaged = replace(DOCUMENT, text=TEXT.replace(gone.quote, "x" * len(gone.quote)))
    checked = QuoteChecker(lambda ids: {"d1": damaged}, locate)(Query("?", "?"), draft, Refined((*evidence,)))
    assert [citation.marker for citation in checked.citations] == [2]
    assert checked.text == quoted(citations[1])
    assert checked.notes.facts == {"quotes_checked": 2, "quotes_removed": 1}


def test_an_answer_without_any_quote_left_is_withdrawn(support: SupportJudge) -> None:
    evidence = [whole(DOCUMENT)]
    query = Query("lighthouse built", "")
    draft = ExtractiveReader(support, 0.0, 2)(query, evidence)
    checked = QuoteChecker(lambda ids: {}, locate)(query, draft, Refined((*evidence,)))
    assert (checked.abstained, checked.citations) == (True, ())
    assert "does not stand" in (checked.reason or "")


def test_a_quote_from_a_page_that_is_not_stored_must_stand_in_its_evidence(support: SupportJudge) -> None:
    piece = whole(DOCUMENT)
    outside = replace(piece, hit=replace(piece.hit, origin=Origin.OUTSIDE))
    query = Query("lighthouse built", "")
    draft = ExtractiveReader(support, 0.0, 1)(query, [outside])
    checker = QuoteChecker(lambda ids: {}, locate)
    assert checker(query, draft, Refined((outside,))).citations == draft.citations
    shifted = replace(outside, start=outside.start + 1, text=outside.text[1:])
    assert checker(query, draft, Refined((replace(shifted, text=shifted.text.upper()),))).abstained


def test_a_question_is_never_the_answer(support: SupportJudge) -> None:
    asked = "When was the Sõrve lighthouse built?"
    text = f"{asked} Ask about it: {asked} And then read on. The tower was built in 1960."
    document = Document("d2", "faq.md", "", text, "markdown")
    draft = ExtractiveReader(support, 0.0, 2)(Query(asked, asked), [whole(document)])
    assert "1960" in draft.citations[0].quote
    assert not any("?" in citation.quote for citation in draft.citations)
