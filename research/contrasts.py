"""Questions with one word exchanged, beside the questions as they were asked, and the sentence beside the right one.

    .venv/bin/python -m research.contrasts --out training/contrasts.jsonl [--data training]

Of every answered question of the folder `train` of the data, and with `--data` of the groups of SQuAD that
`research.training_data` wrote (its training fifths). Writes JSON Lines of two shapes:

* pairs: `question`, which the text answers at `spans`, and `exchanged`, which it does not; `kind` says what was
  exchanged: `opposite` (left and right, months, ordinals), `number`, `name` and `word` by another of the same passage,
  `absent name` and `absent word` by one that stands nowhere in it, `row` by another row's of a table, `option` by
  another option of the same manual. The text is the passage or, where the sentence with the other word says what the
  question asks, and of `SHORT` of the others, the sentences around the answer without it;
* groups, as in `research.train.groups`: `neighbour`, the sentence that answers against those of the same passage with
  most words of the question, and against the passage without it; `edited`, a text against one that people changed so
  that it does not answer any more; `period`, the sentence that holds the answer for the years asked.

`part` says what is not trained on: `question` (held back as elsewhere), `title` (so is the title or, without one, the
passage), `file` (the whole file, as contrasts); else it is `train`.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from benchmarks.machine import DATA, ROOT
from research.train.groups import Group, group, held_back, number_of, rows
from research.training_texts import read
from thresher.text.sentences import line_spans, sentence_spans

SEED = 23
FILES = {
    "reader_squad_train_slices": 20_000,
    "reader_squadshifts_new_wiki": 12_000,
    "reader_qed_nq_train": 10_000,
    "reader_squadshifts_reddit": 9_000,
    "reader_squadshifts_amazon_reviews": 8_000,
    "reader_qamr": 5_000,
    "reader_fairytaleqa": 4_500,
    "reader_friendsqa": 1_500,
    "reader_policyqa": 2_000,
    "reader_multihop": 900,
    "reader_doc2dial": 1_200,
    "reader_covidqa": 1_300,
    "reader_tatqa": 1_100,
    "reader_wtq_lookup": 250,
    "reader_debdocs_options": 1_600,
}
"""Answered questions that are read of each at most."""
ASIDE = "reader_covidqa"
"""The file of which no contrast is trained on."""
TITLES_ASIDE = 25
"""One title in so many is only measured."""
ONLY_PAIRS = (
    "reader_policyqa",
    "reader_doc2dial",
    "reader_friendsqa",
    "reader_debdocs_options",
    "reader_tatqa",
    "reader_wtq_lookup",
)
"""Files of which other sentences answer too, or whose sentences say little alone, or that have none."""
PAIRS = 3
"""Exchanged questions of a question at most."""
SHORT, ABSENT = 0.4, 0.4
"""Share of pairs that show some sentences alone, and of words for which one that stands nowhere is looked for."""
NEIGHBOURS = 5

WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
NAME = re.compile(r"\b[A-Z][\w'’&.-]*\w(?: (?:(?:of|the|de|van|von) )?[A-Z][\w'’&.-]*\w)*")
NUMBER = re.compile(r"(?<![\w.,-])[$£€]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.,]*\w)")
YEAR = re.compile(r"1[0-9]{3}|20[0-2][0-9]")
CARDINALS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
MONTHS = """
january february march april may june july august september october november december
""".split()  # noqa: SIM905 - a list of this length reads as text
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
CYCLES = (
    CARDINALS,
    ORDINALS,
    MONTHS,
    DAYS,
    ["north", "south", "east", "west"],
    ["northern", "southern", "eastern", "western"],
    ["spring", "summer", "autumn", "winter"],
    ["red", "blue", "green", "yellow", "black", "white", "brown"],
    ["morning", "afternoon", "evening", "night"],
)
"""Words that exclude each other."""
OPPOSITES = """
left right/upper lower/top bottom/front rear/inner outer/inside outside/above below/before after/early late/
earlier later/earliest latest/first last/older younger/oldest youngest/oldest newest/old new/high low/higher lower/
highest lowest/large small/larger smaller/largest smallest/big little/bigger smaller/biggest smallest/long short/
longer shorter/longest shortest/best worst/better worse/more less/more fewer/most least/maximum minimum/most fewest/
increase decrease/increased decreased/rise fall/rose fell/win lose/won lost/gain loss/open close/opened closed/
begin end/began ended/start finish/started finished/arrive leave/arrived left/enter leave/buy sell/bought sold/
import export/imports exports/male female/man woman/men women/boy girl/boys girls/king queen/prince princess/
husband wife/father mother/son daughter/brother sister/brothers sisters/uncle aunt/hot cold/warm cool/dry wet/
strong weak/strongest weakest/hard soft/heavy light/fast slow/fastest slowest/deep shallow/wide narrow/near far/
public private/rich poor/good bad/positive negative/love hate/happy sad/ancient modern/
domestic foreign/internal external/offensive defensive/urban rural/major minor/majority minority/major minor/
liberal conservative/democratic republican/summer winter/day night/sunrise sunset/birth death/born died/
parent child/parents children/teacher student/employer employee/employers employees/buyer seller/doctor patient/
doctors patients/home away/indoor outdoor/primary secondary/senior junior/former current/previous next/
previous current/optional required/enabled disabled/enable disable/allow forbid/allowed forbidden/add remove/
added removed/include exclude/included excluded/accept reject/accepted rejected/approve deny/approved denied/
support oppose/supported opposed/attack defend/attacked defended/create destroy/created destroyed/appear disappear/
advantage disadvantage/advantages disadvantages/cheap expensive/cheapest most expensive/safe dangerous/full empty/
input output/upload download/revenue expense/revenues expenses/assets liabilities/credit debit/lend borrow
"""
STOP = frozenset(
    """
    a an the and or but nor not no of in on at to from by with without for as into onto over under about between
    among through during since until till against per via than that this these those there here then thus so such it
    its he she him her his hers they them their theirs we us our ours you your yours i me my mine who whom whose
    which what when where why how is are was were be been being am do does did done doing have has had having can
    could will would shall should may might must also only just very too much many more most some any all both each
    every either neither other another one ones own same if whether because while although though s t re ve ll d m
    y' name named called type kind sort term word known used following according please tell mean means take took
    get got give gave go went make made happen happened something someone anything thing things people person
    mentioned author passage able part example way like want product item machine device area region portion group
    period time times value method mode title program programs paragraph reviewer writer user number amount place
    case main additional various certain total overall
    """.split()  # noqa: SIM905 - as above
)
"""Words whose exchange says little, or leaves the question as it was."""
PLACES = frozenset({"in", "at", "from", "to", "near", "of", "into"})
BEFORE = (
    ["the", "a", "an", "its", "their", "his", "her", "of", "this", "these", "each", "no", "some"],
    [
        *("to", "will", "would", "can", "could", "may", "i", "you", "he", "she", "they", "we"),
        *("was", "were", "is", "are", "be", "been", "has", "have", "had", "not"),
    ],
)
"""Words that stand before nouns and their adjectives, and before verbs."""
NOUNS = 0.55
"""Share of the words of the first list among those of both that stand before a word, from which on it is no verb."""
MEASURED = frozenset(["how", "than", "least", "most", "about", "over", "under", "nearly", "almost", "ago"])
"""Before a number or `long` that may be another one as well."""
KEPT_APART, NAMES_ALIKE, WORDS_ALIKE = 0.32, 0.22, 0.0
"""Cosine of static vectors above which two words may mean the same; from which on names, and words, are of a kind."""
ALIKE = 0.33
"""Cosine of the words around two words from which on one may stand for the other."""
CONTEXT_WORDS, FREQUENT, WRITTEN_ALIKE = 250, 12, 60


@dataclass(frozen=True)
class Asked:
    """An answered question."""

    file: str
    question: str
    title: str
    text: str
    answers: tuple[str, ...]
    start: int
    """Of the first answer in the text."""

    @property
    def end(self) -> int:
        """Of the first answer."""
        return self.start + len(self.answers[0])

    @property
    def part(self) -> str:
        """Which part of the contrasts it belongs to."""
        if self.file == ASIDE:
            return "file"
        if number_of(f"title {self.title or self.text}") % TITLES_ASIDE == 0:
            return "title"
        return "question" if held_back(self.question) else "train"

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Places of its sentences, of a table its rows."""
        return sentences_of(self.text)

    @cached_property
    def own(self) -> range:
        """The sentences with the answer."""
        inside = [at for at, (low, high) in enumerate(self.sentences) if low < self.end and high > self.start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def sentence(self, at: int) -> str:
        """The words of a sentence."""
        return self.text[slice(*self.sentences[at])]


@dataclass(frozen=True)
class Exchange:
    """A word or name of a question at a place, and what stands there instead."""

    kind: str
    start: int
    end: int
    new: str
    worth: float = field(compare=False)


def is_table(text: str) -> bool:
    """Whether most lines are rows of cells."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and sum(
        " | " in line or bool(re.match(r"[^;]+: [^;]*; ", line)) for line in lines
    ) > 0.6 * len(lines)


@lru_cache(maxsize=100_000)
def sentences_of(text: str) -> list[tuple[int, int]]:
    """Places of the sentences of a text, of a table those of its rows."""
    return line_spans(text) if is_table(text) else sentence_spans(text)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Enough of a word to know its forms."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    return word[: max(4, len(word) - 3)] if len(word) > 4 else word.removesuffix("s")


@lru_cache(maxsize=400_000)
def content(text: str) -> frozenset[str]:
    """The stems of a text's words that say something."""
    return frozenset(stem(one) for one in WORD.findall(text) if one.lower() not in STOP and len(one) > 1)


def related(one: str, other: str) -> bool:
    """Whether two words may be forms of one."""
    one, other = one.lower(), other.lower()
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return common >= 4 or common == min(len(one), len(other)) or one in other or other in one


class Lexicon:
    """Which words stand in like places, and which mean nearly the same; counted from the passages themselves."""

    def __init__(self, texts: Iterable[str]) -> None:
        spoken = [[one.lower() for one in WORD.findall(text)] for text in texts]
        self.counts = Counter(word for text in spoken for word in text)
        most = [word for word, _ in self.counts.most_common(CONTEXT_WORDS)]
        context = {word: at for at, word in enumerate(most)}
        self.words = [word for word, count in self.counts.items() if count >= FREQUENT and word.isalpha()]
        self.at = {word: at for at, word in enumerate(self.words)}
        seen = np.zeros((len(self.words), 2 * len(most)), np.float32)
        left: list[tuple[int, int]] = []
        for text in spoken:
            for one, other in itertools.pairwise(text):
                if one in context and other in self.at:
                    left.append((self.at[other], context[one]))
                if other in context and one in self.at:
                    left.append((self.at[one], len(most) + context[other]))
        np.add.at(seen, tuple(np.array(left, np.int64).reshape(-1, 2).T), 1)
        expected = seen.sum(1, keepdims=True) * seen.sum(0, keepdims=True) / max(seen.sum(), 1)
        shares = np.maximum(np.log((seen + 0.1) / (expected + 0.1)), 0)
        self.seen = seen > 0
        sides = [seen[:, [context[one] for one in beside if one in context]].sum(1) for beside in BEFORE]
        self.noun = sides[0] / np.maximum(sides[0] + sides[1], 1)
        self.context = context
        self.pairs = {pair for text in spoken for pair in itertools.pairwise(text)}
        self.around = shares / np.maximum(np.linalg.norm(shares, axis=1, keepdims=True), 1e-6)
        weights = ROOT / "src/thresher/models/weights"
        table = np.load(weights / "static.npz")
        self.vectors = table["tokens"].astype(np.float32) * table["scales"].astype(np.float32)[:, None]
        self.tokenizer = tokenizers.Tokenizer.from_file(str(weights / "thresher-judge-int8/tokenizer.json"))
        self.tokenizer.no_padding()
        self._sense: dict[str, NDArray[np.float32]] = {}
        self._near: dict[str, list[str]] = {}

    def places_alike(self, one: str, other: str) -> float:
        """Cosine of the words around two words; 0 for rare ones."""
        if one not in self.at or other not in self.at:
            return 0.0
        return float(self.around[self.at[one]] @ self.around[self.at[other]])

    def stands(self, before: str, word: str, behind: str) -> float:
        """How sure it is that a word stands between two: -1 for never, where one of them is frequent."""
        sides = ((before, (before, word), 0), (behind, (word, behind), len(self.context)))
        found = 0.0
        for beside, pair, offset in sides:
            if beside in self.context and not self.seen[self.at[word], offset + self.context[beside]]:
                return -1.0
            found += 0.15 * (pair in self.pairs)
        return found

    def meaning_alike(self, one: str, other: str) -> float:
        """Cosine of the static vectors of two words."""
        return float(self.sense(one) @ self.sense(other))

    def sense(self, word: str) -> NDArray[np.float32]:
        """The static vector of a word."""
        if word not in self._sense:
            found = self.vectors[self.tokenizer.encode(word, add_special_tokens=False).ids].sum(0)
            self._sense[word] = found / max(float(np.linalg.norm(found)), 1e-6)
        return self._sense[word]

    def near(self, word: str) -> list[str]:
        """The words that stand in the most like places and mean something else."""
        if word not in self._near:
            cosines = self.around @ self.around[self.at[word]]
            first = np.argpartition(-cosines, WRITTEN_ALIKE)[:WRITTEN_ALIKE]
            best = [self.words[at] for at in first[np.argsort(-cosines[first])] if cosines[at] >= ALIKE]
            self._near[word] = [one for one in best if self.differ(word, one)]
        return self._near[word]

    def is_noun(self, word: str) -> bool:
        """Whether a word mostly stands where nouns and adjectives do."""
        return bool(self.noun[self.at[word]] >= NOUNS)

    def differ(self, one: str, other: str) -> bool:
        """Whether two words say different things of one kind."""
        if {one, other} & STOP or len(other) < 3 or related(one, other):
            return False
        return WORDS_ALIKE <= self.meaning_alike(one, other) < KEPT_APART


# --- exchanges --------------------------------------------------------------------------------------------------------


class Exchanges:
    """Finds what may stand for a word of a question."""

    def __init__(self, asked: Sequence[Asked], draw: random.Random) -> None:
        self.draw = draw
        passages = {one.text: one for one in asked}
        self.lexicon = Lexicon(passages)
        written = Counter(word for text in passages for word in WORD.findall(text))
        self.small = {word for word, count in written.items() if word.islower() and count > written[word.capitalize()]}
        """Words that are mostly written small."""
        self.opposites: dict[str, list[str]] = defaultdict(list)
        for pair in "".join(OPPOSITES.split("\n")).split("/"):
            first, _, second = pair.strip().partition(" ")
            self.opposites[first].append(second)
            if " " not in second:
                self.opposites[second].append(first)
        self.cycles = {word: cycle for cycle in CYCLES for word in cycle}
        self.names: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in passages.values():
            self.names[one.file] += self.named(one.text)
        self.options: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in asked:
            if (name := option_of(one.text)) and name in one.question:
                self.options[one.file, one.title].append(name)
        self.questions: dict[str, set[str]] = defaultdict(set)
        for one in asked:
            self.questions[one.text].add(plain(one.question))

    def of(self, one: Asked) -> list[Exchange]:
        """The best exchanges of a question, no two at one place."""
        found = self.options_of(one)
        if not found:
            found = self.rows_of(one) if is_table(one.text) else [*self.names_in(one), *self.words_in(one)]
        known = self.questions[one.text]
        found = [each for each in found if plain(exchanged(one.question, each)) not in known]
        found.sort(key=lambda each: -each.worth - 0.4 * self.draw.random())
        kept: list[Exchange] = []
        for each in found:
            apart = all(each.end <= other.start or each.start >= other.end for other in kept)
            if apart and sum(other.kind == each.kind for other in kept) < (1 if "absent" in each.kind else 2):
                kept.append(each)
        return kept[:PAIRS]

    def named(self, text: str) -> list[tuple[str, str]]:
        """The names of a text that are no common words, and the word before each."""
        return [each for each in names_of(text) if " " in each[0] or each[0].lower() not in self.small]

    def options_of(self, one: Asked) -> list[Exchange]:
        """Another option of the same manual."""
        name = option_of(one.text)
        if one.file != "reader_debdocs_options" or not name or one.question.count(name) != 1:
            return []
        others = [other for other in self.options[one.file, one.title] if other not in one.text and name not in other]
        if not others:
            return []
        start = one.question.index(name)
        alike = sorted(self.draw.sample(others, min(8, len(others))), key=lambda other: other[:4] != name[:4])
        return [Exchange("option", start, start + len(name), alike[0], 2.0)]

    def rows_of(self, one: Asked) -> list[Exchange]:
        """The first cell of the answer's row, or a cell of it, by that of another row."""
        found = []
        here = {cell.lower(): at for at, cell in enumerate(cells(one.sentence(one.own[0])))} if one.own else {}
        for cell, column in here.items():
            start = one.question.lower().find(cell)
            if len(cell) < 3 or start < 0 or cell in one.answers[0].lower():
                continue
            rest = [
                at for at in range(len(one.sentences)) if at not in one.own and (at > 1 or "; " in one.sentence(at))
            ]
            others = [cells(one.sentence(at)) for at in rest]
            other_cells = [row[column] for row in others if len(row) > column]
            fitting = [
                each
                for each in other_cells
                if len(each) > 2
                and (each[0].isalnum() and each.lower() not in here and not each.lower().startswith("total"))
                and shape(each) == shape(cell)
                and not related(each, cell)
            ]
            if fitting:
                new = self.draw.choice(fitting)
                new = new.lower() if one.question.islower() else new
                found.append(Exchange("row", start, start + len(cell), new, 1.0))
        return found

    def names_in(self, one: Asked) -> list[Exchange]:
        """Names and numbers of the question by those of other sentences, or by names of other passages."""
        question, found = one.question, []
        elsewhere = " \n ".join(one.sentence(at) for at in range(len(one.sentences)) if at not in one.own)
        here = (" ".join(one.sentence(at) for at in one.own) + " " + question + " " + " ".join(one.answers)).lower()
        others = self.named(elsewhere)
        lower = question.islower() or one.file == "reader_qed_nq_train"
        titled = {name.lower() for name, _ in self.named(one.text)} if lower else set()
        own = [match.span() for match in NAME.finditer(question) if match.start() > 0]
        if lower:
            own = [
                match.span()
                for name in sorted(titled)
                if len(name) > 3
                for match in re.finditer(rf"\b{re.escape(name)}\b", question)
            ]
        for start, stop in own:
            end = stop - 2 * question[start:stop].endswith(("'s", "’s"))
            name, before = question[start:end], word_before(question, start)
            part = re.search(r"(?:[A-Z]\w*[.-]|-) ?$", question[:start]) or question[end : end + 1] == "-"
            if part or name.lower() in STOP or name.lower() in self.cycles:
                continue
            if not (content(name) & (content(one.text) | content(one.title))):
                continue
            for kind, among in (("name", others), ("absent name", self.names[one.file])):
                if kind == "absent name":
                    among = self.draw.sample(among, min(60, len(among)))
                fitting = [
                    (new, ahead)
                    for new, ahead in among
                    if shape(new) == shape(name)
                    and not content(new) & content(here)
                    and not any(related(a, b) for a in new.split() for b in name.split())
                    and (kind == "name" or new not in one.text)
                ]
                rated = sorted(
                    {
                        (self.lexicon.meaning_alike(name, new) + 0.2 * (ahead == before) + 0.1 * (among is others), new)
                        for new, ahead in fitting
                        if (ahead in PLACES) == (before in PLACES)
                    },
                    reverse=True,
                )
                rated = [each for each in rated if each[0] >= NAMES_ALIKE + 0.2 * (kind == "absent name")]
                if rated:
                    how, new = self.draw.choice(rated[:2])
                    worth = (1.0 if kind == "name" else 0.4) + how / 2
                    found.append(Exchange(kind, start, end, new.lower() if lower else new, worth))
        for match in NUMBER.finditer(question):
            if word_before(question, match.start()) in MEASURED:
                continue
            found += self.number(one, match, elsewhere, here)
        return found

    def number(self, one: Asked, match: re.Match[str], elsewhere: str, here: str) -> Iterator[Exchange]:
        """Another number of the passage, else a near one that stands nowhere."""
        old = match[0]
        others = [each for each in NUMBER.findall(elsewhere) if shape(each) == shape(old) and each != old]
        fitting = [each for each in others if not re.search(rf"\b{re.escape(each)}\b", here)]
        if not fitting and old.isdigit():
            span = 12 if YEAR.fullmatch(old) else max(3, int(old) // 3)
            near = [str(max(1, int(old) + self.draw.choice((-1, 1)) * self.draw.randint(1, span))) for _ in range(4)]
            fitting = [each for each in near if each != old and each not in one.text]
        if fitting:
            yield Exchange("number", match.start(), match.end(), self.draw.choice(fitting), 1.2)

    def words_in(self, one: Asked) -> Iterator[Exchange]:
        """Words of the question by opposites, by words of other sentences, or by words that stand nowhere."""
        question = one.question
        whole = list(WORD.finditer(question))
        here = (
            content(" ".join(one.sentence(at) for at in one.own)) | content(" ".join(one.answers)) | content(question)
        )
        own_words = {word.lower() for at in one.own for word in WORD.findall(one.sentence(at))}
        in_text = content(one.text)
        there = [
            match.lower()
            for at in range(len(one.sentences))
            if at not in one.own
            for match in WORD.findall(one.sentence(at))
            if match.islower() and match.isalpha() and match not in STOP and stem(match) not in here
        ]
        candidates = list(dict.fromkeys(there))
        names = {match.span() for match in NAME.finditer(question) if match.start() > 0}
        for match in whole:
            old = match[0].lower()
            inside = any(low <= match.start() < high for low, high in names)
            if old in self.cycles or old in self.opposites:
                options = [each for each in self.cycles.get(old, ()) if each != old] + self.opposites.get(old, [])
                free = [each for each in options if not set(each.split()) & own_words and each not in question.lower()]
                present = [each for each in free if re.search(rf"\b{each}\b", one.text.lower())]
                if word_before(question, match.start()) in MEASURED or (old in ("may", "march") and match[0].islower()):
                    free = present = []
                if (old == "left" and "left" not in own_words) or (inside and old not in self.cycles):
                    free = present = []
                if free:
                    first = present or (
                        self.opposites.get(old) and [each for each in free if each in self.opposites[old]]
                    )
                    new = self.draw.choice(first or free)
                    yield Exchange("opposite", *match.span(), like(new, match[0]), 1.6 if stem(old) in in_text else 1.1)
                continue
            if inside or old in STOP or len(old) < 4 or old not in self.lexicon.at or not match[0].isalpha():
                continue
            if not self.lexicon.is_noun(old):
                continue
            asked_for = re.search(r"\b(?:what|which|whose)\s+$", question[: match.start()].lower()) is not None
            stands = stem(old) in here and any(related(old, word) for word in own_words)
            worth = 0.5 + 0.5 * stands - 0.5 * asked_for
            if worth < 0.5:
                continue
            ahead, behind = word_before(question, match.start()), word_behind(question, match.end())
            best = [(self.fit(ahead, old, new, behind), new) for new in candidates]
            best = [(fit, new) for fit, new in best if fit >= ALIKE and self.lexicon.differ(old, new)]
            best.sort(reverse=True)
            if best:
                fit, new = self.draw.choice(best[:3])
                yield Exchange("word", *match.span(), like(new, match[0]), worth + 0.4 * fit)
            absent = [
                (fit, each)
                for each in (self.lexicon.near(old) if stands and self.draw.random() < ABSENT else ())
                if stem(each) not in in_text | here and (fit := self.fit(ahead, old, each, behind)) >= ALIKE
            ]
            if absent:
                _, new = self.draw.choice(sorted(absent, reverse=True)[:8])
                yield Exchange("absent word", *match.span(), like(new, match[0]), worth - 0.1)

    def fit(self, before: str, old: str, new: str, behind: str) -> float:
        """How well a word stands for another between two words; 0 if it may not."""
        if new not in self.lexicon.at or not self.lexicon.is_noun(new) or (ending(old) == "s") != (ending(new) == "s"):
            return 0.0
        alike = self.lexicon.places_alike(old, new)
        beside = self.lexicon.stands(before, new, behind) if alike >= ALIKE else -1.0
        return alike + beside if beside >= 0 else 0.0


def exchanged(question: str, one: Exchange) -> str:
    """The question after the exchange, with `a` before consonants."""
    before, behind = question[: one.start], question[one.end :]
    if article := re.search(r"\b(a|an|A|An) $", before):
        right = ("an" if one.new[:1].lower() in "aeiou" else "a").replace("a", article[1][0], 1)
        before = before[: article.start()] + right + " "
    return before + one.new + behind


def like(new: str, old: str) -> str:
    """A word written as another."""
    return new.capitalize() if old[:1].isupper() else new


def ending(word: str) -> str:
    """What tells the form of a word."""
    return next((end for end in ("ing", "ed", "ly", "est", "er", "s") if word.endswith(end)), "")


def shape(text: str) -> str:
    """Letters and digits of a name or a number, roughly: as many words or digits."""
    text = text.lower()
    if YEAR.fullmatch(text):
        return "year"
    return re.sub(r"\d", "9", text) if re.fullmatch(r"[$£€]?[\d.,]+", text) else f"words {min(3, len(text.split()))}"


def plain(question: str) -> str:
    """The words alone."""
    return " ".join(WORD.findall(question.lower()))


def word_before(text: str, at: int) -> str:
    """The word that stands before a place."""
    found = WORD.findall(text[max(0, at - 20) : at])
    return found[-1].lower() if found and text[at - 1 : at] == " " else ""


def word_behind(text: str, at: int) -> str:
    """The word that stands behind a place."""
    found = re.match(r" (\w+)", text[at : at + 20])
    return found[1].lower() if found else ""


@lru_cache(maxsize=400_000)
def names_of(text: str) -> list[tuple[str, str]]:
    """Names that do not begin a sentence, and the word before each."""
    found = []
    for match in NAME.finditer(text):
        behind = text[: match.start()].rstrip()
        if behind and behind[-1] not in '.!?:;"“\n' and match[0].lower() not in STOP and len(match[0]) > 2:
            found.append((match[0].removesuffix("'s").removesuffix("’s"), word_before(text, match.start())))
    return found


def cells(row: str) -> list[str]:
    """The cells of a row."""
    if " | " in row:
        return [one.strip() for one in row.strip().strip("|").split("|")]
    return [one.partition(": ")[2].strip() for one in row.split("; ")]


def option_of(text: str) -> str:
    """What an entry of a manual begins with."""
    found = re.match(r"\s*([\w./-]*[A-Za-z_-]{3}[\w./-]*)", text)
    return found[1].rstrip(".:=") if found else ""


# --- pairs and groups -------------------------------------------------------------------------------------------------


def pairs(asked: Sequence[Asked], draw: random.Random) -> Iterator[dict[str, Any]]:
    """Each question with its exchanged ones."""
    exchanges = Exchanges(asked, draw)
    for one in asked:
        if one.part not in ("train", "question", "title", "file") or not one.own:
            continue
        for each in exchanges.of(one):
            text, start = shown(one, each, draw)
            yield {
                "kind": each.kind,
                "part": one.part,
                "set": one.file,
                "question": one.question,
                "exchanged": exchanged(one.question, each),
                "title": one.title,
                "text": text,
                "spans": [(start, start + len(one.answers[0]))],
            }


def shown(one: Asked, each: Exchange, draw: random.Random) -> tuple[str, int]:
    """The text that answers the question and not the exchanged one, and where the answer begins."""
    new, others = content(each.new), range(len(one.sentences))
    if each.kind == "row":
        head = [at for at in others if at < 2 and at not in one.own and not content(one.sentence(at)) & new]
        return joined(one, [*head, *one.own])
    holding = [at for at in others if at not in one.own and content(one.sentence(at)) & new]
    rest = content(one.question[: each.start] + one.question[each.end :])
    subject = content(one.title)
    here = len((rest - subject) & content(" ".join(one.sentence(at) for at in one.own)))
    risky = any(len((rest - subject) & content(one.sentence(at))) > max(1, here / 2) for at in holding)
    if not risky and draw.random() >= SHORT:
        return one.text, one.start
    # The sentences around the answer, as far as the one with the other word.
    low, high = one.own[0], one.own[-1]
    for _ in range(draw.randint(0, 2)):
        if low > 0 and low - 1 not in holding and (draw.random() < 0.5 or high + 1 in holding):
            low -= 1
        elif high + 1 < len(one.sentences) and high + 1 not in holding:
            high += 1
    if low == one.own[0] and not content(one.sentence(low)) & rest and low > 0 and low - 1 not in holding:
        low -= 1
    begin, end = one.sentences[low][0], one.sentences[high][1]
    return one.text[begin:end], one.start - begin


def joined(one: Asked, places: Sequence[int]) -> tuple[str, int]:
    """Some rows of a table, and where the answer begins."""
    text, start = "", 0
    for at in sorted(places):
        if at == one.own[0]:
            start = len(text) + one.start - one.sentences[at][0]
        text += one.sentence(at) + "\n"
    return text.rstrip("\n"), start


PRONOUN = re.compile(r"(?:He|She|It|They|This|These|His|Her|Its|Their|That|Those|Here|There|Both)\b")


def neighbours(asked: Iterable[Asked], draw: random.Random) -> Iterator[Group]:
    """The sentence that answers, and those beside it with most words of the question."""
    for one in asked:
        if one.file in ONLY_PAIRS or not one.own or len(one.sentences) < 3 or is_table(one.text):
            continue
        words = content(one.question)
        low, high = one.own[0], one.own[-1]
        if low and (PRONOUN.match(one.sentence(low)) or not words & content(one.sentence(low)) or draw.random() < 0.2):
            low -= 1
        begin, end = one.sentences[low][0], one.sentences[high][1]
        told_here = len(words & (content(one.text[begin:end]) | content(one.title)))
        if end - begin > 900 or told_here < min(2, len(words)):
            continue
        answers = [answer.lower() for answer in one.answers]
        told = content(one.answers[0])
        wrong: list[tuple[int, str]] = []
        after = 0
        for at in range(len(one.sentences)):
            last = min(at + (draw.random() < 0.3), len(one.sentences) - 1)
            last = at if last in range(low, high + 1) else last
            text = one.text[one.sentences[at][0] : one.sentences[last][1]]
            holds = any(answer in text.lower() for answer in answers) or bool(told and told <= content(text))
            if at < after or at in range(low, high + 1) or holds or len(text.split()) < 4 or len(text) > 900:
                continue
            wrong.append((len(words & (content(text) | content(one.title))), text))
            after = last + 1
        wrong.sort(key=lambda each: -each[0])
        if not wrong or wrong[0][0] > told_here + 1:  # what says more of the question's words may answer it
            continue
        chosen = [text for _, text in wrong[: NEIGHBOURS - 1]]
        left = one.text[: one.sentences[low][0]].rstrip() + " " + one.text[end:].lstrip()
        if not any(answer in left.lower() for answer in answers) and not (told and told <= content(left)):
            chosen.insert(min(1, len(chosen)), left.strip())
        if chosen and len(one.sentences) > high - low + 1:
            right = passage(one.title, one.text[begin:end], one.start - begin, one.answers[0])
            yield {
                **group(one.file, one.question, [right], [passage(one.title, text) for text in chosen]),
                "kind": "neighbour",
                "part": one.part,
            }


def passage(title: str, text: str, start: int = 0, answer: str = "") -> Group:
    """A text as in a group."""
    return {"title": title, "text": text, "spans": [(start, start + len(answer))] if answer else []}


def edited() -> Iterator[Group]:
    """Of CondaQA: texts that answer a question, and those which people changed so that they do not."""
    by_question: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in contrasts("condaqa"):
        by_question[row["group"], row["question"]].append(row)
    for (name, question), own in by_question.items():
        right = [passage("", row["text"]) for row in own if row["answer"] is not None]
        wrong = [passage("", row["text"]) for row in own if row["answer"] is None]
        if right and wrong:
            made = group("condaqa", question, right[:2], wrong)
            yield {**made, "kind": "edited", "part": part_of_group(name.rpartition("/")[0], question)}


def periods() -> Iterator[Group]:
    """Of TimeQA: the sentence that holds the answer for the years asked, against those with another period's."""
    by_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in contrasts("timeqa"):
        if row["answer"]:
            by_group[row["group"]].append(row)
    for name, own in by_group.items():
        answers = {row["answer"].lower() for row in own}
        for row in own:
            title, _, text = row["text"].partition("\n")
            answer = row["answer"].lower()
            years = set(YEAR.findall(row["question"]))
            right, wrong = [], []
            for low, high in sentence_spans(text):
                sentence = text[low:high]
                at = sentence.lower().find(answer)
                if at >= 0 and years & set(YEAR.findall(sentence)):
                    right.append(passage(title, sentence, at, answer))
                elif at < 0 and any(other in sentence.lower() for other in answers - {answer}):
                    wrong.append(passage(title, sentence))
            if right and wrong:
                made = group("timeqa", row["question"], right[:1], wrong[:NEIGHBOURS])
                yield {**made, "kind": "period", "part": part_of_group(name, row["question"])}


def part_of_group(name: str, question: str) -> str:
    """Which part a question belongs to whose texts have no title."""
    if number_of(f"title {name}") % TITLES_ASIDE == 0:
        return "title"
    return "question" if held_back(question) else "train"


def contrasts(name: str) -> list[dict[str, Any]]:
    """The questions of a set of claims_contrast."""
    with gzip.open(DATA / "train/claims_contrast" / f"{name}_questions.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def answered(data: Path | None) -> Iterator[Asked]:
    """Every answered question once."""
    for name, most in FILES.items():
        seen: set[tuple[str, str]] = set()
        for row in sorted(rows(name), key=lambda row: number_of(row["question"])):
            key = (row["question"], row["passage"])
            if row["answerable"] and row["answers"] and row["answers"][0] and key not in seen and len(seen) < most:
                seen.add(key)
                yield Asked(name, row["question"], row["title"], row["passage"], tuple(row["answers"]), row["start"][0])
    for one in read(data / "groups.jsonl") if data else ():
        if one["set"] in ("squad", "squad-questions") and one["kind"] == "passage" and one["positives"]:
            here = one["positives"][0]
            if here["spans"]:
                answers = tuple(here["text"][low:high] for low, high in here["spans"])
                yield Asked("squad", one["question"], here["title"], here["text"], answers, here["spans"][0][0])


def main() -> None:
    """Write the file, shuffled by the seed, and print how many there are of each kind and part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="what research.training_data wrote, for SQuAD's training fifths")
    arguments = parser.parse_args()
    draw = random.Random(SEED)
    asked = list(answered(arguments.data))
    found = [*pairs(asked, draw), *neighbours(asked, draw), *edited(), *periods()]
    draw.shuffle(found)
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
    counts = Counter(f"{row['kind']}, {row['part']}" for row in found)
    print(json.dumps({"asked": len(asked), **dict(sorted(counts.items()))}, indent=1))


if __name__ == "__main__":
    main()
