"""What the checker is trained on, as one file of rows: a claim, a text, and whether the text supports the claim.

    .venv/bin/python -m research.checker_data --out training/checker.jsonl        # about four minutes on one core

Four kinds of rows, of texts that `research.training_data` may use as well (the training fifths, and data/train):

* published pairs: data/train's `nli_*`, the training fifths of SciFact and Climate-FEVER;
* sentences of a passage, as they stand or shortened, and with one number, name, unit, comparison or negation changed,
  beside the passage or beside a part of it; the same sentences beside what does not say them: the passage without
  them, another sentence of it, the nearest passage of the same document;
* answers of reading questions as statements, with the answer, with another one of the same shape, and beside what does
  not hold it: the passage without the answer's sentences, the nearest passage of the same document, another passage;
* two statements in one, of which both hold or one does not.

A label is `supported`, `unverified` (the text neither shows nor denies it), `contradicted`, or `not supported` where
nobody said which of the last two.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA, rows
from benchmarks.planted_errors import NAME, NUMBER, climate_fever, negated, scifact, sentences_of, shape
from research.pools import grades, slice_of
from research.train.groups import rows as lines
from thresher.text.terms import term_set

SEED = 31
SUPPORTED, UNVERIFIED, CONTRADICTED, NOT_SUPPORTED = "supported", "unverified", "contradicted", "not supported"
PAIRS = ("nli_general", "nli_fever", "nli_wice")
READING = {
    "squad_train_slices": 20_000,
    "squadshifts_new_wiki": 12_000,
    "qed_nq_train": 10_000,
    "qamr": 4_000,
    "debdocs_options": 3_000,
    "squadshifts_reddit": 2_000,
    "squadshifts_amazon_reviews": 1_500,
    "doc2dial": 1_500,
    "fairytaleqa": 1_500,
    "tatqa": 1_400,
    "covidqa": 1_200,
    "policyqa": 1_200,
    "multihop": 800,
    "friendsqa": 500,
    "wtq_lookup": 200,
}
"""Reading questions that become statements, at most so many of each set."""
PASSAGES = {
    "reader_squad_train_slices": 4_000,
    "reader_squadshifts_new_wiki": 2_000,
    "reader_qed_nq_train": 3_000,
    "reader_doc2dial": 800,
    "reader_policyqa": 800,
    "reader_covidqa": 800,
    "rel_pubmedqa": 1_000,
    "rel_bioasq": 3_500,
    "rel_medquad": 3_000,
    "rel_debdocs_howto": 4_000,
    "rel_ghdocs": 4_000,
}
"""Passages whose sentences are claims, at most so many of each set."""
SCIENCE_TIMES = 3
"""How often a claim of SciFact is seen in an epoch: there are few."""
CLIMATE_NEUTRAL = 0.5
EVIDENCE_CHARACTERS = 1_000
"""About 220 tokens: what is read with a claim. Of a longer text the sentences that share most terms with the claim."""
WORDS = (20, 320)
"""Characters of a sentence that may be a claim."""
PARTS = 0.4
"""Share of the sentences that are read beside their neighbours alone."""
NEARBY = 15
"""Passages before and behind one in its document among which the nearest is looked for."""

Row = dict[str, Any]


def row_of(claim: str, title: str, text: str, label: str, source: str) -> Row:
    """A claim beside the part of the text that is nearest to it."""
    return {"claim": claim, "title": title, "text": nearest(claim, text), "label": label, "source": source}


def nearest(claim: str, text: str) -> str:
    """The sentences that share most terms with the claim, in the order of the text, as many as are read."""
    if len(text) <= EVIDENCE_CHARACTERS:
        return text
    sentences = sentences_of(text)
    wanted = term_set(claim)
    order = sorted(range(len(sentences)), key=lambda at: (-len(wanted & term_set(sentences[at])), at))
    chosen: list[int] = []
    length = 0
    for at in order:
        length += len(sentences[at]) + 1
        if length > EVIDENCE_CHARACTERS and chosen:
            break
        chosen.append(at)
    return " ".join(sentences[at] for at in sorted(chosen))


# --- published pairs --------------------------------------------------------------------------------------------------


def published() -> Iterator[Row]:
    """The pairs of data/train."""
    labels = {"supported": SUPPORTED, "refuted": CONTRADICTED, "neutral": UNVERIFIED}
    for name in PAIRS:
        for one in lines(name):
            label = NOT_SUPPORTED if one.get("coarse") else labels[one["label"]]
            yield row_of(one["claim"], "", one["evidence"], label, name)


def science(draw: random.Random) -> Iterator[Row]:
    """The training fifths of SciFact: with the abstracts that were judged, and one that shares terms and was not."""
    abstracts = {row["_id"]: row for row in rows("scifact/corpus.jsonl")}
    judged = {claim: set(found) for claim, found in grades("scifact").items()}
    by_text = {row["text"]: row["_id"] for row in rows("scifact/queries.jsonl")}
    terms = {key: term_set(f"{one['title']} {one['text']}") for key, one in abstracts.items()}
    cases = [case for case in scifact() if slice_of(case.key) < 3]
    for case in cases:
        label = CONTRADICTED if case.error else SUPPORTED
        text = " ".join(case.sentences)
        for _ in range(SCIENCE_TIMES):
            yield row_of(case.claim, case.title, text, label, "scifact")
        own, wanted = judged.get(by_text.get(case.key, case.key), set()), term_set(case.claim)
        near = sorted((key for key in abstracts if key not in own), key=lambda key: -len(wanted & terms[key]))[:6]
        for key in draw.sample(near, 2):
            yield row_of(case.claim, abstracts[key]["title"], abstracts[key]["text"], UNVERIFIED, "scifact")


def climate(draw: random.Random) -> Iterator[Row]:
    """The training fifths of Climate-FEVER, each sentence of evidence alone and those of a label together."""
    labels = {"SUPPORTS": SUPPORTED, "REFUTES": CONTRADICTED, "NOT_ENOUGH_INFO": UNVERIFIED}
    for case in climate_fever():
        if slice_of(case.key) < 3:
            label = {"": SUPPORTED, "contradicted": CONTRADICTED, "not stated": UNVERIFIED}[case.error]
            yield row_of(case.claim, case.title, " ".join(case.sentences), label, "climate-fever")
    for one in rows("climate_fever/claims.jsonl"):
        if slice_of(one["claim_id"]) >= 3:
            continue
        for evidence in one["evidences"]:
            label = labels[evidence["evidence_label"]]
            if label != UNVERIFIED or draw.random() < CLIMATE_NEUTRAL:
                text = evidence["evidence"].strip('"')
                yield row_of(one["claim"], evidence["article"], text, label, "climate-fever")


# --- sentences made wrong ---------------------------------------------------------------------------------------------

COMPARISONS = (
    *(("increase", "decrease"), ("increased", "decreased"), ("increases", "decreases"), ("higher", "lower")),
    *(("more", "less"), ("larger", "smaller"), ("before", "after"), ("first", "last"), ("best", "worst")),
    *(("always", "never"), ("all", "no"), ("most", "few"), ("older", "younger"), ("largest", "smallest")),
    *(("highest", "lowest"), ("above", "below"), ("faster", "slower"), ("better", "worse"), ("north", "south")),
    *(("east", "west"), ("northern", "southern"), ("eastern", "western"), ("early", "late"), ("major", "minor")),
    *(("positive", "negative"), ("reduces", "raises"), ("reduced", "raised"), ("allowed", "forbidden")),
    *(("included", "excluded"), ("accepted", "rejected"), ("won", "lost"), ("male", "female"), ("begins", "ends")),
    *(("enabled", "disabled"), ("public", "private"), ("with", "without"), ("upper", "lower"), ("husband", "brother")),
)
OTHER_WORD = {word: other for pair in COMPARISONS for word, other in (pair, pair[::-1])}
COMPARISON = re.compile(rf"\b(?:{'|'.join(sorted(OTHER_WORD))})\b")
UNITS = (
    *(("million", "billion"), ("thousand", "million"), ("days", "weeks"), ("hours", "minutes"), ("years", "months")),
    *(("kilometres", "metres"), ("km", "m"), ("miles", "kilometres"), ("kg", "g"), ("dollars", "euros")),
    *(("percent", "million"), ("%", " million"), ("seconds", "minutes"), ("inches", "feet"), ("mg", "g")),
    *(("century", "decade"), ("GB", "MB"), ("feet", "metres"), ("pounds", "dollars"), ("weeks", "months")),
)
OTHER_UNIT = {word: other for pair in UNITS for word, other in (pair, pair[::-1])}
UNIT = re.compile(rf"(?<=\d)(?: (?:{'|'.join(map(re.escape, OTHER_UNIT))})\b|%)")
MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
PARENTHESIS = re.compile(r" ?[(\[][^()\[\]]*[)\]]")
LEAD = re.compile(
    r"^(?:In|On|At|During|After|Before|By|However|Also|Thus|Moreover|Furthermore|For)\b[^,]{2,60}, (?=\w)"
)
TAIL = re.compile(r"(?:, (?:which|who|where|although|while|and|but|with)\b|; )[^,;]*\.$")


def another_number(number: str, draw: random.Random) -> str:
    """Another number of as many digits, near it or far."""
    digits = re.sub(r"\D", "", number)
    if draw.random() < 0.4:  # a near one: a year off, a digit exchanged
        at = draw.randrange(len(number))
        while not number[at].isdigit():
            at = draw.randrange(len(number))
        return number[:at] + str((int(number[at]) + draw.choice((1, 2, 8, 9))) % 10) + number[at + 1 :]
    new = str(draw.randint(1, 9)) + "".join(str(draw.randint(0, 9)) for _ in digits[1:])
    put = iter(new)
    return "".join(next(put) if c.isdigit() else c for c in number)


def wrong(claim: str, text: str, names: Sequence[str], draw: random.Random) -> Iterator[tuple[str, str]]:
    """The claim with one thing changed in each way that fits it, and the name of the way."""
    if numbers := list(NUMBER.finditer(claim)):
        match = draw.choice(numbers)
        inside = [n for n in NUMBER.findall(text) if n not in claim and shape(n) == shape(match[0])]
        new = draw.choice(inside) if inside and draw.random() < 0.5 else another_number(match[0], draw)
        if new != match[0]:
            yield "number", claim[: match.start()] + new + claim[match.end() :]
    if found := list(NAME.finditer(claim)):
        match = draw.choice(found)
        inside = [n for n in NAME.findall(text) if n not in claim and shape(n) == shape(match[0])]
        pool = inside if inside and draw.random() < 0.6 else [n for n in names if shape(n) == shape(match[0])]
        new = draw.choice(pool) if pool else ""
        if new and new not in claim:
            yield "name", claim[: match.start()] + new + claim[match.end() :]
    if months := list(MONTH.finditer(claim)):
        match = draw.choice(months)
        new = draw.choice([month for month in MONTHS if month != match[0]])
        yield "date", claim[: match.start()] + new + claim[match.end() :]
    if units := list(UNIT.finditer(claim)):
        match = draw.choice(units)
        old = match[0].strip()
        yield "unit", claim[: match.start()] + match[0].replace(old, OTHER_UNIT[old]) + claim[match.end() :]
    if words := list(COMPARISON.finditer(claim)):
        match = draw.choice(words)
        yield "comparison", claim[: match.start()] + OTHER_WORD[match[0]] + claim[match.end() :]
    if (denied := negated(claim)) is not None:
        yield "negation", denied


def shortened(sentence: str, draw: random.Random) -> str:
    """The sentence, sometimes without its parentheses, its lead or its tail: what still holds."""
    short = sentence
    for pattern, put in ((PARENTHESIS, ""), (LEAD, ""), (TAIL, ".")):
        if draw.random() < 0.5:
            cut = pattern.sub(put, short, count=1)
            short = cut if len(cut) >= WORDS[0] else short
    return short[0].upper() + short[1:]


def changed(draw: random.Random) -> Iterator[Row]:
    """Sentences of passages: as they stand or shortened, made wrong, and beside what does not say them."""
    for name, most in PASSAGES.items():
        documents = Documents(lines(name))
        chosen = draw.sample(list(documents.title), min(most, len(documents.title)))
        names = [found for text in chosen[:1_500] for found in NAME.findall(text)]
        for text in chosen:
            title, sentences = documents.title[text], sentences_of(text)
            fitting = [s for s in sentences if WORDS[0] <= len(s) <= WORDS[1] and s[-1:] in ".!" and " " in s]
            if len(fitting) < 2:
                continue
            sentence = draw.choice(fitting)
            claim = shortened(sentence, draw)
            part = around(sentences, sentence, draw) if draw.random() < PARTS else text
            yield row_of(claim, title, part, SUPPORTED, "sentence")
            ways = list(wrong(claim, text, names, draw))
            for way, other in draw.sample(ways, min(2, len(ways))):
                if other not in text:
                    yield row_of(other, title, part, CONTRADICTED, f"sentence: {way}")
            without = [other for other in sentences if other != sentence]
            if draw.random() < 0.3:
                yield row_of(claim, title, " ".join(without), UNVERIFIED, "sentence: taken out")
            if draw.random() < 0.3:
                yield row_of(claim, title, most_alike(claim, without), UNVERIFIED, "sentence: another")
            if draw.random() < 0.4 and (beside := documents.nearest(claim, text, without=sentence)):
                yield row_of(claim, title, beside, UNVERIFIED, "sentence: beside")


def around(sentences: Sequence[str], sentence: str, draw: random.Random) -> str:
    """A sentence with up to two of its neighbours, as they are read at run time."""
    at = sentences.index(sentence)
    return " ".join(sentences[max(0, at - draw.randrange(2)) : at + 1 + draw.randrange(2)])


def most_alike(claim: str, texts: Sequence[str]) -> str:
    """The text that shares most terms with a claim."""
    wanted = term_set(claim)
    return max(texts, key=lambda text: len(wanted & term_set(text)))


class Documents:
    """Passages by the document that they are of: their title, or the source and question that they were found for."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.title: dict[str, str] = {}
        self.document: dict[str, str] = {}
        self.passages: dict[str, list[str]] = {}
        for one in rows:
            text = one["passage"]
            if text not in self.title:
                self.title[text] = one.get("title", "")
                document = self.title[text] or f"{one['source'].partition(':')[0]} {one['question']}"
                self.document[text] = document
                self.passages.setdefault(document, []).append(text)

    def nearest(self, claim: str, text: str, *, without: str) -> str:
        """The passage nearby that shares most terms with a claim and does not hold a string; "" without any."""
        every, gone = self.passages[self.document[text]], without.lower()
        at = every.index(text)
        near = [*every[max(0, at - NEARBY) : at], *every[at + 1 : at + NEARBY]]
        free = [other for other in near if gone not in other.lower() and other not in text and text not in other]
        return most_alike(claim, free) if free else ""


# --- answers as statements --------------------------------------------------------------------------------------------

AUXILIARIES = "is|was|are|were|has|have|had|can|could|will|would|may|must|should"
SUBJECT = re.compile(
    r"^(?:who|what|which [\w-]+(?: [\w-]+)?) (?!did\b|does\b|do\b)(?=\w+(?:s|ed|was|is|are|were)?\b)", re.I
)
COPULA = re.compile(rf"^(what|who|where|when|which [\w-]+) ({AUXILIARIES}) (.+)$", re.I)
DO = re.compile(r"^(.+?) (did|does|do) (.+)$", re.I)


def statement(question: str, answer: str, draw: random.Random) -> str:
    """The answer as a statement, as far as a rule can make one; else the question with its answer behind it."""
    asked = question.strip().rstrip("?").strip()
    begin = answer[:1].upper() + answer[1:]
    kind = draw.random()
    if kind < 0.25:
        return f"{asked}? {begin}."
    if match := COPULA.match(asked):
        word, verb, rest = match[1].lower(), match[2].lower(), match[3]
        parts = rest.split()
        if word in ("what", "who") and verb in ("is", "was", "are", "were") and len(parts) <= 12:
            return f"{rest[:1].upper() + rest[1:]} {verb} {answer}." if kind < 0.7 else f"{begin} {verb} {rest}."
        if word in ("when", "where"):
            *front, last = parts
            if front and last.endswith(("ed", "en", "own", "ade", "ilt", "orn", "und", "eld", "rn")):
                before = " ".join(front)
                lead = "" if answer.lower().startswith(("in ", "on ", "at ", "from ", "by ", "near ")) else "in "
                return f"{before[:1].upper() + before[1:]} {verb} {last} {lead}{answer}."
    if SUBJECT.match(asked) and not COPULA.match(asked):
        rest = SUBJECT.sub("", asked)
        return f"{begin} {rest}."
    return f"{asked[:1].upper() + asked[1:]}: {answer}." if kind < 0.6 else f"{begin} ({asked})."


def kind_of(answer: str) -> tuple[bool, bool, int]:
    """What may stand for an answer: a number, a name, as many words."""
    return any(c.isdigit() for c in answer), answer[:1].isupper(), min(4, len(answer.split()))


def answers(draw: random.Random) -> Iterator[Row]:
    """Statements of reading questions: with their answer, with another, with a passage that does not hold it."""
    for name, most in READING.items():
        every = list(lines(f"reader_{name}"))
        documents = Documents(every)
        pool: dict[tuple[bool, bool, int], list[str]] = {}
        by_passage: dict[str, list[Row]] = {}
        for one in every:
            if one["answerable"]:
                pool.setdefault(kind_of(one["answers"][0]), []).append(one["answers"][0])
                by_passage.setdefault(one["passage"], []).append(one)
        for one in draw.sample(every, min(most, len(every))):
            title, text, question = one["title"], one["passage"], one["question"]
            here = [r["answers"][0] for r in by_passage.get(text, ()) if r["question"] != question]
            if not one["answerable"]:
                if plausible := [*here, *NAME.findall(text)[:4], *NUMBER.findall(text)[:4]]:
                    claim = statement(question, draw.choice(plausible), draw)
                    yield row_of(claim, title, text, NOT_SUPPORTED, "answer: none")
                continue
            answer = one["answers"][0]
            if len(answer) > 120:
                continue
            right = statement(question, answer, draw)
            yield row_of(right, title, text, SUPPORTED, "answer")
            alike = [other for other in here if kind_of(other) == kind_of(answer)]
            elsewhere = pool[kind_of(answer)]
            other = draw.choice(alike if alike and draw.random() < 0.6 else elsewhere)
            if other.lower() not in answer.lower() and answer.lower() not in other.lower():
                false = statement(question, other, draw)
                yield row_of(false, title, text, CONTRADICTED, "answer: another")
                if alike and draw.random() < 0.25:
                    second = by_passage[text][draw.randrange(len(by_passage[text]))]
                    if second["question"] != question:
                        more = statement(second["question"], second["answers"][0], draw)
                        first = draw.choice(((right, SUPPORTED), (false, CONTRADICTED)))
                        both = draw.choice((f"{first[0][:-1]}, and {more}", f"{more[:-1]}; {first[0]}"))
                        yield row_of(both, title, text, first[1], "answer: two")
            free = [sentence for sentence in sentences_of(text) if answer.lower() not in sentence.lower()]
            if draw.random() < 0.3 and free:
                yield row_of(right, title, " ".join(free), UNVERIFIED, "answer: taken out")
            if draw.random() < 0.3 and (beside := documents.nearest(right, text, without=answer)):
                yield row_of(right, title, beside, UNVERIFIED, "answer: beside")
            if draw.random() < 0.1:
                stranger = draw.choice(every)
                if stranger["passage"] != text and answer.lower() not in stranger["passage"].lower():
                    yield row_of(right, stranger["title"], stranger["passage"], UNVERIFIED, "answer: elsewhere")


def main() -> None:
    """Writes the rows, shuffled by the seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    assert DATA.exists(), f"no data under {DATA}"
    draw = random.Random(SEED)
    made = [*published(), *science(draw), *climate(draw), *changed(draw), *answers(draw)]
    draw.shuffle(made)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in made)
    counts: dict[str, dict[str, int]] = {}
    for row in made:
        of_source = counts.setdefault(row["source"], {})
        of_source[row["label"]] = of_source.get(row["label"], 0) + 1
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    main()
