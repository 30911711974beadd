"""Sentences of a document without content: headings, captions, signposts, references."""

from __future__ import annotations

import re

from thresher.text.terms import STOP_WORDS

_CAPTION = re.compile(
    r"(?:figure|fig\.|table|algorithm|listing|chart|exhibit|equation)\s*[\dA-Z]+(?:\.\d+)*\s*[.:(|–-]", re.IGNORECASE
)
_PLACE = (
    r"(?:sections?|sec\.|chapters?|appendix|appendices|figures?|fig\.|tables?|parts?|annex|§)"
    r"\s*(?:\d[\d.]*|[A-Z]\b|[IVX]+\b)"
)
_TELLING = (
    r"(?:summari[sz]|describ|present|show|discuss|review|contain|list|provid|introduc|outlin|conclud|explain|giv|"
    r"report|detail|cover)"
)
_SIGNPOSTS = re.compile(
    rf"^(?:in )?{_PLACE}[^.]{{0,30}}\b{_TELLING}\w*"
    rf"|^in (?:this|the (?:next|following)) (?:sub)?(?:section|chapter|appendix), we (?:{_TELLING}|compar|evaluat)"
    rf"|^in {_PLACE}, we (?:compar|plot|evaluat)\w+ (?!that\b)"
    r"|^from: .*\b(?:to|date|subject): "
    rf"|^(?:see|cf\.?|refer to)(?: also)? {_PLACE}"
    rf"|\b(?:is|are) (?:summari[sz]ed|described|presented|discussed|detailed|given|listed|provided) in {_PLACE}"
    rf"|\bwe {_TELLING}\w*\b[^.]{{0,80}} in {_PLACE}"
    r"|\b(?:rest|remainder) of (?:this|the) \w+ is|\b(?:organi[sz]ed|structured) as follows"
    r"|\bfuture (?:work|research)\b|\bwe (?:plan|leave|hope)\b|\bour (?:main )?contributions are\b"
    r"|\b(?:directions?|avenues?) for\b|\bremains? an? (?:area|open)\b"
    r"|\b(?:further|additional) (?:study|studies|investigation|theoretical)\b"
    r"|^(?:page \d+(?: of \d+)?|table of contents|contents|all rights reserved|confidential|copyright|©)\b",
    re.IGNORECASE,
)

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

_REFERENCE_SIGNS = tuple(
    re.compile(sign)
    for sign in (
        r"\barXiv\b|\bdoi\b|\bISBN\b|\bURL https?:",
        r"\b[Ii]n (?:Proc(?:\.|eedings)|Advances|International Conference|Conference|Findings|Annual|IEEE|ACL|EMNLP|"
        r"ICLR|ICML|NeurIPS)",
        r"\bpp?\.\s?\d+|\bpages? \d+\s?[–-]\s?\d+|\d+\(\d+\):\s?\d+",
        r"(?:[A-Z][\w'’-]+, (?:[A-Z]\.[ -]?){1,3}(?:,|and|&|\()|(?:\b[A-Z]\.\s){1,3}[A-Z][\w'’-]+(?:,| and))",
        r"[,.(]\s?(?:19|20)\d\d[a-z]?\)?\.?\s*$",
        r"\b(?:Press|Journal|Transactions|Trans\.|CoRR|preprint|Association for)\b",
        r"^\[\d+\]\s|^(?:[A-Z][\w'’-]+ [A-Z][\w'’-]+, ){2}",
    )
)
REFERENCE_SIGNS = 2
"""A sentence with so many of the marks of a reference is one; a sentence of the text has one at times."""

_LEANS = re.compile(
    r"(?:this|it|they|these|those|that|such|he|she|its|their|his|her|however|therefore|thus|hence|moreover|furthermore|"
    r"additionally|also|consequently|instead|otherwise|then|similarly|likewise|as a result|"
    r"in (?:that|addition|contrast|turn|particular)|for (?:this|example|instance)|on the other hand|but|and|so|both|"
    r"the (?:former|latter|same)"
    r")\b",
    re.IGNORECASE,
)


_ATTRIBUTION = re.compile(r"Quoted by .{1,300}|On .{8,200} wrote:")
"""What stands above a quoted mail."""


def says_nothing(sentence: str) -> bool:
    """Whether a sentence is a heading, a question, who is quoted, a caption, a signpost, a reference, a formula."""
    text = " ".join(sentence.split())
    if text.startswith("|"):
        return len(_CELL.findall(text)) < LEAST_CELLS
    return (
        asks(text)
        or is_heading_line(sentence)
        or text.startswith("#")
        or text.isupper()
        or _ATTRIBUTION.fullmatch(text) is not None
        or not _is_plain(text)
        or _CAPTION.match(text) is not None
        or _SIGNPOSTS.search(text) is not None
        or is_reference(text)
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


CONTENTS = 3
"""So many lines that are questions, more than twice as many as there are others, are a list of contents."""


def is_contents(text: str) -> bool:
    """Whether a text lists questions that are answered elsewhere."""
    lines = [line for line in text.splitlines() if line.strip()]
    questions = sum(map(asks, lines))
    return questions >= CONTENTS and questions > 2 * (len(lines) - questions)


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


def is_reference(sentence: str) -> bool:
    """Whether a sentence looks like an entry of a bibliography."""
    return sum(sign.search(sentence) is not None for sign in _REFERENCE_SIGNS) >= REFERENCE_SIGNS


def asks_for_questions(question: str) -> bool:
    """Whether a question is about questions that a document asks."""
    return re.search(r"\b(?:questions?|asks?|asked)\b", question, re.IGNORECASE) is not None


def leans(sentence: str) -> bool:
    """Whether a sentence needs the one before it: "It must be replaced after 4,000 hours"."""
    return _LEANS.match(sentence.lstrip(" \"“'(")) is not None
