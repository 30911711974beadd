"""Questions made of a sentence by asking for what stands in it: `The line climbs how many metres over 41 kilometres?`

Those that a calibration makes (`thresher.judging.calibration`) are search words, and their answer is of no account.
These have answers that recipes are measured by: so a person must be able to read and check them, and what is asked for
is chosen more narrowly. They keep more words of their sentence than people would use, and are easier to find for that.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thresher.evals.compare.drafts import Draft
from thresher.evals.labels import Gold
from thresher.indexing.analyzer import index_terms
from thresher.types import Chunk

MOST_WORDS = 32
"""Of a sentence that is asked whole; nobody asks longer questions."""

ASIDE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
"""Citations and explanations in brackets: the sentence stands without them."""

LEANING = re.compile(
    r"\s*(?:this|these|those|that|it|its|they|their|he|she|his|her|here|there|such|as|however|because|although|while|using|given|based|table|figure|fig"
    r"|left|right|note|see|for (?:example|instance)|in (?:this|these|such|contrast|addition|other words))\b"
    r"|.*\b(?:et al|fig|cf)\b",
    re.IGNORECASE,
)
"""A sentence that leans on what stands before it, or speaks of a figure or a citation."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What can be asked for, how it looks in running text, and the words that ask for it."""

    word: str
    pattern: re.Pattern[str]


FOLLOWED = r"(?=[,;:]|$| (?:and|or|but|is|are|was|were|has|have|had|can|by|in|on|at|to|with|for|as|from|of|when)\b)"
"""What a name or a year ends a phrase before: `sampling from whom` reads well, `standard whom strategies` does not."""

ASKED = (
    Asked("which year", re.compile(rf"(?<=\b(?:in|by|of) )(?:1[0-9]|20)\d\d{FOLLOWED}")),
    Asked("how many", re.compile(r"(?<=[a-z]{2} )\d+(?:,\d{3})*(?= [a-z]{3})")),
    Asked(
        "who or what",
        re.compile(rf"(?<=[a-z]{{2}} )[A-Z][\w-]{{2,}}(?: (?:(?:of|the|von|de) )?[A-Z][\w-]+)*{FOLLOWED}"),
    ),
)

NUMBERED = re.compile(r"\b(?:[A-Z]\w*|table|figure|section|equation|chapter|page|step|line|example|option) $")
"""Before a number that is a name: Algorithm 1, section 3."""


def clozes(found: Sequence[Chunk], generator: random.Random) -> Iterator[Draft]:
    """A question of each sentence that has something to ask for, in random order."""
    for sentence in generator.sample(found, len(found)):
        draft = cloze(sentence, generator)
        if draft is not None:
            yield draft


def cloze(sentence: Chunk, generator: random.Random) -> Draft | None:
    """A question whose answer is a year, a number or a name of the sentence; None where it has none."""
    text = " ".join(ASIDE.sub("", sentence.text).split()).rstrip(".!?")
    if LEANING.match(text) or len(text.split()) > MOST_WORDS:
        return None
    choices = [
        (asked, match)
        for asked in ASKED
        for match in asked.pattern.finditer(text)
        if asked.word != "how many" or not NUMBERED.search(text[: match.start()])
    ]
    # A year is a number too, and a sentence may have several; each kind is asked for as often.
    kinds = list(dict.fromkeys(asked.word for asked, _ in choices))
    if not kinds:
        return None
    kind = generator.choice(kinds)
    match = generator.choice([match for asked, match in choices if asked.word == kind])
    first = text.split()[0]
    begun = text if index_terms(first) else f"{text[0].lower()}{text[1:]}"
    asking = f"{begun[: match.start()]}{kind}{text[match.end() :]}?"
    draft = Draft(
        titled(sentence, asking), "cloze", "cloze", (match[0],), gold=(place(sentence),), stands_in=sentence.text
    )
    # The title may hold the answer, and where the sentence does twice the second place tells it.
    return None if draft.tells_its_answer or match[0] not in sentence.text else draft


def titled(sentence: Chunk, asking: str) -> str:
    """The question with its document in front, which says who `we` are."""
    title = " ".join(sentence.title.split())
    return f"In “{title}”: {asking}" if title else f"{asking[0].upper()}{asking[1:]}"


def place(sentence: Chunk) -> Gold:
    """Where a sentence stands."""
    return Gold(sentence.source, sentence.page, sentence.start, sentence.end)
