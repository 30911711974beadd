from __future__ import annotations

import json
from pathlib import Path

from tests.documents import making
from tests.documents.making import parse_bytes, read_all, read_one, rows_of, save
from thresher.errors import DocumentError
from thresher.types import Document


def test_a_pdf_has_pages_and_its_stated_title_and_author(tmp_path: Path) -> None:
    data = making.pdf(["The first page.", "The second page."], title="On Oats", author="Ann Lee")
    document = read_one(save(tmp_path, "a.pdf", data))
    assert document.kind == "pdf"
    assert document.title == "On Oats"
    assert document.metadata == {"author": "Ann Lee"}
    assert document.text == "The first page.\n\nThe second page."
    assert document.page_at(document.text.index("second")) == 2


def test_a_junk_title_of_a_pdf_gives_way_to_the_first_line(tmp_path: Path) -> None:
    data = making.pdf(
        ["Threshing by Machine\nAnn Lee\nAbstract\nThe grain was threshed."], title="Microsoft Word - x.doc"
    )
    assert read_one(save(tmp_path, "a.pdf", data)).title == "Threshing by Machine"


def test_a_word_file_keeps_its_table_in_place(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.docx", making.word()))
    assert (document.kind, document.title) == ("docx", "Harvest report")
    assert document.metadata["author"] == "Ann Lee"
    assert rows_of(document) == ["| Field | Tons |", "| North | 10 |", "| South \\| low | 20 |"]
    assert document.text.index("good year.") < document.tables[0].start < document.text.index("After the table.")


def test_slides_are_pages_with_notes_and_tables(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "deck.pptx", making.slides()))
    assert document.kind == "pptx"
    assert document.title == "Slide 1 on sieves"
    assert len(document.pages) == 3
    assert document.page_at(document.text.index("A note for the speaker")) == 1
    assert document.page_at(document.text.index("Point 3")) == 3
    assert rows_of(document) == ["| mesh | loss |", "| fine | 3 |"]
    assert document.page_at(document.tables[0].start) == 2


def test_each_sheet_of_a_workbook_is_a_table_under_its_name(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "towns.xlsx", making.workbook()))
    assert (document.kind, document.title) == ("xlsx", "towns")
    assert rows_of(document) == ["| city | people |", "| Paris | 2100000 |", "| Rome | 2.8 |"]
    assert rows_of(document, 1) == ["| Po | a \\| b |"]
    assert document.text.startswith("Cities\n\n| city")


def test_a_book_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.epub", making.book()))
    assert (document.kind, document.title, document.date) == ("epub", "On Flails", "1999-05-05")
    assert document.text.startswith("Chapter one\n\nIt was night one.\n\n| k | v |\n| 1 | one |\n\nChapter two")
    assert document.metadata["author"] == "Zed"


def test_a_mail_has_its_head_and_body_and_names_its_attachments(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.eml", making.mail()))
    assert (document.kind, document.title, document.date) == ("email", "Threshing on Monday", "2020-03-02")
    assert document.text.startswith("From: Ann <ann@example.com>\nTo: bo@example.com\n")
    assert document.text.endswith("Hello Bo,\n\nshall we start at noon?")
    assert document.metadata["attachments"] == "plan.txt"
    assert document.metadata["from"] == "Ann <ann@example.com>"


def test_a_mail_in_html_is_read_like_a_page(tmp_path: Path) -> None:
    html = "<p>Hello <b>Bo</b></p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    document = read_one(save(tmp_path, "a.eml", making.mail(html)))
    assert "Hello Bo" in document.text
    assert rows_of(document) == ["| a | b |", "| 1 | 2 |"]


HTML = """<!doctype html><html><head><title>Oats &amp; Rye</title><meta name="author" content="Bo">
<meta property="article:published_time" content="2021-03-04T10:00:00Z"><style>p{}</style></head><body>
<nav>Home About</nav><h1>Grain <b>types</b></h1><p>First
 paragraph, <a href="http://x.y">linked</a>.<br>New line.<ul><li>one<li>two</ul>
<table><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p></table><script>var hidden = 1</script>
<p hidden>secret</p><pre>code  here</pre><aside>Ads</aside></body></html>"""


def test_a_page_is_read_as_a_reader_sees_it(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.html", HTML))
    assert (document.kind, document.title, document.date) == ("html", "Oats & Rye", "2021-03-04")
    assert document.text == (
        "Grain types\n\nFirst paragraph, linked.\nNew line.\n\n- one\n\n- two\n\n| A | B |\n| 1 | 2 3 |\n\ncode  here"
    )
    assert rows_of(document) == ["| A | B |", "| 1 | 2 3 |"]
    assert document.metadata["author"] == "Bo"


def test_a_page_in_another_encoding_is_read_by_what_it_declares() -> None:
    for head, encoding in (('<meta charset="iso-8859-1">', "latin-1"), ("", "cp1252")):
        (document,) = parse_bytes(f"<html>{head}<p>Müller’s</p>".replace("’", "'").encode(encoding), name="a.html")
        assert isinstance(document, Document)
        assert "Müller" in document.text


def test_markdown_keeps_its_text_and_gives_front_matter_and_tables(tmp_path: Path) -> None:
    source = (
        '---\ntitle: "Oats"\ndate: 2020-05-06\nstars: 4\ndraft: false\ntags: [a, b]\nby:\n  - Ann\n  - Bo\n---\n'
        "# First *heading*\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```\n| x | y |\n|---|---|\n```\nEnd.\n"
    )
    document = read_one(save(tmp_path, "a.md", source))
    assert (document.kind, document.title, document.date) == ("markdown", "Oats", "2020-05-06")
    assert document.metadata == {"stars": 4, "draft": False, "tags": "a, b", "by": "Ann, Bo"}
    assert document.text.startswith("# First *heading*")
    assert rows_of(document) == ["| a | b |", "| 1 | 2 |"]
    assert len(document.tables) == 1


def test_markdown_without_a_title_is_named_by_its_first_heading(tmp_path: Path) -> None:
    assert read_one(save(tmp_path, "a.md", "```\n# no\n```\n## On *oats* #\n\nText.")).title == "On oats"
    assert read_one(save(tmp_path, "rye.md", "---\nJust a rule, no fields\n---\nText.")).title == "rye"


def test_text_keeps_its_lines_and_is_named_by_its_file(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "notes.txt", "one\r\ntwo\r\n\r\n\r\n\r\nthree  \n"))
    assert (document.kind, document.title, document.text) == ("text", "notes", "one\ntwo\n\nthree")


def test_text_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert read_one(save(tmp_path, "a.txt", "Grüße".encode("utf-16"))).text == "Grüße"
    assert read_one(save(tmp_path, "b.txt", "Grüße".encode("utf-8-sig"))).text == "Grüße"


def test_a_csv_is_one_table_whatever_its_delimiter(tmp_path: Path) -> None:
    for name, source in (
        ("a.csv", 'city,note\nRome,"a, b"\n'),
        ("b.csv", "city;note\nRome;a, b\n"),
        ("c.tsv", "city\tnote\nRome\ta, b\n"),
    ):
        document = read_one(save(tmp_path, name, source))
        assert document.kind == "csv"
        assert rows_of(document) == ["| city | note |", "| Rome | a, b |"]


def test_a_cell_of_several_lines_is_one_line(tmp_path: Path) -> None:
    assert rows_of(read_one(save(tmp_path, "a.csv", 'a,b\n"x\ny",2\n')))[1] == "| x y | 2 |"


def test_json_with_a_text_field_is_that_text_and_its_scalars_are_metadata(tmp_path: Path) -> None:
    value = {"title": "Oats", "date": "2020-01-02", "text": "All about oats.", "stars": 3, "tags": ["a"], "none": None}
    document = read_one(save(tmp_path, "a.json", json.dumps(value)))
    assert (document.kind, document.title, document.date) == ("json", "Oats", "2020-01-02")
    assert document.text == "All about oats."
    assert document.metadata == {"stars": 3}


def test_json_records_become_a_table_and_other_json_becomes_lines(tmp_path: Path) -> None:
    records = read_one(save(tmp_path, "a.json", '[{"city": "Rome", "n": 1}, {"city": "Bern", "n": null}]'))
    assert rows_of(records) == ["| city | n |", "| Rome | 1 |", "| Bern |  |"]
    nested = read_one(save(tmp_path, "b.json", '{"a": {"b": 1, "c": [true, "x"]}, "d": [{"e": 2}]}'))
    assert nested.text == "a.b: 1\na.c: true, x\nd.1.e: 2"


def test_json_lines_are_one_document(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.jsonl", '{"q": "why", "n": 1}\n\n{"q": "how", "n": 2}\n'))
    assert document.kind == "jsonl"
    assert rows_of(document) == ["| q | n |", "| why | 1 |", "| how | 2 |"]


def test_each_line_of_a_corpus_is_a_passage_with_its_text_untouched(tmp_path: Path) -> None:
    text = "  two  spaces\n\n\n\nand ﬁ\u00a0end "
    lines = [
        {"_id": "a1", "title": "Oats", "text": text, "metadata": {"year": 1999, "nested": []}, "url": "http://x"},
        {"_id": 7, "text": "Rye."},
    ]
    item = save(tmp_path, "corpus.jsonl", "\n".join(map(json.dumps, lines)))
    first, second = read_all(item, metadata={"set": "test"})
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.source, first.title, first.text, first.kind) == ("a1", "Oats", text, "passage")
    assert first.container == item.source
    assert first.metadata == {"year": 1999, "url": "http://x", "set": "test"}
    assert (second.source, second.title) == ("7", "")


def test_a_bad_line_of_a_corpus_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    good = '{"_id": "%s", "text": "words"}'
    bad = [b"{broken", b'{"_id": "x"}', b"[1]", b'{"_id": "g1", "text": "again"}', b'{"_id": "u", "text": "\xff"}']
    bad += [b'{"_id": "e", "text": " "}', b'{"_id": "s", "text": "\\ud800"}', b"[" * 100_000]
    data = b"\n".join([(good % "g1").encode(), *bad, (good % "g2").encode()])
    found = read_all(save(tmp_path, "c.jsonl", data))
    assert [item.source for item in found if isinstance(item, Document)] == ["g1", "g2"]
    failures = [item for item in found if isinstance(item, DocumentError)]
    assert [failure.subject.rpartition(":")[2] for failure in failures] == [str(n) for n in range(2, 10)]
    assert all(failure.what and failure.next_step and "\n" not in failure.what for failure in failures)


def test_what_the_caller_says_goes_over_what_the_document_says(tmp_path: Path) -> None:
    item = save(tmp_path, "a.md", "---\ntitle: Oats\nteam: red\n---\nText.")
    document = read_one(item, metadata={"team": "blue", "title": "Rye", "date": "2001-01-01"})
    assert (document.title, document.date, document.metadata) == ("Rye", "2001-01-01", {"team": "blue"})


def test_the_same_text_has_the_same_id_in_every_format(tmp_path: Path) -> None:
    documents = [
        read_one(save(tmp_path, "a.txt", "Just oats.")),
        read_one(save(tmp_path, "b.md", "Just oats.\n\n\n")),
        read_one(save(tmp_path, "c.html", "<p>Just oats.")),
        read_one(save(tmp_path, "d.pdf", making.pdf(["Just oats."]))),
    ]
    assert len({document.id for document in documents}) == 1
    assert len(documents[0].id) == 32


def test_standard_input_is_told_apart_by_its_content() -> None:
    kinds = [
        (b"Just words.", "text"),
        (b"<!doctype html><p>Words.", "html"),
        (b'{"a": 1}', "json"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b'{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}\n', "passage"),
        (making.pdf(["Words."]), "pdf"),
        (making.word(), "docx"),
    ]
    for data, kind in kinds:
        first = parse_bytes(data)[0]
        assert isinstance(first, Document)
        assert first.kind == kind
