"""Words that decide what a sentence says: how many, how often, how surely, except what, until when, planned or done.

Words that say the same are a class; of a family of classes each may stand where another does. A sentence with a word of
one class is told with another word of it, and falsely with one of another class. Every word is given to as many true
claims as to false ones (`Balance`), so that a word by itself says nothing of the label.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.planted_errors import AUXILIARY, NOT
from research.checker_data import CONTRADICTED, NOT_SUPPORTED, SUPPORTED
from research.claim_contrasts.base import Made, Passage, claim_of
from research.claim_contrasts.families import FAMILIES, OPPOSITE, Family, V
from research.claim_contrasts.wording import Wording

SLACK = 4
"""By how many claims a word may be true more often than false."""
TWO_OF_A_SIDE = 0.3


class Balance:
    """How often each word was given to a true claim more than to a false one."""

    def __init__(self, draw: random.Random) -> None:
        self.over: Counter[str] = Counter()
        self.draw = draw

    def choose(self, options: Sequence[str], *, true: bool) -> str:
        """The option that is furthest from being told too often; "" if there is none left."""
        sign = 1 if true else -1
        mixed = self.draw.sample(list(options), len(options))
        best = min(mixed, key=lambda one: sign * self.over[one], default="")
        return best if best and sign * self.over[best] < SLACK else ""

    def took(self, option: str, *, true: bool) -> None:
        """Count a claim."""
        self.over[option] += 1 if true else -1


HELPED = re.compile(r"(?:n['’]t|\b(?:not|do|does|did|will|would|to|can|may|must|should|never|only)) ?$")
"""Before a verb that is no finite one."""
FINITE = re.compile(
    r" (?:the|a|an|his|her|its|their) (?:[\w-]+ ){1,5}?(?:is|are|was|were|has|have|had|can|be|will|do|does)\b"
)
"""A clause with a verb, before which only some words of time may stand."""
BEFORE_CLAUSES = ("until", "till", "since", "ever since", "before", "after")
FORM = re.compile(r"\b(?:(is|was|has|does)|(are|were|have|do))\b")
PLURAL = re.compile(
    r"(?:\b(?:you|we|they|I|people|users|who|children|men|women|these|those|both|many|\w+[^su\W]s) ?)$", re.I
)
ADJECTIVE = re.compile(
    rf"\b(is|are|was|were)( not)? ({'|'.join(sorted(OPPOSITE, key=len, reverse=True))})"
    r"(?= (?:than|to|in|for|by|when|if|and|at|with|on)\b|[.,])"
)
CONDITIONAL = re.compile(
    r"\b(?:if|when|whether|although|unless|because|who|which|that|where|while|until|before)\b", re.I
)
DENIED_LATER = re.compile(
    r"\b(?:that|which|who|if|when|where|not only|no|only|all|every|both|each|any|some|many|most|few)\b|[,;:]", re.I
)


class Markers:
    """Makes contrasts of a sentence by the words that decide."""

    def __init__(self, wording: Wording, draw: random.Random) -> None:
        self.wording, self.draw = wording, draw
        self.balance = {one.kind: Balance(draw) for one in FAMILIES} | {"opposite": Balance(draw)}

    def of(self, passage: Passage) -> Iterator[Made]:
        """Every contrast of a passage."""
        for at in passage.fitting():
            sentence = claim_of(passage.sentences[at])
            for one in FAMILIES:
                if not one.any_of.search(sentence):
                    continue
                places = [(match, name) for name, pattern in one.found.items() for match in pattern.finditer(sentence)]
                places = [
                    (match, name)
                    for match, name in places
                    if not any(
                        other.start() <= match.start() and other.end() >= match.end() and other[0] != match[0]
                        for other, _ in places
                    )
                ]
                if len(places) == 1:
                    yield from self.exchanged(passage, at, sentence, one, *places[0])
            yield from self.opposite(passage, at, sentence)
            yield from self.denied(passage, at, sentence)

    def exchanged(
        self, passage: Passage, at: int, sentence: str, one: Family, match: re.Match[str], name: str
    ) -> Iterator[Made]:
        """The sentence with words that say the same, and with others."""
        text = passage.around([at], self.draw)
        if not text:
            return
        if one.behind == V and HELPED.search(sentence[: match.start()]):
            return
        balance = self.balance[one.kind]
        before, behind = sentence[: match.start()], sentence[match.end() :]
        lead = match[0][: len(match[0]) - len(match[0].lstrip(" ,"))] if one.before.endswith(" ") else ""
        tail = " that" if one.behind.startswith(" that") else ""
        claims: list[tuple[str, str]] = []
        told: list[tuple[str, bool]] = []
        for true in (True, False):
            options = [
                option
                for of in ((name,) if true else one.false[name])
                for option in one.classes[of]
                if agreed(option, before, match[0]).strip(" ,") != match[0].strip(" ,").removesuffix(" that")
                or self.draw.random() < 0.3
            ]
            if one.kind == "time" and FINITE.match(behind):
                options = [option for option in options if option in BEFORE_CLAUSES]
            if len(before.split()) > 5 and not FORM.search(match[0]):
                options = [option for option in options if "{" not in option]
            for _ in range(1 + (self.draw.random() < TWO_OF_A_SIDE)):
                if option := balance.choose([each for each in options if (each, true) not in told], true=true):
                    new = lead + agreed(option, before, match[0]) + tail
                    claims.append(
                        (self.wording.again(before + new + behind, new), SUPPORTED if true else NOT_SUPPORTED)
                    )
                    told.append((option, true))
        if {true for _, true in told} == {True, False}:
            for option, true in told:
                balance.took(option, true=true)
            yield Made(one.kind, passage, text, tuple(claims))

    def opposite(self, passage: Passage, at: int, sentence: str) -> Iterator[Made]:
        """`is higher` as `is not lower`, against `is lower` and `is not higher`."""
        if len(found := list(ADJECTIVE.finditer(sentence))) != 1 or not (text := passage.around([at], self.draw)):
            return
        verb, denial, word = found[0].groups()
        before, behind = sentence[: found[0].start()], sentence[found[0].end() :]
        options: dict[bool, list[str]] = {True: [], False: []}
        for same in (True, False):
            # "not low" does not make "high": of what is denied only the same word is told.
            for flipped in (True, False) if denial is None else (False,):
                denies = (denial is None) == (flipped == same)
                options[same].append(f"{'not ' if denies else ''}{OPPOSITE[word] if flipped else word}")
        balance = self.balance["opposite"]
        chosen = [(balance.choose(options[same], true=same), same) for same in (True, False)]
        if all(option for option, _ in chosen):
            claims = []
            for option, same in chosen:
                balance.took(option, true=same)
                put = f"{verb} {option}"
                claims.append(
                    (self.wording.again(before + put + behind, put), SUPPORTED if same else denial_of(before))
                )
            yield Made("opposite", passage, text, tuple(claims))

    def denied(self, passage: Passage, at: int, sentence: str) -> Iterator[Made]:
        """A denial dropped or set at the first auxiliary of a main clause, and the sentence in other words."""
        auxiliary, there = AUXILIARY.search(sentence), NOT.search(sentence)
        if (
            there
            and "even if" not in sentence
            and not re.search(r"\bnot (?:only|all|every|just|necessarily|be|have|to)\b", sentence)
        ):
            if not re.search(r"\b(?:is|are|was|were|can|could|will|would|has|have|had) $", sentence[: there.start()]):
                return
            place = there.start()
            false = sentence[:place] + sentence[there.end() :]
        elif auxiliary and self.draw.random() < 0.08 and not DENIED_LATER.search(sentence[: auxiliary.start()]):
            end = auxiliary.start() + len(auxiliary[0].split()[0])
            if " not " in sentence or "n't" in sentence or auxiliary[0] in ("may", "must", "should"):
                return
            place, false = end, f"{sentence[:end]} not{sentence[end:]}"
        else:
            return
        if text := passage.around([at], self.draw):
            denies, here = (
                denial_of(sentence[:place]),
                false[max(0, place - 15) : place + 15].partition(" ")[2].rpartition(" ")[0],
            )
            claims = [(self.wording.again(sentence), SUPPORTED), (self.wording.again(false, here), denies)]
            small = self.wording.small.small
            if self.draw.random() < 0.5:
                frame = self.draw.choice(
                    ("It is not true that {}", "It is wrong to say that {}", "It is not the case that {}")
                )
                claims += [(frame.format(small(false)), SUPPORTED), (frame.format(small(sentence)), denies)]
            yield Made("negation", passage, text, tuple(claims))


def denial_of(before: str) -> str:
    """What a denial behind some words makes of a claim: in a condition it only says something else."""
    return NOT_SUPPORTED if CONDITIONAL.search(before) else CONTRADICTED


def agreed(option: str, before: str, old: str = "") -> str:
    """The words with the form of the old ones, else with that which what stands before them wants."""
    many = PLURAL.search(before) is not None and not re.search(r"\b(?:one|each|every|none) of [^,]*$", before)
    many = many and not re.search(r"\b(?:this|thus|has|was|is|its|always|as|us|class|process|access) ?$", before)
    known = FORM.search(old)
    many = known[2] is not None if known else many
    forms = {"has": "have", "is": "are", "does": "do", "was": "were"} if many else {}
    return re.sub(r"\{(\w+)\}", lambda found: forms.get(found[1], found[1]), option)
