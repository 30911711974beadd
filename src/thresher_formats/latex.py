"""LaTeX sources as they are meant: no comments, own macros expanded, sections as headings, tabulars as tables.

No program of TeX runs: of what a package defines the arguments are kept and the command is dropped. A file that another
one includes is a document of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from thresher.documents.assembly import Assembly, Cell, Parsed, add_table
from thresher.documents.cleaning import clean_inline, decode, iso_date, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import read_text

MOST_ADDED = 200_000  # characters by macros, besides three times the file: those that call themselves have no end
MOST_ROUNDS = 12  # of macros in macros
MOST_NESTED = 40  # environments in environments
HEADINGS = r"part|chapter|(?:sub){0,2}section|(?:sub)?paragraph"
TABLES = ("tabular", "tabularx", "tabulary", "longtable", "array", "tabbing", "supertabular")
LISTS = ("itemize", "enumerate", "description", "thebibliography")
CODE = ("verbatim", "Verbatim", "lstlisting", "minted")
UNREAD = ("comment", "tikzpicture", "pgfpicture", "filecontents")
SIGNS = {
    **{"times": "×", "cdot": "·", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠"},
    **{"approx": "≈", "degree": "°", "textdegree": "°", "circ": "°", "euro": "€", "texteuro": "€", "pounds": "£"},
    **{"S": "§", "P": "¶", "ldots": "…", "dots": "…", "infty": "∞", "rightarrow": "→", "to": "→", "ss": "ß"},
    **{"ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å"},
    **{"i": "ı", "j": "ȷ", "textbackslash": "\\", "quad": " ", "qquad": " ", "newline": "\n", "par": "\n\n"},
    **{"%": "%", "&": "&", "_": "_", "#": "#", "$": "$", "{": "{", "}": "}", ",": " ", ";": " ", ":": " ", " ": " "},
    **{"\n": " ", "\\": "\n", "/": "", "-": "\u00ad", "!": "", "LaTeX": "LaTeX", "TeX": "TeX", "item": "\n- "},
}
ACCENTS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
           "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a"}  # fmt: skip
SILENT = {"label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "usepackage": 1, "bibliographystyle": 1,
          "setlength": 2, "setcounter": 2, "addtocounter": 2, "pagestyle": 1, "thispagestyle": 1, "cline": 1,
          "cmidrule": 1, "color": 1, "input": 1, "include": 1, "bibliography": 1, "index": 1, "graphicspath": 1,
          "documentclass": 1, "hypersetup": 1, "geometry": 1, "textcolor": 1, "colorbox": 1, "parbox": 1,
          "resizebox": 2, "raisebox": 1, "rule": 2, "fontsize": 2, "multirow": 2, "multicolumn": 2,
          "rowcolor": 1, "cellcolor": 1, "phantom": 1, "hphantom": 1, "vphantom": 1}  # fmt: skip
"""Commands whose first arguments are no text."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*+(?:\n[ \t]*+(?!\n))?")
_BEGIN = re.compile(r"\\begin\s*\{([A-Za-z]+)\*?\}")
_CODE = re.compile(
    rf"\\begin\{{(?P<env>{'|'.join(CODE)})\*?\}}(?:\[[^\]\n]*\])?(?:\{{[^}}\n]*\}})?\n?"
    r"(?P<code>.*?)\\end\{(?P=env)\*?\}",
    re.DOTALL,
)
_BLOCK = re.compile(rf"\\begin\s*\{{[A-Za-z]+\*?\}}|\\(?:{HEADINGS})\*?\s*(?=[\[{{])|\\caption\s*(?=[\[{{])")
_DEFINED = re.compile(
    r"\\(?:(?:re|provide)?newcommand|providecommand|renewcommand|DeclareMathOperator|DeclareRobustCommand)\*?\s*"
    r"\{?\s*(?P<name>\\[A-Za-z@]+)\s*\}?\s*(?:\[(?P<count>\d)\])?\s*(?:\[(?P<usual>[^\]]*)\])?\s*(?=\{)"
    r"|\\def\s*(?P<plain>\\[A-Za-z@]+)(?P<given>(?:#\d)*)\s*(?=\{)"
)
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?[ \t]*|\\(.|\n)", re.DOTALL)
_SPECIAL = re.compile(r"[\\{}$~]")
_SIGN = re.compile(r"\\.|[{}]", re.DOTALL)
_BRACKET = re.compile(r"\s*\[((?:[^\[\]{}]|\{[^{}]*\})*)\]")
_OF_LATEX = re.compile(rf"\\(?:documentclass|begin|input|include|{HEADINGS})(?![A-Za-z])")
_INCLUDED = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Macro:
    """What a file defines; `usual` stands for a first argument in brackets that is not given."""

    body: str
    count: int = 0
    usual: str | None = None


def read_latex(file: RawFile) -> Parsed:
    """A LaTeX file: what it would print, in the order of the source."""
    written, notes = decode(file.data)
    kept = list[str]()
    text = _COMMENT.sub(r"\1", _without_code(normalise(written), kept))
    if not _OF_LATEX.search(text):  # a text, or macros for a program
        return read_text(file)
    macros, text = _macros(text)
    text = expanded(text, macros)
    written_facts = {name: _argument_of(text, name) for name in ("title", "author", "date")}
    stated = {name: clean_inline(inline(re.sub(r"\s*\\and\b", ",", fact))) for name, fact in written_facts.items()}
    begin = re.search(r"\\begin\s*\{document\}", text)
    body = text[begin.end() :].partition("\\end{document}")[0] if begin else text
    reader = _Reader(kept)
    reader.read(re.sub(r"\\(?:title|author|date)\s*(?=\{)", r"\\phantom", body))
    if not reader.assembly:
        raise DocumentError("it prints no text", next_step="index the files that it includes, or leave it out")
    included = ", ".join(dict.fromkeys(_INCLUDED.findall(text)))
    facts = {"author": stated["author"], "includes": included}
    return reader.assembly.parsed(
        title=stated["title"],
        heading=reader.heading,
        date=iso_date(stated["date"]),
        metadata={**{name: value for name, value in facts.items() if value}, **notes},
    )


def _without_code(text: str, kept: list[str]) -> str:
    """The text with its code, which is put to `kept`, as numbers: no sign in it means anything."""

    def put(found: re.Match[str]) -> str:
        kept.append(found["code"])
        return f"\\begin{{verbatim}}{len(kept) - 1}\\end{{verbatim}}"

    return _CODE.sub(put, text)


# --- macros -----------------------------------------------------------------------------------------------------------


def _macros(text: str) -> tuple[dict[str, Macro], str]:
    """What a text defines, and the text without the definitions."""
    macros: dict[str, Macro] = {}
    left, at = list[str](), 0
    for found in _DEFINED.finditer(text):
        if found.start() < at:
            continue
        body, end = group(text, found.end())
        if found["plain"]:
            macros[found["plain"]] = Macro(body, found["given"].count("#"))
        else:
            macros[found["name"]] = Macro(body, int(found["count"] or 0), found["usual"])
        left.append(text[at : found.start()])
        at = end
    return macros, "".join([*left, text[at:]])


def expanded(text: str, macros: dict[str, Macro]) -> str:
    """A text with what its macros stand for; those in macros too, up to a depth."""
    most = MOST_ADDED + 4 * len(text)
    names = "|".join(re.escape(name) for name in sorted(macros, key=len, reverse=True))
    call = re.compile(rf"(?:{names})(?![A-Za-z@])")
    for _ in range(MOST_ROUNDS if macros else 0):
        parts, at = list[str](), 0
        for found in call.finditer(text):
            if found.start() < at:
                continue
            macro, end = macros[found[0]], found.end()
            values = list[str]()
            if macro.usual is not None:
                given, end = bracket(text, end)
                values.append(macro.usual if given is None else given)
            while len(values) < macro.count:
                value, end = group(text, end)
                values.append(value)
            put = re.sub(r"#([1-9])", partial(_argument, values), macro.body)
            parts += [text[at : found.start()], put]
            at = end if macro.count else len(text) - len(text[end:].lstrip(" \t"))
        if not parts:
            break
        text = "".join([*parts, text[at:]])
        if len(text) > most:
            raise DocumentError("its macros have no end", next_step="compile it and index the PDF")
    return text


def _argument(values: list[str], number: re.Match[str]) -> str:
    return values[int(number[1]) - 1] if int(number[1]) <= len(values) else ""


def group(text: str, at: int) -> tuple[str, int]:
    """What stands in the braces at an offset, or the command or character there, and where it ends."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "{":
        found = _COMMAND.match(text, at)
        end = found.end() if found else min(at + 1, len(text))
        return text[at:end], end
    depth = 0
    for sign in _SIGN.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if not depth:
            return text[at + 1 : sign.start()], sign.end()
    return text[at + 1 :], len(text)


def bracket(text: str, at: int) -> tuple[str | None, int]:
    """What stands in the brackets at an offset, and where they end; None where none are there."""
    found = _BRACKET.match(text, at)
    return (found[1], found.end()) if found else (None, at)


def _argument_of(text: str, command: str) -> str:
    found = re.search(rf"\\{command}\s*(?:\[[^\]]*\])?\s*(?=\{{)", text)
    return group(text, found.end())[0] if found else ""


# --- text within a paragraph ------------------------------------------------------------------------------------------


def inline(text: str) -> str:
    r"""Text with its accents, signs and quotes in place of commands.

    >>> inline(r"Caf\'e: 5\,\% of \emph{all} \SI{3}{\bar} -- see \url{x.org}")
    'Café: 5 % of all 3 bar – see x.org'
    """
    parts, at = list[str](), 0
    while found := _SPECIAL.search(text, at):
        parts.append(_plain(text[at : found.start()]))
        at = found.end()
        if found[0] == "~":
            parts.append(" ")
        elif found[0] == "\\" and (command := _COMMAND.match(text, found.start())):
            shown, at = _command(command, text)
            parts.append(shown)
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    for written, shown in (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("\\", "")):
        text = text.replace(written, shown)
    return text


def _command(found: re.Match[str], text: str) -> tuple[str, int]:
    """What a command shows, and where it and its arguments that are shown with it end."""
    name, at = found[1] or found[2], found.end()
    if name in ACCENTS and (letter := group(text, at)) and inline(letter[0])[:1].isalpha():
        base = inline(letter[0]).replace("ı", "i")
        return unicodedata.normalize("NFC", base[0] + ACCENTS[name] + base[1:]), letter[1]
    if name in SIGNS:
        behind = bracket(text, at)[1] if name == "\\" else at
        return SIGNS[name], behind
    if name in (
        "SI",
        "qty",
        "SIrange",
        "href",
        "footnote",
        "frac",
        "cite",
        "citep",
        "citet",
        "ref",
        "eqref",
        "pageref",
    ):
        at = bracket(text, at)[1]
        first, at = group(text, at)
        if name == "footnote":
            return f" ({inline(first).strip()})", at
        if name.startswith("cite"):
            return f"[{first}]", at
        if "ref" in name and name != "href":
            return inline(first), at
        second, at = group(text, at)
        if name == "href":
            return f"{inline(second)} ({first})", at
        if name == "frac":
            return f"{inline(first)}/{inline(second)}", at
        return f"{inline(first)} {inline(second) or second.replace(chr(92), '')}", at
    if name in SILENT:
        for _ in range(SILENT[name]):
            at = group(text, bracket(text, at)[1])[1]
        return "", at
    for case, letter_name in (("SMALL", name), ("CAPITAL", name.lower())):
        if case == "SMALL" or name[:1].isupper():
            try:
                return unicodedata.lookup(f"GREEK {case} LETTER {letter_name.upper()}"), at
            except KeyError:
                continue
    return ("" if len(name) > 1 else " "), bracket(text, at)[1] if found[1] else at


# --- blocks -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the body of a file block by block."""

    def __init__(self, code: list[str]) -> None:
        self.assembly = Assembly()
        self.heading = ""
        self._code = code

    def read(self, text: str, depth: int = 0) -> None:
        """Add what a text prints."""
        at = 0
        while (found := _BLOCK.search(text, at)) and depth < MOST_NESTED:
            self._paragraphs(text[at : found.start()])
            if begin := _BEGIN.match(found[0]):
                inner, at = _environment(text, begin[1], found.end())
                self._environment(begin[1], inner, depth)
                continue
            name, at = group(text, bracket(text, found.end())[1])
            shown = clean_inline(inline(name))
            if not found[0].startswith("\\caption"):
                self.heading = self.heading or shown
                self.assembly.mark("heading", shown)
            self.assembly.paragraph(shown)
        self._paragraphs(text[at:])

    def _paragraphs(self, text: str) -> None:
        for paragraph in re.split(r"\n\s*\n", inline(text)):
            lines = (clean_inline(line) for line in re.split(r"\n(?=- )", paragraph))
            self.assembly.paragraph("\n".join(filter(None, lines)))

    def _environment(self, name: str, inner: str, depth: int) -> None:
        if name == "verbatim":
            self.assembly.paragraph(self._code[int(inner)] if inner.isdigit() else inner)
        elif name in TABLES:
            add_table(self.assembly, list(_rows(name, inner)))
        elif name in LISTS:
            self.assembly.paragraph("\n".join(_items(name, inner)))
        elif name not in UNREAD:
            at = bracket(inner, 0)[1] if name not in ("theorem", "lemma", "definition", "proof") else 0
            while inner[at : at + 1] == "{":
                at = group(inner, at)[1]
            self.read(inner[at:], depth + 1)


def _environment(text: str, name: str, at: int) -> tuple[str, int]:
    """What stands in an environment that begins before an offset, and where it ends."""
    open_ = 1
    for found in re.compile(rf"\\(begin|end)\s*\{{{name}\*?\}}").finditer(text, at):
        open_ += 1 if found[1] == "begin" else -1
        if not open_:
            return text[at : found.start()], found.end()
    return text[at:], len(text)


def _items(name: str, inner: str) -> Iterator[str]:
    """The items of a list, those of lists in it indented."""
    nested = list[str]()
    while begin := _BEGIN.search(inner):
        deeper, end = _environment(inner, begin[1], begin.end())
        shown = "\n".join(f"  {line}" for line in _items(begin[1], deeper)) if begin[1] in LISTS else deeper
        nested.append(shown)
        inner = f"{inner[: begin.start()]}\0{len(nested) - 1}\0{inner[end:]}"
    for number, item in enumerate(re.split(r"\\(?:bib)?item(?![A-Za-z])", inner)[1:], start=1):
        label, at = bracket(item, 0)
        mark = f"{number}." if name == "enumerate" else "-"
        if name == "thebibliography":
            label, at = group(item, at)
            mark, label = f"[{label}]", None
        own = re.sub(r"\0\d+\0", " ", item[at:])
        yield f"{mark} {f'{inline(label)}: ' if label else ''}{clean_inline(inline(own))}"
        for held in re.findall(r"\0(\d+)\0", item):
            yield nested[int(held)]


def _rows(name: str, inner: str) -> Iterator[list[Cell]]:
    """The rows of a table with their cells."""
    at = bracket(inner, 0)[1]
    for _ in range(2 if name in ("tabularx", "tabulary") else 1):
        at = group(inner, at)[1] if inner[at : at + 1] == "{" else at
    if inner[at : at + 1] == "{":  # tabular* has its width first
        at = group(inner, at)[1]
    lines = re.sub(r"\\(?:[hc]line|(?:top|mid|bottom|cmid)rule|endfirsthead|endhead|endfoot|endlastfoot|addlinespace)"
                   r"(?:\[[^\]]*\]|\([^)]*\))*(?:\{[^{}]*\})?", " ", inner[at:])  # fmt: skip
    for row in re.split(r"\\\\\*?(?:\[[^\]]*\])?|\\tabularnewline", lines):
        cells = [_cell(cell) for cell in re.split(r"(?<!\\)&", row)]
        if any(cell.text for cell in cells):
            yield cells


def _cell(written: str) -> Cell:
    if found := re.match(r"\s*\\multicolumn\s*", written):
        count, at = group(written, found.end())
        shown = group(written, group(written, at)[1])[0]
        return Cell(clean_inline(inline(shown)), int(count) if count.strip().isdigit() else 1)
    return Cell(clean_inline(inline(written)))
