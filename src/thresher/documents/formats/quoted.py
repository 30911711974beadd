"""The mails that a mail quotes, told by their form in any language: `>` before each line, the line that names who wrote
and when above it, or the head of the mail before its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parseaddr
from itertools import dropwhile

from thresher.structure.versions import days_of, plain_dates
from thresher.text.numbers import Date, quantities_and_dates
from thresher.text.sentences import sentence_spans

_SIGN = re.compile(r"[ \t]{0,3}> ?")
_MOMENT = re.compile(r"(?=.*\b(?:19|20)\d\d\b)(?=.*\b\d{1,2}[:.h]\d\d\b)", re.DOTALL)
_FIELD = re.compile(r"\s*\*{0,2}(?P<label>[^\W\d][\w .'-]{0,20}?)\*{0,2} ?:\*{0,2}\s+(?P<value>\S.*)")
_RULE = re.compile(r"\s*[-_=*]{3,}(?:[^-_=*]*[-_=*]{3,})?\s*")
_AROUND = re.compile(r"(?:^|.*(?:[,;:\d]|\b[AP]M\b))\s*([^,;:\d<>]+?)\s*<[^<>]*@")
LEAST_FIELDS = 3  # of the head of a mail before its text
LONGEST_HEAD = 3  # lines that name who wrote and when


@dataclass(frozen=True, slots=True)
class Quote:
    """A mail in another one: what names its sender and day, as it is written, and its own text."""

    head: str
    text: str

    @property
    def sender(self) -> str:
        """Who wrote it, as far as the head says so: behind its first label, or the words around an address."""
        lines = (line for line in self.head.splitlines() if not _RULE.fullmatch(line))
        first = next(lines, "")
        if (field := _FIELD.fullmatch(first)) and not _MOMENT.match(first):
            return parseaddr(field["value"].strip("* "))[0] or field["value"].strip("* ")
        around = _AROUND.search(" ".join(self.head.split()))
        words = around[1].strip(" \"'").split() if around else []
        return " ".join(dropwhile(str.islower, words))  # "schrieb Ada Kask"

    @property
    def day(self) -> str | None:
        """When it was written, where the head names a day; ISO 8601."""
        dates = (one for one in quantities_and_dates(plain_dates(self.head)) if isinstance(one, Date) and one.day)
        return next((days_of(one)[0].isoformat() for one in dates if one.year), None)


def parted(text: str) -> tuple[str, list[Quote]]:
    """The own words of a mail, and the mails that it quotes, the last one first.

    A quoted question that own words follow is left above them: they are its answer.
    """
    lines = text.split("\n")
    if (found := _head_in(lines)) is not None:
        start, behind = found
        own, before = parted("\n".join(lines[:start]))
        inner, deeper = parted("\n".join(lines[behind:]))
        head = "\n".join(line.strip() for line in lines[start:behind] if re.search(r"\w", line))
        return own, [*before, Quote(head, inner.strip("\n")), *deeper]
    lines_left, quoted, head, asked = list[str](), list[str](), "", 0
    for line in lines:
        if sign := _SIGN.match(line):
            head = head if quoted else _taken_head(lines_left)
            quoted.append(line[sign.end() :])
        else:
            if line.strip() and len(quoted) > asked and (question := _last_question(quoted)):
                lines_left += [f"> {question}", ""]
            asked = len(quoted) if line.strip() else asked
            lines_left.append(line)
    if not quoted:
        return text, []
    inner, deeper = parted("\n".join(quoted))
    return "\n".join(lines_left).strip("\n"), [Quote(head, inner.strip("\n")), *deeper]


def _head_in(lines: Sequence[str]) -> tuple[int, int] | None:
    """The first head of a mail behind which all is quoted: where it begins, and where its text does."""
    for at, line in enumerate(lines):
        if not line.strip() or _SIGN.match(line):
            continue
        end = next((end for end in range(at, len(lines)) if not _FIELD.fullmatch(lines[end])), len(lines))
        ruled = at > 0 and bool(_RULE.fullmatch(_last(lines[:at])))
        fields = "\n".join(lines[at:end])
        if end - at >= LEAST_FIELDS and _MOMENT.match(fields) and (ruled or "@" in fields):
            start = at
            while start and (not lines[start - 1].strip() or _RULE.fullmatch(lines[start - 1])):
                start -= 1
            return start, end
        for end in range(at + 1, min(at + LONGEST_HEAD, len(lines)) + 1):
            named = " ".join(lines[at:end])
            if named.rstrip().endswith(":") and "@" in named and _MOMENT.match(named):
                below = next((one for one in lines[end:] if one.strip()), ">")
                return None if _SIGN.match(below) else (at, end)
    return None


def _last(lines: Sequence[str]) -> str:
    """The last line that is not blank."""
    return next((line for line in reversed(lines) if line.strip()), "")


def _taken_head(own: list[str]) -> str:
    """The line above a quote that names who wrote and when, over several lines too, taken off the own words."""
    while own and not own[-1].strip():
        own.pop()
    for count in range(1, min(LONGEST_HEAD, len(own)) + 1):
        head = " ".join(line.strip() for line in own[-count:])
        if not head.endswith(":") or not own[-count].strip():
            return ""
        if "@" in head or re.search(r"\d", head):
            whole = count + (not re.search(r"\d", head) and len(own) > count and bool(own[-count - 1].strip()))
            head = " ".join(line.strip() for line in own[-whole:])
            del own[-whole:]
            return head
    return ""


def _last_question(quoted: Sequence[str]) -> str:
    """The sentence with which quoted lines end, if it is a question."""
    paragraph = list[str]()
    for line in reversed(quoted):
        if line.strip(" >"):
            paragraph.insert(0, line.strip(" >"))
        elif paragraph:
            break
    text = " ".join(paragraph)
    return text[sentence_spans(text)[-1][0] :] if text.endswith("?") else ""
