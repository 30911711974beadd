"""Bytes to text, and the clean-up of extracted text: pure functions; nothing here knows a file format.

Characters first (`normalise`), then what a page layout adds (stamps, running heads, page numbers), then words broken
at line ends.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from itertools import chain

from thresher.errors import DocumentError
from thresher.text.marks import struck

BREAK = "\x02"  # the hyphen at a line end, where the extractor says it is one (PDFium writes U+0002)
FIRST_ROW, ROW = "\ufdd0", "\ufdd1"  # which Unicode keeps for such use
"""Begin a line that is a row of a table, in the lines of a page; the first one begins a table."""
HEAD, PLAIN = "\ufdd2", "\ufdd3"
"""Begin a line that is set as a heading, and one that reads like a heading and is set as text."""
HIDDEN, SHOWN = "\ufdd4", "\ufdd5"
"""Around text that a program does not show, until `Assembly` knows where it stands."""
LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# U+200C and U+200D are not here: Indic scripts, Persian and emoji need them.
INVISIBLE = "\u00ad\u200b\u2060\ufeff\ufffe\uffff"
TRANSLATION: dict[int, str | None] = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *map(ord, INVISIBLE))),
    **{ord("\t"): "\t", **dict.fromkeys(map(ord, "\n\x0b\x0c\x85\u2028\u2029"), "\n")},
    **dict.fromkeys(map(ord, SPACES), " "),
    **{ord(ligature): letters for ligature, letters in LIGATURES.items()},
    **{
        code: unicodedata.normalize("NFKC", chr(code)).replace("\u2215", "/")
        for code in (*range(0xFF01, 0xFF5F), *range(0x3371, 0x337B), *range(0x3380, 0x33E0), 0x33FF, 0x2103, 0x2109)
        if chr(code) not in "！（），．：；？［］｛｝～"
    },
}
"""What stands for a character: letters, digits and signs of full width, and units of one character, are plain ones."""
_CJK = "\u2e80-\u312f\u3131-\u318e\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
_WIDE_POINT = re.compile(rf"(?<![{_CJK}])[！（），．：；？［］｛｝～](?![{_CJK}])")
"""Punctuation of full width beside no Chinese, Japanese or Korean character."""
SURROGATE = re.compile("[\ud800-\udfff]")


def has_half_pair(*values: object) -> bool:
    """Whether a string among the values holds half of a surrogate pair, which UTF-8 cannot write."""
    return any(isinstance(value, str) and SURROGATE.search(value) for value in values)


def normalise(text: str) -> str:
    r"""Composed characters, plain spaces and `\n`; no ligatures, soft hyphens, NULs or other control characters.

    What has full width (Ｋ, ４, －, ㎏) is plain, punctuation beside a Chinese, Japanese or Korean character aside.
    NFC, not NFKC: the latter turns x² into x2 and ℝ into R, which damages formulas.
    """
    if text.isascii() and text.isprintable():  # as most cells of a sheet
        return text
    text = SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _WIDE_POINT.sub(lambda found: chr(ord(found[0]) - 0xFEE0), text.translate(TRANSLATION))
    return unicodedata.normalize("NFC", text)


def clean_text(text: str) -> str:
    """`normalise`, and no spaces at line ends, no runs of blank lines, no blank lines at the ends."""
    text = re.sub(r"(?<![ \t])[ \t]++(?=\n|\Z)", "", normalise(text))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


RAISED = "\0"
"""Stands before raised text while the characters of a block are gathered."""
STRUCK = "\1"
"""Stands before and behind text that is struck, until then."""
_POWER = re.compile(rf"(?:(?<![\d.,])(?:10|2(?={RAISED}\d\d))|(?<=[=×·*/(]\s)\d+|(?<=[=×·*/(])\d+){RAISED}(?=[-−+]?\d)")
_OF_FORMULA = re.compile(rf"(?<=\d){RAISED}(?=[-−+]\d|\d{{1,3}}\s?[=×·*+^])")
_NOTE = re.compile(rf"(?<=\d){RAISED}(\d{{1,3}})(?!\d)|(?<=[^\W\d_]{{4}}){RAISED}(\d{{1,3}})(?![\w.])")


def with_marks(text: str) -> str:
    """The text with `RAISED` and `STRUCK` as a reader writes them: `10^6`, `5 1/2`, `48 [2] seats`, `~~2.10~~ 2.80`.

    A raised figure is a power behind 10 or 2, with a sign, or beside a sign of a formula. Behind another number or a
    word of four letters it is a note and stands apart, so that it never changes a number: a note that is read as a
    power would. Shorter words are units: `m2`.
    """
    text = text.replace(SHOWN + HIDDEN, "")
    if RAISED not in text and STRUCK not in text:
        return text
    joined = text.replace(STRUCK + STRUCK, "")  # struck runs that follow each other are one
    struck_through = re.sub(rf"{STRUCK}([^{STRUCK}]*){STRUCK}", lambda found: struck(found[1]), joined)
    apart = re.sub(rf"(?<=\d){RAISED}(?=\d+{RAISED}?[/⁄])", " ", struck_through.replace(STRUCK, ""))
    powers = _OF_FORMULA.sub("^", _POWER.sub(lambda found: found[0].replace(RAISED, "^"), apart))
    return _NOTE.sub(lambda found: f" [{found[1] or found[2]}]", powers).replace(RAISED, "")


def hidden(text: str) -> list[str]:
    """Hidden text between its marks; blank text has none."""
    return [HIDDEN, text, SHOWN] if text.strip() else [text]


def unmarked(text: str) -> str:
    """Text without the marks of what is hidden."""
    return text.replace(HIDDEN, "").replace(SHOWN, "")


def clean_inline(text: str) -> str:
    """`normalise`, on one line, words apart by one space."""
    return " ".join(normalise(text).split())


# --- what the page layout adds ----------------------------------------------------------------------------------------

ARXIV_STAMP = re.compile(
    r"^arXiv:\s?(?:\d{4}\.\d{4,5}|[a-z.\-]+/\d{7})(?:v\d+)?(?:\s+\[[\w.\-]+\])?\s+(\d{1,2} [A-Z][a-z]{2} \d{4})$",
    re.MULTILINE,
)
RUNNING_DEPTH = 3  # lines from the top or bottom edge of a page that can be a running head or foot
RUNNING_SHARE = 0.6  # of all pages, or of the odd or even ones (authors left, title right)
LONGEST_RUNNING = 200  # characters of a line with a page number
RUNNING_PAGES = 3  # two pages that begin alike prove nothing
BOILERPLATE = re.compile(
    r"published|proceedings|conference|preprint|under review|journal|copyright|©|draft|confidential|all rights|"
    r"submitted|workshop|volume|https?://|www\.|^page\b",
    re.IGNORECASE,
)


def strip_arxiv_stamp(text: str) -> tuple[str, str | None]:
    """The text without the margin stamp of arXiv, and the day the stamp names (`12 Apr 2021`)."""
    stamp = ARXIV_STAMP.search(text)
    return (ARXIV_STAMP.sub("", text), stamp[1]) if stamp else (text, None)


def strip_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of each page without running heads, running feet and page numbers; lines of the body never go.

    A line goes when it lies within three lines of a page edge, everything between it and the edge goes too, and it
    recurs there (a page number aside) on most pages, or on most odd or even ones. A bare number goes when it counts
    the pages.
    The first page keeps a line that is no boilerplate: there the running head is the title itself.
    """
    stripped = [[line for line in page if line.strip()] for page in pages]
    for from_the_edge in (slice(None, None, -1), slice(None)):  # the bottom, then the top
        ordered = [page[from_the_edge] for page in stripped]
        running, offsets = _running_forms(ordered), _page_number_offsets(ordered)
        depths = [_running_depth(lines, index, running, offsets) for index, lines in enumerate(ordered)]
        stripped = [lines[depth:][from_the_edge] for lines, depth in zip(ordered, depths, strict=True)]
    return stripped


def _running_depth(lines: Sequence[str], index: int, running: set[str], offsets: set[int]) -> int:
    depth = 0
    for line in lines[:RUNNING_DEPTH]:
        number = _bare_number(line)
        if line.startswith((FIRST_ROW, ROW)):
            break
        if number is not None:
            if number - index not in offsets:
                break
        elif running.isdisjoint(_forms(line, index)) or (index == 0 and not BOILERPLATE.search(line)):
            break
        depth += 1
    return depth


PAGE_NUMBER = re.compile(r"(?:page )?[-–—]? ?(\d{1,5}) ?[-–—]?(?: ?(?:of|/) ?\d{1,5})?", re.IGNORECASE)


def _forms(line: str, index: int) -> Iterator[str]:
    """A line of a page as it is, and with one of its numbers counted from the page's: only a page number runs on."""
    plain = " ".join(line.lstrip(HEAD + PLAIN).split())
    yield plain
    if len(plain) > LONGEST_RUNNING:
        return
    for number in re.finditer(r"(?<!\d)\d{1,5}(?!\d)", plain):
        yield f"{plain[: number.start()]}#{int(number[0]) - index}{plain[number.end() :]}"


def _bare_number(line: str) -> int | None:
    number = PAGE_NUMBER.fullmatch(" ".join(line.split()))
    return int(number[1]) if number else None


def _running_forms(pages: Sequence[Sequence[str]]) -> set[str]:
    """The forms of lines that stand near this edge of most pages, or of most odd or even ones."""
    forms = [
        {
            form
            for line in lines[:RUNNING_DEPTH]
            if _bare_number(line) is None and re.search(r"[^\W\d_]", line)
            for form in _forms(line, index)
        }
        for index, lines in enumerate(pages)
    ]
    running: set[str] = set()
    for some in (forms, forms[::2], forms[1::2]):
        enough = max(RUNNING_PAGES, RUNNING_SHARE * len(some))
        running |= {form for form, count in Counter(chain(*some)).items() if count >= enough}
    return running


def _page_number_offsets(pages: Sequence[Sequence[str]]) -> set[int]:
    """Printed number minus position in the file, where most pages agree on it."""
    seen: Counter[int] = Counter()
    for index, lines in enumerate(pages):
        seen.update({number - index for number in map(_bare_number, lines[:RUNNING_DEPTH]) if number is not None})
    enough = max(RUNNING_PAGES, len(pages) / 2)
    return {offset for offset, count in seen.items() if count >= enough}


# --- words broken at line ends ----------------------------------------------------------------------------------------


def word_set(text: str) -> frozenset[str]:
    """The words of a list in a string."""
    return frozenset(text.split())


# Parts of compounds that English keeps the hyphen with; used only if the document itself does not show it.
COMPOUND_FIRST = word_set(
    "self cross well high low long short large small fine coarse state zero few one two three single multi non "
    "all left right open closed end real time general task domain data model human machine"
)
COMPOUND_LAST = word_set(
    "based level specific aware free scale driven dependent like style wise art shot end term range trained tuned "
    "tuning time order oriented world source agnostic domain hop task only art quality performing"
)
# Parts that English writes solid although they are words of their own (without, sometimes, learnable).
SOLID_FIRST = word_set(
    "any back every fore here how never no not out over some there through under what when where with pre sub"
)
SOLID_LAST = word_set("able age ally ance ant ate ation ing ion less ment ness ship son tion ward")
LONGEST_WORD = 100  # characters; what is longer is no word, and a page of nothing but broken ones would be one
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
LINE_END_BREAK = re.compile(rf"(?<!\S)\S*[{BREAK}\-‐]\n\s*\S*")


def vocabulary(texts: Iterable[str]) -> Counter[str]:
    """How often each whole word stands in the texts, in lower case; words broken at a line end are not counted.

    Under `BREAK` is how many of those stand elsewhere as one word: none where nothing was hyphenated in typesetting.
    """
    words: Counter[str] = Counter()
    broken: list[str] = []
    for text in texts:
        broken += (re.sub(r"[\W_]", "", found).lower() for found in LINE_END_BREAK.findall(text))
        for word in WORD.findall(LINE_END_BREAK.sub(" ", text).lower()):
            words[word] += 1
            if "-" in word:
                words.update(word.split("-"))
    if proven := sum(word in words for word in broken):
        words[BREAK] = proven
    return words


def join_broken_word(left: str, right: str, words: Mapping[str, int]) -> str:
    """`representa` + `tion` to one word; `self` + `attention` keeps its hyphen.

    The document decides: the form that stands elsewhere, unbroken, more often. Where neither does, two parts that are
    both words of the document keep the hyphen (right in 33 of 36 such cases in 41 papers), and so do a long word of the
    document behind another long part and a part known from compounds; everything else is taken for a word broken by
    the typesetter. Where no break of the document is known to be one, a part that is a word of it is enough.
    """
    hyphenated = f"{left}-{right}"
    if not left[-1:].isalpha() or not right[:1].islower():
        return hyphenated
    # Backwards: a pattern for the end would be tried from every character before it.
    left_word = WORD.match(left[: -LONGEST_WORD - 1 : -1])
    right_word = WORD.match(right)
    if left_word is None or right_word is None:
        return hyphenated
    before, after = left_word[0][::-1].lower(), right_word[0].lower()
    for tail in (after, after.split("-")[0]):
        with_hyphen, solid = words.get(f"{before}-{tail}", 0), words.get(f"{before}{tail}", 0)
        if with_hyphen or solid:
            return hyphenated if with_hyphen > solid else left + right
    last, first = before.rsplit("-", 1)[-1], after.split("-")[0]
    if "-" in before:
        return hyphenated if words.get(last) and words.get(first) else left + right
    standing = [part for part in (last, first) if len(part) >= 3 and words.get(part, 0)]
    both_are_words = len(standing) == 2 and min(words.get(last, 0), words.get(first, 0)) >= 2
    long = len(last) >= 5 and len(first) >= 7 and first in standing
    unbroken = not words.get(BREAK) and min(len(last), len(first)) >= 4 and standing
    if (both_are_words or long or unbroken) and last not in SOLID_FIRST and first not in SOLID_LAST:
        return hyphenated
    return hyphenated if last in COMPOUND_FIRST or first in COMPOUND_LAST else left + right


def join_broken_words(text: str) -> str:
    """Plain text with the words that were broken at line ends made whole; the rest of the line moves up."""
    words = vocabulary([text])
    broken = r"(?<![^\W\d_])([^\W\d_]{2,})[-‐]\n[ \t]*([a-zß-öø-ÿ][^\s]*)(?:[ \t]+|\n|\Z)"
    return re.sub(broken, lambda found: join_broken_word(found[1], found[2], words) + "\n", text).rstrip("\n")


REFERENCES_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|\*{2})?(?:(?:\d{1,2}|[IVX]{1,5})\.?[ \t]+)?"
    r"(?:references(?: and notes| cited)?|bibliography|works cited|literature cited)[ \t]*+:?(?:\*{2})?[ \t]*+$",
    re.IGNORECASE | re.MULTILINE,
)
AFTER_REFERENCES = re.compile(
    r"(?<![^\s.!?)\]}”\"\d]\n)(?<![^\s.!?)\]}”\"\d]\n\n)^[ \t]*(?:#{1,6}[ \t]+)?(?:\d{1,2}\.?[ \t]+)?(?:"
    r"(?i:appendix|appendices|supplementary|supplemental|supplement|acknowledge?ments?|checklist|author contributions|"
    r"table of contents|biographies)\b[^.\n]{0,80}"
    r"|A(?:\.1?)?[ \t]+[A-Z][^\n,;]{2,80}"
    r"|A\.1\.?[ \t]+[A-Z][^\n]{2,80}"
    r"|[A-Z]\.?[ \t]+(?i:appendix|supplement|proof|additional|implementation|details|experiment)[^\n.]{0,80}"
    r")(?<![.,])[ \t]*$",
    re.MULTILINE,
)


def references_span(text: str) -> tuple[int, int] | None:
    """Where the list of references lies: from its heading to the next appendix or the end; None where there is none."""
    headings = list(REFERENCES_HEADING.finditer(text))
    if not headings:
        return None
    # A table of contents may name the section first; the section itself is the last such heading.
    start = headings[-1].start()
    after = AFTER_REFERENCES.search(text, headings[-1].end())
    return start, after.start() if after else len(text)


ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
COMPACT = re.compile(r"(?:D:)?(\d{4})(\d{2})(\d{2})(?:\d{6}.*)?")  # PDF
DATE_FORMS = ("%d %b %Y", "%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%Y/%m/%d", "%B %Y", "%b %Y")


def iso_date(value: str) -> str | None:
    """`2021-04-12`, or `2021-04` or `2021` where no more is written; None for what is no date.

    The day as the document states it, in its own time zone; day and month in figures only (3/4/2021) are not guessed.
    """
    value = " ".join(value.split())
    if match := ISO.fullmatch(value) or COMPACT.fullmatch(value):
        return _checked(*match.groups())
    for form in DATE_FORMS:
        try:
            parsed = datetime.strptime(value, form)
        except ValueError:
            continue
        return parsed.strftime("%Y-%m-%d" if "%d" in form else "%Y-%m")
    if not re.match(r"(?:[A-Z][a-z]{2},? )?\d{1,2} [A-Z][a-z]{2}", value):
        return None
    try:
        return parsedate_to_datetime(value).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _checked(year: str, month: str | None, day: str | None) -> str | None:
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join(filter(None, (year, month, day))) if int(year) >= 1000 else None


# --- bytes to text ----------------------------------------------------------------------------------------------------

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
OLD = ("cp1252", "cp1250", "iso8859_2", "mac_roman", "cp850", "cp1251", "koi8_r", "cp866", "cp1253")
"""Of two that fit as well the first is taken."""
HIGH_SIGNS = "“”‘’„‚«»–—…•€£§°©®™²³µ·½¼¾×±¡¿º№\xa0"
LEAST_FIT = 0.8  # of the characters beyond ASCII that must stand where such a character is written
MOST_REPLACED = 0.5  # of a text in the encoding that it declares; more is another file
SAMPLE_BYTES = 100_000


def decode(data: bytes, *, encoding: str = "") -> tuple[str, Mapping[str, str | int]]:
    """The text in the bytes, and what a person should know of how it was decoded; nothing where that is certain.

    By the byte order mark if there is one, else in `encoding`, which the file declares; what is not in it is replaced
    and counted. An undeclared or unknown encoding is detected. Raises DocumentError where none fits.
    """
    start, marked = next(((len(mark), name) for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), (0, ""))
    try:
        codec = codecs.lookup(marked or encoding or "utf-8")
    except LookupError:
        return _guessed(data)
    try:
        return codec.decode(data[start:])[0], {}
    except UnicodeDecodeError as error:
        if not marked and not encoding:
            return _guessed(data)
        text, _ = codec.decode(data[start:], "replace")
        if text.count("\ufffd") > MOST_REPLACED * len(text):
            raise _unreadable(codec.name, error) from error
        return text, {"characters_replaced": text.count("\ufffd") or 1}


def utf_8(data: bytes) -> str:
    """The text of a format that is always UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable("utf-8", error) from error


def _unreadable(encoding: str, error: UnicodeDecodeError) -> DocumentError:
    return DocumentError(
        f"not valid {encoding.upper()} at byte {error.start} (0x{error.object[error.start]:02X})",
        next_step="save it as UTF-8 (for example: iconv -f WINDOWS-1252 -t UTF-8)",
    )


def _guessed(data: bytes) -> tuple[str, Mapping[str, str | int]]:
    """The text in UTF-8, or in the old encoding that fits best."""
    try:
        return data.decode(), {}
    except UnicodeDecodeError as error:
        fits = {name: fit(data[:SAMPLE_BYTES].decode(name, "replace")) for name in OLD}
        best = max(OLD, key=lambda name: fits[name])
        if fits[best] < LEAST_FIT:
            raise _unreadable("utf-8", error) from error
        return data.decode(best, "replace"), {"encoding": best.replace("cp125", "windows-125")}


def fit(text: str) -> float:
    """The share of the characters beyond ASCII that are signs of print, or letters in words as people write them.

    Capitals only begin a word or are all of it; Latin words have plain letters too, words of other scripts have none.
    """
    good = len(re.findall(f"’|(?<![^\\W_])[{HIGH_SIGNS}]|[{HIGH_SIGNS}](?![^\\W_])", text))
    for word in re.findall(r"[^\W\d_]+", text):
        beyond = [character for character in word if character > "\x7f"]
        if not beyond or not (word[1:].islower() or word.isupper() or len(word) == 1):
            continue
        latin = all(character < "\u0250" for character in beyond)
        if len(word) == 1 or latin == (len(beyond) < len(word)):
            good += len(beyond)
    return good / max(1, len(re.findall(r"[^\x00-\x7f]", text)))
