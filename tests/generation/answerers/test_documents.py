from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tests.generation.answering import certain, panel
from thresher.filters import parse
from thresher.generation.answerers.documents import DocumentAnswerer
from thresher.generation.citations import NO_EVIDENCE
from thresher.generation.panel import Panel
from thresher.generation.select import AnswerThresholds
from thresher.retrieval.documents import DocumentFinder
from thresher.testing.fakes import HashEncoder
from thresher.testing.memory_store import MemoryChunkTable
from thresher.text.document_names import LEAST_FIT, NAME_SCORE, SURE_FIT
from thresher.types import Chunk, ChunkRow, Document, Generation, Query

ABSTRACT = (
    "We survey the lighthouses of the Baltic Sea and the lamps that they have used since the year 1531. "
    "We find that fourteen of them still stand, and that all of those are open to visitors in summer."
)
SURVEY = Document(
    "d1",
    "lights.pdf",
    "Sea Light Survey: The Baltic",
    "Sea Light Survey: The Baltic\n\nAda Kask∗ Juhan Tamm\nMay 2019\n\n"
    f"Abstract\n\n{ABSTRACT}\n\n1 Introduction\n\nMore.",
    "pdf",
    date="2019-05-04",
    metadata={"author": "Ada Kask, Juhan Tamm"},
)
REPORT = Document(
    "d2", "harbour_report.txt", "Harbour", "Harbour\n\nThe harbour has a lighthouse. It has two cranes.", "txt"
)
NOTES = Document("d3", "notes.txt", "Notes", "Notes\n\nBuy bread and a lamp.", "txt")


def reader(*documents: Document) -> tuple[DocumentFinder, Panel]:
    by_id = {document.id: document for document in documents}
    table = MemoryChunkTable(64)
    rows = []
    for document in documents:
        chunk = Chunk(
            f"c{document.id}", document.id, document.source, document.title, 0, len(document.text), document.text
        )
        rows.append(ChunkRow(chunk, document.kind, "", document.date, HashEncoder().encode_query(document.text)))
    table.append(rows)

    def known(ids: Sequence[str]) -> Mapping[str, Document]:
        return {id_: by_id[id_] for id_ in ids}

    find = DocumentFinder(lambda: list(documents), known, table)
    rows = {"documents": certain(0.12, {"name": 5.0})}
    return find, panel([DocumentAnswerer(find, known)], rows, thresholds=AnswerThresholds(0.1, 0.6))


def ask(question: str, *documents: Document) -> Generation:
    _, read = reader(*documents)
    answer = read(Query(question, question), ())
    for citation in answer.citations:
        text = next(document.text for document in documents if document.id == citation.document_id)
        assert text[citation.start : citation.end] == citation.quote
    return answer


ALL = (SURVEY, REPORT, NOTES)


def test_authors_are_those_the_file_states_with_the_lines_that_name_them() -> None:
    answer = ask("Who wrote the sea light survey?", *ALL)
    assert answer.text == "Ada Kask, Juhan Tamm [1]"
    assert answer.citations[0].quote.startswith("Ada Kask∗")


def test_the_date_is_cited_where_the_front_says_it() -> None:
    answer = ask("When was the sea light survey published?", *ALL)
    assert answer.text == "2019-05-04 [1]"
    assert answer.citations[0].quote == "May 2019"


def test_several_questions_about_a_document_are_answered_in_turn() -> None:
    answer = ask("Who wrote lights.pdf and when?", *ALL)
    assert answer.text.splitlines()[0] == "Who wrote lights.pdf? Ada Kask, Juhan Tamm [1]"
    assert answer.text.splitlines()[1].endswith("2019-05-04 [2]")


def test_a_summary_is_the_abstract() -> None:
    quotes = [citation.quote for citation in ask("Summarize the SLS paper", *ALL).citations]
    assert " ".join(quotes) == ABSTRACT


def test_documents_that_speak_of_something_are_listed_with_the_sentence_that_does() -> None:
    answer = ask("Which documents mention a lighthouse?", *ALL)
    assert answer.text.startswith("2 documents:\n")
    assert "Harbour: “The harbour has a lighthouse.”" in answer.text
    assert ask("Which documents mention pottery?", *ALL).abstained


def test_copies_of_a_document_are_listed_once() -> None:
    copies = (replace(REPORT, id="copy"), REPORT)
    assert ask("Which documents mention a lighthouse?", *copies).text.startswith("1 document:\n")


def test_the_documents_are_counted() -> None:
    assert ask("How many documents are there?", *ALL).text == "3 documents."
    assert ask("How many documents are there?", NOTES).text == "1 document."


@pytest.mark.parametrize("question", ["Who wrote the Odyssey?", "Summarize the budget", "Who wrote it?"])
def test_a_document_that_is_not_here_is_searched_for(question: str) -> None:
    find, _ = reader(*ALL)
    assert not find.answers(question)
    assert ask(question, *ALL).reason == NO_EVIDENCE


def test_the_only_document_is_meant_by_it_and_the_only_report_by_the_report() -> None:
    find, _ = reader(SURVEY)
    assert [one.id for one in find.named("it")] == ["d1"]
    find, _ = reader(*ALL)
    assert [one.id for one in find.named("the report")] == ["d2"]
    assert find.named("the paper") == []


def test_minutes_are_found_by_what_they_are_of_and_summed_up_without_the_items_of_lists() -> None:
    text = (
        "COUNCIL\n\nThe price of lunch in the canteen rises in January.\n\nThese tasks are left for everyone here:\n\n"
        "* Hedda writes to the caterer about the lunch.\n\nThe council voted for keeping the lunch as it is."
    )
    minutes = Document("d4", "works-council-2024.txt", "works-council-2024", text, "text")
    quotes = [citation.quote for citation in ask("Summarise the minutes of the works council", *ALL, minutes).citations]
    assert quotes == [
        "The price of lunch in the canteen rises in January.",
        "The council voted for keeping the lunch as it is.",
    ]


SONG = Document(
    "d5", "song.html", "As Time Goes By", "As Time Goes By\n\nHerman Hupfeld wrote it.", "html",
    date="2020-01-01", metadata={"author": "Jane Editor"},
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["Who wrote the song As Time Goes By?", "Who wrote As Time Goes By?", "When was As Time Goes By written?"],
)
def test_the_author_of_a_page_did_not_write_the_song_that_it_is_about(question: str) -> None:
    find, _ = reader(SONG)
    assert not find.answers(question)
    assert ask(question, SONG).reason == NO_EVIDENCE


@pytest.mark.parametrize(
    "question",
    ["Who wrote the page As Time Goes By?", "Who is the author of the article “As Time Goes By”?",
     "Who wrote 'As Time Goes By'?", "Who wrote the file song?"],
)  # fmt: skip
def test_a_document_noun_a_title_in_quotes_or_a_file_name_asks_for_a_document(question: str) -> None:
    find, _ = reader(SONG, REPORT)
    assert find.answers(question)
    assert ask(question, SONG, REPORT).text == "Jane Editor"


LEARNING = Document(
    "d4",
    "he.pdf",
    "Deep Residual Learning for Image Recognition",
    "Deep Residual Learning for Image Recognition\n\nKai Ming\n\nAbstract\n\nDeeper networks are harder to train.",
    "pdf",
    metadata={"author": "Kai Ming"},
)


def test_a_document_that_a_few_words_of_its_title_name_is_perhaps_the_one() -> None:
    assert ask("Who wrote the paper on deep learning?", *ALL, LEARNING).text.startswith("Perhaps: Kai Ming")
    assert not ask("Who wrote the paper on deep residual learning?", *ALL, LEARNING).text.startswith("Perhaps:")


def test_how_well_a_name_fits_is_told_with_the_document_that_it_means() -> None:
    find, _ = reader(*ALL, LEARNING)

    def fit(question: str) -> float:
        (one,) = find(Query(question, question)).judgements
        return one.hit.scores[NAME_SCORE].value

    assert fit("Who wrote the sea light survey?") >= SURE_FIT
    assert LEAST_FIT < fit("Who wrote the paper on deep learning?") < SURE_FIT
    assert not find.answers("Who wrote the paper on learning?")
    count = "How many documents are there?"
    assert find(Query(count, count)).judgements == ()


def test_a_restricted_question_is_about_passages_and_not_about_documents() -> None:
    _, read = reader(*ALL)
    question = "Who wrote the sea light survey?"
    assert read(Query(question, question, where=parse("kind = 'pdf'")), ()).abstained
    assert not read(Query(question, question), ()).abstained


def test_without_a_document_that_speaks_of_it_the_reason_says_so() -> None:
    assert ask("Which documents mention pottery?", *ALL).reason == "No document speaks of pottery."
