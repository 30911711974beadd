"""How many errors in answers the verifier removes, and how many true sentences with them; the same for conflicts.

    .venv/bin/python -m benchmarks.planted_errors             the questions that thresholds may be chosen on
    .venv/bin/python -m benchmarks.planted_errors --final     the rest as well; writes results/planted_errors.json

Natural claims: SciFact claims with the abstract that supports or contradicts them, Climate-FEVER claims with the
sentences that support or refute them, CLAPnq's written answers with their passages, SQuAD's short answers with their
paragraphs. Planted errors: sentences of CLAPnq's answers and of Wikipedia passages with one number, one name or one
negation changed, sentences cited to another passage, short answers to another question. A case belongs to the slice
sha1("split:KEY") modulo 5 of its claim, question, article or title: 0 to 3 for choosing, 4 final.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import CACHE, DATA, keep, rows, tell
from thresher.generation.verify import LocalCheck
from thresher.models.cross_encoders import BundledJudge
from thresher.models.encoders import BundledEncoder
from thresher.text.conflicts import find_conflicts
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_share
from thresher.types import UNIT, Chunk, Evidence, Hit, Score
from thresher_evals.dataset import sha1_number
from thresher_evals.stats import wilson_interval

PASSAGES = 3_600
"""Wikipedia passages that are read: enough for 200 errors of every kind in the final slice."""

LONG = (50, 300)
"""Characters of a Wikipedia sentence that is copied: shorter ones are headings, longer ones lists."""

FALSE_REMOVALS = 0.10
"""A baseline's threshold is the highest that removes at most this share of CLAPnq's true sentences."""

FEW_REMOVALS = 0.02
"""As much may the trained judge add to what the local check removes."""

NEAREST = 3
"""Sentences of the evidence that the trained judge reads with a claim."""

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


# --- measuring --------------------------------------------------------------------------------------------------------


def vectors(cases: Sequence[Case]) -> dict[str, NDArray[np.float32]]:
    """The vector of every sentence; those of the last run are kept, under a hash of encoder and sentence."""
    file = CACHE / "planted_errors.npz"
    encoder = BundledEncoder()
    keys = {
        text: hashlib.sha1(f"{encoder.name}:{text}".encode()).hexdigest()
        for case in cases
        for text in (case.claim, *case.sentences)
    }
    known: dict[str, NDArray[np.float32]] = {}
    if file.exists():
        with np.load(file) as stored:
            known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    new = [text for text, key in keys.items() if key not in known]
    if new:
        print(f"encoding {len(new)} sentences", flush=True)
        known |= {keys[text]: vector for text, vector in zip(new, encoder.encode(new), strict=True)}
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
    return {text: known[key] for text, key in keys.items()}


Check = Callable[[Case], tuple[bool, bool]]
"""Whether a case is removed, and whether it is called contradicted."""


def checks(known: dict[str, NDArray[np.float32]], tuning: Sequence[Case]) -> dict[str, Check]:
    """The local check, with the trained judge and without; for comparison thresholds on single numbers.

    Last, what `conflicts` would say of the claim and its evidence as two documents of one title.

    The judge was trained on claims of the first three slices: its thresholds are chosen on the fourth alone.
    """

    def similarity(claim: str, sentences: Sequence[str]) -> list[float]:
        return [float(known[sentence] @ known[claim]) if claim in known else 0.0 for sentence in sentences]

    local = LocalCheck(similarity)

    def by_rules(case: Case) -> tuple[bool, bool]:
        found = local.compare(case.claim, case.sentences, titles=case.title, question=case.question)
        return not found.supported, found.contradicted

    def cosine(case: Case) -> float:
        return max(similarity(case.claim, case.sentences))

    def shared(case: Case) -> float:
        return term_share(case.claim, " ".join([case.title, *case.sentences]))

    judge = BundledJudge()

    @cache
    def support(case: Case) -> float:
        """The trained judge's logit over the sentences nearest to the claim, in the order of the text."""
        order = np.argsort([-each for each in similarity(case.claim, case.sentences)], kind="stable")[:NEAREST]
        near = " ".join(case.sentences[at] for at in sorted(order.tolist()))
        claim = f"{case.question} {case.claim}" if case.data == "SQuAD" else case.claim
        return judge.read(claim, [near], [case.title])[0].support

    def above(measure: Callable[[Case], float], share: float = FALSE_REMOVALS) -> Check:
        true = sorted(measure(case) for case in tuning if case.data == "CLAPnq" and not case.error and case.slice == 3)
        threshold = true[int(share * len(true))]
        return lambda case: (measure(case) < threshold, False)

    def between_documents(case: Case) -> tuple[bool, bool]:
        pieces = [
            evidence(text, name, case.title) for name, text in (("a", case.claim), ("b", " ".join(case.sentences)))
        ]
        return (bool(find_conflicts(pieces).pairs),) * 2

    denies = above(support, FEW_REMOVALS)
    return {
        "local check": by_rules,
        "local check and trained judge": lambda case: (by_rules(case)[0] or denies(case)[0], by_rules(case)[1]),
        "trained judge alone": above(support),
        "cosine alone": above(cosine),
        "shared terms alone": above(shared),
        "conflict between documents": between_documents,
    }


def evidence(text: str, document: str, title: str) -> Evidence:
    """A whole document as evidence."""
    chunk = Chunk(document, document, document, title, 0, len(text), text)
    return Evidence(Hit(chunk, Score(1.0, UNIT), 1), 0, len(text), text)


def removed(cases: Sequence[Case], check: Check) -> dict[str, dict[str, Any]]:
    """For each kind of case how many are removed, with Wilson's interval."""
    kinds: dict[str, list[tuple[bool, bool]]] = {}
    for case in cases:
        kinds.setdefault(f"{case.data}: {case.error or 'true'}", []).append(check(case))
    return {
        kind: {
            "removed": wilson_interval(sum(gone for gone, _ in found), len(found)).to_dict(),
            "called_contradicted": sum(denied for _, denied in found),
        }
        for kind, found in kinds.items()
    }


def show(heading: str, results: dict[str, dict[str, dict[str, Any]]]) -> None:
    """A line for each kind of case."""
    print(f"\n{heading}: share removed [95 %]")
    for kind in next(iter(results.values())):
        cells = []
        for name, found in results.items():
            interval = found[kind]["removed"]
            cells.append(f"{name} {interval['value']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]")
        print(f"{kind:<36} n={interval['n']:<5} " + "  ".join(cells))


def main() -> None:
    """Measure the cases for choosing, and with --final the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="measure the final slice and write the results")
    parser.add_argument("--limit", type=int, help="only the first cases of each source: a quick look")
    given = parser.parse_args()
    tell()
    cases = [case for source in (scifact(), climate_fever(), squad()) for case in islice(source, given.limit)]
    for source in (clapnq(), wikipedia()):
        true = list(islice(source, given.limit))
        cases += [*true, *planted(true)]
    known = vectors(cases)
    tuning = [case for case in cases if not case.final]
    methods = checks(known, tuning)
    results = {"choosing": {name: removed(tuning, check) for name, check in methods.items()}}
    show("the cases thresholds were chosen on", results["choosing"])
    if given.final:
        final = [case for case in cases if case.final]
        results["final"] = {name: removed(final, check) for name, check in methods.items()}
        show("final", results["final"])
        keep("planted_errors", results)


if __name__ == "__main__":
    main()
