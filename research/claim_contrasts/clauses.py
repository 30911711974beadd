"""Who does what to whom, what is more than what, and which condition has which consequence."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

from benchmarks.planted_errors import negated
from research.checker_data import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, UNVERIFIED
from research.claim_contrasts.base import Made, Passage, Small, claim_of, fits, large
from research.claim_contrasts.markers import Balance
from research.claim_contrasts.wording import Wording

Claims = list[tuple[str, str]]

PAST = {
    **{word: word for word in ("built", "made", "led", "held", "won", "found", "bought", "taught", "brought", "lost")},
    **{word: word for word in ("kept", "met", "paid", "sent", "fought", "read", "set")},
    **{"written": "wrote", "given": "gave", "taken": "took", "chosen": "chose", "shown": "showed", "driven": "drove"},
    **{"beaten": "beat", "drawn": "drew", "seen": "saw", "known": "knew", "broken": "broke", "stolen": "stole"},
    **{"worn": "wore", "overthrown": "overthrew", "sung": "sang", "begun": "began", "thrown": "threw", "hit": "hit"},
}
"""Of participles that do not end in `ed`."""
PASSIVE = re.compile(
    rf"^((?:The |A |An |[A-Z])[^,;]{{2,60}}?) (was|were) (\w+ed|{'|'.join(PAST)}) by"
    r" ((?:the |a |an )?(?:(?!(?:in|on|at|for|during|after|before|from|with|to|as|and|or|which|who|that|between"
    r"|using)\b)[\w'’.-]+ ?){1,5})(?<! )"
    r"(( (?:in|on|at|for|during|after|before|as|from(?= \d)) (?!.* by )[^,;]{2,70})?)\.$"
)
NO_NOUN = re.compile(
    r"\b(?:that|which|who|if|when|is|are|was|were|has|had|by|and|or|it|he|she|they|this|there|not|\w+ing)\b", re.I
)
CONVERSE = {
    one: other
    for pair in (
        *(
            ("higher", "lower"),
            ("larger", "smaller"),
            ("longer", "shorter"),
            ("older", "younger"),
            ("faster", "slower"),
        ),
        *(
            ("better", "worse"),
            ("heavier", "lighter"),
            ("stronger", "weaker"),
            ("earlier", "later"),
            ("bigger", "smaller"),
        ),
        *(
            ("warmer", "cooler"),
            ("wider", "narrower"),
            ("deeper", "shallower"),
            ("taller", "shorter"),
            ("easier", "harder"),
        ),
        *(
            ("thicker", "thinner"),
            ("richer", "poorer"),
            ("cheaper", "dearer"),
            ("safer", "riskier"),
            ("newer", "older"),
        ),
        *(
            ("hotter", "colder"),
            ("brighter", "dimmer"),
            ("denser", "thinner"),
            ("simpler", "harder"),
            ("greater", "smaller"),
        ),
    )
    for one, other in (
        *((pair,) if pair[0] in ("greater", "bigger", "newer", "denser", "simpler") else (pair, pair[::-1])),
    )
}
THAN = re.compile(
    rf"^([^,;]{{3,70}}?) (is|are|was|were) ((?:(?:significantly|much|slightly|considerably|far|a little|generally"
    rf"|usually) )?)((?:{'|'.join(CONVERSE)})|(?:more|less) [a-z]+) ((?:in [^,;]{{2,30}} )?)than "
    rf"((?:the |a |an |in )?[^,;]{{3,50}})\.$"
)
IF_FIRST = re.compile(
    r"^(If|When|Unless|Once|Where|As soon as|As long as) ([^,;]{8,110}), ((?:then )?)([^;]{10,150})\.$"
)
IF_LAST = re.compile(
    r"^([^,;]{12,130}?),? (only if|if|when|unless|once|as soon as|as long as|provided that) ([^,;]{8,110})\.$"
)
WHY_LAST = re.compile(r"^([^;]{15,130}?),? (because) (?!of\b)([^,;]{10,110})\.$")
RANGE = re.compile(
    r"\b(?:(from) ([$£€]?\d[\d.,]*\d|[$£€]?\d) to|(between) ([$£€]?\d[\d.,]*\d|[$£€]?\d) and)"
    r" ([$£€]?\d[\d.,]*\d|[$£€]?\d)"
    r"(?=( [a-z%]|%|\.$))"
)
YEAR = re.compile(r"1[0-9]{3}|20\d\d")
MORE = ("at least", "no fewer than", "a minimum of"), ("at most", "no more than", "up to", "a maximum of")
MEASURED = re.compile(
    r"\b(?:is|are|was|were|of|for|by|takes?|took|lasts?|costs?|aged|requires?|weigh\w*|has|have|had|contains?|with|needs?"
    r"|reach\w*|be|affects?|produces?|measur\w+) $"
)
LATER = ("no earlier than", "not before"), ("no later than", "not after")
"""What a lower and an upper end is told with."""
TWICE = re.compile(r"\b(?:because|if|when|unless|although|so that)\b", re.I)


FORMS = {
    "if": (
        "If {0}, {1}.",
        "{2} if {0}.",
        "Provided that {0}, {1}.",
        "Whenever {0}, {1}.",
        "In the case that {0}, {1}.",
    ),
    "unless": ("Unless {0}, {1}.", "{2} unless {0}.", "Except if {0}, {1}.", "{2}, but not if {0}."),
    "even": ("Even if {0}, {1}.", "{2}, no matter if {0}.", "{2} even if {0}."),
    "only": ("{2} only if {0}.", "{2} on no other condition than that {0}."),
    "bare": ("{2}.", "In every case, {1}."),
}
"""A condition 0 and what follows, within a sentence 1 or at its beginning 2."""
CONDITIONS: dict[str, dict[bool, tuple[str, ...]]] = {
    "if": {True: ("if",), False: ("unless", "even", "only", "bare")},
    "unless": {True: ("unless",), False: ("if", "even", "only", "bare")},
    "only": {True: ("only",), False: ("unless", "even", "bare")},
}
"""What a condition may be told with, and what says something else."""
TURNED = re.compile(r"\b(?:no|not|never|any|none|neither|nor|only|some|all|both|may|must|should)\b|n['’]t")


class Clauses:
    """Makes contrasts of the parts of a sentence, and of the parts of two."""

    def __init__(self, wording: Wording, small: Small, draw: random.Random) -> None:
        self.wording, self.small, self.draw = wording, small, draw
        self.balance = Balance(draw)

    def of(self, passage: Passage) -> Iterator[Made]:
        """Every contrast of a passage."""
        fitting = list(passage.fitting())
        for at in fitting:
            sentence = claim_of(passage.sentences[at])
            if not (text := passage.around([at], self.draw)):
                continue
            for kind, claims in (
                ("passive", self.passive(sentence)),
                ("than", self.than(sentence)),
                ("range", self.range(sentence)),
                ("cause", self.cause(sentence)),
                ("condition", self.condition(sentence)),
            ):
                if claims:
                    yield Made(kind, passage, text, tuple(claims))
        yield from self.branches(passage, fitting)
        yield from self.invented(passage, fitting)

    def passive(self, sentence: str) -> Claims:
        """Who did it to whom, in both voices."""
        match = PASSIVE.match(sentence)
        if not match:
            return []
        whom, was, done, who, rest = match.group(1, 2, 3, 4, 5)
        did = PAST.get(done, done)
        if NO_NOUN.search(whom) or NO_NOUN.search(who) or len(whom.split()) > 7 or re.search(r"\d", whom + who):
            return []
        if not re.match(r"(?:the|a|an) |[A-Z]", who) or whom.split()[0] in ("All", "Most", "Some", "Many"):
            return []
        inside, outside = self.small.small(whom), large(who)
        claims = [(f"{outside} {did} {inside}{rest}.", SUPPORTED), (f"{whom} {did} {who}{rest}.", NOT_SUPPORTED)]
        if self.draw.random() < 0.7:
            was = "were" if who.endswith("s") and who.startswith("the ") else "was"
            claims.append((f"{outside} {was} {done} by {inside}{rest}.", NOT_SUPPORTED))
            claims.append((self.wording.again(sentence, who), SUPPORTED))
        return claims

    def than(self, sentence: str) -> Claims:
        """Which of two is more so."""
        match = THAN.match(sentence)
        if not match:
            return []
        one, verb, much, how, where, other = match.groups()
        if re.search(
            r"\d|\b(?:it|they|that|those|this|one|ever|expected|average|usual|before|any|can|will|is|are|was|were)\b",
            other,
        ):
            return []
        if ":" in one or (" of " in one and " of " not in other and not other.startswith("in ")):
            return []
        if NO_NOUN.search(one) or (where and not where.strip()):
            return []
        how, *rest = how.split()
        turned = CONVERSE.get(how) or {"more": "less", "less": "more"}[how]
        word, opposite = " ".join([how, *rest]), " ".join([turned, *rest])
        inside, outside = self.small.small(one), large(other)
        if other.startswith("in "):
            if not where:
                return []
            lead = f"{one} {verb} {much}"
            return [
                (f"{lead}{opposite} {other} than {where.strip()}.", SUPPORTED),
                (f"{lead}{word} {other} than {where.strip()}.", CONTRADICTED),
                (f"{lead}{opposite} {where}than {other}.", CONTRADICTED),
                (self.wording.again(sentence, word), SUPPORTED),
            ]
        many = other.endswith("s") and not other.endswith("ss") and not re.search(r" (?:of|to|for|in) ", other)
        be = {"is": "are", "was": "were"}.get(verb, verb) if many else {"are": "is", "were": "was"}.get(verb, verb)
        return [
            (f"{outside} {be} {much}{opposite} {where}than {inside}.", SUPPORTED),
            (f"{outside} {be} {much}{word} {where}than {inside}.", CONTRADICTED),
            (f"{one} {verb} {much}{opposite} {where}than {other}.", CONTRADICTED),
            (self.wording.again(sentence, word), SUPPORTED),
        ]

    def range(self, sentence: str) -> Claims:
        """The ends of a range."""
        match = RANGE.search(sentence)
        if not match:
            return []
        low, high = match[2] or match[4], match[5]
        if not number(low) < number(high) or (
            match[1]
            and re.search(
                r"(?:ris\w+|rose|increas\w+|decreas\w+|fell|fall\w*|chang\w+|grew|went|mov\w+|drop\w*|dates?|pages?"
                r"|version) $",
                sentence[: match.start()],
            )
        ):
            return []
        before, behind = sentence[: match.start()], sentence[match.end() :]
        years = YEAR.fullmatch(low) and YEAR.fullmatch(high)
        if (years and match[1]) or (not years and not MEASURED.search(sentence[: match.start()])):
            return []
        lower, upper = LATER if years else MORE
        true = [f"{self.draw.choice(lower)} {low}", f"{self.draw.choice(upper)} {high}"]
        false = [f"{self.draw.choice(lower)} {high}", f"{self.draw.choice(upper)} {low}"]
        made = [
            (before + put + behind, label) for side, label in ((true, SUPPORTED), (false, CONTRADICTED)) for put in side
        ]
        return [(self.wording.again(claim), label) for claim, label in made]

    def cause(self, sentence: str) -> Claims:
        """What is the reason and what follows from it."""
        match = WHY_LAST.match(sentence)
        if (
            not match
            or TWICE.search(match[1] + match[3])
            or re.search(r"\b(?:not|only|simply|just|and|or|is|was|part(?:ly)?)$", match[1])
        ):
            return []
        what, _, why = match.groups()
        if re.match(r"(?:it|they|he|she|this|these|that|its|their|his|her|there)\b", why) or "," in what + why:
            return []
        forms = (
            *("{1}, and so {2}.", "{1}, which is why {2}.", "{3} because {0}.", "Because {0}, {2}."),
            "{1}, and therefore {2}.",
        )
        inside = self.small.small(what)
        true, false = (self.draw.sample(forms, 2) for _ in range(2))
        return [
            *((form.format(why, large(why), inside, what), SUPPORTED) for form in true),
            *((form.format(inside, what, why, large(why)), NOT_SUPPORTED) for form in false),
        ]

    def condition(self, sentence: str) -> Claims:
        """The same condition otherwise worded, another one, or none."""
        parts = conditional(sentence)
        if not parts:
            return []
        word, when, then = parts
        inside, outside = self.small.small(then), large(then)
        name = {"unless": "unless", "only if": "only"}.get(word, "if")
        turned = negated(when) if not TURNED.search(when) else None
        options = {
            side: [(form, when) for of in CONDITIONS[name][side] for form in FORMS[of]] for side in (True, False)
        }
        if turned and name in ("if", "unless"):
            for side, of in ((True, "unless" if name == "if" else "if"), (False, name)):
                options[side] += [(form, turned) for form in FORMS[of]]
        claims: Claims = []
        told: list[tuple[str, bool]] = []
        for side in (True, False):
            for _ in range(1 + (self.draw.random() < 0.3)):
                form = self.balance.choose([form for form, _ in options[side] if (form, side) not in told], true=side)
                if form:
                    of = self.draw.choice([of for each, of in options[side] if each == form])
                    label = SUPPORTED if side else UNVERIFIED if form == "{2}." else NOT_SUPPORTED
                    claims.append((form.format(of, inside, outside), label))
                    told.append((form, side))
        if {side for _, side in told} != {True, False}:
            return []
        for form, side in told:
            self.balance.took(form, true=side)
        return claims

    def branches(self, passage: Passage, fitting: list[int]) -> Iterator[Made]:
        """The condition of one sentence with the consequence of another."""
        found = []
        for at in fitting:
            parts = conditional(claim_of(passage.sentences[at]))
            if parts and parts[0] not in ("unless", "only if"):
                found.append((at, *parts))
        for (at, _, when, then), (other, _, instead, what) in itertools.pairwise(found):
            if not (text := passage.around([at, other], self.draw)) or then == what or when == instead:
                continue
            forms = (
                "If {0}, {1}.",
                "{2} if {0}.",
                "When {0}, {1}.",
                "In the case that {0}, {1}.",
                "Provided that {0}, {1}.",
            )
            crossed = (
                (when, then, SUPPORTED),
                (instead, what, SUPPORTED),
                (when, what, NOT_SUPPORTED),
                (instead, then, NOT_SUPPORTED),
            )
            yield Made(
                "branch",
                passage,
                text,
                tuple(
                    (self.draw.choice(forms).format(a, self.small.small(b), large(b)), label) for a, b, label in crossed
                ),
            )

    def invented(self, passage: Passage, fitting: list[int]) -> Iterator[Made]:
        """Two sentences that stand beside each other as reason and consequence, against both as they are."""
        pairs = [
            (at, at + 1)
            for at in fitting
            if at + 1 in fitting and len(passage.sentences[at]) + len(passage.sentences[at + 1]) < 220
        ]
        pairs = [pair for pair in pairs if not any(WHY.search(passage.sentences[at]) for at in pair)]
        if not pairs or self.draw.random() < 0.85:
            return
        at, other = self.draw.choice(pairs)
        one, two = (claim_of(passage.sentences[place]).rstrip(".") for place in (at, other))
        if not (text := passage.around([at, other], self.draw)) or "," in one + two:
            return
        if self.draw.random() < 0.5:
            one, two = two, one
        within, also = self.small.small(one), self.small.small(two)
        forms = ("{1}, and so {2}.", "{1}, which is why {2}.", "{1} because {2}.", "Because {0}, {2}.")
        form = self.draw.choice((*forms, "{1}, and therefore {2}."))
        true = self.wording.again(passage.sentences[self.draw.choice((at, other))])
        claims = ((true, SUPPORTED), (form.format(within, one, also), UNVERIFIED))
        yield Made("cause", passage, text, claims)


WHY = re.compile(
    r"\b(?:because|since|therefore|thus|so|hence|due|reason|cause[sd]?|result\w*|lead|led|why|as|if|when|although|for)\b",
    re.I,
)
"""In sentences that tell reasons or conditions themselves."""


def conditional(sentence: str) -> tuple[str, str, str] | None:
    """The word, the condition, and what follows, as a clause without a full stop."""
    if match := IF_FIRST.match(sentence):
        word, when, _, then = match.groups()
    elif match := IF_LAST.match(sentence):
        then, word, when = match.groups()
    else:
        return None
    word = word.lower()
    if (
        TWICE.search(when)
        or TWICE.search(then)
        or re.search(
            r"\b(?:even|only|just|and|or|as|not|know|ask|see|check|determine|whether|that|soon|long|except|is|was|are)$",
            then,
        )
    ):
        return None
    if re.match(r"(?:and|or|but|which|where|who|possible|necessary|needed|desired|so)\b", then) or re.match(
        r"(?:possible|necessary|needed|not|applicable|first|then|so|\w+ing|you do so|this|that)\b", when
    ):
        return None
    if re.match(r"\w+ing\b|\w+, |[\w ]+, (?:or|and) [^,]*,", then) or re.search(r"\bwould\b", then):
        return None
    if re.search(r" (?:we|you|they|please) (?:may|must|should|will|can)\b| please ", when):
        return None
    if re.search(r"\b(?:he|she|it|they) (?:was|were|had|\w+ed)\b", when) or not fits(large(then) + "."):
        return None
    if word in ("where", "when", "once") and not re.search(
        r"\b(?:is|are|can|will|must|may|should|have|has|do|does|you)\b", then
    ):
        return None
    return word, when, then


def number(text: str) -> float:
    """The number in a text; 0 if it is none."""
    plain = re.sub(r"[^\d.]", "", text).rstrip(".")
    return float(plain) if plain.count(".") < 2 and plain else 0.0
