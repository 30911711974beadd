"""Manual pages (roff with the macros of man(7)) by way of HTML: sections, options with what they do, examples, tables.

Conditions and macros that a page defines for itself are passed by; strings that it defines are put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import decode, iso_date, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import read_markup

SIGNS = {
    "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "em": "—", "en": "–", "hy": "-", "bu": "•",
    "co": "©", "rg": "®", "ti": "~", "ha": "^", "rs": "\\", "mu": "×", "de": "°", "+-": "±", "<=": "≤", ">=": "≥",
    "!=": "≠", "->": "→", "<-": "←", "at": "@", "sh": "#", "Do": "$", "ga": "`", "bv": "|", "ba": "|", "sl": "/",
    "<<": "≪", ">>": "≫", "Fo": "«", "Fc": "»", "12": "½", "14": "¼", "sc": "§", "Eu": "€", "..": "…",
}  # fmt: skip
PLAIN = {"-": "-", "e": "\\", "\\": "\\", " ": " ", "~": " ", "0": " ", ".": ".", "'": "'", "`": "`"}
_ESCAPE = re.compile(
    r"\\(?:[fFmMn](?:\((?P<font>..)|\[[^\]]*\]|[+-]?.)|s(?:\([+-]?..|\[[^\]]*\]|[+-]?\d{1,2})|[hvwXbDlLoxSZ]'[^']*'"
    r"|\((?P<sign>..)|\[(?P<named>[^\]]+)\]|\*(?:\((?P<two>..)|\[(?P<long>[^\]]*)\]|(?P<one>.))|(?P<plain>.))"
)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s"\\])(?:\\.|[^\s\\])*)')
_STRING = re.compile(r"(?:(?:if|ie) n|el)? *\.?ds +(?P<name>\S+) *(?P<value>.*)")
"""A string that a page defines, everywhere or for a terminal."""
_FONTS = frozenset({"B", "I", "SM", "SB", "R", "CW"})
_TURNS = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
"""Macros whose arguments are set in two fonts in turn, one word."""
_PASSED = frozenset({"if", "ie", "el", "while", "de", "de1", "am", "ig"})


@dataclass
class PageWriter:
    """Writes the lines of a page as HTML."""

    strings: dict[str, str] = field(default_factory=lambda: {"lq": "“", "rq": "”", "R": "®", "Tm": "™"})
    title: str = ""
    date: str | None = None
    _parts: list[str] = field(default_factory=list)
    _own: set[str] = field(default_factory=set)
    """Macros that the page defines to show what they are given."""
    _tag: bool = False
    """Whether the next line is what an entry is about."""
    _heading: str = ""
    """The element of a heading that the next line is."""
    _pre: bool = False

    def write(self, lines: Iterator[str]) -> str:
        """The body of a page."""
        for line in lines:
            if line.startswith((".", "'")) and not line.startswith(("..", "'.")):
                self._macro(line[1:].lstrip(), lines)
            else:
                self._text(self._plain(line))
        return "".join(self._parts) + ("</pre>" if self._pre else "</p>")

    def _macro(self, line: str, lines: Iterator[str]) -> None:
        name, _, rest = line.partition(" ")
        name = name.strip()
        if strings := _STRING.match(line):
            self.strings[strings["name"]] = self._plain(strings["value"].removeprefix('"'))
            return
        if name in _PASSED:
            passed = list(_enclosed(name, line, lines))
            if name in ("de", "de1") and any("\\\\$" in one and not one.startswith(".") for one in passed):
                self._own.add(rest.split()[0])
            return
        if name == "TS":
            self._table(lines)
            return
        given = [self._plain(quoted.replace('""', '"') or bare) for quoted, bare in _ARGUMENT.findall(rest)]
        if name == "TH" and given:
            self.title = f"{given[0]}({given[1]})" if len(given) > 1 else given[0]
            self.date = next((day for one in given[2:3] if (day := iso_date(one))), None)
        elif name in ("SH", "SS"):
            self._heading = "h2" if name == "SH" else "h3"
            if given:
                self._text(" ".join(given))
        elif name in ("PP", "P", "LP", "sp", "HP") or (name == "IP" and not given):
            self._break("<p>")
        elif name in ("TP", "TQ"):
            self._break("<p>" if name == "TP" else "<br>")
            self._tag = True
        elif name == "IP":
            self._break("<p>")
            self._parts.append("- " if given[0] in ("•", "*", "o", "-") else f"{escape(given[0])}<br>")
        elif name == "br":
            self._parts.append("\n" if self._pre else "<br>")
        elif name in ("nf", "EX"):
            self._parts.append("" if self._pre else "</p><pre>")
            self._pre = True
        elif name in ("fi", "EE"):
            self._parts.append("</pre><p>" if self._pre else "")
            self._pre = False
        elif name in ("UR", "MT") and given:
            self._text(given[0])
        elif name == "SY" and given:
            self._break("<p>")
            self._text(given[0])
        elif name == "OP":
            self._text(f"[{' '.join(given)}]")
        elif name in _TURNS:
            self._text("".join(given))
        elif name in _FONTS or name in self._own:
            self._text(" ".join(given))

    def _break(self, mark: str) -> None:
        self._parts.append("\n" if self._pre else mark)

    def _text(self, text: str) -> None:
        if self._heading:
            self._parts.append(f"</p><{self._heading}>{escape(text)}</{self._heading}><p>")
            self._heading = ""
        elif not text.strip() and not self._pre:
            self._break("<p>")
        else:
            self._parts.append(f"{escape(text)}{'<br>' if self._tag else chr(10)}")
            self._tag = False

    def _table(self, lines: Iterator[str]) -> None:
        """What tbl(1) reads: options, the form of its columns up to a full stop, rows up to TE."""
        tab, in_rows, block = "\t", False, False
        rows: list[list[str]] = []
        for line in lines:
            if line.startswith(".TE"):
                break
            if line.startswith(".T&"):
                in_rows = False
            elif not in_rows:
                tab = found[1] if (found := re.search(r"tab ?\((.)\)", line)) else tab
                in_rows = line.rstrip().endswith(".")
            elif line.startswith("."):
                continue
            elif block:  # in a cell of several lines, T{ to T}
                ends, closes, behind = line.partition("T}")
                rows[-1][-1] += f" {self._plain(ends)}"
                rows[-1] += [self._plain(cell) for cell in behind.split(tab)[1:]]
                block = not closes
            elif line.strip() not in ("_", "=", ""):
                rows.append([self._plain(cell) for cell in line.split(tab)])
            if rows and rows[-1][-1].strip() == "T{":
                rows[-1][-1], block = "", True
        cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
        self._parts.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table><p>")

    def _plain(self, text: str) -> str:
        """A text with its signs and strings, without fonts and moves; what stands behind a quote mark is a remark."""
        text = re.split(r'(?<!\\)(?:\\\\)*\\["#]', text, maxsplit=1)[0] if '\\"' in text or "\\#" in text else text
        return _ESCAPE.sub(self._sign, text)

    def _sign(self, found: re.Match[str]) -> str:
        sign, string = found["sign"] or found["named"], found["two"] or found["long"] or found["one"]
        if sign:
            code = re.fullmatch(r"u([0-9A-F]{4,5})", sign)
            return SIGNS.get(sign, chr(int(code[1], 16)) if code else "")
        return self.strings.get(string, "") if string else PLAIN.get(found["plain"], "")


def _enclosed(name: str, line: str, lines: Iterator[str]) -> Iterator[str]:
    """The lines behind the first one of a condition, or of a macro up to its end."""
    defines = name not in ("if", "ie", "el", "while")
    left = 1 if defines else line.count("\\{") - line.count("\\}")
    while left > 0 and (inner := next(lines, None)) is not None:
        left += -inner.startswith("..") if defines else inner.count("\\{") - inner.count("\\}")
        yield inner


def read_manual_page(file: RawFile) -> Parsed:
    """A manual page, called by its name and section."""
    written, notes = decode(file.data)
    writer = PageWriter()
    reader = read_markup("<p>" + writer.write(iter(normalise(written).split("\n"))))
    if not reader.assembly:
        raise DocumentError("the manual page has no text", next_step="check that it is not only a reference to another")
    return reader.assembly.parsed(title=writer.title, date=writer.date, metadata=notes)
