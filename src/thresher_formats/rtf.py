"""RTF files (specification 1.9.1): paragraphs, lists, tables and notes, with what is raised, struck or hidden."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from thresher.documents.assembly import Assembly, Cell, Parsed, add_table
from thresher.documents.cleaning import (
    RAISED,
    STRUCK,
    clean_inline,
    clean_text,
    hidden,
    iso_date,
    unmarked,
    with_marks,
    word_set,
)
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
MAX_GROUPS = 1000  # in each other; writers nest some 20
SKIPPED = word_set(
    "fonttbl colortbl stylesheet info pict object themedata colorschememapping datastore latentstyles header headerl "
    "headerr headerf footer footerl footerr footerf sp nonesttables xmlnstbl rsidtbl generator listtable "
    "listoverridetable fldinst atnid atnauthor bkmkstart bkmkend filetbl revtbl"
)
"""Groups whose text is not of the page, or is read elsewhere."""
ENTERED = frozenset({"shpinst", "shptxt", "nesttableprops", "annotation"})
"""Of the groups that a reader may pass by, those that hold text of the page."""
FOOTNOTE = "Footnote"
NOTES = {"footnote": FOOTNOTE, "annotation": "Comment"}
SIGNS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
    "tab": "\t", "line": "\n", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
SWITCHES = {"super": "raised", "strike": "struck", "striked": "struck", "v": "hides", "deleted": "gone"}
CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_STYLE = re.compile(rb"\{\\s(\d+)((?:\s?\\[a-z]+(?:-?\d+)?)*+) ?([^\\{};]+);\}")
_INFO = re.compile(rb"\{\\(title|author|subject|keywords) ([^{}]*)\}")
_MADE = re.compile(rb"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")


@dataclass(slots=True)
class Group:
    """What holds until the group ends."""

    raised: bool = False
    struck: bool = False
    hides: bool = False
    gone: bool = False
    skipped: bool = False
    label: bool = False
    """Whether it is the number or sign of a list item."""
    note: str = ""
    """What it is that stands behind its paragraph: a footnote, a comment."""
    fallback: int = 1
    """Characters behind one in Unicode that stand for it in old programs."""


@dataclass
class RtfReader:
    """Walks the file once and fills an `Assembly`."""

    data: bytes
    keeps_hidden: bool
    assembly: Assembly = field(default_factory=Assembly)
    heading: str = ""
    hidden_words: int = 0
    _codec: str = "cp1252"
    _group: Group = field(default_factory=Group)
    _outer: list[Group] = field(default_factory=list)
    _words: list[str] = field(default_factory=list)
    _label: str = ""
    _level: int | None = None
    """Of the paragraph's outline; None for one that is no heading."""
    _in_table: bool = False
    _row: list[Cell] = field(default_factory=list)
    _rows: list[list[Cell]] = field(default_factory=list)
    _merged: list[str] = field(default_factory=list)
    """How each cell of the row is merged."""
    _merge: str = ""
    _notes: list[str] = field(default_factory=list)
    _body: list[str] = field(default_factory=list)
    """The words of the paragraph that a note interrupts."""
    _count: int = 0

    def read(self) -> None:
        """The whole file."""
        headings = _headings(self.data)
        skip = 0  # characters that stand for the one before
        at = 0
        opened = False  # the last token opened a group
        while found := _TOKEN.match(self.data, at):
            at = found.end()
            begins, opened = opened, False
            if brace := found["brace"]:
                skip, opened = 0, brace == b"{"
                self._brace(opened)
            elif found["byte"] or found["text"]:
                code = bytes.fromhex(found["byte"].decode()) if found["byte"] else found["text"]
                self._say(code.decode(self._codec, "replace")[skip:])
                skip = max(0, skip - len(code))
            elif sign := found["sign"]:
                if sign == b"*":
                    opened = begins
                    self._group.skipped = self._group.skipped or not self._is_entered(at)
                else:
                    self._say({b"~": "\xa0", b"_": "-", b"\n": "\n", b"\r": "\n"}.get(sign, _literal(sign)))
            elif word := found["word"]:
                number = int(found["number"]) if found["number"] else None
                name = word.decode()
                if name == "bin":
                    at += max(0, number or 0)
                elif name == "u" and number is not None:
                    self._say(chr(number % 65536))
                    skip = self._group.fallback
                else:
                    self._control(name, number, begins, headings)
        self._end_paragraph()
        self._end_table()

    def _is_entered(self, at: int) -> bool:
        following = _TOKEN.match(self.data, at)
        return following is not None and (following["word"] or b"").decode() in ENTERED

    def _brace(self, opens: bool) -> None:
        if opens:
            if len(self._outer) >= MAX_GROUPS:
                raise DocumentError("its groups are nested too deeply", next_step="leave it out")
            self._outer.append(self._group)
            self._group = replace(self._group)
        elif self._outer:
            ended, self._group = self._group, self._outer.pop()
            if ended.note and not self._group.note:
                self._count += ended.note == FOOTNOTE
                called = f"{ended.note} {self._count}" if ended.note == FOOTNOTE else ended.note
                self._notes.append(f"{called}: {self._said().strip()}")
                self._words = self._body

    def _control(self, name: str, number: int | None, begins: bool, headings: dict[int, int]) -> None:
        group = self._group
        if begins and name in SKIPPED:
            group.skipped = True
        elif begins and name in ("listtext", "pntext"):
            group.label = True
        elif begins and name in NOTES and not group.skipped:
            group.note, group.raised = NOTES[name], False
            self._body, self._words = self._words, []
        elif name == "ansicpg":
            self._codec = _codec(f"cp{number}")
        elif name in CODE_PAGES:
            self._codec = CODE_PAGES[name]
        elif name == "uc":
            group.fallback = number or 0
        elif name in SWITCHES:
            setattr(group, SWITCHES[name], number != 0)
        elif name in ("up", "nosupersub"):
            group.raised = name == "up" and number != 0
        elif name == "plain":
            group.raised = group.struck = group.hides = group.gone = False
        elif name in SIGNS:
            self._say(SIGNS[name])
        elif not group.skipped:
            self._structure(name, number, headings)

    def _structure(self, name: str, number: int | None, headings: dict[int, int]) -> None:
        """Paragraphs and rows."""
        if name == "pard":
            self._level, self._in_table = None, False
        elif name == "s" and number in headings:
            self._level = headings[number]
        elif name == "outlinelevel":
            self._level = number
        elif name == "intbl":
            self._in_table = True
        elif name == "trowd":
            self._merged = []
        elif name in ("clmgf", "clmrg", "clvmgf", "clvmrg"):
            self._merge = name
        elif name == "cellx":
            self._merged.append(self._merge)
            self._merge = ""
        elif name in ("cell", "nestcell"):
            self._row.append(Cell(clean_text(self._said())))
        elif name == "row":
            self._end_row()
        elif name in ("par", "sect", "page") and not self._group.note:
            if self._in_table and name == "par":
                self._say("\n")
            else:
                self._end_paragraph()

    def _say(self, text: str) -> None:
        group = self._group
        if group.skipped or group.gone or not text:
            return
        if group.label:
            self._label += text
            return
        if group.hides:
            self.hidden_words += len(text.split())
            if not self.keeps_hidden:
                return
        raised = RAISED if group.raised and text.strip() else ""
        words = hidden(text) if group.hides else [text]
        self._words += [raised, STRUCK, *words, STRUCK] if group.struck and text.strip() else [raised, *words]

    def _said(self) -> str:
        text = "".join(self._words)
        self._words = []
        # Characters outside the first plane are written as two halves.
        return with_marks(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def _end_paragraph(self) -> None:
        text, label = clean_text(self._said()).strip(), clean_inline(self._label)
        self._label = ""
        if text:
            self._end_table()
            if label:  # a sign in a font of its own, or a number
                text = f"{label if any(map(str.isalnum, label)) else '-'} {text}"
            if self._level is not None and self._level < 9:
                self.heading = self.heading or unmarked(clean_inline(text))
                self.assembly.mark("heading", clean_inline(text))
            self.assembly.paragraph(text)
        self._end_notes()

    def _end_notes(self) -> None:
        self.assembly.paragraph(*self._notes)
        self._notes = []

    def _end_row(self) -> None:
        for at, merge in enumerate(self._merged[: len(self._row)]):
            if merge == "clmrg" and at:
                self._row[at] = self._row[at - 1]
            elif merge == "clvmrg" and self._rows and at < len(self._rows[-1]):
                self._row[at] = self._rows[-1][at]
        self._rows.append(self._row)
        self._row = []

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            add_table(self.assembly, rows)
            self._end_notes()


def read_rtf(file: RawFile) -> Parsed:
    """An RTF file; text that is hidden is kept unless the limits say otherwise, and counted."""
    reader = RtfReader(file.data, file.limits.hidden)
    reader.read()
    if not reader.assembly:
        raise DocumentError("the rtf file has no text", next_step="check that it is not only pictures")
    stated = {name.decode(): _plain(text) for name, text in _INFO.findall(file.data)}
    made = _MADE.search(file.data)
    date = iso_date("-".join(part.decode().zfill(2) for part in made.groups())) if made else None
    facts = {name: text for name, text in stated.items() if text and name != "title"}
    counted = {"hidden_words": reader.hidden_words} if reader.hidden_words else {}
    return reader.assembly.parsed(
        title=stated.get("title", ""), heading=reader.heading, date=date, metadata={**facts, **counted}
    )


def _headings(data: bytes) -> dict[int, int]:
    """The level of each style that is a heading, by its outline or its name."""
    at = data.find(b"{\\stylesheet")
    found: dict[int, int] = {}
    for style, controls, name in _STYLE.findall(data, at) if at >= 0 else ():
        level = re.search(rb"\\outlinelevel(\d)", controls)
        named = re.fullmatch(rb"heading (\d)", name.strip().lower())
        if level or named or name.strip().lower() == b"title":
            found[int(style)] = int(level[1]) if level else int(named[1]) - 1 if named else 0
    return found


def _literal(sign: bytes) -> str:
    return sign.decode("latin-1") if sign in b"\\{}" else ""


def _codec(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _plain(text: bytes) -> str:
    """The text of a field of the file's properties."""
    reader = RtfReader(text, keeps_hidden=True)
    reader.read()
    return clean_inline(reader.assembly.text)
