"""What becomes of a false statement in another document, without a chat model: is the conflict shown?

    .venv/bin/python -m benchmarks.planted_conflicts            the facts and questions that rules may be chosen on
    .venv/bin/python -m benchmarks.planted_conflicts --final    the other half; writes results/planted_conflicts.json
    .venv/bin/python -m benchmarks.planted_conflicts --parts copied reworded     a part of it

A fact is a question of SQuAD whose answer is a number, a date or a name. The documents are SQuAD's paragraphs, each
with the title of its article, and for each fact one document that says another value: once the sentence of the answer
and the one behind it with the value replaced (`copied`), once other words (`reworded`), written by hand in the file
benchmarks/conflicts/facts.jsonl with the question in view: they share more of its words than a stranger's would. Once
these other words stand in the same document, behind the last paragraph of the article (`within`).
`corrective` is asked.

Alarms: answerable questions to documents in which nothing is planted: SQuAD's paragraphs (with the questions of the
facts), the Wikipedia passages that were retrieved for questions of PopQA and NQ, 25 papers, office files, and documents
that are alike but for a name, a year or a number. A conflict that is shown there is a false one unless the passages do
contradict each other: each was read, and `read` says what it is.

Facts and questions whose sha1("half:ID") is even are for choosing.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import thresher
from benchmarks.machine import BENCHMARKS, CACHE, keep, rows, tell
from benchmarks.questions import rules
from benchmarks.speakers import questions, sources
from thresher.text.sentences import sentence_spans
from thresher.types import HERE, IN_DOUBT
from thresher_evals.dataset import sha1_number
from thresher_evals.metrics.answers import MARKER, match_norm
from thresher_evals.stats import wilson_interval

FOLDER = CACHE / "planted_conflicts"
FACTS = BENCHMARKS / "conflicts" / "facts.jsonl"
READ = BENCHMARKS / "conflicts" / "read.json"
"""What was found by eye of each conflict that was shown where nothing is planted."""

FORMS = ("copied", "reworded", "within")
OPEN = ("popqa", "nq")
MADE = ("papers", "office", "reports", "invoices", "records")
"""Collections of benchmarks/questions and benchmarks/speakers."""

ALARMS = ("squad", *OPEN, *MADE)
MOST_ASKED = 200
"""Questions of a set without planted documents, the first by hash; those of the facts before others."""


@dataclass(frozen=True)
class Fact:
    """A question, its right answers, and a document that says another value."""

    id: str
    question: str
    right: tuple[str, ...]
    """Empty where rules say what is right; nothing is counted right then."""
    false: str = ""
    planted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The document of each form: `title` and `text`."""

    @property
    def final(self) -> bool:
        """Whether nothing is chosen on it."""
        return is_final(self.id)


@dataclass(frozen=True)
class Row:
    """One answer, and whether it shows a conflict."""

    part: str
    id: str
    question: str
    text: str
    abstained: bool
    conflicts: int
    right: bool
    false: bool
    shown: bool
    """Whether one side of a conflict is the planted document (`within`: has the false value), and the other is not."""
    quotes: tuple[str, ...]
    """What the sides of the conflicts say."""
    seconds: float


def is_final(id_: str) -> bool:
    """Whether a question is of the half that is reported once."""
    return sha1_number(f"half:{id_}") % 2 == 1


# --- the documents and the questions ----------------------------------------------------------------------------------


def facts() -> list[Fact]:
    """The facts of the file, with the words of SQuAD."""
    known = {row["id"]: row for row in rows("squad/answered.jsonl")}
    found = []
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        made = json.loads(line)
        row = known[made["id"]]
        start, answer = row["answers"][0]
        planted = {
            "copied": {"title": made["title"], "text": copied(row["context"], start, answer, made["false"])},
            "reworded": {"title": made["title"], "text": made["text"]},
            "within": {"title": title_of(row), "text": made["text"]},
        }
        found.append(Fact(made["id"], row["question"], answers_of(row), made["false"], planted))
    return found


def answers_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers that SQuAD gives."""
    return tuple(dict.fromkeys(text for _, text in row["answers"]))


def copied(context: str, start: int, answer: str, false: str) -> str:
    """The sentence of an answer and the one behind it, with another value in the answer's place."""
    spans = sentence_spans(context)
    at = next(number for number, (_, end) in enumerate(spans) if start < end)
    first, last = spans[at][0], spans[min(at + 1, len(spans) - 1)][1]
    return context[first:start] + false + context[start + len(answer) : last]


def paragraphs() -> Iterator[dict[str, str]]:
    """SQuAD's paragraphs as documents."""
    seen = set()
    for row in rows("squad/answered.jsonl"):
        key = (row["title"], row["paragraph"])
        if key not in seen:
            seen.add(key)
            yield {"_id": f"{row['title']}-{row['paragraph']}", "title": title_of(row), "text": row["context"]}


def articles() -> Iterator[dict[str, str]]:
    """Each article of SQuAD as one document, with the false statements about it behind its paragraphs."""
    texts: dict[str, list[str]] = {}
    for one in paragraphs():
        texts.setdefault(one["title"], []).append(one["text"])
    for fact in facts():
        texts[fact.planted["within"]["title"]].append(fact.planted["within"]["text"])
    for title, pieces in texts.items():
        yield {"_id": title, "title": title, "text": "\n\n".join(pieces)}


def title_of(row: Mapping[str, Any]) -> str:
    """The name of an article."""
    return str(row["title"]).replace("_", " ")


def passages() -> list[dict[str, Any]]:
    """The Wikipedia passages that belong to a question of PopQA or NQ."""
    wanted = {id_ for row in rows("wikipedia/nq.jsonl") for id_ in row["retrieved_ids"]}
    wanted |= {id_ for row in rows("wikipedia/popqa.jsonl") for id_ in row["gold_ids"]}
    return [row for row in rows("wikipedia/corpus.jsonl") if row["_id"] in wanted]


def asked(part: str) -> list[Fact]:
    """The answerable questions of a set in which nothing is planted."""
    found: list[Fact] = []
    if part in MADE:
        found = [Fact(one.id, one.question, ()) for one in rules.load() if one.collection == part and one.answerable]
        found += [Fact(one.id, one.question, ()) for one in questions.load() if one.collection == part and one.gold]
    elif part in OPEN:
        found = [Fact(row["id"], row["question"], tuple(row["answers"])) for row in rows(f"wikipedia/{part}.jsonl")]
    else:
        answerable = [row for row in rows("squad/answered.jsonl") if row["answers"]]
        found = [Fact(row["id"], row["question"], answers_of(row)) for row in answerable]
    planted = {fact.id for fact in facts()}
    return sorted(found, key=lambda one: (one.id not in planted, sha1_number(f"asked:{one.id}")))[:MOST_ASKED]


def indexed(name: str, documents: Iterable[Mapping[str, Any]]) -> Path:
    """The home of a collection of these documents, indexed once."""
    home = FOLDER / "home"
    corpus = FOLDER / name / "corpus.jsonl"
    if not corpus.is_file():
        corpus.parent.mkdir(parents=True, exist_ok=True)
        unfinished = corpus.with_suffix(".new")
        lines = (json.dumps(dict(one), ensure_ascii=False) + "\n" for one in documents)
        unfinished.write_text("".join(lines), encoding="utf-8")
        with thresher.open(home, collection=name) as collection:
            collection.add(unfinished.rename(corpus), recipe="corrective")
    return home


def collection_of(part: str) -> tuple[Path, str]:
    """Home and name of the collection that a part is asked of."""
    if part in MADE:
        sources.index([part], ["corrective"])
        return sources.HOME, part
    if part in OPEN:
        return indexed("passages", passages()), "passages"
    if part == "within":
        return indexed(part, articles()), part
    planted = [{"_id": f"planted-{one.id}", **one.planted[part]} for one in facts()] if part in FORMS else []
    return indexed(part, [*paragraphs(), *planted]), part


def states(said: str, values: Sequence[str]) -> bool:
    """Whether an answer has the words of a value, or is a part of one: 350,000 of 350,000 Danish krone."""
    plain = said.removeprefix(IN_DOUBT).removeprefix(HERE).replace("°", "")
    return match_norm(plain, values) or any(match_norm(value, (plain,)) for value in values)


# --- asking -----------------------------------------------------------------------------------------------------------


def ask(part: str, *, final: bool) -> list[Row]:
    """Every question of a part and half."""
    home, name = collection_of(part)
    found = []
    with thresher.open(home, collection=name) as collection:
        for fact in facts() if part in FORMS else asked(part):
            if fact.final == final:
                started = process_time()
                answer = collection.ask(fact.question, recipe="corrective").to_dict()
                found.append(row_of(part, fact, answer, process_time() - started))
    return found


def row_of(part: str, fact: Fact, answer: Mapping[str, Any], seconds: float) -> Row:
    """What an answer says."""
    cited = {citation["marker"]: citation for citation in answer["citations"]}
    text = answer["text"]
    said = MARKER.sub("", text)
    planted = fact.planted.get(part, {}).get("title")

    def is_planted(side: Mapping[str, Any]) -> bool:
        return states(side["quote"], (fact.false,)) if part == "within" else side["title"] == planted

    sides = [[cited[marker] for marker in pair] for pair in answer["conflicts"]]
    return Row(
        part,
        fact.id,
        fact.question,
        text,
        answer["abstained"],
        len(sides),
        not answer["abstained"] and states(said, fact.right),
        not answer["abstained"] and bool(fact.false) and states(said, (fact.false,)),
        bool(fact.false) and any(set(map(is_planted, pair)) == {True, False} for pair in sides),
        tuple(f"{side['title']}: {side['quote']}" for pair in sides for side in pair),
        round(seconds, 3),
    )


def stored(file: Path | None) -> list[Row]:
    """The answers that a file keeps."""
    if file is None or not file.is_file():
        return []
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Row(**{**line, "quotes": tuple(line["quotes"])}) for line in lines]


def store(file: Path | None, found: Sequence[Row]) -> None:
    """Keep answers in a file."""
    if file is not None:
        lines = (json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in found)
        file.write_text("".join(lines), encoding="utf-8")


# --- counting ---------------------------------------------------------------------------------------------------------


def counted(found: Sequence[Row]) -> dict[str, Any]:
    """What becomes of the facts of a form."""
    outcome = Counter(outcome_of(row) for row in found)
    either = len(found) - outcome["refused"] - outcome["something else"]
    return {
        "asked": len(found),
        **{name: outcome[name] for name in OUTCOMES},
        "shown of those with either value": wilson_interval(outcome["conflict shown"], either).to_dict(),
        "CPU seconds a question": share(sum(row.seconds for row in found), len(found)),
    }


OUTCOMES = ("conflict shown", "false alone", "right alone", "something else", "refused")


def outcome_of(row: Row) -> str:
    """One of `OUTCOMES`."""
    if row.shown:
        return "conflict shown"
    if row.abstained:
        return "refused"
    return "false alone" if row.false else "right alone" if row.right else "something else"


def alarms(found: Sequence[Row], read: Mapping[str, str]) -> dict[str, Any]:
    """How often a conflict is shown where none was planted."""
    answered = [row for row in found if not row.abstained]
    shown = [row for row in answered if row.conflicts]
    return {
        "asked": len(found),
        "answered": len(answered),
        "right": sum(row.right for row in answered),
        "conflict shown": len(shown),
        "share": wilson_interval(len(shown), len(answered)).to_dict(),
        "read": dict(Counter(read.get(f"{row.part} {row.id}", "not read") for row in shown)),
        "CPU seconds a question": share(sum(row.seconds for row in found), len(found)),
    }


def share(part: float, whole: int) -> float:
    """A share with three digits; 0 of nothing."""
    return round(part / whole, 3) if whole else 0.0


def main() -> None:
    """Ask, show, and keep what was whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="the half that nothing was chosen on")
    parser.add_argument("--parts", nargs="+", choices=(*FORMS, *ALARMS), default=(*FORMS, *ALARMS), metavar="PART")
    parser.add_argument("--rows", type=Path, help="keep every answer in this file; a part that is there is not asked")
    given = parser.parse_args()
    tell()
    read: dict[str, str] = json.loads(READ.read_text(encoding="utf-8")) if READ.is_file() else {}
    results: dict[str, Any] = {}
    found = stored(given.rows)
    for part in given.parts:
        if not any(row.part == part for row in found):
            found += ask(part, final=given.final)
            store(given.rows, found)
        of_part = [row for row in found if row.part == part]
        results[part] = counted(of_part) if part in FORMS else alarms(of_part, read)
        print(part, json.dumps(results[part]), flush=True)
    for row in found:
        if row.part in ALARMS and row.conflicts:
            print(f"\n{row.part} {row.id}: {row.question}\n{row.text}", *row.quotes, sep="\n  ")
    if given.final and set(given.parts) == {*FORMS, *ALARMS}:
        keep("planted_conflicts", results)


if __name__ == "__main__":
    main()
