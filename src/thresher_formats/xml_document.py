"""XML of any vocabulary: feeds, DocBook, drawings' words, records; told by how its elements stand, few by name.

A file in which words stand between elements, or a text of several words alone in one, is a text: headings, paragraphs
and tables. Any other file is data and is read as JSON of the same shape is.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from thresher.documents.assembly import Assembly, Cell, Parsed, add_table
from thresher.documents.cleaning import clean_inline
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import add_value, local, read_markup, read_text, xml_root

HEADINGS = frozenset({"title", "head", "heading", "subtitle"})
TABLES, ROWS = frozenset({"table", "informaltable", "simpletable"}), frozenset({"row", "tr", "strow", "sthead"})
CODE = frozenset({"programlisting", "screen", "literallayout", "synopsis", "codeblock", "pre"})
UNSEEN = frozenset({"style", "script", "binary", "indexterm"})
MARKUP = re.compile(r"</?\w+[^<>]*>")
WORDS_OF_PROSE = 8
"""Words that a text alone in its element has where the element holds prose, not a value."""


def read_xml(file: RawFile) -> Parsed:
    """An XML file; one that is not well-formed is read as text, its tags included."""
    try:
        root = xml_root([file.data], "it")
    except ParseError:
        return read_text(file)
    assembly = Assembly()
    prose = {local(each) for each in root.iter() if _mixed(each) or _words(each) >= WORDS_OF_PROSE} - UNSEEN
    if prose or local(root) == "svg":
        _Walk(assembly, prose).block(root)
    else:
        add_value(assembly, _value(root))
    if not assembly:
        raise DocumentError("the file has no text", next_step="leave it out if it is a drawing without words")
    heading = next((text for each in root.iter() if local(each) in HEADINGS and (text := _text(each))), "")
    return assembly.parsed(heading=heading if prose else "")


class _Walk:
    """The blocks of a text, one after the other."""

    def __init__(self, assembly: Assembly, prose: set[str]) -> None:
        self.assembly = assembly
        self.prose = prose

    def block(self, element: Element) -> None:
        """An element: a heading, a table, a paragraph, or what it holds."""
        name = local(element)
        if name in UNSEEN:
            return
        if name in TABLES and any(local(each) in ROWS for each in element.iter()):
            self._table(element)
        elif name in HEADINGS and _text(element):
            self.assembly.mark("heading", _text(element))
            self.assembly.paragraph(_text(element))
        elif name in CODE:
            self.assembly.paragraph("".join(element.itertext()))
        elif not len(element) and MARKUP.search(element.text or ""):  # a page in a feed
            self.assembly.add(read_markup(element.text or "").assembly)
        elif _mixed(element) or not len(element):
            self.assembly.paragraph(_text(element))
        else:
            for is_value, group in groupby(element, self._is_value):
                if is_value:
                    self.assembly.paragraph("\n".join(f"{local(each)}: {_text(each)}" for each in group))
                else:
                    for each in group:
                        self.block(each)

    def _is_value(self, element: Element) -> bool:
        """Whether it is a field of a record, shown under its name."""
        name = local(element)
        named = name not in self.prose | HEADINGS | UNSEEN | CODE and name != "text"
        return named and not len(element) and bool(_text(element)) and not MARKUP.search(element.text or "")

    def _table(self, table: Element) -> None:
        for each in table:
            if local(each) in HEADINGS:
                self.block(each)
        rows = (row for row in table.iter() if local(row) in ROWS)
        add_table(self.assembly, [[Cell(_text(cell)) for cell in row] for row in rows])


def _mixed(element: Element) -> bool:
    """Whether words stand between the elements in it."""
    return len(element) > 0 and any((text or "").strip() for text in (element.text, *(each.tail for each in element)))


def _words(element: Element) -> int:
    return 0 if len(element) else len((element.text or "").split())


def _text(element: Element) -> str:
    return clean_inline(" ".join("".join(element.itertext()).split()))


def _value(element: Element) -> Any:
    """An element as JSON has it: its attributes and elements by name, several of one name in a list, or its text.

    Elements of one name and nothing beside them are a list: `<orders><order/><order/></orders>`.
    """
    found: dict[str, list[Any]] = {name.rpartition("}")[2]: [given] for name, given in element.attrib.items()}
    for each in element:
        name, text = local(each), clean_inline(each.text or "")
        if text and not len(each):  # `<total in="EUR">9</total>`
            found.setdefault(name, []).append(text)
            for own, given in each.attrib.items():
                found.setdefault(f"{name} {own.rpartition('}')[2]}", []).append(given)
        else:
            found.setdefault(name, []).append(_value(each))
    if len(found) == 1 and not element.attrib and len(listed := next(iter(found.values()))) > 1:
        return listed
    fields = {name: values if len(values) > 1 else values[0] for name, values in found.items()}
    return fields or clean_inline(element.text or "")
