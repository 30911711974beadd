"""Marks that change what a text says: struck words, and boxes of which some are ticked.

Struck words are kept between tildes, as Markdown writes them, and a box is a glyph in front of its option: ☐ or ☑. A
reader and the judge see both; what is struck or not ticked does not hold, so it is neither an answer nor a value. A box
that begins an item of a Markdown list is a task: one that is not ticked is still to be done, which is an answer.
"""

from __future__ import annotations

import re

from thresher.text.entities import facts_in
from thresher.text.sentences import Span, sentence_spans, trim

TICKED, UNTICKED = "☑", "☐"
"""What readers write for a box of a form."""

_STRUCK = re.compile(r"~~(?=\S)(?:(?!~~)[^\n]){1,2000}(?<=\S)~~")
_TASK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]", re.MULTILINE)
_BOX = r"\[[ xX]\](?!\()|(?<!\w)\([ xX]\)(?=\s)|[☐☑☒]"
_OPTION = re.compile(rf"(?P<box>{_BOX})(?:(?!{_BOX})[^\n|])*")
_MARKS = re.compile(rf"\s*(?:{_BOX})\s*")


def struck(text: str) -> str:
    """A text that is struck, each sentence of it marked by itself, so that one which stands alone is known as struck.

    Its stop stays outside: behind it the marks would belong to the next sentence.

    >>> struck("Pay 5. Call us. ")
    '~~Pay 5~~. ~~Call us~~. '
    """
    pieces, at = list[str](), 0
    for line in re.finditer(r"[^\n]+", text):
        for start, end in sentence_spans(line[0]):
            low, high = trim(text, line.start() + start, line.start() + end)
            high = low + len(text[low:high].rstrip(".!?"))
            if low < high:
                pieces += [text[at:low], f"~~{text[low:high]}~~"]
                at = high
    return "".join([*pieces, text[at:]])


def void_spans(text: str) -> list[Span]:
    """Where a text does not hold: its struck words, and the options that are not ticked.

    >>> [text[a:b] for text in ["~~2.10~~ 2.80", "☐ wood ☑ steel", "( ) oak (x) ash"] for a, b in void_spans(text)]
    ['~~2.10~~', '☐ wood ', '( ) oak ']
    """
    tasks = [found.end() for found in _TASK.finditer(text)]
    options = (one.span() for one in _OPTION.finditer(text) if one["box"] in ("[ ]", "( )", UNTICKED))
    kept = [(start, end) for start, end in options if start + len("[ ]") not in tasks]
    return sorted([*(found.span() for found in _STRUCK.finditer(text)), *kept])


def in_force(text: str) -> str:
    """A text without what does not hold, and without the boxes that are ticked; as it is where it has no such marks.

    >>> in_force("~~2.10~~ 2.80"), in_force("☐ wood ☑ steel"), in_force("- [ ] paint")
    ('2.80', 'steel', '- [ ] paint')
    """
    spans = void_spans(text)
    if not spans and not re.search("[☑☒]", text):
        return text
    for start, end in reversed(spans):
        text = f"{text[:start]} {text[end:]}"
    return " ".join(_MARKS.sub(" ", text).split())


def holds(sentence: str) -> bool:
    """Whether a sentence still says something without what does not hold: not where that has its only facts.

    >>> [holds(text) for text in ("It costs ~~2.10~~ 2.80.", "It costs ~~2.10~~.", "Hull: ☐ wood ☐ steel")]
    [True, False, False]
    """
    spans = void_spans(sentence)
    if not spans:
        return True
    left = in_force(sentence)
    if not re.search(r"\w", left) or left.endswith(":"):
        return False
    lost = " ".join(sentence[start:end] for start, end in spans)
    if re.search(r"\d", lost) and not re.search(r"\d", left):
        return False
    return not facts_in(lost) or bool(facts_in(left))
