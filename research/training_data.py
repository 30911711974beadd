"""Makes the training data of the bundled judge: questions with passages and sentences that answer them or do not.

    .venv/bin/python -m research.training_data --out training        # about 10 minutes on two cores

Writes `groups.jsonl` (a question, texts that answer it with the places of the answer, texts that do not),
`tune.jsonl` (groups of the tune fifth, to follow the training on) and `manifest.json` (counts, and the SHA-256 of every
file read and written). Only the three training fifths of each set are trained on: sha1("split:KEY") modulo 5 is 0, 1 or
2, KEY being the subject, the article or the question's id. A question that is worded like one of the other two fifths
of any set is left out, so that sets which share questions (Natural Questions, CLAPnq and ASQA; the two PopQA files) do
not leak into each other; so is every passage known to answer one of them from the made questions.

Negatives are the best of BM25 and the encoder that do not answer; where only strings tell (Natural Questions,
TriviaQA), a passage that holds an answer and is not known to answer is on neither side.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA, rows
from benchmarks.planted_errors import untokenised
from research.pools import Pool, by_words, candidates, grades, holds, paragraphs, plain, slice_of
from research.training_texts import (
    NEGATIVES,
    Group,
    Passage,
    at_row,
    first_sentences,
    made,
    passage,
    sentence_group,
)
from thresher.models.encoders import BundledEncoder
from thresher_evals.datasets.records import digest

SEED = 7
SAME_QUESTION = 0.93
"""Cosine above which two questions count as the same one, worded differently."""

FILES = {
    "wikipedia/popqa.jsonl": "subject",
    "popqa_longtail/questions.jsonl": "subject",
    "wikipedia/nq.jsonl": "id",
    "wikipedia/triviaqa.jsonl": "id",
    "squad/answered.jsonl": "title",
    "squad/questions_only.jsonl": "title",
    "clapnq/questions.jsonl": "id",
    "asqa/questions.jsonl": "id",
    "multihop_rag/questions.jsonl": "id",
    "scifact/queries.jsonl": "_id",
    "climate_fever/claims.jsonl": "claim_id",
}
"""Every file with questions or claims, and the field whose hash decides the split."""


def training(key: str) -> bool:
    """Whether a key falls in the three training fifths."""
    return slice_of(key) < 3


# --- which questions may not be used ----------------------------------------------------------------------------------


class HeldOut:
    """The questions of the tune and final fifths of all sets, compared by words and by meaning."""

    def __init__(self, encoder: BundledEncoder) -> None:
        self._encoder = encoder
        held = [
            row.get("question") or row.get("claim") or row["text"]
            for name, key in FILES.items()
            for row in rows(name)
            if not training(str(row[key]))
        ]
        self._words = {plain(question) for question in held}
        self._vectors = encoder.encode(held)
        self.dropped = 0
        self.tuning = False
        """Whether the tune fifth is wanted instead, to follow the training on."""

    def free(self, questions: Sequence[str]) -> list[bool]:
        """Which of the questions may be trained on."""
        near = (self._encoder.encode(questions) @ self._vectors.T).max(axis=1) > SAME_QUESTION
        verdicts = [
            self.tuning or (plain(question) not in self._words and not alike)
            for question, alike in zip(questions, near.tolist(), strict=True)
        ]
        self.dropped += verdicts.count(False)
        return verdicts

    def wants(self, key: str) -> bool:
        """Whether a key falls in the fifths that are read."""
        return slice_of(key) == 3 if self.tuning else training(key)

    def select(self, name: str) -> list[dict[str, Any]]:
        """The rows of a file that may be trained on; with `tuning` those of the tune fifth."""
        key = FILES[name]
        found = [row for row in rows(name) if self.wants(str(row[key]))]
        texts = [row.get("question") or row.get("claim") or row["text"] for row in found]
        return [row for row, free in zip(found, self.free(texts), strict=True) if free]

    def with_near(
        self, name: str, pool: Pool, number: int, field: str = "question"
    ) -> Iterator[tuple[dict[str, Any], list[int]]]:
        """The rows that may be trained on, each with the rows of the pool that are nearest to its question."""
        found = self.select(name)
        for row, vector in zip(found, self._encoder.encode([row[field] for row in found]), strict=True):
            yield row, [one.row for one in candidates(pool, row[field], vector, number=number)]


# --- the sets ---------------------------------------------------------------------------------------------------------


def wikipedia_questions(pool: Pool, held: HeldOut, name: str) -> Iterator[Group]:
    """PopQA, Natural Questions and TriviaQA over the pool."""
    for row, near in held.with_near(f"wikipedia/{name}.jsonl", pool, 40):
        if name == "popqa":
            subject = plain(row["subject"])
            right = {at for at in near if subject in pool.plain[at] and holds(pool.plain[at], row["answers"])}
            gold = pool.at.get(row["gold_ids"][0])
            if gold is not None and holds(pool.plain[gold], row["answers"]):
                right.add(gold)
            unclear: set[int] = set()
        else:
            right = {pool.at[id_] for id_ in row["silver_ids"] if id_ in pool.at}
            unclear = {at for at in near if holds(pool.plain[at], row["answers"])} - right
        wrong = [at for at in near if at not in right and at not in unclear]
        positives = [at_row(pool, at, row["answers"]) for at in sorted(right)]
        yield Group(name, "passage", row["question"], positives, [at_row(pool, at) for at in wrong[:NEGATIVES]])


def long_tail(held: HeldOut, pool: Pool) -> Iterator[Group]:
    """Long-tail PopQA over windows of CRAG's own contexts; negatives from the pool."""
    for row, near in held.with_near("popqa_longtail/questions.jsonl", pool, 12):
        right, wrong = [], []
        for text in by_words(row["internal"] + " " + row["web"]):
            about = plain(row["subject"]) in plain(text)
            one = passage("", text, row["answers"])
            if about and one.spans:
                right.append(one)
            elif not one.spans:
                wrong.append(one)
        others = [at for at in near if not holds(pool.plain[at], row["answers"])]
        negatives = [*wrong[:12], *[at_row(pool, at) for at in others]]
        yield Group("popqa-longtail", "passage", row["question"], right[:4], negatives[:NEGATIVES])


def squad(held: HeldOut, encoder: BundledEncoder) -> Iterator[Group]:
    """Paragraph retrieval; the answered ones with their places, the unanswerable ones with nothing that answers."""
    every = rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl")
    wanted = [row for row in every if held.wants(row["title"])]
    pool = Pool("tune_squad" if held.tuning else "train_squad", paragraphs(wanted), encoder)
    for name in ("squad/answered.jsonl", "squad/questions_only.jsonl"):
        for row, found in held.with_near(name, pool, 20):
            own = pool.at[f"{row['title']}:{row['paragraph']}"]
            near = [at for at in found if at != own]
            answers = {tuple(answer) for answer in row["answers"] or ()}
            spans = sorted({(start, start + len(text)) for start, text in answers})
            here = Passage(pool.chunks[own].title, pool.chunks[own].text, spans)
            negatives = [at_row(pool, at) for at in near[:NEGATIVES]]
            if row["unanswerable"]:
                yield Group("squad", "passage", row["question"], [], negatives, [here])
            else:
                certain = row["unanswerable"] is not None
                set_ = "squad" if certain else "squad-questions"
                yield Group(set_, "passage", row["question"], [here], negatives, certain=certain)


def scifact_claims(held: HeldOut, encoder: BundledEncoder) -> Iterator[Group]:
    """Claims over abstracts."""
    pool = Pool("train_scifact", rows("scifact/corpus.jsonl"), encoder)
    relevant = {claim: {pool.at[document] for document in found} for claim, found in grades("scifact").items()}
    for row, near in held.with_near("scifact/queries.jsonl", pool, 40, "text"):
        if right := relevant.get(row["_id"]):
            positives = [at_row(pool, at) for at in sorted(right)]
            wrong = [at_row(pool, at) for at in near if at not in right]
            yield Group("scifact", "passage", row["text"], positives, wrong[:NEGATIVES])


def clapnq_questions(held: HeldOut, pool: Pool) -> Iterator[Group]:
    """Passages, and their sentences as people selected them."""
    for row, near in held.with_near("clapnq/questions.jsonl", pool, 30):
        (given, *_), (output, *_) = row["passages"], row["output"]
        chosen = set(output["selected_sentences"] or ())
        here = Passage(given["title"], untokenised(given["text"]))
        about = plain(given["title"])
        others = [at_row(pool, at) for at in near if about not in pool.plain[at]][:NEGATIVES]
        answered = bool(chosen)
        yield Group("clapnq", "passage", row["question"], [here] * answered, others, [] if answered else [here])
        sentences = [(text in chosen, Passage(given["title"], untokenised(text))) for text in given["sentences"]]
        right = [one for good, one in sentences if good]
        wrong = [one for good, one in sentences if not good]
        negatives = [*wrong, *first_sentences(others)][:NEGATIVES]
        yield Group("clapnq", "sentence", row["question"], right, negatives, [] if right else wrong[:2])


def climate_claims(held: HeldOut, encoder: BundledEncoder) -> Iterator[Group]:
    """Sentences that support or refute a claim, against those that say nothing and those of other claims."""
    found = held.select("climate_fever/claims.jsonl")
    every = [evidence for row in found for evidence in row["evidences"]]
    encoded = encoder.encode([evidence["evidence"] for evidence in every])
    for row, vector in zip(found, encoder.encode([row["claim"] for row in found]), strict=True):
        own = {evidence["evidence_id"] for evidence in row["evidences"]}
        right = [e for e in row["evidences"] if e["evidence_label"] != "NOT_ENOUGH_INFO"]
        near = [every[at] for at in (-(encoded @ vector)).argsort()[:40] if every[at]["evidence_id"] not in own]
        unanimous = [e for e in row["evidences"] if {*e["votes"]} <= {"NOT_ENOUGH_INFO", None}]
        negatives = [as_passage(e) for e in [*unanimous, *near[5:]]][:NEGATIVES]
        yield Group("climate-fever", "sentence", row["claim"], [as_passage(e) for e in right], negatives)


def as_passage(evidence: dict[str, Any]) -> Passage:
    """A sentence of evidence under its article."""
    return Passage(evidence["article"], evidence["evidence"].strip('"'))


def multihop(held: HeldOut, encoder: BundledEncoder) -> Iterator[Group]:
    """Facts that a question needs, against facts of other questions."""
    found = [row for row in held.select("multihop_rag/questions.jsonl") if row["evidence_list"]]
    facts = {e["fact"]: e for row in rows("multihop_rag/questions.jsonl") for e in row["evidence_list"]}
    texts = list(facts)
    encoded = encoder.encode(texts)
    for row, vector in zip(found, encoder.encode([row["question"] for row in found]), strict=True):
        own = {e["title"] for e in row["evidence_list"]}
        near = [facts[texts[at]] for at in (-(encoded @ vector)).argsort()[:60]]
        negatives = [Passage(e["title"], e["fact"]) for e in near if e["title"] not in own][:NEGATIVES]
        positives = [Passage(e["title"], e["fact"]) for e in row["evidence_list"]]
        yield Group("multihop", "sentence", row["question"], positives, negatives, certain=False)


def asqa(held: HeldOut, pool: Pool, encoder: BundledEncoder) -> Iterator[Group]:
    """Disambiguated questions over the knowledge that annotators quoted."""
    for row in held.select("asqa/questions.jsonl"):
        quoted = [each for note in row["annotations"] for each in note["knowledge"] if each["content"]]
        known = {each["content"]: each["wikipage"] or "" for each in quoted}
        pairs = [(row["question"], [a for pair in row["qa_pairs"] for a in pair["short_answers"] if a])]
        pairs += [(pair["question"], [a for a in pair["short_answers"] if a]) for pair in row["qa_pairs"][:4]]
        free = held.free([question for question, _ in pairs])
        for (question, answers), vector in zip(pairs, encoder.encode([q for q, _ in pairs]), strict=True):
            if not free[0] or not answers:
                continue
            here = [passage(title, text, answers) for text, title in known.items() if len(text) > 40]
            right = [one for one in here if one.spans]
            wrong = [one for one in here if not one.spans]
            near = [c.row for c in candidates(pool, question, vector, number=20)]
            others = [at_row(pool, at) for at in near if not holds(pool.plain[at], answers)]
            negatives = [*wrong, *others][:NEGATIVES]
            if right:
                yield Group("asqa", "passage", question, right, negatives, certain=question != row["question"])


# --- writing ----------------------------------------------------------------------------------------------------------


def write(path: Path, found: Iterable[dict[str, Any]]) -> Counter[str]:
    """JSON Lines; how many of each set."""
    counts: Counter[str] = Counter()
    with path.open("w", encoding="utf-8") as file:
        for row in found:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts[f"{row['set']} {row.get('kind', 'claim')}"] += 1
    return counts


def main() -> None:
    """Write groups, tune groups and the manifest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    encoder = BundledEncoder()
    held = HeldOut(encoder)
    pool = Pool("pool", rows("wikipedia/corpus.jsonl"), encoder)
    blocked = {
        pool.at[id_]
        for name in ("popqa", "nq", "triviaqa")
        for row in rows(f"wikipedia/{name}.jsonl")
        if not training(row[FILES[f"wikipedia/{name}.jsonl"]])
        for id_ in (row.get("gold_ids") or row.get("silver_ids") or ())
        if id_ in pool.at
    }

    def of_people() -> Iterator[Group]:
        sources = [wikipedia_questions(pool, held, name) for name in ("popqa", "nq", "triviaqa")]
        sources += [long_tail(held, pool), squad(held, encoder)]
        for source in sources:
            for group in source:
                yield group
                sentences = sentence_group(group) if group.certain else None
                if sentences is not None:
                    yield sentences
        yield from scifact_claims(held, encoder)
        yield from clapnq_questions(held, pool)
        yield from climate_claims(held, encoder)
        yield from multihop(held, encoder)
        yield from asqa(held, pool, encoder)

    def usable(found: Iterable[Group]) -> Iterator[dict[str, Any]]:
        return (asdict(group) for group in found if group.negatives and (group.positives or group.near))

    made_of = made(pool, blocked, encoder, random.Random(SEED))
    counts = write(arguments.out / "groups.jsonl", usable(chain(of_people(), made_of)))
    held.tuning = True
    write(arguments.out / "tune.jsonl", usable(of_people()))
    manifest = {
        "counts": dict(sorted(counts.items())),
        "left out, like a held-out question": held.dropped,
        "read": {name: digest(DATA / name) for name in (*FILES, "wikipedia/corpus.jsonl", "scifact/corpus.jsonl")},
        "written": {name: digest(arguments.out / name) for name in ("groups.jsonl", "tune.jsonl")},
    }
    text = json.dumps(manifest, indent=1)
    (arguments.out / "manifest.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
