"""Forms of the English verbs that state facts: which word of a sentence is one, and how a question says it.

A closed list. What is not on it is taken for another kind of word, and its sentence is asked nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_REGULAR = """
accept achieve acquire add address adjust adopt age allow announce answer appear apply appoint approve arrange arrive
attack attain attend attract award bake base belong borrow brood call cancel capture carry cause change charge check
claim climb close collect combine complete compose concern conclude conduct confirm connect consist construct consume
contain continue contribute control convert cook cool cost count cover create cross declare decline decrease defeat
define deliver demand depend describe design destroy detect determine develop direct discover display distribute
divide donate double drain drop earn educate elect employ enable encode end enter equal establish estimate evaluate
exceed expand expect expire explore export extend extract fail feature fetch fill finance finish fix follow form found
fund gain gather generate grant grease guard handle happen head heat help hire host house identify import improve
include increase inform inherit inspect install introduce invent invest invite involve issue join kill label land last
launch learn lease limit link list live load lock maintain manage manufacture mark marry measure mention merge miss
mix mount move name need nest note notice observe obtain occupy occur offer open operate order organise organize own
paint park pass perform place plan plant play point post pour predict prefer prepare present preserve prevent print
process produce promise promote propose protect provide publish pump purchase raise range reach receive recommend
record reduce refer refund refuse register rehearse reject release remain remove rename renew renovate repair repay
replace report represent require rescue reserve resign resist result retain retire return reveal review roll rotate
rule sail sample save schedule score select separate serve service settle share ship show sign solve sow span sponsor
spray start state stay stop store stretch study submit suffer supply support surround survive suspend switch target
test total tour tow train transfer translate travel treat turn unveil use visit vote walk want warn wash watch weigh
welcome weld work yield
"""
_IRREGULAR = """
become became become, begin began begun, blow blew blown, bring brought brought, build built built, buy bought bought,
catch caught caught, choose chose chosen, come came come, cut cut cut, draw drew drawn, drive drove driven, fall fell
fallen, feed fed fed, fight fought fought, find found found, fly flew flown, forbid forbade forbidden, get got got, give
gave given, go went gone, grow grew grown, hang hung hung, hear heard heard, hit hit hit, hold held held, keep kept
kept, know knew known, lay laid laid, lead led led, leave left left, lend lent lent, let let let, lie lay lain, lose
lost lost, make made made, mean meant meant, meet met met, pay paid paid, read read read, ride rode ridden, rise rose
risen, run ran run, sell sold sold, send sent sent, set set set, sink sank sunk, sit sat sat, sleep slept slept, speak
spoke spoken, spend spent spent, split split split, spread spread spread, stand stood stood, steal stole stolen, swim
swam swum, take took taken, teach taught taught, tell told told, throw threw thrown, wear wore worn, win won won, write
wrote written
"""
_DOUBLED = frozenset("admit cancel control drop label occur plan prefer refer ship stop submit transfer travel".split())  # noqa: SIM905
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Verb:
    """One form of a verb."""

    base: str
    third: str
    """Of the present: he serves."""
    past: str
    participle: str


def _forms(base: str) -> Verb:
    changed = base[-1] == "y" and base[-2] not in _VOWELS
    hissing = base.endswith(("s", "x", "z", "ch", "sh", "o"))
    third = f"{base[:-1]}ies" if changed else f"{base}es" if hissing else f"{base}s"
    stem = base[:-1] if base[-1] == "e" else f"{base[:-1]}i" if changed else base
    doubled = base[-1] if base in _DOUBLED and not re.search(r"[aeiou]{2}.$", base) else ""
    past = "cost" if base == "cost" else f"{stem}{doubled}ed"
    return Verb(base, third, past, past)


def _read() -> tuple[Verb, ...]:
    irregular = [line.split() for line in _IRREGULAR.replace("\n", " ").split(",")]
    return (
        *(_forms(base) for base in _REGULAR.split()),
        *(Verb(base, _forms(base).third, past, participle) for base, past, participle in irregular),
    )


_VERBS = _read()
THIRD: Mapping[str, Verb] = MappingProxyType({verb.third: verb for verb in _VERBS})
BASE: Mapping[str, Verb] = MappingProxyType({verb.base: verb for verb in _VERBS})
PAST: Mapping[str, Verb] = MappingProxyType({verb.past: verb for verb in _VERBS})
PARTICIPLE: Mapping[str, Verb] = MappingProxyType({verb.participle: verb for verb in _VERBS})
"""Each form to its verb. `found` as a past is that of find."""
