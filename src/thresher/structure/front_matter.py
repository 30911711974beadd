"""Who wrote a document, by what stands at its front."""

from __future__ import annotations

import re

from thresher.text.sentences import Span, trim

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


_MARKS = re.compile(r"[\d?∗†‡§¶*♠♣♥♦⋆★˘◦◇□△α-ω¹²³⁴-⁹⁰]+(?:\s*,\s*[\d∗†‡§¶*]+)*")
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
    if _MARKS.match(line):
        return []  # what a mark stands before is an affiliation or a note
    parts = [part for part in re.split(r"[,;|·•]|\band\b|&", _MARKS.sub(",", line)) if part.strip()]
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
