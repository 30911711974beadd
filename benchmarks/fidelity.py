"""How many words of real files are not kept when they are read, by kind of file.

    .venv/bin/python -m benchmarks.fidelity FOLDER... [--most N]

Every file under the folders of a kind that is counted, at most N of a kind (100), chosen by the hash of its name.
Files are taken apart here with lxml, without the readers' ideas of what is a table, a note or a heading: every text
node of an Office file's parts, every text of a page of HTML outside scripts and menus; of a PDF PDFium's text. A word
that is there more often than it was kept is missing: lost, or altered.
Printed are a table for each kind and the files that lose the largest share.
"""

from __future__ import annotations

import re
import time
import zipfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree, html

from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import normalise, word_set
from thresher.documents.formats.html import decode_html
from thresher.documents.formats.pdf_pages import extract, page_texts
from thresher.documents.registry import RawFile, by_extension, kind_of
from thresher.errors import ThresherError

WORST = 12
WORD = re.compile(r"[^\W_]+|[<>&%€$£¥§±×÷=≤≥≠≈+°]")
"""A run of letters and digits, or a sign that turns a meaning round where it is lost."""
PLACES = (
    *(("footnotes", "footnotes"), ("endnotes", "endnotes"), ("comments", "comments"), ("threadedComments", "comments")),
    *(("header", "page headers"), ("footer", "page footers"), ("charts/", "charts"), ("diagrams/data", "diagrams")),
    *(("notesSlides/", "notes"), ("slides/slide", "slides"), ("sharedStrings", "cells"), ("worksheets/", "cells")),
    *(("drawings/drawing", "drawings"), ("word/document", "body")),
)
"""What a part of an Office file is called, by what its name holds."""
NOT_SHOWN = word_set(
    "del moveFrom delText instrText Fallback rPh rt pPr rPr numCache numLit f formula1 formula2 sldNum fld desc"
)
"""Elements of such a part whose text no page shows, or shows in another form."""
BREAKING = word_set("p tab br cr ptab noBreakHyphen si c pt s footnoteReference sym")
UNSEEN = word_set(
    "script style noscript template iframe object canvas audio video nav datalist annotation annotation-xml head "
    "button option defs desc"
)
INLINE = word_set(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt "
    "u var wbr mi mn mo"
)


@dataclass(frozen=True, slots=True)
class Account:
    """How many words a file has, how many of them were not kept, and in what kinds of places those stand."""

    words: int
    missing: int
    places: tuple[str, ...] = ()


def words_of(text: str) -> list[str]:
    """The words and signs of a text; a word that a hyphen breaks at a line end, or joins, is its letters alone.

    A power or fraction is its digits, as most formats hold it: `106` for `10^6`, `51/2` for `5 1/2`.
    """
    joined = re.sub(r"(?<=\d)(?:\^(?=[-−+]?\d)| (?=\d+[/⁄]))|(?<=[^\W\d_])[-‐\x02]\n?(?=[^\W\d_])", "", normalise(text))
    return WORD.findall(joined)


def office_texts(file: RawFile) -> Iterator[tuple[str, str]]:
    """The texts of the parts of an Office file, by the kind of place they stand in."""
    with zipfile.ZipFile(BytesIO(file.data)) as archive:
        for part in archive.namelist():
            place = next((called for name, called in PLACES if name in part), "")
            if place and part.endswith(".xml"):
                root = etree.fromstring(archive.read(part), etree.XMLParser(resolve_entities=False, huge_tree=True))
                yield place, "".join(_office_text(root, "v" if "charts/" in part else ""))


def _office_text(element: Any, value: str) -> Iterator[str]:
    name = etree.QName(element).localname
    if name in NOT_SHOWN:
        return
    if name in ("t", value):
        yield element.text or ""
    for each in element.iterchildren(tag=etree.Element):
        yield from _office_text(each, value)
    if name in BREAKING:
        yield "\n"


def page_texts_of(source: str) -> Iterator[tuple[str, str]]:
    """The text of a page of HTML, whatever it is."""
    yield "page", "".join(_page_text(html.document_fromstring(source)))


def _page_text(element: Any) -> Iterator[str]:
    if isinstance(element.tag, str) and element.tag not in UNSEEN and element.get("aria-hidden") != "true":
        between = "" if element.tag in INLINE else "\n"
        yield between + (element.text or "")
        for each in element:
            yield from _page_text(each)
        yield between
    yield element.tail or ""


def book_texts(file: RawFile) -> Iterator[tuple[str, str]]:
    """The texts of the chapters of a book."""
    with zipfile.ZipFile(BytesIO(file.data)) as archive:
        for name in archive.namelist():
            if name.endswith((".xhtml", ".html", ".htm")):
                yield from page_texts_of(re.sub(r"<\?xml[^>]*\?>", "", decode_html(archive.read(name))[0]))


TEXTS: dict[str, Callable[[RawFile], Iterable[tuple[str, str]]]] = {
    **dict.fromkeys(("docx", "pptx", "xlsx"), office_texts),
    "html": lambda file: page_texts_of(decode_html(file.data)[0]),
    "epub": book_texts,
    "pdf": lambda file: [("page", "\n".join(page_texts(extract(file.data, limits=file.limits))))],
}


def account(file: RawFile, parsed: Parsed) -> Account:
    """The account of one reading."""
    there: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, text in TEXTS[file.kind.name](file):
        there[place].update(words_of(text))
    left = Counter(words_of("\n".join([parsed.text, parsed.title, *map(str, parsed.metadata.values())])))
    missing: Counter[str] = Counter()
    for place, words in there.items():
        missing[place] = (words - left).total()
        left -= words
    places = tuple(place for place, count in missing.most_common(3) if count)
    return Account(sum(words.total() for words in there.values()), missing.total(), places)


@dataclass(slots=True)
class Tally:
    """What became of the files of one kind."""

    files: int = 0
    refused: int = 0
    size: int = 0
    seconds: float = 0.0
    words: int = 0
    missing: int = 0
    losing: int = 0
    """Files with a word that is missing."""
    places: Counter[str] = field(default_factory=Counter)


def chosen(folders: list[str], most: int) -> Iterator[tuple[str, Path]]:
    """The files to read, with their kinds."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in Path(folder).rglob("*"):
            kind = by_extension(path.suffix)
            if kind and kind.name in TEXTS and path.is_file() and not path.is_symlink():
                found[kind.name].append(path)
    for name, paths in sorted(found.items()):
        yield from ((name, path) for path in sorted(paths, key=lambda one: sha256(one.name.encode()).digest())[:most])


def main() -> None:
    """Read the files and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--most", type=int, default=100)
    given = parser.parse_args()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    worst: list[tuple[float, str, Account]] = []
    for kind, path in chosen(given.folders, given.most):
        tally, data = tallies[kind], path.read_bytes()
        tally.files += 1
        begun = time.process_time()
        try:
            file = RawFile(data, kind_of(data, name=path.name), path.name)
            read = file.kind.read(file)
            parsed = read if isinstance(read, Parsed) else next(one for one in read if isinstance(one, Parsed))
        except (ThresherError, StopIteration) as error:
            print(f"not read: {path}: {error}")
            tally.refused += 1
            continue
        tally.seconds += time.process_time() - begun
        tally.size += len(data)
        found = account(file, parsed)
        tally.words += found.words
        tally.missing += found.missing
        tally.losing += bool(found.missing)
        tally.places.update(dict.fromkeys(found.places, 1) if found.missing else {})
        worst.append((found.missing / max(1, found.words), str(path), found))
    print("| kind | files | not read | MB | words | not kept | share | files that lose one | where | seconds a MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind, tally in tallies.items():
        share = f"{tally.missing / tally.words:.4%}" if tally.words else "-"
        where = ", ".join(place for place, _ in tally.places.most_common(3)) or "-"
        size = tally.size / 1e6
        print(
            f"| {kind} | {tally.files} | {tally.refused} | {size:.1f} | {tally.words:,} | {tally.missing:,} | {share} "
            f"| {tally.losing} | {where} | {tally.seconds / max(size, 0.001):.2f} |"
        )
    for lost, name, found in sorted(worst, reverse=True)[:WORST]:
        print(f"{lost:.2%} {found.missing} of {found.words} ({', '.join(found.places)}): {name}")


if __name__ == "__main__":
    main()
