"""What the styles and lists of a Word file say of its paragraphs: which are headings or hidden, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from thresher.documents.formats.archives import Part, attribute, child, children, whole

DEEPEST = 9  # levels of a list, and styles that stand on each other


@dataclass(frozen=True, slots=True)
class Style:
    """One style with what it takes over from those it is based on."""

    name: str = ""  # in lower case, `heading 1`, whatever the language of the program
    outline: int | None = None  # 0 for a heading of the first level
    hidden: bool = False
    list: str = ""
    level: int = 0


NO_STYLE = Style()


def styles_of(part: Part) -> dict[str, Style]:
    """The styles by identifier."""
    elements = {
        attribute(style, "styleId"): style for each in part.related("styles") for style in children(each.root, "style")
    }
    found: dict[str, Style] = {}

    def read(identifier: str, left: int) -> Style:
        if identifier not in elements or not left:
            return NO_STYLE
        if identifier not in found:
            element = elements[identifier]
            base = read(attribute(child(element, "basedOn"), "val"), left - 1)
            paragraph = child(element, "pPr")
            outline, numbers = child(paragraph, "outlineLvl"), child(paragraph, "numPr")
            vanish = child(element, "rPr", "vanish")
            found[identifier] = Style(
                attribute(child(element, "name"), "val").lower(),
                base.outline if outline is None else whole(attribute(outline, "val")),
                base.hidden if vanish is None else is_on(vanish),
                attribute(child(numbers, "numId"), "val", base.list),
                base.level if numbers is None else whole(attribute(child(numbers, "ilvl"), "val")),
            )
        return found[identifier]

    return {identifier: read(identifier, DEEPEST) for identifier in elements}


def is_on(switch: Element | None) -> bool:
    """Whether a property that is on or off is there and on."""
    return switch is not None and attribute(switch, "val", "true").lower() not in ("0", "false", "off")


@dataclass(frozen=True, slots=True)
class Level:
    """How the items of one level of a list are numbered."""

    form: str = "decimal"
    text: str = ""  # what stands before an item: `%1.%2` with the numbers of the levels
    start: int = 1


@dataclass(slots=True)
class Lists:
    """The numbers of the items, counted as they come."""

    levels: Mapping[str, Mapping[int, Level]]  # by list and level
    shared: Mapping[str, str]  # what counts the items of a list: several may go on counting each other's
    restarted: Mapping[str, set[int]]  # the levels at which a list begins anew when it is met first
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)

    def label(self, identifier: str, level: int) -> str:
        """What stands before the next item of a list: `3.`, `(b)`, `§ 2.1`, or `-` for a bullet; "" for no list."""
        levels = self.levels.get(identifier)
        if levels is None or not 0 <= level < DEEPEST:
            return ""
        counts = self._counts.setdefault(self.shared[identifier], {})
        if identifier not in self._met:
            self._met.add(identifier)
            for at in self.restarted.get(identifier, ()):
                counts.pop(at, None)
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        own = levels.get(level, Level())
        counts[level] = counts[level] + 1 if level in counts else own.start
        if own.form == "bullet":
            return "-"

        def number(found: re.Match[str]) -> str:
            at = int(found[1]) - 1
            called = levels.get(at, Level())
            return written(counts.get(at, called.start), called.form)

        return re.sub(r"%([1-9])", number, own.text).strip()


def lists_of(part: Part) -> Lists:
    """The lists that a document defines."""
    levels: dict[str, dict[int, Level]] = {}
    shared: dict[str, str] = {}
    restarted: dict[str, set[int]] = {}
    for root in (each.root for each in part.related("numbering")):
        patterns = {
            attribute(pattern, "abstractNumId"): {
                whole(attribute(level, "ilvl")): _level(level) for level in children(pattern, "lvl")
            }
            for pattern in children(root, "abstractNum")
        }
        for each in children(root, "num"):
            identifier = attribute(each, "numId")
            shared[identifier] = attribute(child(each, "abstractNumId"), "val")
            levels[identifier] = dict(patterns.get(shared[identifier], {}))
            for other in children(each, "lvlOverride"):
                at = whole(attribute(other, "ilvl"))
                if (own := child(other, "lvl")) is not None:
                    levels[identifier][at] = _level(own)
                if (start := child(other, "startOverride")) is not None:
                    before = levels[identifier].get(at, Level())
                    levels[identifier][at] = Level(before.form, before.text, whole(attribute(start, "val")))
                    restarted.setdefault(identifier, set()).add(at)
    return Lists(levels, shared, restarted)


def _level(level: Element) -> Level:
    start = child(level, "start")
    return Level(
        attribute(child(level, "numFmt"), "val", "decimal"),
        attribute(child(level, "lvlText"), "val"),
        1 if start is None else whole(attribute(start, "val")),
    )


ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def written(number: int, form: str) -> str:
    """A number as a list writes it."""
    match form:
        case "none":
            return ""
        case "lowerLetter" | "upperLetter":
            letters = chr(ord("a") + (number - 1) % 26) * min(1 + (number - 1) // 26, DEEPEST) if number > 0 else ""
            return letters.upper() if form == "upperLetter" else letters
        case "lowerRoman" | "upperRoman":
            letters, left = "", min(number, 10_000)
            for value, sign in ROMAN:
                letters += sign * (left // value)
                left %= value
            return letters.upper() if form == "upperRoman" else letters
        case "decimalZero":
            return f"{number:02d}"
    return str(number)
