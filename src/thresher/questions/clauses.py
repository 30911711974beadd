"""What one long question says of the thing that it asks for, one description at a time.

"Which company, known for X, was sued over Y and makes Z?" describes one thing three times, each time as another
document may, and no passage answers it as a whole. The rules are for English and look at words alone; a question that
is short, or has one clause, is left whole.
"""

from __future__ import annotations

import re

from thresher.text.terms import term_set

FEWEST_TERMS = 14
"""A question with fewer different terms is searched and read as it is."""

CLAUSE_TERMS = 4
"""What has fewer belongs to the clause before it."""

MOST_CLAUSES = 4
"""Of more the shortest neighbours are taken together: each is searched for and read."""

_SENTENCE_END = re.compile(r"[?!] |[a-z]{3}\. ")

_THING = r"(?: [\w'’.&-]+){1,4}?"
_ASKED = re.compile(
    rf"(?:who|whom|whose|(?:which|what)(?! (?:is|are|was|were|do|does|did)\b){_THING}(?=,| (?:that|who|which|whose)\b)|"
    r"which [\w'’&-]+|what (?:is|was) the name of (?:the|an?)(?: [\w'’&-]+){1,2}|what [\w'’&-]+)\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r",?\s*\b(?:as |which (?:is|was) )?(?:(?:reported|covered|discussed|suggested|mentioned|featured|described|claimed)"
    r"(?: on)? (?:by|in)|according to|per)"
    r"(?: (?:both|another|articles? (?:from|by|in)|the|an|sources?))*"
    r"(?: ['‘“\"]?[A-Z0-9][\w.'’”\"|&-]*(?: (?:[-|&]|and|of|the)(?= ['‘“\"]?[A-Z]))*)+(?: articles?)?",
)
"""Who reported something: documents need not name whom they are from."""

_BETWEEN = re.compile(
    r"\s*[;,]?\s+\b(?:while|whereas|but|as well as|compared to)\b\s*|\s*[,;]\s+(?:and\b\s*)?|\s+and\s+"
)
_LEADS = re.compile(r"^(?:(?:and|also|not only|who|that|which|both|then)\b\s*)+(?=\w)", re.IGNORECASE)


def descriptions_of(question: str) -> tuple[str, ...]:
    """What is said of the one thing that is asked for, each as a question of its own; empty for fewer than two."""
    text = _plain(question)
    asked = _ASKED.match(text)
    if asked is None or len(term_set(text)) < FEWEST_TERMS:
        return ()
    clauses = _clauses(text[asked.end() :])
    return tuple(f"{asked[0]} {_LEADS.sub('', clause)}?" for clause in clauses) if len(clauses) > 1 else ()


def _plain(question: str) -> str:
    text = " ".join(question.replace("’", "'").split()).rstrip(" ?.!")
    return "" if _SENTENCE_END.search(text) else text


def _clauses(text: str) -> list[str]:
    """The pieces between commas and conjunctions; a piece of few words belongs to the one before it."""
    text = _SOURCE.sub("", text)
    ends = [*(cut.span() for cut in _BETWEEN.finditer(text)), (len(text), len(text))]
    spans: list[tuple[int, int]] = []
    start = 0
    for end, behind in ends:
        few = len(term_set(text[start:end])) < CLAUSE_TERMS
        if spans and (few or len(term_set(text[slice(*spans[-1])])) < CLAUSE_TERMS):
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
        start = behind
    while len(spans) > MOST_CLAUSES:
        at = min(range(1, len(spans)), key=lambda one: spans[one][1] - spans[one - 1][0])
        spans[at - 1 : at + 1] = [(spans[at - 1][0], spans[at][1])]
    return [text[start:end].strip(" ,;") for start, end in spans]
