"""Claims with what they cite: true ones, and ones with an error; benchmarks.checker measures what is found of them.

Natural claims: SciFact claims with the abstract that supports or contradicts them, Climate-FEVER claims with the
sentences that support or refute them, CLAPnq's written answers with their passages, SQuAD's short answers with their
paragraphs. Planted errors: sentences of CLAPnq's answers and of Wikipedia passages with one number, one name or one
negation changed, sentences cited to another passage, short answers to another question. A case belongs to the slice
sha1("split:KEY") modulo 5 of its claim, question, article or title: 0 to 3 for choosing, 4 final.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.machine import DATA, rows
from thresher.text.sentences import sentence_spans
from thresher_evals.dataset import sha1_number

PASSAGES = 3_600
"""Wikipedia passages that are read: enough for 200 errors of every kind in the final slice."""

LONG = (50, 300)
"""Characters of a Wikipedia sentence that is copied: shorter ones are headings, longer ones lists."""

NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,.]*\w)")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
AUXILIARY = re.compile(
    r"\b(is|was|are|were|has been|have been|had been|can|could|will|would|may|must|should)\b(?! not\b|n't)"
)
NOT = re.compile(r"\b(?:not|never) ")


@dataclass(frozen=True)
class Case:
    """A sentence of an answer with the evidence it cites; `error` is "" when it is true."""

    data: str
    error: str
    key: str
    claim: str
    sentences: tuple[str, ...]
    title: str = ""
    question: str = ""

    @property
    def slice(self) -> int:
        """A fifth, by the key."""
        return sha1_number(f"split:{self.key}") % 5

    @property
    def final(self) -> bool:
        """Whether no threshold is chosen on it."""
        return self.slice == 4


# --- natural claims ---------------------------------------------------------------------------------------------------


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text."""
    return tuple(text[start:end] for start, end in sentence_spans(text))


def scifact() -> Iterator[Case]:
    """Claims, with each abstract that supports or contradicts them."""
    claims = {row["_id"]: row["text"] for row in rows("scifact/queries.jsonl")}
    abstracts = {row["_id"]: row for row in rows("scifact/corpus.jsonl")}
    for line in (DATA / "scifact" / "evidence.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        claim, abstract, label = line.split("\t")
        text, title = abstracts[abstract]["text"], abstracts[abstract]["title"]
        error = {"SUPPORT": "", "CONTRADICT": "contradicted"}[label]
        yield Case("SciFact", error, claim, claims[claim], sentences_of(text), title)


def climate_fever() -> Iterator[Case]:
    """Claims, with the sentences that support them, that refute them, or that only say nothing."""
    for row in rows("climate_fever/claims.jsonl"):
        for label, error in (("SUPPORTS", ""), ("REFUTES", "contradicted"), ("NOT_ENOUGH_INFO", "not stated")):
            labels = {each["evidence_label"] for each in row["evidences"]}
            found = [each for each in row["evidences"] if each["evidence_label"] == label]
            if not found or (label == "NOT_ENOUGH_INFO") != (labels == {label}) or {"SUPPORTS", "REFUTES"} <= labels:
                continue
            titles = " ".join(dict.fromkeys(each["article"] for each in found))
            texts = tuple(each["evidence"].strip('"') for each in found)
            yield Case("Climate-FEVER", error, row["claim_id"], row["claim"], texts, titles)


def clapnq() -> Iterator[Case]:
    """Sentences of the written answers, with their passage."""
    for row in rows("clapnq/questions.jsonl"):
        (passage, *_), (output, *_) = row["passages"], row["output"]
        evidence = tuple(untokenised(sentence) for sentence in passage["sentences"])
        for sentence in sentences_of(untokenised(output["answer"])):
            yield Case("CLAPnq", "", row["id"], sentence, evidence, passage["title"], row["question"])


def untokenised(text: str) -> str:
    """CLAPnq's text without the spaces that its tokens were set apart by."""
    text = text.replace("``", '"').replace("''", '"').replace(" n't", "n't").replace(" - ", "-").replace(" – ", "–")
    text = re.sub(r" ([,.;:?!)\]%]|'s\b|')", r"\1", text)
    return re.sub(r"([(\[]) ", r"\1", text).strip()


def squad() -> Iterator[Case]:
    """Short answers, and as errors the short answers to another question about the same paragraph."""
    questions = [row for row in rows("squad/answered.jsonl") if row["answers"]]
    paragraphs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in questions:
        paragraphs.setdefault((row["title"], row["paragraph"]), []).append(row)
    for (title, _), asked in paragraphs.items():
        for row, other in zip(asked, [*asked[1:], asked[0]], strict=True):
            true = Case(
                "SQuAD",
                "",
                title,
                row["answers"][0][1],
                sentences_of(row["context"]),
                title.replace("_", " "),
                row["question"],
            )
            yield true
            answer = other["answers"][0][1]
            if answer.lower() not in true.claim.lower() and true.claim.lower() not in answer.lower():
                yield replace(true, error="answers another question", claim=answer)


def wikipedia() -> Iterator[Case]:
    """One sentence of each passage, word for word."""
    chosen = rows("wikipedia/corpus.jsonl")
    random.Random(0).shuffle(chosen)
    for row in chosen[:PASSAGES]:
        # The passages repeat their title at the beginning and end in the middle of a sentence.
        sentences = sentences_of(row["text"].removeprefix(row["title"]).strip())[:-1]
        fitting = [s for s in sentences if LONG[0] <= len(s) <= LONG[1] and NAME.search(s)]
        with_number = [sentence for sentence in fitting if NUMBER.search(sentence)]
        if fitting:
            yield Case("Wikipedia", "", row["title"], (with_number or fitting)[0], sentences, row["title"])


# --- planted errors ---------------------------------------------------------------------------------------------------


def planted(cases: Sequence[Case]) -> Iterator[Case]:
    """The cases with one thing changed, as many as can be made."""
    draw = random.Random(0)
    for position, case in enumerate(cases):
        others = [cases[(position + step) % len(cases)] for step in range(1, 40)]
        elsewhere = next(other for other in others if other.key != case.key)
        yield replace(case, error="cited elsewhere", sentences=elsewhere.sentences, title=elsewhere.title)
        inside = " ".join([case.title, *case.sentences])
        for error, pattern, sources in (
            ("number", NUMBER, [other.claim for other in others]),
            ("number of the passage", NUMBER, case.sentences),
            ("name", NAME, [other.claim for other in others]),
            ("name of the passage", NAME, case.sentences),
        ):
            claim = swapped(case.claim, pattern, sources, draw, stranger=None if "passage" in error else inside)
            if claim is not None:
                yield replace(case, error=error, claim=claim)
        if (claim := negated(case.claim)) is not None:
            yield replace(case, error="negation", claim=claim)


def swapped(
    claim: str, pattern: re.Pattern[str], sources: Sequence[str], draw: random.Random, *, stranger: str | None
) -> str | None:
    """The claim with one match replaced by another of the same shape; by one that `stranger` does not hold."""
    found = list(pattern.finditer(claim))
    draw.shuffle(found)
    for match in found:
        for source in sources:
            for other in map(str, pattern.findall(source)):
                known = other in (claim if stranger is None else claim + stranger)
                if not known and shape(other) == shape(match.group()):
                    return claim[: match.start()] + other + claim[match.end() :]
    return None


def shape(text: str) -> tuple[bool, int]:
    """Years are swapped for years, two-digit numbers for two-digit numbers, two-word names for two-word names."""
    return text[0].isdigit(), len(re.sub(r"\D", "", text)) if text[0].isdigit() else len(text.split())


def negated(claim: str) -> str | None:
    """Denied where it says, said where it denies."""
    if NOT.search(claim):
        return NOT.sub("", claim, count=1)
    auxiliary = AUXILIARY.search(claim)
    if auxiliary is None:
        return None
    at = auxiliary.start() + len(auxiliary.group().split()[0])
    return f"{claim[:at]} not{claim[at:]}"
