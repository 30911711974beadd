"""A number, name, word or subject of the same passage in the place of another, and two sentences joined wrongly."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from research.checker_data import NOT_SUPPORTED, SUPPORTED, UNVERIFIED
from research.claim_contrasts.base import Made, Passage, Small, claim_of, fits
from research.claim_contrasts.wording import Wording
from research.contrasts import (
    ALIKE,
    NAMES_ALIKE,
    STOP,
    WORD,
    Lexicon,
    content,
    ending,
    related,
    stem,
    word_before,
    word_behind,
)
from research.same_passage import changed

SWAPPED_SENTENCES = 2
"""Of a passage at most."""
WITHOUT = 0.2
"""Share of the groups that show the true claim over the text without its sentence as well."""
VERBS = re.compile(
    r" ((?:is|are|was|were|has|have|had|can|will|may|must|should|does|did|became|began|won|lost|held|built|made|led"
    r"|wrote|took|gave|went|came|found|contains?|includes?|provides?|uses?|allows?|supports?|requires?|needs?|takes?|gives?"
    r"|means?|causes?|occurs?|covers?|consists?|shows?|specif(?:y|ies)|returns?|\w{2,}ed) )"
)
NO_SUBJECT = re.compile(
    r",|\b(?:that|which|who|whose|if|when|while|because|although|there|it|this|these|and|to|not|\w+ly)\b", re.I
)
PREPOSITION = re.compile(
    r"^(?:In|On|At|During|After|Before|By|For|From|Since|Until|Under|Within|With|About|As|To|Of|Over|Through|Between|Among"
    r"|Unlike|Like|Despite|According|Based|Given|Once|Where|How|What|Why|Only|Because|Although|Though|While|Unless|Every"
    r"|You|Your|Most|Many|More|Several|All|Just|Even|Out|Up|Not|To|Note)\b"
)
RANGED = re.compile(r"\d[\d.,]* ?(?:to|–|-|through|and) ?[−-]?\d|\b\w+day (?:to|through) \w+day")
"""In sentences with a range, which may not be turned round."""
NOUNS_LEFT = frozenset(
    {"number", "amount", "kind", "type", "part", "lot", "way", "ways", "case", "cases", "time", "times"}
)
"""Words whose exchange says little."""


class Swaps:
    """Makes contrasts of a passage by what stands elsewhere in it."""

    def __init__(self, lexicon: Lexicon, wording: Wording, small: Small, draw: random.Random) -> None:
        self.lexicon, self.wording, self.small, self.draw = lexicon, wording, small, draw

    def of(self, passage: Passage) -> Iterator[Made]:
        """Every contrast of a passage: values, words, subjects."""
        fitting = list(passage.fitting())
        for at in self.draw.sample(fitting, min(SWAPPED_SENTENCES, len(fitting))):
            yield from self.values(passage, at)
            yield from self.words(passage, at)
        yield from self.subjects(passage, fitting)

    def values(self, passage: Passage, at: int) -> Iterator[Made]:
        """A number or a name of another sentence, or two of its own exchanged."""
        sentence = claim_of(passage.sentences[at])
        near = [other for other in range(max(0, at - 5), min(len(passage.sentences), at + 6)) if other != at]
        elsewhere = " ".join(passage.sentences[other] for other in near)
        found = {way: false for _ in range(3) for way, false in changed(sentence, elsewhere, self.draw)}
        for way, false in found.items():
            old, new = differing(sentence, false)
            if way == "name" and not self.of_a_kind(old, new):
                continue
            if way == "exchanged" and RANGED.search(sentence):
                continue
            if way == "exchanged" and not self.exchanged_alike(sentence, false):
                continue
            holding = [other for other in near if re.search(rf"\b{re.escape(new)}\b", passage.sentences[other])]
            if false in passage.text or not new or (way != "exchanged" and not holding):
                continue
            other = min(holding, key=lambda one: abs(one - at)) if holding and way != "exchanged" else at
            text = passage.around([at, other], self.draw)
            if not text:
                continue
            claims = [
                (self.wording.again(sentence, old), SUPPORTED),
                (self.wording.again(false, new), NOT_SUPPORTED),
            ]
            if other != at and fits(passage.sentences[other]) and self.draw.random() < 0.6:
                claims.append((self.wording.again(passage.sentences[other], new), SUPPORTED))
                back = re.sub(rf"\b{re.escape(new)}\b", old, claim_of(passage.sentences[other]), count=1)
                if old not in passage.sentences[other] and self.draw.random() < 0.5:
                    claims.append((self.wording.again(back, old), NOT_SUPPORTED))
            yield Made(way, passage, text, tuple(claims), self.without(passage, [at], claims[0][0], text))

    def of_a_kind(self, old: str, new: str) -> bool:
        """Whether two names may be mistaken for each other, and are not one name."""
        alike = NAMES_ALIKE <= self.lexicon.meaning_alike(old, new) < 0.9
        return alike and not new.startswith("The ") and not related(old, new)

    def exchanged_alike(self, true: str, false: str) -> bool:
        """Whether the first words that stand in each other's place may be mistaken for each other."""
        pairs = [
            (a.strip(".,;:'’\"()"), b.strip(".,;:'’\"()"))
            for a, b in zip(true.split(), false.split(), strict=False)
            if a != b
        ]
        if not pairs or any(one[:1].isdigit() != other[:1].isdigit() for one, other in pairs[:1]):
            return False
        return pairs[0][0][:1].isdigit() or self.of_a_kind(*pairs[0])

    def without(self, passage: Passage, told: Sequence[int], claim: str, text: str) -> tuple[tuple[str, str, str], ...]:
        """Now and then the claim over the text without the sentences that tell it."""
        rest = text
        for at in told:
            rest = rest.replace(passage.sentences[at], "").replace("  ", " ").strip()
        share = len(content(claim) & content(rest)) / max(1, len(content(claim)))
        if self.draw.random() < WITHOUT and len(rest) > 40 and share < 0.7:
            return ((claim, rest, UNVERIFIED),)
        return ()

    def words(self, passage: Passage, at: int) -> Iterator[Made]:
        """A noun or what stands before one by another of a sentence nearby."""
        sentence = claim_of(passage.sentences[at])
        own = content(sentence)
        near = [other for other in range(max(0, at - 4), min(len(passage.sentences), at + 5)) if other != at]
        among = {
            word: other
            for other in near
            for word in WORD.findall(passage.sentences[other])
            if word.islower() and word.isalpha() and word not in STOP and stem(word) not in own and len(word) > 3
        }
        best = [
            (fit, match.span(), new)
            for match in WORD.finditer(sentence)
            if match[0].islower() and match[0].isalpha() and len(match[0]) > 3 and self.exchangeable(match[0])
            for new in among
            if (fit := self.fit(sentence, match, new)) >= ALIKE + 0.1
        ]
        best.sort(key=lambda one: (-one[0], one[1], one[2]))
        if not best:
            return
        _, (start, end), new = self.draw.choice(best[:3])
        false = sentence[:start] + new + sentence[end:]
        text = passage.around([at, among[new]], self.draw)
        old = sentence[start:end]
        if text and false not in text:
            claims = [(self.wording.again(sentence, old), SUPPORTED), (self.wording.again(false, new), NOT_SUPPORTED)]
            other = passage.sentences[among[new]]
            if fits(other) and self.draw.random() < 0.5:
                claims.append((self.wording.again(other, new), SUPPORTED))
            yield Made("word", passage, text, tuple(claims), self.without(passage, [at], claims[0][0], text))

    def exchangeable(self, word: str) -> bool:
        """Whether a word is one whose exchange says something."""
        known = word in self.lexicon.at and word not in STOP and word not in NOUNS_LEFT
        return known and self.lexicon.is_noun(word) and not word.endswith("ed")

    def fit(self, sentence: str, match: re.Match[str], new: str) -> float:
        """How well a word stands for the one at a place; 0 if it may not."""
        old = match[0]
        before, behind = word_before(sentence, match.start()), word_behind(sentence, match.end())
        if ending(old) != ending(new) or not self.exchangeable(new) or not self.lexicon.differ(old, new):
            return 0.0
        if (before in ("a", "an")) and (old[0] in "aeiou") != (new[0] in "aeiou"):
            return 0.0
        alike = self.lexicon.places_alike(old, new)
        beside = self.lexicon.stands(before, new, behind) if alike >= ALIKE else -1.0
        return alike + beside if beside >= 0 else 0.0

    def subjects(self, passage: Passage, fitting: Sequence[int]) -> Iterator[Made]:
        """What two sentences say, each of the other's subject."""
        parted = [(at, *parts) for at in fitting if (parts := parts_of(claim_of(passage.sentences[at])))]
        pairs = [
            (one, other)
            for place, one in enumerate(parted)
            for other in parted[place + 1 : place + 3]
            if agree(one[2], other[2]) and not content(one[1]) & content(other[1]) and other[0] - one[0] < 5
            if not content(one[1]) & content(passage.sentences[other[0]])
            if not content(other[1]) & content(passage.sentences[one[0]])
        ]
        if not pairs:
            return
        (at, first, _, said), (other, second, _, also) = self.draw.choice(pairs)
        text = passage.around([at, other], self.draw)
        if not text:
            return
        true, false = (first + said, second + also), (first + also, second + said)
        if self.draw.random() < 0.45 and len(first + second + said + also) < 240:
            joint = self.draw.choice((", and ", ", while ", "; "))
            both = [
                (f"{one[0]}{joint}{self.small.small(one[1])}.", label)
                for pair, label in ((true, SUPPORTED), (false, NOT_SUPPORTED))
                for one in [pair if self.draw.random() < 0.5 else pair[::-1]]
            ]
            yield Made("joined", passage, text, tuple(both))
            return
        claims = (
            (self.wording.again(f"{true[0]}.", first), SUPPORTED),
            (self.wording.again(f"{true[1]}.", second), SUPPORTED),
            (self.wording.again(f"{false[0]}.", first), NOT_SUPPORTED),
            (self.wording.again(f"{false[1]}.", second), NOT_SUPPORTED),
        )
        yield Made("subject", passage, text, claims)


def differing(true: str, false: str) -> tuple[str, str]:
    """The words in which two sentences differ, between what they have in common."""
    one, other = true.split(), false.split()
    low = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    high = next(
        (at for at, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), min(len(one), len(other))
    )
    strip = "\"'“”().,;:!?$£€%"
    return " ".join(one[low : len(one) - high]).strip(strip), " ".join(other[low : len(other) - high]).strip(strip)


def parts_of(sentence: str) -> tuple[str, str, str] | None:
    """Subject, verb, and all from the verb on without the full stop; None where that is not clear."""
    match = VERBS.search(sentence)
    if not match or PREPOSITION.match(sentence):
        return None
    subject = sentence[: match.start()]
    if NO_SUBJECT.search(subject) or not 1 <= len(subject.split()) <= 7 or len(subject) < 4:
        return None
    said = sentence[match.start() :].rstrip(".")
    if re.search(r"\bby$|ing$", subject) or len(said) < 18:
        return None
    return subject, match[1].strip(), said


def agree(one: str, other: str) -> bool:
    """Whether two verbs may stand behind the same subject."""
    many = [
        verb in ("are", "were", "have") or not re.search(r"s$|ed$|was|is|has|did|had", verb) for verb in (one, other)
    ]
    free = [
        verb in ("had", "can", "will", "may", "must", "should", "did") or verb.endswith("ed") for verb in (one, other)
    ]
    return one == other or (
        not any(verb in ("is", "are", "was", "were", "has", "have") for verb in (one, other))
        and (many[0] == many[1] or any(free))
    )
