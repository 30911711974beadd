"""Forms of English verbs that state facts, for finding the verb of a sentence and turning it into a question.

A closed list: a sentence with another verb gives no question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_REGULAR = """
abandon accept accompany accomplish accuse achieve acquire act activate adapt add address adjust administer admit
adopt advance affect affiliate age agree air allow analyse analyze animate announce answer appear apply appoint
approve arrange arrest arrive assemble assess assign assist associate assume attach attack attain attempt attend
attract attribute audit author authorise authorize average award back bake ban base belong bill book borrow brief
brood bury calculate calibrate call cancel captain capture carry cause cease celebrate certify challenge change
characterize charge check cite claim classify clean climb close coach code collaborate collect combine command
commence commission commit compare compete compile complete comply compose concern conclude conduct confer confirm
connect consider consist construct consume contain contaminate contest continue contract contribute control convert
convict cook cool cost count cover create credit cross date debut decide declare decline decrease dedicate defeat
define delay delete deliver demand demonstrate depend depict deposit derive describe design designate destroy detail
detect determine develop devote diagnose direct disappear disband disclose discover discuss dismiss display disrupt
dissolve distinguish distribute divide divorce document dominate donate double download draft drain drop dub earn edit
educate elect elevate emerge emigrate employ enable encode encourage encrypt end engage enhance enroll enter entitle
equal equip establish estimate evaluate evolve examine exceed exclude execute exhibit exist expand expect experience
expire explain exploit explore export expose express extend extract face fail feature fetch file fill film finance
finish fit fix focus follow force form forward found fund gain gather generate govern graduate grant grease guard hand
handle happen head headquarter heat help hire honor honour hospitalize host house identify ignore implement import
impose improve include incorporate increase indicate induce induct infect influence inform inherit initiate injure
inspect inspire install insure integrate intend introduce invent invest investigate invite invoice involve isolate
issue join kill label land last launch learn lease license lift limit link list live load loan locate lock log mail
maintain manage manufacture mark marry measure mediate mention merge migrate miss mix model modify monitor mount move
name need nest nominate note notice notify observe obtain occupy occur offer open operate oppose ordain order organise
organize originate own paint park participate pass peak perform permit place plan plant play point populate portray
possess post pour praise predict prefer premiere prepare present preserve prevent print process proclaim produce
promise promote pronounce propose protect prove provide publish pump purchase pursue qualify queue quote raise range
rank rate reach reboot receipt receive recognise recognize recommend record recover recruit reduce refer reflect
refund refuse regard register regulate rehearse reimburse reject relate release relocate remain remind remove rename
renew renovate repair repay repeat replace report represent request require rescue reserve resign resist restrict
result retain retire retrieve return reveal review roll rotate rule sail sample save scan schedule score screen seal
secure seize select sentence separate sequence serve service settle shape share ship shorten show sign situate solve
sort sow span sponsor spray stamp star start state stay stimulate stop store stretch study submit subscribe succeed
suffer suggest supply support surround survive suspend sustain swap switch tag target tax term test title top total
tour tow track trade train transfer transform translate transmit travel treat turn type unify unveil update upgrade
upload use utilize validate vary verify view visit vote waive walk want warn wash watch weigh welcome weld wipe work
yield
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
_DOUBLED = frozenset(
    """admit ban cancel commit control drop dub fit label log model occur permit plan prefer refer ship star stop submit
    swap tag top transfer transmit travel equip""".split()  # noqa: SIM905
)
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Verb:
    """One form of a verb."""

    base: str
    third: str
    """Third person of the present: he serves."""
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
"""Form to verb. `found` as a past tense belongs to find."""
