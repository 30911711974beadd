"""Whether one sentence denies another, as far as words show it: a negation on the same predicate, an opposite word.

The rules know no world and no syntax. They are right on sentences that are near to each other and say nothing about
the rest; what they catch and what they wrongly accuse is measured in benchmarks/planted_errors.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from thresher.generation.support import Terms

REACH = 6
"""Content words a negation reaches when no clause ends before: "not associated with a higher risk of renal failure"."""

NEGATIONS = frozenset(
    """not no never none nor neither without cannot lack lacks lacked lacking fail fails failed failing unable absence
    hardly barely scarcely nobody nothing nowhere deny denies denied""".split()  # noqa: SIM905
)
_NO_NEGATION = {
    "not": frozenset("only just merely simply solely entirely until least necessarily".split()),  # noqa: SIM905
    "no": frozenset("doubt later matter less fewer more".split()),  # noqa: SIM905
    "without": frozenset("doubt".split()),  # noqa: SIM905
}
"""Not only, no doubt, without doubt: these deny nothing."""

_BOUNDARIES = frozenset(", ; : ( ) . — but although though whereas while because since".split())  # noqa: SIM905
"""Where a negation ends. Not at "that" or "which": no evidence that X does Y denies Y."""

_OPPOSITES = """
increase increases increased increasing rise rises rising rose grow grows growing grew elevate elevates elevated raise
raises raised high higher highest greater larger more upregulate upregulates upregulated accelerate accelerates
accelerated accelerating strengthen strengthens enhance enhances enhanced enhancing gain gains
/ decrease decreases decreased decreasing decline declines declined declining reduce reduces reduced reducing reduction
lower lowers lowered lowest low fall falls fell falling drop drops dropped diminish diminishes diminished smaller less
fewer downregulate downregulates downregulated slow slows slowed slowing weaken weakens attenuate attenuates attenuated;
promote promotes promoted promoting activate activates activated activation induce induces induced induction stimulate
stimulates stimulated enable enables enabled facilitate facilitates facilitated
/ inhibit inhibits inhibited inhibiting inhibition block blocks blocked prevent prevents prevented preventing suppress
suppresses suppressed suppression impair impairs impaired repress represses deactivate
deactivates deactivated abolish abolishes abolished;
positive positively / negative negatively;
improve improves improved improvement better best benefit benefits beneficial
/ worsen worsens worsened worse worst deteriorate harm harms harmful detrimental;
protect protects protected protective safe safer / endanger endangers dangerous unsafe;
true correct correctly / false wrong wrongly incorrect incorrectly;
win wins won winning winner victory / lose loses lost losing loser defeat;
before prior earlier / after afterwards later;
north northern / south southern; east eastern / west western;
maximum most / minimum least;
hot hotter warm warmer warming / cold colder cool cooler cooling;
male men man boys / female women woman girls;
inside internal / outside external;
allow allows allowed permit permits permitted / forbid forbids forbidden prohibit prohibits prohibited ban banned;
accept accepts accepted approve approved / reject rejects rejected refuse refused;
include includes included including / exclude excludes excluded excluding;
rich / poor; older / younger; majority / minority; stronger strong / weaker weak; first / last; import / export;
support supports supported supporting / oppose opposes opposed opposing;
open opens opened / close closes closed;
begin begins began start starts started / end ends ended finish finished;
present presence / absent;
common frequent / rare uncommon infrequent;
buy bought / sell sold
"""
"""Pairs of groups of opposite words. The first pairs are those on which the training claims of SciFact and
Climate-FEVER turn; the rest are the everyday opposites of encyclopedias and reports."""

_PREFIX = re.compile(r"^(?:in|im|ir|un|non|dis|a)[-]?(?=[a-z]{5})")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:().—]")


@dataclass(slots=True)
class _Read:
    """A sentence as signs: for each term how often it is said (True) and how often denied (False)."""

    signs: dict[str, set[bool]] = field(default_factory=dict)
    opposites: list[str] = field(default_factory=list)
    """Terms that stand for a pair of opposites."""
    scopes: list[list[str]] = field(default_factory=list)
    """For each negation the terms it reaches, nearest first."""
    cues: list[str] = field(default_factory=list)


def contradiction(claim: str, sentence: str, *, terms: Terms) -> str:
    """Why `sentence` denies `claim`, in words; "" when nothing shows that it does."""
    one, other = _read(claim, terms), _read(sentence, terms)
    _fold_prefixes(one, other)
    for reader, against, whose in ((one, other, "the sentence"), (other, one, "the evidence")):
        for cue, scope in zip(reader.cues, reader.scopes, strict=True):
            shared = next((term for term in scope if term in against.signs), None)
            if shared is not None and _differ(shared, one, other):
                return f"{whose} says “{cue}” of “{shared}”, the other does not"
    for term in one.opposites:
        if term in other.opposites and _differ(term, one, other):
            return f"opposite words ({term})"
    return ""


def _differ(term: str, one: _Read, other: _Read) -> bool:
    """Whether a term is only said on one side and only denied on the other."""
    first, second = one.signs[term], other.signs[term]
    return len(first) == len(second) == 1 and first != second


def _read(text: str, terms: Terms) -> _Read:
    read = _Read()
    reach = 0
    scope: list[str] | None = None
    for word, following in _words(text):
        if word in _BOUNDARIES:
            reach, scope = 0, None
            continue
        if _negates(word, following):
            # A negation within another's reach turns it back: not without effect.
            reach, scope = (0, None) if reach else (REACH, [])
            if scope is not None:
                read.scopes.append(scope)
                read.cues.append(word)
            continue
        opposite = _opposites().get(word)
        stems = [opposite[0]] if opposite else list(terms(word))
        for stem in stems:
            said = (opposite is None or opposite[1]) != (reach > 0)
            read.signs.setdefault(stem, set()).add(said)
            if opposite and stem not in read.opposites:
                read.opposites.append(stem)
            if scope is not None:
                scope.append(stem)
        if stems and reach:
            reach -= 1
            scope = scope if reach else None
    return read


def _words(text: str) -> Iterator[tuple[str, str]]:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    yield from pairwise([*words, ""])


def _negates(word: str, following: str) -> bool:
    if word.endswith("n't"):
        return True
    return word in NEGATIONS and following not in _NO_NEGATION.get(word, ())


def _fold_prefixes(one: _Read, other: _Read) -> None:
    """Inaccurate on one side and accurate on the other become one term, denied and said."""
    for reader, against in ((one, other), (other, one)):
        for term in list(reader.signs):
            bare = _PREFIX.sub("", term)
            if bare != term and bare in against.signs and term not in against.signs and bare not in reader.signs:
                reader.signs[bare] = {not said for said in reader.signs.pop(term)}
                for side in (reader, against):
                    side.opposites.append(bare)
                for scope in reader.scopes:
                    scope[:] = [bare if each == term else each for each in scope]


@lru_cache(maxsize=1)
def _opposites() -> Mapping[str, tuple[str, bool]]:
    """Each word to the name of its pair and whether it is on the first side."""
    found: dict[str, tuple[str, bool]] = {}
    for pair in _OPPOSITES.split(";"):
        first, second = (side.split() for side in pair.split("/"))
        name = f"{first[0]}/{second[0]}"
        found |= dict.fromkeys(first, (name, True)) | dict.fromkeys(second, (name, False))
    return found
