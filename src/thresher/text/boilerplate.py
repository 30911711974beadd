"""Sentences of a document without content: numbers, headings, questions, heads of mails, labels of figures."""

from __future__ import annotations

import re

from thresher.text.terms import STOP_WORDS

_CAPTION = re.compile(
    r"(?:figure|fig\.|table|algorithm|listing|chart|exhibit|equation)\s*[\dA-Z]+(?:\.\d+)*\s*[.:(|–-]", re.IGNORECASE
)
_MAIL_HEAD = re.compile(r"From: .*\b(?:To|Date|Subject): ", re.IGNORECASE)

HEADING_WORDS = 8
"""So few words without a stop behind them, a number or a colon within are a heading."""

HEADING_CHARACTERS = 80
"""A line that is longer is no heading."""

LEAST_LETTERS = 0.6
"""Share of letters and spaces below which a line is a formula, or a figure's labels."""

LABELS = 7
"""Capitals and numbers in a row that a figure or table has; true of 62 of 10,485 sentences (docs/decisions.md)."""

_LABEL = re.compile(r"[\w%$€£./&'’+†‡-]*")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

_LEANS = re.compile(
    r"(?:this|it|they|these|those|that|such|he|she|its|their|his|her|however|therefore|thus|hence|moreover|furthermore|"
    r"additionally|also|consequently|instead|otherwise|then|similarly|likewise|as a result|"
    r"in (?:that|addition|contrast|turn|particular)|for (?:this|example|instance)|on the other hand|but|and|so|both|"
    r"the (?:former|latter|same)"
    r")\b",
    re.IGNORECASE,
)


def says_nothing(sentence: str) -> bool:
    """Whether a sentence is a number, a heading, a question, a mail's head, labels of a figure, a row of one cell."""
    text = " ".join(sentence.split())
    if text.startswith("|"):
        return len(_CELL.findall(text)) < LEAST_CELLS
    return (
        not any(map(str.isalpha, text))
        or asks(text)
        or is_heading_line(sentence)
        or text.startswith("#")
        or _MAIL_HEAD.match(text) is not None
        or has_labels(text)
    )


_NUMBERING = re.compile(r"\W*(?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)[.)]?\s+(?=[A-Z][\w'’-]*\s+\w)")
_PAGE_BEHIND = re.compile(r"(?:\s*\.{2,}\s*|(?:\s*\.\s){3,}\s*|\t\s*)\d{1,4}\s*$")
"""What a line of a table of contents ends with."""


def is_heading_line(line: str) -> bool:
    """Whether a line is a heading, with its number or without, or stands for one in a table of contents."""
    bare = _PAGE_BEHIND.sub("", line)
    if bare != line and "\n" not in line.strip():
        return True
    bare = _NUMBERING.sub("", bare.strip(), count=1)
    return len(bare.split()) <= HEADING_WORDS and not re.search(r"[.!?:;\d]", bare)


_CELL = re.compile(r"\|[^|\w]*\w[^|]*(?=\|)")
LEAST_CELLS = 2
"""Cells that say something in a row that does."""

_SPEAKER = re.compile(r"\W*(?:\w{1,20} ?\d{0,3}\W?[:.)]\W*\s)?")
"""Before a question: its number, "Q:", who asks it."""
_ASKING = re.compile(r"\W*(?:who|what|which|when|where|why|how|do|does|did|is|are|was|were|can|will)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""[\s(][“„«‘"'*_(]+[^"”’»]{1,200}[?？؟]\s?["'”’»*_)]+\s*$""")
_TITLE = re.compile(r"\b[a-z]\w* (?:Who|Whose|What|Which|When|Where|Why|How|Do|Does|Is|Are|Can) [^?]{1,100}\?\s*$")


def asks(sentence: str) -> bool:
    """Whether a sentence is a question, which answers none: a heading of a FAQ, a line of its contents.

    A statement that ends in the words or the title of a question is none: Her novel is "Who Sleeps?".
    """
    if not sentence.rstrip(" \n\"'”’»)]*_").endswith(("?", "？", "؟")):
        return False
    bare = _SPEAKER.sub("", sentence, count=1)
    return _ASKING.match(bare) is not None or not (_QUOTED.search(bare) or _TITLE.search(bare))


def _is_plain(text: str) -> bool:
    return sum(character.isalpha() or character == " " for character in text) >= LEAST_LETTERS * len(text)


def has_labels(sentence: str) -> bool:
    """Whether a sentence holds labels of a figure or cells of a table: a long run of capitals and numbers.

    Running text has a small or lower-case word every few words; lists of names have commas, formulas their operators.
    """
    run = 0
    for word in _IN_BRACKETS.sub(" ", sentence).split():
        bare = word.strip(".,;:“”‘’\"'()[]{}*†‡•")
        is_plain = bare.lower() in STOP_WORDS or (len(bare) > 2 and bare.isalpha() and bare.islower())
        run = 0 if is_plain or word[-1] in ",;.:" or not _LABEL.fullmatch(bare) else run + 1
        if run >= LABELS:
            return True
    return False


def heading_above(text: str, at: int) -> str:
    """The last heading before a place of a text, or question above its answer, no caption or formula; "" for none."""
    for block in reversed(re.split(r"\n\s*\n", text[:at])[:-1]):
        bare = block.strip(" #*_\n")
        short = 0 < len(bare) <= HEADING_CHARACTERS and "\n" not in bare and bare[-1] not in ".,;:!|"
        if short and _is_plain(bare) and bare[0].isalnum() and not _CAPTION.match(bare):
            return bare
    return ""


def leans(sentence: str) -> bool:
    """Whether a sentence needs the one before it: "It must be replaced after 4,000 hours"."""
    return _LEANS.match(sentence.lstrip(" \"“'(")) is not None
