"""Forms of English verbs that state facts, for finding the verb of a sentence and turning it into a question.

A closed list, verbs.txt: a sentence with another verb gives no question. A line is a verb, or an irregular one with its
past and its participle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Verb:
    """One form of a verb."""

    base: str
    third: str
    """Third person of the present: he serves."""
    past: str
    participle: str

    @classmethod
    def read(cls, line: str) -> Verb:
        """The verb of a line."""
        base, *irregular = line.split()
        changed = base[-1] == "y" and base[-2] not in _VOWELS
        hissing = base.endswith(("s", "x", "z", "ch", "sh", "o"))
        third = f"{base[:-1]}ies" if changed else f"{base}es" if hissing else f"{base}s"
        stem = base[:-1] if base[-1] == "e" else f"{base[:-1]}i" if changed else base
        return cls(base, third, *(irregular or [f"{stem}ed"] * 2))


_VERBS = tuple(map(Verb.read, Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8").splitlines()))
THIRD: Mapping[str, Verb] = MappingProxyType({verb.third: verb for verb in _VERBS})
BASE: Mapping[str, Verb] = MappingProxyType({verb.base: verb for verb in _VERBS})
PAST: Mapping[str, Verb] = MappingProxyType({verb.past: verb for verb in _VERBS})
PARTICIPLE: Mapping[str, Verb] = MappingProxyType({verb.participle: verb for verb in _VERBS})
"""Form to verb. `found` as a past tense belongs to find."""
