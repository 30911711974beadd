"""A sentence in other words that say the same, by rule; what is true is worded as often so as what is false."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from research.claim_contrasts.base import Small, claim_of, large

NUMBERS = dict(enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2))  # noqa: SIM905
DIGITS = {word: str(number) for number, word in NUMBERS.items()}
UNITS = {
    **{"km": "kilometres", "kg": "kilograms", "mg": "milligrams", "cm": "centimetres", "mm": "millimetres"},
    **{"%": "percent", "GB": "gigabytes", "MB": "megabytes", "ft": "feet", "mi": "miles", "ml": "millilitres"},
}
SAME = """
approximately:about/about:approximately/frequently:often/often:frequently/began:started/
utilize:use/utilizes:uses/in order to:to/prior to:before/such as:like/film:movie/movie:film/
physician:doctor/physicians:doctors/located:situated/permit:allow/permits:allows/displays:shows/
entire:whole/nearly:almost/almost:nearly/primarily:mainly/mainly:primarily/automobile:car/
additional:further/several:a number of/usually:normally/normally:usually/obtain:get/attempted:tried/is able to:can/
rarely:seldom/seldom:rarely/whole:entire/children:kids/large:big/big:large/
for example:for instance/therefore:thus/thus:therefore/requires:needs/because of:owing to/due to:because of/
make sure:ensure/ensure:make sure/difficult:hard/begins:starts/especially:in particular/
known as:called/commonly:often/various:different/sufficient:enough/assist:help/assists:helps/residents:inhabitants/
does not:doesn't/do not:don't/is not:isn't/are not:aren't/was not:wasn't/were not:weren't/did not:didn't/cannot:can't/
doesn't:does not/don't:do not/isn't:is not/can't:cannot/didn't:did not/has not:hasn't/should not:shouldn't/
"""
OTHER = dict(pair.split(":") for pair in "".join(SAME.split("\n")).strip("/").split("/"))
WORDS = re.compile(rf"(?<![-\w'])(?:{'|'.join(sorted(OTHER, key=len, reverse=True))})(?![-\w'])")
LEAD = re.compile(
    r"^((?:In|On|At|During|After|Before|By|For|From|Since|Until|Under|Within|Throughout|With) [^,]{2,45}), ([^,].*)\.$"
)
LAST = re.compile(r"^(.{20,}\w) ((?:in|on|until|since|during|after|before|by) (?:\w+ ){0,3}(?:1[5-9]|20)\d\d)\.$")
FRONT = re.compile(r"^(If|When|Because|Although|Though|While|Unless|Once|Until|Before|After) ([^,]{6,}), ([^,].*)\.$")
BACK = re.compile(r"^([^,]{12,}) (if|when|because|although|though|unless|once|before|after) ([^,]{8,})\.$")
CLAUSE_BEGINS = re.compile(
    r"(?:the|a|an|it|they|you|we|he|she|this|these|its|their|his|her|your|there|no"
    r"|[A-Z]\w+|[a-z]+s) (?!must\b|should\b)"
)
PARENTHESIS = re.compile(r" \([^()]*\)")
TAIL = re.compile(r"(?<=\w), (?:which|who|where) [^,;]*\.$")
UNIT = re.compile(rf"(?<=\d)( ?)({'|'.join(UNITS)})(?!\w)")
LABELLED = re.compile(
    r"(?:version|type|chapter|section|step|stage|table|figure|grade|class|level|factor|line|page|phase|vitamin|january"
    r"|february|march|april|may|june|july|august|september|october|november|december) $"
)
"""Before numbers that are names."""
FRAMES = ("According to the text, {}", "The text says that {}", "It is said that {}", "We read that {}")
ONLY_LETTERS = re.compile(r"\W+")


class Wording:
    """Words sentences otherwise."""

    def __init__(self, small: Small, draw: random.Random) -> None:
        self.small, self.draw = small, draw
        self.ways: tuple[tuple[float, Callable[[str], str]], ...] = (
            (0.6, self.lead_last),
            (0.4, self.last_first),
            (0.5, self.clauses_turned),
            (0.5, lambda one: PARENTHESIS.sub("", one)),
            (0.35, lambda one: TAIL.sub(".", one)),
            (0.6, self.number_word),
            (0.6, lambda one: UNIT.sub(lambda match: f" {UNITS[match[2]]}", one)),
            (0.5, self.other_word),
            (0.4, self.other_word),
            (0.06, self.framed),
        )

    def again(self, sentence: str, *kept: str) -> str:
        """The sentence in other words, in which everything that decides is kept."""
        found = claim_of(sentence)
        for often, way in self.ways:
            if self.draw.random() < often:
                new = way(found)
                if all(plain(one) in plain(new) for one in kept) and len(new) > 20:
                    found = new
        return large(found)

    def lead_last(self, sentence: str) -> str:
        """Of "In 1990, it closed." makes "It closed in 1990."."""
        match = LEAD.match(sentence)
        if not match or re.search(r"[;:]|, (?:which|who|and|but)\b", match[2]) or len(match[2]) > 120:
            return sentence
        return f"{large(match[2])} {self.small.small(match[1])}."

    def last_first(self, sentence: str) -> str:
        """Of "It closed in 1990." makes "In 1990, it closed."."""
        match = LAST.match(sentence)
        if not match or FRONT.match(sentence) or re.search(r",| (?:and|but|or|that|which|who) ", match[1]):
            return sentence
        return f"{large(match[2])}, {self.small.small(match[1])}."

    def clauses_turned(self, sentence: str) -> str:
        """Of "If it rains, it closes." makes "It closes if it rains.", and the other way."""
        if match := FRONT.match(sentence):
            behind = re.sub(r"^then ", "", match[3])
            if re.search(r"[;:]|, ", behind) or re.match(r"(?:it|they|he|she|this|these)\b", behind):
                return sentence
            return f"{large(behind)} {match[1].lower()} {match[2]}."
        match = BACK.match(sentence)
        if (
            not match
            or not CLAUSE_BEGINS.match(match[3])
            or re.search(rf" {match[2]} |\b(?:even|only|just|and|or|not|that|which|long|shortly)$", match[1])
        ):
            return sentence
        return f"{large(match[2])} {match[3]}, {self.small.small(match[1])}."

    def number_word(self, sentence: str) -> str:
        """Numbers from two to twelve in letters or in digits."""
        if match := re.search(
            rf"(?<![-\w])(?:{'|'.join(DIGITS)})\b(?! (?:of|hundred|thousand|million|billion)\b)(?!-)", sentence
        ):
            return sentence[: match.start()] + DIGITS[match[0]] + sentence[match.end() :]
        match = re.search(
            r"(?<=[a-z] )(?:[2-9]|1[0-2])(?= (?!for|and|from|with|are|was|the|but|was|were)[a-z]{3})", sentence
        )
        if match and not LABELLED.search(sentence[: match.start()].lower()):
            return sentence[: match.start()] + NUMBERS[int(match[0])] + sentence[match.end() :]
        return sentence

    def other_word(self, sentence: str) -> str:
        """One word by another that means the same."""
        if not (found := list(WORDS.finditer(sentence))):
            return sentence
        match = self.draw.choice(found)
        before, new = sentence[: match.start()], OTHER[match[0]]
        if re.search(r"\b(?:a|an|well|the|no|very|as|so|too|how) $", before) and (new[0] in "aeiou" or " " in new):
            return sentence
        behind = sentence[match.end() :]
        if match[0] in ("about", "approximately") and not re.match(r" [$£€]?\d", behind):
            return sentence
        if re.search(r"\ban $", before) or (match[0] in ("display", "film", "select") and re.search(r"the $", before)):
            return sentence
        return before + new + sentence[match.end() :]

    def framed(self, sentence: str) -> str:
        """The sentence as what somebody says."""
        return self.draw.choice(FRAMES).format(self.small.small(sentence))


def plain(text: str) -> str:
    """Letters and digits alone, numbers and short forms written out."""
    text = re.sub(r"n't\b", " not", text.lower())
    return ONLY_LETTERS.sub(" ", re.sub(rf"\b({'|'.join(DIGITS)})\b", lambda match: DIGITS[match[0]], text)).strip()
