"""What a budget of tokens keeps: answers in the spans of `search(..., max_tokens=...)` of those in the chunks whole.

python -m benchmarks.token_budget                 # three sets; eight minutes on two idle cores
python -m benchmarks.token_budget --only squad    # a part; results are written only where all three were measured

100 questions of SQuAD 2.0 (the 259 paragraphs of six articles), 100 of Natural Questions (2,000 passages of Wikipedia
and those retrieved for the questions) and 64 to 41 papers. Those of the first two are not those that anything was
chosen on; 52 of those to the papers are. The last lines ask every question twice, with the chunks whole and with 18 %
of their tokens, and count right answers: the bar is that 82 % are cut at equal answers (OpenProvence).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import thresher
from benchmarks.commands import HOME
from benchmarks.machine import BENCHMARKS, CACHE, DATA, ROOT, keep, rows, tell
from thresher.collection import Collection
from thresher.stores import registry
from thresher_evals.answerer_worth import Share, is_right
from thresher_evals.token_budgets import BudgetCurve

NUMBER = 100
CHOSEN_ON = 100
"""Questions of SQuAD and NQ, the first in the order of their hashes, that weights were chosen on."""

OTHERS = 2_000
"""Passages of Wikipedia beside those that the questions are about."""

BAR = 0.82
"""Of the tokens that are to be cut at equal answers."""

PAPERS = ROOT / "packages/thresher-evals/src/thresher_evals/datasets/papers.jsonl"

Asked = tuple[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Right answers from the chunks whole and from so many tokens of them, and how often one alone is right."""

    max_tokens: int
    whole: Share
    cut: Share
    only_whole: int
    only_cut: int

    @property
    def equal(self) -> bool:
        """Whether neither is known to be better (sign test on the questions they differ on)."""
        known = Share(self.only_whole, self.only_whole + self.only_cut)
        return known.low <= 0.5 <= known.high


# --- questions and collections ----------------------------------------------------------------------------------------


def in_order(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows by the hash of their id: an order that nobody chose."""
    return sorted(found, key=lambda row: hashlib.sha1(str(row["id"]).encode()).hexdigest())


def squad() -> list[Asked]:
    """Questions that their paragraph answers."""
    found = in_order(row for row in rows("squad/answered.jsonl") if row["answers"] and not row.get("unanswerable"))
    chosen = found[CHOSEN_ON : CHOSEN_ON + NUMBER]
    return [(row["question"], [text for _, text in row["answers"]]) for row in chosen]


def nq_rows() -> list[dict[str, Any]]:
    """Questions for which some passage holds an answer."""
    return in_order(row for row in rows("wikipedia/nq.jsonl") if row["silver_ids"])[CHOSEN_ON : CHOSEN_ON + NUMBER]


def nq() -> list[Asked]:
    """The same as pairs."""
    return [(row["question"], row["answers"]) for row in nq_rows()]


def papers() -> list[Asked]:
    """The 52 questions of the dataset `papers`, and the facts asked of the same papers by benchmarks/real_text."""
    known = [json.loads(line) for line in PAPERS.read_text(encoding="utf-8").splitlines()]
    text = (BENCHMARKS / "real_text" / "questions.jsonl").read_text(encoding="utf-8")
    further = [json.loads(line) for line in text.splitlines()]
    facts = in_order(
        row
        for row in further
        if row["source"] == "papers" and row["answerable"] and row["kind"] == "fact" and len(row["expected"]) == 1
    )
    asked: list[Asked] = [(row["question"], row["answers"]) for row in known if row["answers"]]
    return [*asked, *((row["question"], row["expected"][0]) for row in facts)][:NUMBER]


def opened(name: str) -> Collection:
    """The collection of a set, made at its first use."""
    collection = thresher.open(HOME, f"token_budget_{name}")
    if registry.recorded(collection.folder) is None:
        source = DATA / "papers" if name == "papers" else corpus(name)
        collection.add(source, exclude="broken", recipe="corrective")
    return collection


def corpus(name: str) -> Path:
    """A file of the passages of a set."""
    if name == "squad":
        contexts = {row["context"]: row["title"].replace("_", " ") for row in rows("squad/answered.jsonl")}
        passages = [
            {"_id": f"{title} {number}", "title": title, "text": context}
            for number, (context, title) in enumerate(contexts.items())
        ]
    else:
        wanted = {id_ for row in nq_rows() for id_ in (*row["silver_ids"], *row["retrieved_ids"])}
        every = rows("wikipedia/corpus.jsonl")
        others = [row for row in every if row["_id"] not in wanted][:OTHERS]
        passages = [*(row for row in every if row["_id"] in wanted), *others]
    file = CACHE / "token_budget" / name / "corpus.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in passages), encoding="utf-8")
    return file


SETS = {"squad": squad, "nq": nq, "papers": papers}


# --- measuring --------------------------------------------------------------------------------------------------------


def compared(collection: Collection, asked: Sequence[Asked], most: int) -> Compared:
    """Every question asked with and without the budget."""

    def right(question: str, answers: Sequence[str], max_tokens: int | None) -> bool:
        return is_right(collection.ask(question, max_tokens=max_tokens), answers)

    pairs = [(right(*one, None), right(*one, most)) for one in asked]
    share = partial(Share, n=len(pairs))
    return Compared(
        most,
        share(sum(whole for whole, _ in pairs)),
        share(sum(cut for _, cut in pairs)),
        sum(whole and not cut for whole, cut in pairs),
        sum(cut and not whole for whole, cut in pairs),
    )


def show(name: str, curve: BudgetCurve, answers: Compared) -> None:
    """Rows of a Markdown table, and what answers come to."""
    print(f"{name}: {curve.found.right} of {curve.found.n} answers in the chunks, {curve.chunk_tokens:.0f} tokens")
    for point in curve.points:
        kept = f"{100 * point.kept.value:.0f} % [{100 * point.kept.low:.0f}, {100 * point.kept.high:.0f}]"
        print(f"| {point.max_tokens} | {kept} | {point.tokens:.0f} | {100 * (1 - point.of_chunks):.0f} % |")
    equal = "equal" if answers.equal else "not equal"
    print(
        f"right answers: {answers.whole.right} whole, {answers.cut.right} within {answers.max_tokens} tokens "
        f"({answers.only_whole} only whole, {answers.only_cut} only cut: {equal})"
    )


def main() -> None:
    """Measure the sets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=SETS, help="one set alone")
    given = parser.parse_args()
    tell()
    results: dict[str, Any] = {}
    for name in [given.only] if given.only else list(SETS):
        asked = SETS[name]()
        with opened(name) as collection:
            curve = collection.measure_budget(asked)
            assert isinstance(curve, BudgetCurve)
            at_bar = round((1 - BAR) * curve.chunk_tokens)
            answers = compared(collection, asked, at_bar)
        show(name, curve, answers)
        told = {"whole": answers.whole.to_dict(), "cut": answers.cut.to_dict(), "max_tokens": at_bar}
        only = {"only_whole": answers.only_whole, "only_cut": answers.only_cut, "equal": answers.equal}
        results[name] = {**curve.to_dict(), "answers": {**told, **only}}
    if not given.only:
        keep("token_budget", results)


if __name__ == "__main__":
    main()
