"""OpenDocument files: texts and slides by way of HTML, which has all that they have; sheets as those of Excel.

Read from `content.xml`, `styles.xml` and `meta.xml` as OASIS OpenDocument 1.3 has them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Cell, Parsed
from thresher.documents.cleaning import RAISED, STRUCK, clean_inline, iso_date, with_marks, word_set
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import (
    MOST_COLUMNS,
    MOST_MERGED,
    NOTES_LABEL,
    PROGRAMS,
    TEMPLATE_MOMENTS,
    TICKED,
    UNTICKED,
    Sheet,
    Sheets,
    add_remark,
    attribute,
    child,
    children,
    column_name,
    descendants,
    local,
    opened,
    put,
    read_markup,
    whole,
    xml_of,
)

HIDING = ' style="display:none"'
SKIPPED = frozenset(
    {"tracked-changes", "forms", "annotation-end", "ruby-text", "desc", "title", "notes", "animations", "page-number"}
)
"""What a page does not show, or what is read in another place."""
UNCOUNTED = word_set(
    "tracked-changes annotation-end creator date styles automatic-styles font-face-decls scripts forms desc title "
    "page-number"
)
"""What no reader has to keep: not shown on a page, or shown in another form."""
BREAKING = word_set("p h tab s line-break table-cell a list-item")
GROUPS = frozenset(
    f"table-{name}" for name in ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
)
BOX_NAMES = ("id", "control-id")
MOST_ROWS = 1_048_576  # of a sheet; what is repeated to its end is empty


@dataclass(frozen=True, slots=True)
class Style:
    """What a style does to the meaning of its text."""

    struck: bool = False
    raised: bool = False
    hidden: bool = False
    title: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """The parts of a file that say what it is."""

    content: Element
    styles: Mapping[str, Style]
    numbered: Mapping[str, frozenset[int]]
    """The levels of each list style that have numbers."""
    facts: Mapping[str, str]
    title: str
    date: str | None
    seen: tuple[tuple[str, str], ...]
    """The text of the body as `account` counts it; none if hidden text is left out."""

    def body(self, name: str) -> Element:
        """The text, the sheets or the slides."""
        found = child(self.content, "body", name)
        if found is None:
            raise LookupError(f"office:{name}")
        return found


@contextmanager
def _package(file: RawFile) -> Iterator[Package]:
    with opened(file.data, limits=file.limits) as archive:
        manifest = "META-INF/manifest.xml"
        if manifest in archive.NameToInfo and list(descendants(xml_of(archive, manifest), "encryption-data")):
            raise DocumentError("the file is protected by a password", next_step="save a copy without the password")
        content = xml_of(archive, "content.xml")
        shared = xml_of(archive, "styles.xml") if "styles.xml" in archive.NameToInfo else None
        roots = [root for root in (shared, content) if root is not None]
        title, date, facts = _stated(archive)
        seen = (("body", "".join(_texts(content))),) if file.limits.hidden else ()
        yield Package(content, _styles(roots), _numbered(roots), facts, title, date, seen)


def _stated(archive: zipfile.ZipFile) -> tuple[str, str | None, dict[str, str]]:
    """Title, day of making, and author, subject and keywords as a person stated them."""
    if "meta.xml" not in archive.NameToInfo:
        return "", None, {}
    said: dict[str, list[str]] = {}
    meta = child(xml_of(archive, "meta.xml"), "meta")
    for each in () if meta is None else meta:
        said.setdefault(local(each), []).append(clean_inline(each.text or ""))
    names = {"author": ("creator", "initial-creator"), "subject": ("subject",), "keywords": ("keyword",)}
    facts = {name: ", ".join(found) for name, tags in names.items() for tag in tags if (found := said.get(tag))}
    facts = {name: text for name, text in facts.items() if text.lower() not in PROGRAMS}
    made = "".join(said.get("creation-date", ()))
    return "".join(said.get("title", ())), None if f"{made[:19]}Z" in TEMPLATE_MOMENTS else iso_date(made), facts


def _styles(roots: list[Element]) -> dict[str, Style]:
    """Each style with what it takes from its parents."""
    elements = {attribute(each, "name"): each for root in roots for each in descendants(root, "style")}
    found: dict[str, Style] = {}

    def style(name: str, left: int = 20) -> Style:
        if name in found or name not in elements or not left:
            return found.get(name, Style())
        element = elements[name]
        inherited = style(attribute(element, "parent-style-name"), left - 1)
        texts = [each for each in element if local(each).endswith("-properties")]
        given = {key.rpartition("}")[2]: value for each in texts for key, value in each.attrib.items()}
        lines = given.get("text-line-through-style") or given.get("text-line-through-type")
        raised = given.get("text-position", "").split(" ")[0]
        shows = given.get("display") or given.get("visibility")
        found[name] = Style(
            struck=inherited.struck if lines is None else lines != "none",
            raised=(raised == "super" or raised[:1] in tuple("123456789")) if raised else inherited.raised,
            hidden=inherited.hidden if shows is None else shows in ("none", "false", "hidden"),
            title=inherited.title or name == "Title",
        )
        return found[name]

    return {name: style(name) for name in elements}


def _numbered(roots: list[Element]) -> dict[str, frozenset[int]]:
    lists = (each for root in roots for each in descendants(root, "list-style"))
    return {
        attribute(each, "name"): frozenset(
            whole(attribute(level, "level"))
            for level in children(each, "list-level-style-number")
            if attribute(level, "num-format")
        )
        for each in lists
    }


def _texts(element: Element) -> Iterator[str]:
    if local(element) in UNCOUNTED:
        return
    yield element.text or ""
    for each in element:
        yield from _texts(each)
        yield each.tail or ""
    if local(element) in BREAKING:
        yield "\n"


# --- texts and slides -------------------------------------------------------------------------------------------------


def read_text(file: RawFile) -> Parsed:
    """An odt file: headings, paragraphs, lists and tables in order; notes, boxes and comments where they belong."""
    with _package(file) as package:
        markup = Markup(package)
        reader = read_markup(markup.blocks(package.body("text")), hidden=file.limits.hidden)
        return _parsed(reader.assembly, package, reader.heading, "odt", {"hidden_words": reader.hidden_words})


def read_presentation(file: RawFile) -> Parsed:
    """An odp file: each slide is a page, with its notes; hidden slides are kept unless the limits say otherwise."""
    with _package(file) as package:
        markup, assembly, heading, hidden = Markup(package), Assembly(), "", 0
        for number, slide in enumerate(children(package.body("presentation"), "page"), start=1):
            hides = markup.style(slide).hidden
            hidden += hides
            assembly.page(number)
            assembly.mark("part", "")
            if hides and not file.limits.hidden:
                continue
            if hidden:
                assembly.mark("hidden", "hidden slide" if hides else "")
            reader = read_markup(markup.blocks(slide), hidden=file.limits.hidden)
            assembly.add(reader.assembly)
            heading = heading or reader.heading or reader.assembly.text.partition("\n")[0]
            frames = (each for notes in children(slide, "notes") for each in descendants(notes, "frame"))
            boxes = [
                box for each in frames if attribute(each, "class") == "notes" for box in children(each, "text-box")
            ]
            if said := read_markup("".join(map(markup.blocks, boxes))).assembly:
                assembly.mark("part", "notes")
                assembly.paragraph(NOTES_LABEL)
                assembly.add(said)
        return _parsed(assembly, package, heading, "odp", {"hidden_slides": hidden})


def _parsed(assembly: Assembly, package: Package, heading: str, kind: str, counted: Mapping[str, int]) -> Parsed:
    if not assembly:
        raise DocumentError(f"the {kind} file has no text", next_step="check that it is not only pictures")
    found = {name: count for name, count in counted.items() if count}
    facts = {**package.facts, **found}
    return assembly.parsed(title=package.title, heading=heading, date=package.date, metadata=facts, seen=package.seen)


@dataclass
class Markup:
    """Writes the elements of a text or slide as HTML."""

    package: Package
    _behind: list[str] = field(default_factory=list)
    """What belongs to a paragraph and stands beside or below it."""
    _notes: int = 0

    def style(self, element: Element) -> Style:
        """The style that an element names."""
        return self.package.styles.get(attribute(element, "style-name"), Style())

    def blocks(self, container: Element, *, listed: str = "", level: int = 0) -> str:
        """Everything in a body, a section, a list item, a cell or a box; `listed` is the style of the list around."""
        return "".join(self._block(element, listed, level) for element in container)

    def _block(self, element: Element, listed: str, level: int) -> str:
        name, style = local(element), self.style(element)
        if name in SKIPPED:
            return ""
        if name in ("h", "p"):
            tag = f"h{min(6, whole(attribute(element, 'outline-level'), 1) or 1)}" if name == "h" else "p"
            said, hides = self._inline(element), HIDING if style.hidden else ""
            said = f"<{'h1' if style.title else tag}{hides}>{_styled(style, said)}</{'h1' if style.title else tag}>"
            behind, self._behind = "".join(self._behind), []
            return said + behind
        if name == "list":
            listed = attribute(element, "style-name") or listed
            tag = "ol" if level + 1 in self.package.numbered.get(listed, ()) else "ul"
            items = [each for each in element if local(each) in ("list-item", "list-header")]
            inner = "".join(f"<li>{self.blocks(each, listed=listed, level=level + 1)}</li>" for each in items)
            return f"<{tag}>{inner}</{tag}>"
        if name == "table":
            return f"<table>{''.join(self._rows(element))}</table>"
        if name == "frame" and attribute(element, "class") == "title":
            return f"<h1>{' '.join(self._inline(each) for each in descendants(element, 'p'))}</h1>"
        inner = self.blocks(element, listed=listed, level=level)
        is_hidden = style.hidden or attribute(element, "display") == "none"
        return f"<div{HIDING}>{inner}</div>" if is_hidden else inner

    def _rows(self, table: Element, head: bool = False) -> Iterator[str]:
        for element in table:
            name = local(element)
            if name in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._rows(element, head or name == "table-header-rows")
            elif name == "table-row":
                cells = (each for each in element if local(each) == "table-cell")
                yield f"<tr>{''.join(self._cell(cell, 'th' if head else 'td') for cell in cells)}</tr>"

    def _cell(self, cell: Element, tag: str) -> str:
        spans = (("colspan", "number-columns-spanned"), ("rowspan", "number-rows-spanned"))
        given = "".join(f' {name}="{whole(attribute(cell, of), 1)}"' for name, of in spans)
        again = min(whole(attribute(cell, "number-columns-repeated"), 1), 100)
        return f"<{tag}{given}>{self.blocks(cell)}</{tag}>" * again

    def _inline(self, element: Element) -> str:
        return escape(element.text or "") + "".join(
            self._run(each, local(each)) + escape(each.tail or "") for each in element
        )

    def _run(self, element: Element, name: str) -> str:
        if name in ("s", "tab"):
            return " "
        if name == "line-break":
            return "<br>"
        if name == "note":
            self._notes += 1
            kind = attribute(element, "note-class", "footnote").capitalize()
            body = child(element, "note-body")
            said = " ".join(self._inline(each) for each in descendants(body, "p"))
            self._behind.append(f"<p>{kind} {self._notes}: {said}</p>")
            return ""
        if name == "annotation":
            author = "".join(each.text or "" for each in children(element, "creator"))
            said = " ".join(self._inline(each) for each in children(element, "p"))
            self._behind.append(f"<p>Comment{escape(f' by {author}' if author else '')}: {said}</p>")
            return ""
        if name == "control":
            return self._box(attribute(element, "control"))
        if name in ("frame", "custom-shape", "text-box", "rect", "g"):
            self._behind.append(self._block(element, "", 0))
            return ""
        return "" if name in SKIPPED else _styled(self.style(element), self._inline(element))

    def _box(self, identifier: str) -> str:
        """A box that can be ticked, with what stands beside it."""
        if (box := self._boxes.get(identifier)) is None:
            return ""
        on = attribute(box, "current-state", attribute(box, "state")) == "checked"
        on = on or attribute(box, "current-selected", attribute(box, "selected")) == "true"
        return f" {TICKED if on else UNTICKED} {escape(attribute(box, 'label'))}"

    @cached_property
    def _boxes(self) -> dict[str, Element]:
        """Each box by what a control calls it."""
        boxes = (each for kind in ("checkbox", "radio") for each in descendants(self.package.content, kind))
        return {name: each for each in boxes for key, name in each.items() if key.rpartition("}")[2] in BOX_NAMES}


def _styled(style: Style, markup: str) -> str:
    markup = f"<s>{markup}</s>" if style.struck and markup.strip() else markup
    markup = f"<sup>{markup}</sup>" if style.raised and markup.strip() else markup
    return f"<span{HIDING}>{markup}</span>" if style.hidden and markup.strip() else markup


# --- sheets -----------------------------------------------------------------------------------------------------------


def read_spreadsheet(file: RawFile) -> Parsed:
    """An ods file: every sheet as its name, its tables and its remarks; cells as they are shown."""
    with _package(file) as package:
        sheets = Sheets(keeps_hidden=file.limits.hidden)
        for table in children(package.body("spreadsheet"), "table"):
            style = package.styles.get(attribute(table, "style-name"), Style())
            if sheets.begin(attribute(table, "name"), hidden=style.hidden):
                reader = SheetReader(package.styles, keeps_hidden=file.limits.hidden)
                reader.read(table)
                sheets.add(reader.sheet, reader.remark)
        parsed = sheets.parsed("ods", title=package.title, date=package.date, stated=package.facts)
        return replace(parsed, seen=package.seen)


@dataclass
class SheetReader:
    """Walks a sheet once and fills its cells."""

    styles: Mapping[str, Style]
    keeps_hidden: bool
    sheet: Sheet = field(default_factory=Sheet)
    _remarks: list[tuple[str, str]] = field(default_factory=list)
    _row: int = 0
    _column: int = 0

    def read(self, table: Element) -> None:
        """Its columns and rows."""
        for element in table:
            name = local(element)
            if name in GROUPS:
                self.read(element)
            elif name == "table-column":
                last = min(self._column + whole(attribute(element, "number-columns-repeated"), 1), MOST_COLUMNS)
                if attribute(element, "visibility", "visible") != "visible":
                    self.sheet.hidden_columns |= set(range(self._column + 1, last + 1))
                self._column = last
            elif name == "table-row":
                self._read_row(element)
        self.sheet.hidden_columns &= {column for _, column in self.sheet.cells}

    def _read_row(self, row: Element) -> None:
        again = whole(attribute(row, "number-rows-repeated"), 1)
        filled = any(self._text(cell) for cell in children(row, "table-cell"))
        for _ in range(min(again, MOST_ROWS - self._row) if filled else 0):
            self._row += 1
            again -= 1
            if attribute(row, "visibility", "visible") != "visible":
                self.sheet.hidden_rows.add(self._row)
            self._cells(row)
        self._row += again

    def _cells(self, row: Element) -> None:
        column = 0
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            again, text = whole(attribute(cell, "number-columns-repeated"), 1), self._text(cell)
            for at in range(column + 1, column + min(again, MOST_COLUMNS) + 1 if text else 0):
                self._put(cell, at, text)
            column += again
            if local(cell) == "table-cell":
                self._note(cell, column, text)

    def _put(self, cell: Element, column: int, text: str) -> None:
        is_hidden = self._row in self.sheet.hidden_rows or column in self.sheet.hidden_columns
        if is_hidden and not self.keeps_hidden:
            return
        columns = max(1, whole(attribute(cell, "number-columns-spanned"), 1))
        rows = max(1, whole(attribute(cell, "number-rows-spanned"), 1))
        if rows * columns > MOST_MERGED:
            rows = columns = 1
        held = Cell(text, columns, rows)
        for at in ((self._row + down, column + right) for down in range(rows) for right in range(columns)):
            put(self.sheet.cells, at, self.sheet.cells.get(at, held))

    def _note(self, cell: Element, column: int, text: str) -> None:
        place = f"{column_name(column)}{self._row}"
        for remark in children(cell, "annotation"):
            if said := clean_inline(" ".join(_plain(each, self.styles) for each in children(remark, "p"))):
                self._remarks.append((place, said))
        if attribute(cell, "formula") and not text and not attribute(cell, "value-type"):
            self.sheet.uncomputed.append(place)

    def _text(self, cell: Element) -> str:
        """A cell as a program shows it."""
        shown = clean_inline("\n".join(_plain(each, self.styles) for each in children(cell, "p")))
        is_struck = self.styles.get(attribute(cell, "style-name"), Style()).struck
        return with_marks(f"{STRUCK}{shown}{STRUCK}") if shown and is_struck and "~~" not in shown else shown

    def remark(self, assembly: Assembly) -> None:
        """What lies on the sheet besides its cells."""
        for place, said in self._remarks:
            add_remark(assembly, place, said)


def _plain(element: Element, styles: Mapping[str, Style]) -> str:
    """The text of a paragraph of a cell, with the marks of what is raised or struck."""

    def inner(element: Element) -> str:
        said = element.text or ""
        for each in element:
            style, text = styles.get(attribute(each, "style-name"), Style()), inner(each)
            text = " " if local(each) in ("s", "tab") else "\n" if local(each) == "line-break" else text
            said += (RAISED if style.raised else "") + (f"{STRUCK}{text}{STRUCK}" if style.struck else text)
            said += each.tail or ""
        return said

    return with_marks(inner(element))
