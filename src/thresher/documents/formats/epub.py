"""EPUB books: the chapters in the order of the spine, each read as the page of HTML that it is."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.formats.archives import child, children, descendants, local, opened, xml_of
from thresher.documents.formats.html import decode_html, read_markup
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

CONTAINER = "META-INF/container.xml"
PAGES = ("application/xhtml+xml", "text/html")


def read_epub(file: RawFile) -> Parsed:
    """A book."""
    assembly, heading, tables = Assembly(), "", 0
    with opened(file.data, limits=file.limits) as archive:
        package, folder = package_of(archive)
        for name in chapters(archive, package, folder):
            page = read_markup(decode_html(archive.read(name))[0], tables=tables, hidden=file.limits.hidden)
            tables = page.tables
            heading = heading or page.heading
            assembly.add(page.assembly)
    if not assembly:
        raise DocumentError("the epub file has no text", next_step="check that it is not protected or only pictures")
    stated = child(package, "metadata")
    fields = {name: _field(stated, name) for name in ("title", "creator", "subject", "publisher", "date")}
    named = {"author": fields["creator"], "subject": fields["subject"], "publisher": fields["publisher"]}
    return assembly.parsed(
        title=fields["title"],
        heading=heading,
        date=iso_date(fields["date"]),
        metadata={name: text for name, text in named.items() if text},
    )


def _field(metadata: Element | None, name: str) -> str:
    texts = (clean_inline(each.text or "") for each in children(metadata, name))
    found = [text for text in texts if text]
    return (found[0] if name in ("title", "date") else ", ".join(found)) if found else ""


def package_of(archive: zipfile.ZipFile) -> tuple[Element, str]:
    """The list of what a book consists of, and the folder its names are in."""
    path = next((each.get("full-path", "") for each in descendants(xml_of(archive, CONTAINER), "rootfile")), "")
    return xml_of(archive, path), posixpath.dirname(path)


def chapters(archive: zipfile.ZipFile, package: Element, folder: str) -> Iterator[str]:
    """The pages of a book in reading order, those that a reader is led to from others (notes) where they stand."""
    items = {item.get("id", ""): item for item in descendants(child(package, "manifest"), "item")}
    for entry in child(package, "spine") or ():
        item = items.get(entry.get("idref", "")) if local(entry) == "itemref" else None
        if item is None or item.get("media-type", PAGES[0]) not in PAGES:
            continue
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        if name in archive.NameToInfo:
            yield name
