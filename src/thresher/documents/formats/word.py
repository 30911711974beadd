"""Word files: every text that a page shows, in order - body, lists with their numbers, tables, notes, boxes, comments.

Read from the parts of the archive as ECMA-376 (WordprocessingML) has them. Deleted text of tracked changes is not
shown and not kept; inserted text is. Hidden text is kept unless `Limits.hidden` says otherwise, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Cell, Parsed, add_grid, add_tabbed
from thresher.documents.cleaning import RAISED, STRUCK, clean_inline, clean_text, unmarked, with_marks, word_set
from thresher.documents.cleaning import hidden as as_hidden
from thresher.documents.formats.archives import (
    Part,
    attribute,
    child,
    children,
    descendants,
    is_on,
    local,
    opened,
    whole,
)
from thresher.documents.formats.slides import add_drawing
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.text.marks import TICKED, UNTICKED

MAX_COLUMNS = 63  # of a table, as Word has it
NOTES = {"footnoteReference": "Footnote", "endnoteReference": "Endnote", "commentReference": "Comment"}
NOT_SHOWN = word_set("del moveFrom delText instrText delInstrText rPr pPr sdtPr tcPr trPr")
BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
SCRIPTS = {"sup": "^", "sub": "_", "den": "/"}  # before an exponent, an index and a denominator on one line


@dataclass(slots=True)
class Paragraph:
    """What one paragraph shows, and what belongs to it and stands elsewhere on the page."""

    parts: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)  # kind and identifier of each note and comment, in order
    boxes: list[Element] = field(default_factory=list)
    drawings: list[tuple[str, str]] = field(default_factory=list)
    """`chart` or `diagram`, and the identifier of its relation."""
    fields: list[bool | None] = field(default_factory=list)
    """Of each open field, whether its result has begun; None for a list, of which the chosen entry is read."""
    struck: bool = False  # by its style

    @property
    def text(self) -> str:
        """The characters of the paragraph."""
        return with_marks("".join(self.parts))


def read_word(file: RawFile) -> Parsed:
    """A docx file: each paragraph, list item and table in order; notes, boxes and comments where they are anchored."""
    with opened(file.data, limits=file.limits) as archive:
        part = Part.main(archive, "word/document.xml")
        reader = WordReader(part, hidden=file.limits.hidden)
        reader.read()
        title, date, stated = part.properties()
    if not reader.assembly:
        raise DocumentError("the docx file has no text", next_step="check that it is not only pictures")
    found = {"hidden_words": reader.hidden_words} if reader.hidden_words else {}
    return reader.assembly.parsed(title=title, heading=reader.heading, date=date, metadata={**stated, **found})


class WordReader:
    """Walks a document once and fills an `Assembly`."""

    def __init__(self, part: Part, *, hidden: bool) -> None:
        """With `hidden`, text that the page does not show is kept too."""
        self.assembly = Assembly()
        self.heading = ""
        self.hidden_words = 0
        self._keeps_hidden = hidden
        self._part = part
        self._styles = styles_of(part)
        self._lists = lists_of(part)
        self._notes = {
            kind: {
                attribute(each, "id"): each
                for notes in part.related(f"{kind.lower()}s")
                for each in children(notes.root, kind.lower())
            }
            for kind in NOTES.values()
        }
        self._numbers = dict.fromkeys(self._notes, 0)
        self._tables = 0

    def read(self) -> None:
        """The body, and then what stands at the top and foot of its pages."""
        self._blocks(child(self._part.root, "body"))
        for kind, called in (("header", "page header"), ("footer", "page footer")):
            paragraphs = (each for part in self._part.related(kind) for each in descendants(part.root, "p"))
            texts = (clean_text(self._line(each).text) for each in paragraphs)
            # What has no word is the number of the page.
            self._aside(called, dict.fromkeys(text for text in texts if re.search(r"[^\W\d_]{2}", text)))

    def _blocks(self, container: Element | None) -> None:
        """Everything in a body, a cell that is layout, or a text box."""
        tabbed: list[str] = []
        for element in _inside(container, "p", "tbl"):
            if local(element) == "tbl":
                self._end_tabbed(tabbed)
                self._table(element)
                continue
            line = self._line(element)
            text, style = clean_text(line.text), self._style(element)
            label = self._label(element, style) if text.strip() else ""
            heads = style.outline is not None or style.name == "title"
            if "\t" in text.strip() and not label and not heads and not style.name.startswith("toc "):
                tabbed.append(text)
            else:
                self._end_tabbed(tabbed)
                labelled = f"{label} {text}" if label else text
                if heads and text.strip():
                    self.heading = self.heading or unmarked(clean_inline(labelled))
                    self.assembly.mark("heading", clean_inline(labelled))
                self.assembly.paragraph(labelled)
            if line.notes or line.boxes or line.drawings:
                self._end_tabbed(tabbed)
                self._anchored(line)
        self._end_tabbed(tabbed)

    def _end_tabbed(self, lines: list[str]) -> None:
        add_tabbed(self.assembly, lines)
        lines.clear()

    def _anchored(self, line: Paragraph) -> None:
        """What belongs to a paragraph and stands beside or below it."""
        for box in line.boxes:
            self._blocks(box)
        for kind, identifier in line.drawings:
            add_drawing(self.assembly, self._part, identifier, kind)
        for kind, identifier in line.notes:
            note = self._notes[kind].get(identifier)
            if note is None:
                continue
            self._numbers[kind] += 1
            called = f"{kind} {self._numbers[kind]}"
            if kind == "Comment" and (author := attribute(note, "author")):
                called = f"Comment by {author}"
            inner = [self._line(paragraph) for paragraph in descendants(note, "p")]
            content = clean_text("\n".join(each.text.strip() for each in inner))
            self._aside(called[:1].lower() + called[1:], [f"{called}: {content}"] if content else [])

    def _aside(self, called: str, paragraphs: Collection[str]) -> None:
        """Blocks that stand somewhere else than in the body."""
        if paragraphs:
            self.assembly.mark("part", called)
            self.assembly.paragraph(*paragraphs)
            self.assembly.mark("part", "")

    def _style(self, paragraph: Element) -> ParagraphStyle:
        properties = child(paragraph, "pPr")
        style = self._styles.get(attribute(child(properties, "pStyle"), "val"), NO_STYLE)
        if re.fullmatch(r"heading \d", style.name):
            style = replace(style, outline=style.outline or 0)
        own = child(properties, "outlineLvl")
        if own is not None:
            style = replace(style, outline=whole(attribute(own, "val"), 9))
        return replace(style, outline=None) if (style.outline or 0) >= 9 else style

    def _label(self, paragraph: Element, style: ParagraphStyle) -> str:
        numbers = child(paragraph, "pPr", "numPr")
        identifier = attribute(child(numbers, "numId"), "val", style.list)
        level = attribute(child(numbers, "ilvl"), "val") or str(style.level)
        label = self._lists.label(identifier, whole(level))
        return label or ("-" if style.name.startswith("list bullet") and identifier != "0" else "")

    def _table(self, table: Element) -> None:
        """A table as rows of cells; one that holds another is layout, and its cells are read one after the other."""
        self._tables += 1
        number = self._tables
        rows = [row for row in _inside(table, "tr") if child(row, "trPr", "del") is None]
        cells = [cell for row in rows for cell in _inside(row, "tc")]
        if any(local(element) == "tbl" for cell in cells for element in _inside(cell, "p", "tbl")):
            for layout in cells:
                self._blocks(layout)
            return
        lines: list[Paragraph] = []
        full: list[list[Cell]] = []
        above: dict[int, Cell] = {}  # by column: the cell that goes on below
        for row in rows:
            skipped = whole(attribute(child(row, "trPr", "gridBefore"), "val"))
            laid = [Cell() for _ in range(min(skipped, MAX_COLUMNS))]
            head, hidden = (is_on(child(row, "trPr", name)) for name in ("tblHeader", "hidden"))
            for element in _inside(row, "tc"):
                properties = child(element, "tcPr")
                span = whole(attribute(child(properties, "gridSpan"), "val"), 1)
                merged, column = child(properties, "vMerge"), len(laid)
                cell = above.pop(column, None)
                if merged is None or attribute(merged, "val") == "restart" or cell is None:
                    paragraphs = list(_inside(element, "p", "tbl"))
                    found = [self._line(paragraph, hidden=hidden) for paragraph in paragraphs]
                    lines += found
                    texts = map(self._labelled, paragraphs, found)
                    cell = Cell(clean_inline("\n".join(texts)), 1, 1 if merged is None else 2, head)
                if merged is not None:
                    above[column] = cell
                laid += [cell] * min(max(span, 1), MAX_COLUMNS)
            full.append(laid)
        if rows and _is_form(rows[0]):
            self.assembly.paragraph(*(line for row in full for line in _filled_in(row)))
        elif max(map(len, full), default=0) > 1:
            add_grid(self.assembly, full, number=number)
        else:
            once = {id(cell): cell.text for laid in full for cell in laid}
            self.assembly.paragraph(*once.values())
        for line in lines:
            self._anchored(line)

    def _labelled(self, paragraph: Element, line: Paragraph) -> str:
        label = self._label(paragraph, self._style(paragraph)) if line.text.strip() else ""
        return f"{label} {line.text}" if label else line.text

    def _line(self, paragraph: Element, *, hidden: bool = False) -> Paragraph:
        style = self._style(paragraph)
        line = Paragraph(struck=style.struck)
        self._inline(paragraph, line, hidden=hidden or style.hidden)
        return line

    def _inline(self, element: Element, line: Paragraph, *, hidden: bool) -> None:
        for each in element:
            name = local(each)
            if name in NOT_SHOWN:
                continue
            if name == "fldChar":
                if (box := child(each, "ffData", "checkBox")) is not None:
                    self._add(_field_box(box), line, hidden=hidden)
                _in_field(attribute(each, "fldCharType"), line.fields)
                if (choice := child(each, "ffData", "ddList")) is not None:
                    line.fields[-1:] = [None]
                    self._add(_chosen(choice), line, hidden=hidden)
            elif name == "r":
                if _raised(child(each, "rPr"), self._run_style(each).raised):
                    line.parts.append(RAISED)
                struck = [STRUCK] if _struck(child(each, "rPr"), line.struck or self._run_style(each).struck) else []
                line.parts += struck
                self._inline(each, line, hidden=self._run_hidden(each, hidden))
                line.parts += struck
            elif not all(line.fields):
                continue  # the instruction of a field
            elif name == "sdt" and (box := child(each, "sdtPr", "checkbox")) is not None:
                self._add(TICKED if is_on(child(box, "checked")) else UNTICKED, line, hidden=hidden)
            elif name == "sdt" and _is_blank(each):
                continue
            elif name == "t":
                self._add(each.text or "", line, hidden=hidden)
            elif name in BREAKS:
                line.parts.append(BREAKS[name])
            elif name == "sym":
                code = attribute(each, "char")
                if re.fullmatch(r"[0-9A-Fa-f]{1,6}", code):
                    self._add(symbol(attribute(each, "font"), int(code, 16)), line, hidden=hidden)
            elif name in NOTES:
                line.notes.append((NOTES[name], attribute(each, "id")))
            elif name == "AlternateContent":
                self._alternative(each, line, hidden=hidden)
            elif name in ("drawing", "pict", "object"):
                _drawn(each, line)
            elif name == "ruby":
                base = child(each, "rubyBase")
                self._inline(base if base is not None else each, line, hidden=hidden)
            elif name in SCRIPTS:
                line.parts.append(SCRIPTS[name])
                self._inline(each, line, hidden=hidden)
            else:
                self._inline(each, line, hidden=hidden)

    def _run_hidden(self, run: Element, hidden: bool) -> bool:
        properties = child(run, "rPr")
        own = child(properties, "vanish")
        if own is not None:
            return is_on(own)
        return hidden or self._run_style(run).hidden

    def _run_style(self, run: Element) -> ParagraphStyle:
        return self._styles.get(attribute(child(run, "rPr", "rStyle"), "val"), NO_STYLE)

    def _add(self, text: str, line: Paragraph, *, hidden: bool) -> None:
        if hidden:
            self.hidden_words += len(text.split())
        if self._keeps_hidden or not hidden:
            line.parts += as_hidden(text) if hidden else [text]

    def _alternative(self, element: Element, line: Paragraph, *, hidden: bool) -> None:
        """The first of several ways to say one thing that says something."""
        for way in element:
            found = Paragraph(fields=line.fields, struck=line.struck)
            self._inline(way, found, hidden=hidden)
            if found.parts or found.boxes or found.drawings or found.notes:
                line.parts += found.parts
                line.boxes += found.boxes
                line.drawings += found.drawings
                line.notes += found.notes
                return


def _inside(container: Element | None, *wanted: str) -> Iterator[Element]:
    """The nearest elements of these names, those in content controls and tracked changes too."""
    for element in [] if container is None else container:
        name = local(element)
        if name in wanted:
            yield element
        elif name == "AlternateContent":
            yield from _inside(next(iter(element), None), *wanted)
        elif name not in NOT_SHOWN and not (name == "sdt" and "p" in wanted and _is_blank(element)):
            yield from _inside(element, *wanted)


def _in_field(kind: str, fields: list[bool | None]) -> None:
    if kind == "begin":
        fields.append(False)
    elif kind == "separate" and fields and fields[-1] is not None:
        fields[-1] = True
    elif kind == "end" and fields:
        fields.pop()


def _drawn(element: Element, line: Paragraph) -> None:
    """The text boxes, charts and diagrams in a drawing; a box in a box is read with its own paragraph."""
    for each in element:
        name = local(each)
        if name == "txbxContent":
            line.boxes.append(each)
        elif name == "chart" and attribute(each, "id"):
            line.drawings.append(("chart", attribute(each, "id")))
        elif name == "relIds":
            line.drawings.append(("diagram", attribute(each, "dm")))
        elif name == "textpath" and attribute(each, "string"):  # WordArt
            line.parts.append(attribute(each, "string"))
        elif name == "AlternateContent":
            before = len(line.boxes) + len(line.drawings)
            for way in each:
                if len(line.boxes) + len(line.drawings) == before:
                    _drawn(way, line)
        else:
            _drawn(each, line)


# --- what the styles and lists of a file say of its paragraphs: which are headings or hidden, and their numbers -------

DEEPEST = 9  # levels of a list, and styles that stand on each other


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """One style with what it takes over from those it is based on."""

    name: str = ""  # in lower case, `heading 1`, whatever the language of the program
    outline: int | None = None  # 0 for a heading of the first level
    hidden: bool = False
    struck: bool = False
    raised: bool = False
    list: str = ""
    level: int = 0


NO_STYLE = ParagraphStyle()


def styles_of(part: Part) -> dict[str, ParagraphStyle]:
    """The styles by identifier."""
    elements = {
        attribute(style, "styleId"): style for each in part.related("styles") for style in children(each.root, "style")
    }
    found: dict[str, ParagraphStyle] = {}

    def read(identifier: str, left: int) -> ParagraphStyle:
        if identifier not in elements or not left:
            return NO_STYLE
        if identifier not in found:
            element = elements[identifier]
            base = read(attribute(child(element, "basedOn"), "val"), left - 1)
            paragraph = child(element, "pPr")
            outline, numbers = child(paragraph, "outlineLvl"), child(paragraph, "numPr")
            vanish = child(element, "rPr", "vanish")
            found[identifier] = ParagraphStyle(
                attribute(child(element, "name"), "val").lower(),
                base.outline if outline is None else whole(attribute(outline, "val")),
                base.hidden if vanish is None else is_on(vanish),
                _struck(child(element, "rPr"), base.struck),
                _raised(child(element, "rPr"), base.raised),
                attribute(child(numbers, "numId"), "val", base.list),
                base.level if numbers is None else whole(attribute(child(numbers, "ilvl"), "val")),
            )
        return found[identifier]

    return {identifier: read(identifier, DEEPEST) for identifier in elements}


def _struck(properties: Element | None, otherwise: bool) -> bool:
    """Whether text with these properties is struck, with one line or two; `otherwise` where they do not say."""
    lines = [line for name in ("strike", "dstrike") if (line := child(properties, name)) is not None]
    return any(map(is_on, lines)) if lines else otherwise


def _raised(properties: Element | None, otherwise: bool) -> bool:
    """Whether text with these properties stands higher: as a superscript, or by points as LibreOffice writes it."""
    aligned, moved = (attribute(child(properties, name), "val") for name in ("vertAlign", "position"))
    return aligned == "superscript" or (moved.isdecimal() and int(moved) > 0) if aligned or moved else otherwise


def _chosen(choices: Element) -> str:
    """The entry of an old form's list that was chosen, or else the one that it was made with."""
    entries = [attribute(entry, "val") for entry in children(choices, "listEntry")]
    state = child(choices, "result")
    at = whole(attribute(child(choices, "default") if state is None else state, "val"))
    return entries[at] if at < len(entries) else ""


def _is_form(row: Element) -> bool:
    """Whether what stands in a row are labels, each with a field to be filled in behind it."""
    fields = [any(local(each) in ("sdt", "ffData") for each in cell.iter()) for cell in _inside(row, "tc")]
    return bool(fields) and fields == [False, True] * (len(fields) // 2)


def _filled_in(row: Sequence[Cell]) -> Iterator[str]:
    """A row of a form as lines, `label: value`."""
    texts = list({id(cell): cell.text.rstrip(":") for cell in row}.values())
    return (": ".join(filter(None, texts[at : at + 2])) for at in range(0, len(texts), 2))


def _is_blank(control: Element) -> bool:
    """Whether a content control shows what to enter: no one has filled it in."""
    return is_on(child(control, "sdtPr", "showingPlcHdr"))


def _field_box(box: Element) -> str:
    """The box of an old form: as it was left, or else as it was made."""
    state = child(box, "checked")
    return TICKED if is_on(child(box, "default") if state is None else state) else UNTICKED


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How the items of one level of a list are numbered."""

    form: str = "decimal"
    text: str = ""  # what stands before an item: `%1.%2` with the numbers of the levels
    start: int = 1


@dataclass(slots=True)
class Lists:
    """The numbers of the items, counted as they come."""

    levels: Mapping[str, Mapping[int, ListLevel]]  # by list and level
    shared: Mapping[str, str]  # what counts the items of a list: several may go on counting each other's
    restarted: Mapping[str, set[int]]  # the levels at which a list begins anew when it is met first
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)

    def label(self, identifier: str, level: int) -> str:
        """What stands before the next item of a list: `3.`, `(b)`, `§ 2.1`, or `-` for a bullet; "" for no list."""
        levels = self.levels.get(identifier)
        if levels is None or not 0 <= level < DEEPEST:
            return ""
        counts = self._counts.setdefault(self.shared[identifier], {})
        if identifier not in self._met:
            self._met.add(identifier)
            for at in self.restarted.get(identifier, ()):
                counts.pop(at, None)
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        own = levels.get(level, ListLevel())
        counts[level] = counts[level] + 1 if level in counts else own.start
        if own.form == "bullet":
            return "-"

        def number(found: re.Match[str]) -> str:
            at = int(found[1]) - 1
            called = levels.get(at, ListLevel())
            return written(counts.get(at, called.start), called.form)

        return re.sub(r"%([1-9])", number, own.text).strip()


def lists_of(part: Part) -> Lists:
    """The lists that a document defines."""
    levels: dict[str, dict[int, ListLevel]] = {}
    shared: dict[str, str] = {}
    restarted: dict[str, set[int]] = {}
    for root in (each.root for each in part.related("numbering")):
        patterns = {
            attribute(pattern, "abstractNumId"): {
                whole(attribute(level, "ilvl")): _level(level) for level in children(pattern, "lvl")
            }
            for pattern in children(root, "abstractNum")
        }
        for each in children(root, "num"):
            identifier = attribute(each, "numId")
            shared[identifier] = attribute(child(each, "abstractNumId"), "val")
            levels[identifier] = dict(patterns.get(shared[identifier], {}))
            for other in children(each, "lvlOverride"):
                at = whole(attribute(other, "ilvl"))
                if (own := child(other, "lvl")) is not None:
                    levels[identifier][at] = _level(own)
                if (start := child(other, "startOverride")) is not None:
                    before = levels[identifier].get(at, ListLevel())
                    levels[identifier][at] = ListLevel(before.form, before.text, whole(attribute(start, "val")))
                    restarted.setdefault(identifier, set()).add(at)
    return Lists(levels, shared, restarted)


def _level(level: Element) -> ListLevel:
    start = child(level, "start")
    return ListLevel(
        attribute(child(level, "numFmt"), "val", "decimal"),
        attribute(child(level, "lvlText"), "val"),
        1 if start is None else whole(attribute(start, "val")),
    )


ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def written(number: int, form: str) -> str:
    """A number as a list writes it."""
    match form:
        case "none":
            return ""
        case "lowerLetter" | "upperLetter":
            letters = chr(ord("a") + (number - 1) % 26) * min(1 + (number - 1) // 26, DEEPEST) if number > 0 else ""
            return letters.upper() if form == "upperLetter" else letters
        case "lowerRoman" | "upperRoman":
            letters, left = "", min(number, 10_000)
            for value, sign in ROMAN:
                letters += sign * (left // value)
                left %= value
            return letters.upper() if form == "upperRoman" else letters
        case "decimalZero":
            return f"{number:02d}"
    return str(number)


# --- characters of symbol fonts, which stand for others than their codes say ------------------------------------------

# Adobe's Symbol encoding, from 0x21 to 0x7E and from 0xA1 to 0xFE; a blank where it has no character of its own.
_LOW = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_HIGH = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
SYMBOL: dict[int, str] = dict(zip((*range(0x21, 0x7F), *range(0xA1, 0xFF)), _LOW + _HIGH, strict=False))
WINGDINGS: dict[int, str] = {
    **{0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x75: "◆", 0x76: "❖", 0xA7: "▪", 0xA8: "□", 0xD8: "➢"},
    **{0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "→", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    **{0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x22: "✂", 0x3F: "✍"},
}
"""The marks, boxes and arrows that texts are written with."""
UNKNOWN = "□"


def symbol(font: str, code: int) -> str:
    """The character that a font shows for a code; of fonts for pictures, what is known of them."""
    code -= 0xF000 if 0xF000 <= code <= 0xF0FF else 0
    name = font.lower()
    if name.startswith("symbol"):
        return SYMBOL.get(code, UNKNOWN)
    if name.startswith(("wingdings", "webdings", "marlett")):
        return WINGDINGS.get(code, UNKNOWN)
    return chr(code) if 0x20 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else UNKNOWN
