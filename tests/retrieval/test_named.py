from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from thresher.filters import parse
from thresher.retrieval.documents import DocumentFinder, hit_of
from thresher.retrieval.mails import MailFinder
from thresher.retrieval.named import MOST, FindsNamed, NamedRetriever
from thresher.testing.fakes import HashEncoder
from thresher.testing.memory_store import MemoryChunkTable
from thresher.text.document_names import NAME_SCORE
from thresher.types import Chunk, ChunkRow, Document, Hit, Judged, Judgement, Notes, Query

QUERY = Query("Who wrote the survey?", "survey")


@dataclass
class Finder:
    """Finds the given hits for a question that names something."""

    hits: Sequence[Hit]
    named: str = "survey"
    asked: list[str] = field(default_factory=list)

    def answers(self, question: str) -> bool:
        return self.named in question

    def __call__(self, query: Query) -> Judged:
        self.asked.append(query.question)
        return Judged(tuple(Judgement(hit, keep=True) for hit in self.hits))


@pytest.fixture
def found(make_hit: Callable[..., Hit]) -> Callable[[Query], Judged]:
    """A search that finds b, c and d."""
    judged = tuple(Judgement(make_hit(id, 0.5, rank), keep=True) for rank, id in enumerate("bcd", start=1))
    return lambda query: Judged(judged, Notes(facts={"searched": query.search}))


def ranked(judged: Judged) -> list[tuple[str, int]]:
    return [(one.hit.chunk.id, one.hit.rank) for one in judged.judgements]


def test_documents_that_a_question_names_go_before_what_a_search_finds(
    found: Callable[[Query], Judged], make_hit: Callable[..., Hit]
) -> None:
    judged = NamedRetriever(found, [Finder([make_hit("a", 0.9)])])(QUERY)
    assert ranked(judged) == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert judged.notes.facts == {"searched": "survey"}


def test_a_chunk_that_is_named_and_found_stands_once(
    found: Callable[[Query], Judged], make_hit: Callable[..., Hit]
) -> None:
    named = make_hit("c", 0.9)
    judged = NamedRetriever(found, [Finder([named])])(QUERY)
    assert ranked(judged) == [("c", 1), ("b", 2), ("d", 3)]
    assert judged.judgements[0].hit.score == named.score


@pytest.mark.parametrize(
    "query",
    [
        Query("When does it open?", "opening hours"),
        Query("Who wrote the survey?", "survey", where=parse("kind = 'pdf'")),
    ],
    ids=["names none", "restricted"],
)
def test_a_question_that_names_none_and_a_restricted_search_are_searched_as_they_are(
    found: Callable[[Query], Judged], make_hit: Callable[..., Hit], query: Query
) -> None:
    finder = Finder([make_hit("a", 0.9)])
    assert NamedRetriever(found, [finder])(query) == found(query)
    assert not finder.asked


def test_of_many_named_documents_the_first_few_go_before_the_others(
    found: Callable[[Query], Judged], make_hit: Callable[..., Hit]
) -> None:
    many = [make_hit(f"n{number}") for number in range(MOST + 3)]
    judged = NamedRetriever(found, [Finder(many)])(QUERY)
    assert [id for id, _ in ranked(judged)] == [*(f"n{number}" for number in range(MOST)), "b", "c", "d"]


def test_every_finder_whose_kind_is_asked_for_is_heard(
    found: Callable[[Query], Judged], make_hit: Callable[..., Hit]
) -> None:
    silent = Finder([make_hit("x")], named="mail")
    judged = NamedRetriever(found, [silent, Finder([make_hit("a")]), Finder([make_hit("e")])])(QUERY)
    assert [id for id, _ in ranked(judged)] == ["a", "e", "b", "c", "d"]
    assert not silent.asked


# --- the real finders -------------------------------------------------------------------------------------------------


SURVEY = Document("d1", "lights.pdf", "Sea Light Survey", "Sea Light Survey\n\nAda Kask", "pdf")
MAIL = Document(
    "d2", "1.eml", "Kick-off", "From: Tomas <t@example.org>\nSubject: Kick-off\n\nOn Thursday.", "email",
    metadata={"from": "Tomas <t@example.org>", "subject": "Kick-off"},
)  # fmt: skip
ALL = {one.id: one for one in (SURVEY, MAIL)}


def finders() -> list[FindsNamed]:
    table = MemoryChunkTable(64)
    chunks = [Chunk(f"c{one.id}", one.id, one.source, one.title, 0, len(one.text), one.text) for one in ALL.values()]
    table.append([ChunkRow(chunk, "text", "", None, HashEncoder().encode_query(chunk.text)) for chunk in chunks])

    def known(ids: Sequence[str]) -> dict[str, Document]:
        return {id: ALL[id] for id in ids}

    return [DocumentFinder(lambda: list(ALL.values()), known, table), MailFinder(lambda: list(ALL.values()), known)]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who wrote the sea light survey?", "d1"),
        ("Who sent the mail about the kick-off?", "d2"),
        ("How many documents are there?", None),
        ("Who designed the railway?", None),
    ],
)
def test_a_named_document_or_mail_is_the_first_hit_and_says_how_well_its_name_fits(
    found: Callable[[Query], Judged], question: str, first: str | None
) -> None:
    best = NamedRetriever(found, finders())(Query(question, question)).judgements[0].hit
    assert (best.chunk.document_id if NAME_SCORE in best.scores else None) == first


def test_a_hit_of_a_name_has_its_fit_among_its_scores() -> None:
    hit = hit_of(SURVEY, 0.8)
    assert hit.scores[NAME_SCORE].value == 0.8
