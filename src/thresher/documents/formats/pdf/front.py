"""The front of a PDF: its title, where that and the authors end, who they are, and the day that the first page states.

A file's metadata is believed where the first page says the same. Many have the name of a template, the day of a print
or nothing; then the largest heading of the page is the title, and without one the lines that read like a title.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from thresher.documents.cleaning import BOILERPLATE, BREAK, FIRST_ROW, HEAD, PLAIN, ROW, clean_inline, iso_date
from thresher.documents.formats.pdf.layout import Block
from thresher.documents.formats.pdf.lines import Line
from thresher.text.sentences import Span, trim

TITLE_LINES = 3
MOST_TITLE_LINES = 5  # of a title set large
TITLE_CHARACTERS = 200
TITLE_WITHIN = 15  # lines from the top: permissions, a journal's name, a date and a report's number stand above it
FRONT_LINES = 60  # names and addresses above the abstract
ABSTRACT = re.compile(r"(?:abstract|summary|contents|(?:1|I)?\.?\s*introduction)\s*[:.]?", re.IGNORECASE)
FOOTNOTE_MARKS = "∗†‡§*"  # behind a title and behind a name they lead to a footnote
UNFINISHED = re.compile(r"(?:[:,–-]|\b(?:and|for|of|the|a|an|in|on|to|with|by|via|from|as))$", re.IGNORECASE)
MEETING = re.compile(
    r"\b(?:conference|proceedings|proc\.|workshop|symposium|meeting of)\b.*?\b((?:19|20)\d\d)\b", re.IGNORECASE
)
NOTICE = re.compile(
    r"proper attribution|permission|hereby|licen[cs]ed? |to appear in|accepted (?:at|to|by|for)|technical report|"
    r"working paper|this (?:paper|article|version|document|work) (?:is|was|has)|received|revised",
    re.IGNORECASE,
)
"""Lines above a title that say by whose leave, for what or in what state a text appears."""
STANDING = 0.8  # of the words of a title; one of five may be spelt otherwise, all of a template's name are not


@dataclass(frozen=True, slots=True)
class Front:
    """What the first page says of its document, and its lines taken apart."""

    title: str  # empty where the page begins with a sentence
    blocks: tuple[Block, ...]  # title and authors, a line each
    body: tuple[str, ...]  # the other lines of the first page
    date: str | None  # ISO 8601, where a line above the abstract is one
    year: str | None  # of the conference that a line of the first page names


def read_front(lines: Sequence[str], *, stated: str, headings: Iterable[str], lower: Mapping[str, int]) -> Front:
    """The front of the page with these lines; `stated` is the metadata's title, `headings` are set large."""
    text = [*takewhile(lambda line: not line.startswith((FIRST_ROW, ROW)), lines)]
    tidy = [clean_inline(line.lstrip(HEAD + PLAIN).replace(BREAK, "-")) for line in text]
    confirmed = bool(stated) and _stands_in(stated, tidy[:TITLE_WITHIN])
    large = sorted((one for one in headings if not ABSTRACT.fullmatch(one)), key=_says_no_title)
    wanted = [stated, *large] if confirmed else large
    span = next((span for each in wanted if (span := _lines_of(each, tidy))), None) or _by_words(tidy, lower)
    year = next((named[1] for line in tidy if (named := MEETING.search(line))), None)
    if span is None:
        return Front(stated if confirmed else "", (), tuple(lines), None, year)
    first, last = span
    title = re.sub(rf"[\s{FOOTNOTE_MARKS}]+$", "", " ".join(tidy[first : last + 1]))
    abstract = next((i for i, line in enumerate(tidy[:FRONT_LINES]) if ABSTRACT.fullmatch(line)), last + 1)
    above, below = tidy[:first], tidy[last + 1 : abstract]
    blocks = [*(Block(Line.LABEL, line) for line in above)]
    blocks += [Block(Line.HEADING, " ".join(tidy[first : last + 1])), *(Block(Line.LABEL, line) for line in below)]
    date = next((date for line in (*above, *below) if (date := iso_date(line))), None)
    longer = confirmed and _letters(stated) in _letters(title) and len(_letters(stated)) < len(_letters(title))
    title = stated if confirmed and not longer else title
    return Front(title, tuple(blocks), tuple(lines[max(abstract, last + 1) :]), date, year)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _stands_in(title: str, lines: Sequence[str]) -> bool:
    """Whether nearly all words of the title are in these lines: signs and breaks may be in others."""
    words = [_letters(word) for word in re.findall(r"\w{2,}", title)]
    there = _letters("".join(lines))
    return bool(words) and sum(word in there for word in words) >= STANDING * len(words)


def _lines_of(heading: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """First and last of the lines near the top that the heading is made of, without names set as large as it."""
    kept = heading.split("\n")
    names = next((at for at, line in enumerate(kept) if at and re.search(rf"[@{FOOTNOTE_MARKS}]", line)), len(kept))
    wanted = _letters("".join(kept[:names]))
    if not re.search(r"[^\W\d_]{2}", wanted) or len(heading) > TITLE_CHARACTERS:
        return None
    for first in range(min(TITLE_WITHIN, len(lines))):
        joined = ""
        for last in range(first, min(first + MOST_TITLE_LINES, len(lines))):
            joined += _letters(lines[last])
            if joined == wanted:
                return first, _last_of(lines, last)
            if not wanted.startswith(joined):
                break
    return None


def _last_of(lines: Sequence[str], last: int) -> int:
    """The line on which a title ends that ends here by its font: no title ends in "by"."""
    while UNFINISHED.search(lines[last]) and last + 1 < len(lines) and len(lines[last + 1]) <= TITLE_CHARACTERS // 2:
        last += 1
    return last


def _says_no_title(line: str) -> bool:
    """Whether a line above a title says when, where or by what permission it appears."""
    return bool(BOILERPLATE.search(line) or NOTICE.search(line) or iso_date(clean_inline(line)))


def _by_words(lines: Sequence[str], lower: Mapping[str, int]) -> tuple[int, int] | None:
    """First and last line of what reads like a title; None where the page begins with a sentence."""
    first = next((i for i, line in enumerate(lines[:TITLE_LINES]) if not _says_no_title(line)), 0)
    if first >= len(lines):
        return None
    last = first
    while last + 1 < min(len(lines), first + TITLE_LINES) and _continues_title(lines[last], lines[last + 1], lower):
        last += 1
    title = " ".join(lines[first : last + 1])
    full = last - first + 1 == TITLE_LINES
    too_many = full and last + 1 < len(lines) and _continues_title(title, lines[last + 1], lower)
    after = lines[last + 1] if last + 1 < len(lines) else ""
    prose = after[:1].islower() and min(len(lines[last]), len(after)) > TITLE_CHARACTERS // 4
    sentence = too_many or prose or len(title) > TITLE_CHARACTERS or title.endswith((".", ",", "-"))
    return None if sentence or not title else (first, last)


def _continues_title(before: str, line: str, lower: Mapping[str, int]) -> bool:
    """Whether the line belongs to the title too: its words stand in lower case in the text, as names do not."""
    if re.search(rf"[@{FOOTNOTE_MARKS}]|\d", line) or ABSTRACT.fullmatch(line) or len(line) > 100:
        return False
    if UNFINISHED.search(before):
        return True
    if re.search(r"\b(?:with|of|for|and|in|on|to|by|via|from|the|using)\b", line) and "," not in line:
        return True
    parts = [part for part in re.findall(r"[^\W\d_]+", line.lower()) if len(part) >= 4]
    return bool(parts) and "," not in line and all(lower.get(part, 0) >= 2 for part in parts)


def lower_case_words(pages: Sequence[Sequence[str]]) -> Counter[str]:
    """How often each word stands in lower case; names do not."""
    return Counter(
        word
        for page in pages
        for line in page
        for word in re.findall(r"(?<![\w@./-])[a-zß-öø-ÿ]{4,}\b(?![@.]\w)", line)
    )


# --- who wrote it -----------------------------------------------------------------------------------------------------

FRONT_CHARACTERS = 4_000
"""Names, addresses and the heading of the abstract are within so many; a paper of a hundred authors has more."""

_ABSTRACT = re.compile(
    r"^[#*\s]*(?:abstract|summary|executive summary|overview)[*\s:.—-]*$", re.IGNORECASE | re.MULTILINE
)
_RUN_IN = re.compile(r"^[#*\s]*abstract[*\s]*[:.—–-]\s*", re.IGNORECASE | re.MULTILINE)
_STATED = re.compile(
    r"^[#*\s]*(?:authors?|written by|prepared by|by|from|drafted by|minutes (?:taken )?by|compiled by|editors?)"
    r"[*\s]*(?::[*\s]*|\s(?=[A-Z]))(?P<names>\S.{2,120})$",
    re.IGNORECASE | re.MULTILINE,
)


def author_lines(text: str, title: str = "") -> Span | None:
    """Where the authors are named: in a line that says so, or between the title and the abstract."""
    front = text[:FRONT_CHARACTERS]
    heading = _ABSTRACT.search(front) or _RUN_IN.search(front)
    title_end = front.find("\n", max(0, front.casefold().find(title.casefold())) + len(title) if title else 0)
    if heading and title_end > 0 and heading.start() - title_end > 3:
        return trim(text, title_end, heading.start())
    stated = _STATED.search(front)
    return trim(text, *stated.span("names")) if stated else None


_FOOTNOTE_MARKS = re.compile(r"[\d?∗†‡§¶*♠♣♥♦⋆★˘◦◇□△α-ω¹²³⁴-⁹⁰]+(?:\s*,\s*[\d∗†‡§¶*]+)*")
"""Behind a name they lead to an affiliation; between two names without a comma they part them."""
_NO_NAMES = re.compile(
    r"[@{}:]|https?|www\.|\d{4}|\b(?:univ|institut|research|lab(?:s|orator)?\b|department|dept|school|college|faculty|"
    r"cent(?:er|re)\b|academy|hospital|inc\b|ltd|llc|gmbh|corp|compan|group|team|ministry|bank|foundation|brain|google|"
    r"microsoft|facebook|meta\b|nvidia|openai|deepmind|amazon|apple|ibm|baidu|alibaba|tencent|huawei|adobe|ai\b|uc\b|"
    r"equal|contribut|advis|correspond|abstract|version|draft|report)",
    re.IGNORECASE,
)
"""In lines between title and abstract that name a place of work, an address or a contribution, and no people."""
_PARTICLES = frozenset("de del della den der di da dos du el la las le los ten ter van von bin ibn al y zu".split())  # noqa: SIM905


def authors_of(text: str, *, title: str, stated: str = "") -> str:
    """The stated authors where the page has them, else those of the page, else the stated; "" for none."""
    stated = ", ".join(name for part in stated.split(",") if (name := part.strip(" *∗†‡§")))
    span = author_lines(text, title)
    lines = text[span[0] : span[1]] if span else ""
    surnames = [words[-1] for name in stated.split(",") if (words := name.split())]
    if surnames and sum(surname in lines for surname in surnames) * 2 >= len(surnames):
        return stated
    return ", ".join(author_names(lines)) or stated


def author_names(lines: str) -> list[str]:
    """The people named in the lines between title and abstract; a group where nobody else is."""
    tidy = [line.strip() for line in lines.split("\n") if line.strip()]
    once = [line for line in tidy if tidy.count(line) == 1]  # a place of work stands under each of its people
    names = [name for line in once if not _NO_NAMES.search(line) for name in _names_in(line)]
    group = [line for line in tidy[:1] if re.fullmatch(r"[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}", line)]
    return list(dict.fromkeys(names)) or group


def _names_in(line: str) -> list[str]:
    """The names on one line; none where most of its parts are no names."""
    if _FOOTNOTE_MARKS.match(line):
        return []  # what a mark stands before is an affiliation or a note
    parts = [part for part in re.split(r"[,;|·•]|\band\b|&", _FOOTNOTE_MARKS.sub(",", line)) if part.strip()]
    found = [_split_run(part.split()) for part in parts]
    most = sum(map(bool, found)) * 2 > len(parts)
    return [name for names in found for name in names] if most else []


def _split_run(words: list[str]) -> list[str]:
    """The name that the words are, or the names where first and last names follow each other; none where it is none."""
    if not all(word[:1].isupper() or word in _PARTICLES for word in words) or len(words) < 2:
        return []
    tied: list[str] = []  # initials and particles belong to what stands next to them
    for word in words:
        if tied and (re.fullmatch(r"[A-Z]\.?", word) or tied[-1].split()[-1] in _PARTICLES):
            tied[-1] += f" {word}"
        else:
            tied.append(word)
    if len(tied) >= 4 and len(tied) % 2 == 0:
        return [" ".join(pair) for pair in zip(tied[::2], tied[1::2], strict=True)]
    return [" ".join(words)]
