from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, refusal, rows_of, save, within
from thresher.documents.formats.html import decode_html, read_markup
from thresher.documents.sources import Limits
from thresher.types import Document

HTML = """<!doctype html><html><head><title>Oats &amp; Rye</title><meta name="author" content="Bo">
<meta property="article:published_time" content="2021-03-04T10:00:00Z"><style>p{}</style></head><body>
<nav>Home About</nav><h1>Grain <b>types</b></h1><p>First
 paragraph, <a href="http://x.y">linked</a>.<br>New line.<ul><li>one<li>two</ul>
<table><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p></table><script>var hidden = 1</script>
<p hidden>secret</p><p style="color:red; DISPLAY : none">trap</p>
<pre>code  here</pre><aside>Ads</aside></body></html>"""


def test_a_page_is_read_as_a_reader_sees_it(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.html", HTML))
    assert (document.kind, document.title, document.date) == ("html", "Oats & Rye", "2021-03-04")
    assert document.text == (
        "Grain types\n\nFirst paragraph, linked.\nNew line.\n\n- one\n\n- two\n\n| A | B |\n| 1 | 2 3 |\n\nsecret\n\n"
        "trap\n\ncode  here\n\nAds"
    )
    assert rows_of(document) == ["| A | B |", "| 1 | 2 3 |"]
    assert document.metadata == {"author": "Bo", "hidden_words": 2}
    without = read_one(save(tmp_path, "a.html", HTML), limits=Limits(hidden=False))
    assert "secret" not in without.text
    assert "trap" not in without.text
    assert without.text.endswith("code  here\n\nAds")


@pytest.mark.parametrize(
    ("linked", "date"),
    [
        ('[{"@type": "Person"}, {"@type": "NewsArticle", "datePublished": "2020-03-17T08:00:00Z"}]', "2020-03-17"),
        ('{"datePublished": 2020}', None),
        ("{broken", None),
        ("[" * 100_000, None),
    ],
)
def test_the_day_that_a_page_states_for_machines_is_its_date(linked: str, date: str | None, tmp_path: Path) -> None:
    page = f'<script type="application/ld+json">{linked}</script><p>Oats are ripe.'
    document = read_one(save(tmp_path, "a.html", page))
    assert (document.date, document.text) == (date, "Oats are ripe.")


@pytest.mark.parametrize(("head", "encoding"), [('<meta charset="iso-8859-1">', "latin-1"), ("", "cp1252")])
def test_a_page_in_another_encoding_is_read_by_what_it_declares(head: str, encoding: str) -> None:
    (document,) = parse_bytes(f"<html>{head}<p>Müller's</p>".encode(encoding), name="a.html")
    assert isinstance(document, Document)
    assert "Müller's" in document.text


@pytest.mark.parametrize(
    ("html", "what"),
    [("<html><script>run()</script></html>", "the HTML has no text"), ("<div>" * 50_000 + "x", "too deeply")],
)
def test_html_without_text_or_of_any_depth_is_refused(html: str, what: str, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, "a.html", html).what


@pytest.mark.parametrize("unit", ["<!--", "<a ", "<a b='", '<a "', "</", "<?", "<!", "<", "&#", "<li>", "</p>"])
def test_marks_that_never_end_are_no_trap(unit: str) -> None:
    with within():
        assert "Oats" in read_markup("<p>Oats" + unit * (40_000 // len(unit))).assembly.text
        assert decode_html(b"<meta" * 40 + b" charset=" + b" " * 2000 + b"!")[0].startswith("<meta")


def test_a_few_marks_that_never_end_are_text() -> None:
    assert read_markup("<p>Oats <b if rye").assembly.text == "Oats <b if rye"
    assert read_markup("<p>Oats <!-- note <p>Rye").assembly.text == "Oats <!-- note <p>Rye"


def test_numbered_lists_keep_their_numbers_and_lists_within_them_their_own(tmp_path: Path) -> None:
    page = "<ol><li><p>One</p><p>more</p><li>Two<ul><li>inner</ul><li>Three</ol><ol><li>Again</ol><ul><li>free</ul>"
    document = read_one(save(tmp_path, "a.html", f"<html><body>{page}</body></html>"))
    assert document.text.split("\n\n") == ["1. One", "more", "2. Two", "- inner", "3. Three", "1. Again", "- free"]
    document = read_one(save(tmp_path, "b.html", "<ol start=5><li>five<li value=9>nine<li>ten</ol>"))
    assert document.text.split("\n\n") == ["5. five", "9. nine", "10. ten"]


def test_a_book_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.epub", making.book()))
    assert (document.kind, document.title, document.date) == ("epub", "On Flails", "1999-05-05")
    assert document.text.startswith("Chapter one\n\nIt was night one.\n\n| k | v |\n| 1 | one |\n\nChapter two")
    assert document.metadata["author"] == "Zed"


def test_code_of_a_wiki_page_is_kept_with_its_lines(tmp_path: Path) -> None:
    page = """<p>Run this:</p><ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter>
<ac:parameter ac:name="title">Restart</ac:parameter><ac:plain-text-body><![CDATA[stop queue
if [ $a > 2 ]; then echo "<b>"; fi]]></ac:plain-text-body></ac:structured-macro>
<p>See <ac:link><ac:plain-text-link-body><![CDATA[the runbook]]></ac:plain-text-link-body></ac:link> too.</p>"""
    text = read_one(save(tmp_path, "a.html", page)).text
    assert text == 'Run this:\n\nRestart\n\nstop queue\nif [ $a > 2 ]; then echo "<b>"; fi\n\nSee the runbook too.'
