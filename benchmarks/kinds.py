"""What is kept of what went into files of each kind, and where a citation of it leads.

    .venv/bin/python -m benchmarks.kinds [--write]

Each case is a file that this program makes, with statements that went into it and what must not be read as text. A
statement is kept if it stands in a document of the file word for word; named is what a refusal, a remark or the
metadata says of it. `--write` puts the table into docs/documents.md.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pypdf
from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]
from reportlab.pdfgen import canvas  # type: ignore[import-untyped]

from thresher.documents.read import parse
from thresher.documents.sources import Hints, Item
from thresher.errors import DocumentError
from thresher.structure.locators import locate
from thresher.types import Document

PAGE = Path(__file__).parent.parent / "docs" / "documents.md"
BEGIN, END = "<!-- made by benchmarks.kinds -->\n", "<!-- end -->\n"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
"""The header of the file that Office puts an encrypted one into."""
NAMED = ("formulas_without_value", "words_not_read", "parts_not_read", "hidden_words", "hidden_sheets", "encoding",
         "pages_without_text", "includes")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A file, what it says, what must not stand in its text, and what has to be said to be lost."""

    kind: str
    name: str
    data: bytes
    says: tuple[str, ...]
    without: tuple[str, ...] = ()
    named: str = ""


@dataclass
class Tally:
    """What became of the cases of a kind."""

    files: int = 0
    stated: int = 0
    kept: int = 0
    lost: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    place: str = ""


# --- the files --------------------------------------------------------------------------------------------------------


def csvs() -> Iterator[Case]:
    """Semicolons, old encodings, line breaks in cells."""
    rows = "Lieferant;Stück;Preis\nMüller;12;3,50\nÖzdemir;7;11,00\n"
    yield Case("CSV", "semicolon.csv", rows.encode(), ("| Müller | 12 | 3,50 |",))
    yield Case("CSV", "cp1252.csv", rows.encode("cp1252"), ("| Özdemir | 7 | 11,00 |",), named="encoding")
    yield Case("CSV", "utf16.csv", rows.encode("utf-16"), ("| Özdemir | 7 | 11,00 |",))
    breaks = 'Part,Note\nValve,"opens at 3 bar\ncloses at 2"\n'
    yield Case("CSV", "breaks.csv", breaks.encode(), ("| Valve | opens at 3 bar closes at 2 |",))
    yield Case("CSV", "tabs.tsv", b"Part\tStock\nValve\t4\n", ("| Valve | 4 |",))


def sheet(make: Callable[[openpyxl.Workbook], None]) -> bytes:
    """A workbook as a file."""
    book = openpyxl.Workbook()
    make(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def sheets() -> Iterator[Case]:
    """Merged cells, formulas without values, several tables, number formats, hidden rows."""

    def merged(book: openpyxl.Workbook) -> None:
        for row in (["Depot", "Line", "Trams"], ["Hull", "A", 12], [None, "B", 9]):
            book.active.append(row)
        book.active.merge_cells("A2:A3")

    def formulas(book: openpyxl.Workbook) -> None:
        for row in (["Part", "Stock"], ["Valve", 4], ["Total", "=SUM(B2:B2)"]):
            book.active.append(row)

    def several(book: openpyxl.Workbook) -> None:
        for row in (["Trams"], ["Depot", "Count"], ["Hull", 35], [], ["Buses"], ["Depot", "Count"], ["Leeds", 61]):
            book.active.append(row)

    def dates(book: openpyxl.Workbook) -> None:
        book.active.append(["Day", "Share"])
        book.active.append([45415, 0.075])
        book.active["A2"].number_format, book.active["B2"].number_format = "d mmmm yyyy", "0.0%"

    def hidden(book: openpyxl.Workbook) -> None:
        for row in (["Part", "Stock"], ["Valve", 4], ["Old pump", 1]):
            book.active.append(row)
        book.active.row_dimensions[3].hidden = True

    yield Case("Excel", "merged.xlsx", sheet(merged), ("| Hull | A | 12 |", "| Hull | B | 9 |"))
    yield Case("Excel", "formulas.xlsx", sheet(formulas), ("| Valve | 4 |",), named="formulas_without_value")
    yield Case("Excel", "several.xlsx", sheet(several), ("Buses", "| Leeds | 61 |"))
    yield Case("Excel", "dates.xlsx", sheet(dates), ("| 3 May 2024 | 7.5% |",))
    yield Case("Excel", "password.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), (), named="password")
    yield Case("Excel", "hidden.xlsx", sheet(hidden), ("| Old pump | 1 |",))


def drawn(draw: Callable[[canvas.Canvas], None]) -> bytes:
    """A PDF as a file."""
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=A4, invariant=1)
    draw(page)
    page.save()
    return buffer.getvalue()


def pdfs() -> Iterator[Case]:
    """Rotated pages, columns, running heads, hyphens, a password."""

    def lines(page: canvas.Canvas, x: float, y: float, *texts: str) -> None:
        for at, text in enumerate(texts):
            page.drawString(x, y - 14 * at, text)

    def rotated(page: canvas.Canvas) -> None:
        lines(page, 72, 700, "The tower of the mill is 31 metres high.", "It was built of brick in 1871.")

    def columns(page: canvas.Canvas) -> None:
        lines(
            page,
            60,
            700,
            "The mill grinds oats and",
            "barley for four villages.",
            "Its stones came from",
            "France in 1860.",
        )
        lines(
            page,
            320,
            700,
            "The sails were taken down",
            "in the storm of 1903 and",
            "never set again on the",
            "tower of the mill.",
        )

    def running(page: canvas.Canvas) -> None:
        for number in range(1, 5):
            lines(page, 72, 800, "History of the mill")
            lines(
                page,
                72,
                700,
                f"In part {number} the miller tells of year {1900 + number} and of",
                f"the {number * number + 3} men who worked there.",
            )
            lines(page, 72, 40, f"Page {number} of 4")
            page.showPage()

    def hyphens(page: canvas.Canvas) -> None:
        lines(
            page,
            72,
            700,
            "The restoration of the old mill was com-",
            "pleted in June. The comple-",
            "tion was completed late.",
        )

    turned = pypdf.PdfWriter(clone_from=io.BytesIO(drawn(rotated)))
    turned.pages[0].rotate(90)
    buffer = io.BytesIO()
    turned.write(buffer)

    def noted(page: canvas.Canvas) -> None:
        def raised(x: float, y: float, before: str, mark: str, after: str) -> None:
            page.drawString(x, y, before)
            x += page.stringWidth(before)
            page.setFont("Helvetica", 7)
            page.drawString(x, y + 4, mark)
            x += page.stringWidth(mark)
            page.setFont("Helvetica", 12)
            page.drawString(x, y, after)

        page.setFont("Helvetica", 12)
        raised(72, 700, "The depot of Hull has 35", "1", " trams and 61 buses, and in the early summer")
        lines(
            page,
            72,
            686,
            "of every year the trams stand in the yard behind the hall until the",
            "rails have been ground.",
        )
        raised(72, 640, "The power station behind the depot gives 3.2 x 10", "6", " watts to the line.")
        lines(page, 72, 90, "1 Two of them are kept for the museum and do not run.")

    def scanned(page: canvas.Canvas) -> None:
        for number in range(1, 6):
            if number in (2, 3, 5):
                page.rect(72, 300, 400, 300, fill=1)
            else:
                lines(page, 72, 700, f"In part {number} the miller tells of the year {1900 + number}.")
            page.showPage()

    yield Case(
        "PDF",
        "footnotes.pdf",
        drawn(noted),
        ("in the early summer of every year the trams", "Two of them are kept for the museum", "10^6 watts"),
        ("351 trams",),
    )
    yield Case("PDF", "scans.pdf", drawn(scanned), ("the year 1904",), named="pages_without_text: 2-3, 5")
    yield Case("PDF", "rotated.pdf", buffer.getvalue(), ("The tower of the mill is 31 metres high.",))
    yield Case("PDF", "columns.pdf", drawn(columns), ("barley for four villages", "storm of 1903"))
    yield Case("PDF", "running.pdf", drawn(running), ("the 19 men who worked there",), ("Page 4 of 4",))
    yield Case("PDF", "hyphens.pdf", drawn(hyphens), ("was completed in June",))
    locked = pypdf.PdfWriter(clone_from=io.BytesIO(drawn(rotated)))
    locked.encrypt("secret")
    buffer = io.BytesIO()
    locked.write(buffer)
    yield Case("PDF", "password.pdf", buffer.getvalue(), (), named="password")


def mails() -> Iterator[Case]:
    """Quotes, pages, mails in mails, a mailbox."""
    head = "From: Dana Ilves <d@x.org>\nTo: Omar Farid <o@x.org>\nDate: Tue, 3 May 2022 23:12:00 -0500\nSubject: Pump\n"
    quoting = (
        f"{head}\nIt runs at 4.5 bar.\n\nOn Mon, 2 May 2022 at 16:40, Omar Farid <o@x.org> wrote:\n> It ran at 3 bar.\n"
    )
    yield Case("e-mail", "reply.eml", quoting.encode(), ("It runs at 4.5 bar.", "It ran at 3 bar.", "on 3 May 2022"))
    page = "<p>The roof costs 12,400 euros.</p><blockquote type='cite'><p>It was 11,900 euros.</p></blockquote>"
    html = f"{head}Content-Type: text/html; charset=utf-8\n\n{page}"
    yield Case("e-mail", "html.eml", html.encode(), ("The roof costs 12,400 euros.", "It was 11,900 euros."), ("<p>",))
    outer = EmailMessage()
    outer["From"], outer["Date"], outer["Subject"] = "Ada <a@x.org>", "Wed, 4 May 2022 08:00:00 +0900", "Fwd"
    outer.set_content("See below.")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "Piet <p@x.org>", "Key"
    inner.set_content("The key lies under the stone.")
    outer.add_attachment(inner)
    outer.add_attachment(b"Part,Stock\nValve,4\n", maintype="text", subtype="csv", filename="stock.csv")
    outer.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(40), maintype="image", subtype="png", filename="a.png")
    attached = ("The key lies under the stone.", "| Valve | 4 |")
    yield Case("e-mail", "attached.eml", bytes(outer), attached, named="parts_not_read")
    first, second = (f"From {sender} Tue May  3 09:12:00 2022\n" for sender in ("d@x.org", "a@x.org"))
    box = f"{first}{quoting}\n\n{second}{head}\n>From here on all is well.\n"
    yield Case("mailbox", "mills.mbox", box.encode(), ("It runs at 4.5 bar.", "From here on all is well."))


def opened() -> Iterator[Case]:
    """OpenDocument, RTF, manual pages, light markup, address books, packed files."""
    spaces = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "text", "table", "style"))
    style = '<style:style style:name="{}"><style:text-properties {}/></style:style>'
    styles = style.format("Up", 'style:text-position="super 58%"')
    styles += style.format("Gone", 'style:text-line-through-style="solid"')
    text = (
        '<text:p>It holds 10<text:span text:style-name="Up">6</text:span> litres.</text:p>'
        '<text:p>Fee <text:span text:style-name="Gone">40</text:span> 55.</text:p>'
    )
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = "".join(
        f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>"
        for row in (("Depot", "Trams"), ("Hull", "12"))
    )
    for name, kind, body, says in (
        ("fee.odt", "text", text, ("It holds 10^6 litres.", "Fee ~~40~~ 55.")),
        ("trams.ods", "spreadsheet", f'<table:table table:name="Now">{rows}</table:table>', ("| Hull | 12 |",)),
    ):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
            content = f"<office:automatic-styles>{styles}</office:automatic-styles>"
            content += f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
            archive.writestr("content.xml", f"<office:document {spaces}>{content}</office:document>")
        yield Case("OpenDocument", name, buffer.getvalue(), says)
    rtf = rb"{\rtf1\ansi It holds 10{\super 6} litres.\par Fee {\strike 40} 55.\par{\v Code 9.}\par}"
    yield Case(
        "RTF", "fee.rtf", rtf, ("It holds 10^6 litres.", "Fee ~~40~~ 55.", "Code 9."), ("\\",), named="hidden_words"
    )
    page = b'.TH OAR 1\n.SH OPTIONS\n.TP\n.BR \\-f ", " \\-\\-fast\nRow \\fIfast\\fR.\n'
    yield Case("manual page", "oar.1", page, ("-f, --fast\nRow fast.",), (".TP", "\\f"))
    yield Case("manual page", "oar.1.gz", gzip.compress(page), ("-f, --fast\nRow fast.",))
    rst = b"Boats\n=====\n\n.. note:: Keep ``off``.\n\n=====  ====\nPier   Fee\n=====  ====\nNorth  12\n=====  ====\n"
    yield Case("reStructuredText", "boats.rst", rst, ("Note: Keep off.", "| North | 12 |"), ("===", "::"))
    adoc = b"= Boats\n\nKeep *off*.\n\n|===\n|Pier |Fee\n|North |12\n|===\n"
    yield Case("AsciiDoc", "boats.adoc", adoc, ("Keep off.", "| North | 12 |"), ("===",))
    org = b"* TODO Boats\nKeep *off*.\n| Pier | Fee |\n|------+-----|\n| North | 12 |\n- [X] oars\n"
    yield Case("Org", "boats.org", org, ("TODO Boats", "Keep off.", "| North | 12 |", "- \u2611 oars"), ("|--",))
    chapter = b"<book><title>Boats</title><para>Keep <b>off</b> <i>at night</i>.</para></book>"
    yield Case("XML", "boats.xml", chapter, ("Keep off at night.",), ("<",))
    records = b"<piers><pier><name>North</name><fee>12</fee></pier><pier><name>South</name><fee>9</fee></pier></piers>"
    yield Case("XML", "piers.xml", records, ("| North | 12 |",), ("<",))
    card = b"BEGIN:VCARD\nFN:Ida Sol\nTEL;TYPE=WORK:22 33\nBDAY:19810412\nEND:VCARD\n"
    yield Case(
        "address book",
        "ida.vcf",
        card,
        ("Ida Sol, phone (work): 22 33", "Ida Sol, birthday: 12 April 1981"),
        ("VCARD",),
    )


def others() -> Iterator[Case]:
    """Calendars, LaTeX, pages, notebooks, books, odd names."""
    event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Choir\r\nLOCATION:Hall\r\n{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    for name, lines, said in (
        ("zone", "DTSTART;TZID=Europe/Berlin:20240507T193000", "Tuesday, 7 May 2024, 19:30 (Europe/Berlin), at Hall"),
        (
            "days",
            "DTSTART;VALUE=DATE:20240614\r\nDTEND;VALUE=DATE:20240617",
            "Friday, 14 June 2024 to Sunday, 16 June 2024",
        ),
        (
            "weekly",
            "DTSTART:20240507T193000Z\r\nRRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=8",
            "repeats every week on Tuesday, 8 times",
        ),
        ("except", "DTSTART:20240507T193000\r\nEXDATE:20240514T193000", "but not on 14 May 2024"),
        ("folded", "DTSTART:20240507T193000\r\nDESCRIPTION:Bring the bl\r\n ue book.", "Bring the blue book."),
    ):
        yield Case("calendar", f"{name}.ics", event.format(lines).encode(), (said,), ("BEGIN:VEVENT",))
    tex = "\\documentclass{{article}}\\newcommand{{\\boat}}{{Petrel}}\\begin{{document}}{}\\end{{document}}"
    for name, body, said in (
        ("macro", "The \\boat{} is 14\\,m long. % sank", "The Petrel is 14"),
        ("table", "\\begin{tabular}{lr}Part & Price \\\\ \\hline Anchor & 140 \\\\ \\end{tabular}", "| Anchor | 140 |"),
        ("list", "\\begin{itemize}\\item Paint the deck\\end{itemize}", "- Paint the deck"),
        ("accents", "Caf\\'e \\emph{Stra\\ss e} costs 5\\,\\%", "Café Straße costs 5"),
        ("note", "The keel\\footnote{Cast in 1987.} is old.", "The keel (Cast in 1987.) is old."),
    ):
        yield Case("LaTeX", f"{name}.tex", tex.format(body).encode(), (said,), ("\\", "sank"))
    around = "<nav><a href='/'>Start</a></nav><div role='dialog' class='cookie-banner'><p>We use cookies.</p></div>"
    main = "<main><h1>Ferry</h1><p>The ferry leaves from pier 4.</p><pre>run --fast</pre></main>"
    page = f"<html><head><title>Ferry</title></head><body>{around}{main}</body></html>"
    yield Case("HTML", "ferry.html", page.encode(), ("The ferry leaves from pier 4.", "run --fast"), ("Start",))
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "High water is at noon."]},
        {"cell_type": "code", "source": "mean()", "outputs": [{"output_type": "stream", "text": ["3.2 m\n"]}]},
    ]
    yield Case("notebook", "tides.ipynb", json.dumps({"cells": cells}).encode(), ("High water is at noon.", "3.2 m"))
    noted = "---\nauthor: Ada Kask\n---\n# Keys\n\nThe key hangs by the door.\n"
    yield Case("Markdown", "keys.md", noted.encode(), ("The key hangs by the door.", "written by Ada Kask"), ("---",))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml", '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
        )
        package = '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        archive.writestr("b.opf", f'{package}<spine><itemref idref="a"/></spine></package>')
        text = "<p>The lamp<a href='#n'><sup>1</sup></a> burns oil.</p><aside id='n'><p>Made in Hull.</p></aside>"
        archive.writestr("a.xhtml", f"<html><body><h1>Lamp</h1>{text}</body></html>")
    yield Case("EPUB", "lamp.epub", buffer.getvalue(), ("burns oil.", "Made in Hull."))
    for name in ("a b #1 (x).md", "ünïcode—dash.md", "100%.md"):
        yield Case("odd names", name, b"The gate opens at nine.\n", ("The gate opens at nine.",))


# --- what became of them ----------------------------------------------------------------------------------------------


def measured() -> dict[str, Tally]:
    """By kind, in the order of the cases."""
    found: defaultdict[str, Tally] = defaultdict(Tally)
    for case in (*csvs(), *sheets(), *pdfs(), *mails(), *opened(), *others()):
        read(case, found[case.kind])
    return dict(found)


def read(case: Case, tally: Tally) -> None:
    """Count one case."""
    tally.files += 1
    tally.stated += len(case.says) + len(case.without) + bool(case.named)
    documents, told = list[Document](), set[str]()
    try:
        for one in parse(Item(case.name, case.name, Path(case.name)), case.data, Hints()):
            if isinstance(one, Document):
                documents.append(one)
                told |= {_said(one, name) for name in NAMED if name in one.metadata}
            else:
                told.add(one.what)
    except DocumentError as error:
        told.add(error.what)
    tally.named |= told
    for said in case.says:
        holder = next((one for one in documents if said in one.text), None)
        if holder is None:
            tally.lost.append(f"{case.name}: {said}")
            continue
        tally.kept += 1
        start = holder.text.index(said)
        tally.place = tally.place or f"{holder.source}, {locate(holder, start, start + len(said))}".removesuffix(", ")
    for said in case.without:
        if any(said in one.text for one in documents):
            tally.lost.append(f"{case.name}: not without {said}")
        else:
            tally.kept += 1
    if case.named and any(case.named in one for one in told):
        tally.kept += 1
    elif case.named:
        tally.lost.append(f"{case.name}: {case.named} is not said")


def _said(document: Document, name: str) -> str:
    """The name of what was lost, with the pages where they are known."""
    pages = document.metadata.get(f"which_{name}")
    return name if pages is None else f"{name}: {pages}"


def table(found: dict[str, Tally]) -> str:
    """As Markdown."""
    lines = ["| kind | files | kept | named as lost | a citation |", "|---|---|---|---|---|"]
    for kind, one in found.items():
        named = ", ".join(sorted(one.named)) or "-"
        lines.append(f"| {kind} | {one.files} | {one.kept} of {one.stated} | {named} | `{one.place}` |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m benchmarks.kinds", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/documents.md")
    wanted = parser.parse_args()
    result = measured()
    print(table(result))
    print(*(line for one in result.values() for line in one.lost), sep="\n")
    if wanted.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{table(result)}{END}{rest.partition(END)[2]}", encoding="utf-8")
