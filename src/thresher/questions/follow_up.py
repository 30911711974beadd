"""A question that follows up on others, put into words that stand alone, by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from thresher.questions.parts import parts_of, subject_of
from thresher.text.answer_types import answer_type
from thresher.text.entities import name_places

Turn = tuple[str, str]
"""A question as it stands alone, and the text of its answer."""

FEW_WORDS = 4
"""A question of so few words that names nothing leaves out what it is about."""

_LINKING = re.compile(r"(?:and|but|also|then|so|ok(?:ay)?|what about|how about)\b[\s,]*", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?P<person>he|she|him|her|his)\b|\b(?:it|they|them|its|their|this|that|these|those|there|the same)\b",
    re.IGNORECASE,
)
_OWNING = frozenset(("its", "their", "his", "her"))
_BARE = re.compile(r"(?:when|where|why|how|who|since when|in (?:which|what) year)", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:in |for |during |of )?(?:the )?(?:\d{4}|Q[1-4](?: \d{4})?|(?:first|second|third|fourth) quarter)"
)
_YEAR_OR_QUARTER = re.compile(r"\b(?:Q[1-4]|\d{4})\b")
_AT = (
    r"(?:about|after|against|among|as|at|before|below|above|between|by|during|for|from|in|into|near|of|on|over|per|since|"
    r"through|to|under|until|with|within|without)"
)
_ARTICLE = r"(?:(?:the|an?|my|our|your) )"
_PHRASE = re.compile(rf"(?P<at>{_AT}) (?P<thing>.+)", re.IGNORECASE)
_MEANING_ABOUT = frozenset(("about", "for", "of"))
"""Prepositions with which a follow-up names another subject: "And for BERT-large?"."""


def leans(question: str) -> bool:
    """Whether a question seems to leave out what it is about."""
    named = any(True for _ in name_places(f"- {question}"))
    linked = _LINKING.match(question) is not None
    return linked or (not named and (_PRONOUN.search(question) is not None or len(question.split()) <= FEW_WORDS))


def standing_alone(question: str, history: Sequence[Turn]) -> str:
    """The question with what it lacks carried over from the last turn that has it; as it is where nothing fits."""
    if not history or not leans(question):
        return question
    last, answer = history[-1]
    bare = _LINKING.sub("", question).rstrip(" ?!.")
    while _LINKING.match(bare):
        bare = _LINKING.sub("", bare, count=1)
    subjects = (subject_of(" ".join(_YEAR_OR_QUARTER.sub("", asked).rstrip(" ?!.").split())) for asked, _ in history)
    subject = next((found for found in reversed(list(subjects)) if found), "").removesuffix(" about")
    if pronoun := _PRONOUN.search(bare):
        person = _person(last, answer) if pronoun["person"] else ""
        return _replaced(bare, pronoun, person or subject) if person or subject else question
    if _BARE.fullmatch(bare):
        parts = parts_of(f"{last.rstrip(' ?!.')} and {bare}?")
        return parts[-1] if len(parts) > 1 else f"{last.rstrip(' ?!.')}, and {bare.lower()}?"
    if _PERIOD.fullmatch(bare):
        new = _YEAR_OR_QUARTER.search(bare)
        like = (one for one in _YEAR_OR_QUARTER.finditer(last) if new and new[0][0].isdigit() == one[0][0].isdigit())
        if new and (old := next(like, None)):
            return last[: old.start()] + new[0] + last[old.end() :]
        return f"{last.rstrip(' ?!.')} {bare if bare.startswith('in ') else f'in {bare}'}?"
    if subject and _is_thing(bare):
        return _of_another(last, subject, bare)
    return f"{bare[0].upper()}{bare[1:]} ({subject})?" if subject and bare else question


def _of_another(last: str, subject: str, bare: str) -> str:
    """The last question of another thing, or at another place: a phrase takes the place of one like it."""
    phrase = _PHRASE.fullmatch(bare)
    at, thing = (phrase["at"].lower(), phrase["thing"]) if phrase else ("", bare)
    old = re.search(rf"\b(?:(?P<at>{_AT}) )?(?P<article>{_ARTICLE})?{re.escape(subject)}(?!\w)", last, re.IGNORECASE)
    before = (old["at"] or "").lower() if old else ""
    if at and at != before:
        like = re.search(rf"\b{at} {_ARTICLE}?(?!Q[1-4]\b|\d)(?:(?!{_AT}\b)[\w'’-]+ ?){{1,4}}", last, re.IGNORECASE)
        if like:
            return f"{last[: like.start()]}{bare} {last[like.end() :]}".replace(" ?", "?")
        if old and before and not old["article"] and at not in _MEANING_ABOUT:
            return last[: old.start()] + bare + last[old.end() :]
        if not before and at not in _MEANING_ABOUT:
            return f"{last.rstrip(' ?!.')} {bare}?"
    head, _, tail = last.partition(subject)
    if re.search(rf"\b{_ARTICLE}$", head, re.IGNORECASE):
        thing = re.sub(f"^{_ARTICLE}", "", thing, flags=re.IGNORECASE)
    following = re.match(r" [\w'’-]+", tail)
    return head + (thing.removesuffix(following[0]) if following else thing) + tail


def _is_thing(bare: str) -> bool:
    """Whether what is left is a name or a noun and asks nothing by itself: "BERT-large"."""
    return (
        re.match(r"(?:who|what|which|when|where|why|how|is|are|was|were|do|does|did|can|has|have)\b", bare, re.I)
        is None
    )


def _person(question: str, answer: str) -> str:
    """Whom an answer names, where the question asked who."""
    if answer_type(question) != "person":
        return ""
    text = "by " + re.sub(r"[“”]|\[\d+\]", " ", answer)
    places = [(start, start + len(name)) for start, name in name_places(text)]
    if not places:
        return ""
    start, end = places[0]
    for following, behind in places[1:]:
        if following - end > len(" von der "):
            break
        end = behind
    return text[start:end]


def _replaced(bare: str, pronoun: re.Match[str], subject: str) -> str:
    word = pronoun[0].lower()
    own = word in _OWNING and not (word == "her" and pronoun.end() == len(bare))
    instead = f"{subject}'s" if own else f"at {subject}" if word == "there" else subject
    text = f"{bare[: pronoun.start()]}{instead}{bare[pronoun.end() :]}"
    return f"{text[0].upper()}{text[1:]}?"
