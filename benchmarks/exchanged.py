"""Is the neighbour told as the answer: questions with one word exchanged, beside the questions as people asked them.

    python -m benchmarks.exchanged [--engine TREE] [--write]

Questions to the articles of SQuAD's tune and final fifths, which no bundled model was trained on, with the first answer
that people marked; `research.contrasts` exchanges a word, a name or a number of each, mostly by another one of the same
paragraph. The paragraph then does not answer, and what answered the question before is the neighbour. It may be that
another paragraph does answer what is now asked. Counted: how often what is marked has the words that answered before.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.claims.measures import auroc, higher
from benchmarks.machine import CACHE, ROOT, rows
from benchmarks.quality.__main__ import asked
from benchmarks.quality.rows import Row
from benchmarks.quality.sets import QuestionSet, paragraphs
from benchmarks.questions.rules import Question
from benchmarks.seeds.rows import Provenance
from benchmarks.seeds.sections import table
from benchmarks.stale import ANSWERS, footing
from research.contrasts import Asked, Exchange, Exchanges, exchanged
from thresher_evals.dataset import split_of

QUESTIONS, SEED = 300, 11
PAGE = ROOT / "docs" / "results" / "exchanged.md"
COMMAND = "python -m benchmarks.exchanged --write"
OPENING = f"""# Questions with one word exchanged

<!-- Made by `{COMMAND}`; do not edit. -->

{QUESTIONS} questions to articles of SQuAD that no bundled model was trained on, and the same with a word, a name or a
number exchanged by a program, mostly by another one of the same paragraph (benchmarks/exchanged.py). To an exchanged
question what answered before is the neighbour: *said* as the answer it misleads. Another paragraph may answer what is
now asked, and a part of what the program writes is no good English."""


def questions() -> Iterator[tuple[Question, Question, str]]:
    """A question of people, the same with a word exchanged, and what kind of word; both expect the same answer."""
    found = [row for row in rows("squad/answered.jsonl") if row["answers"] and split_of(row["title"]) != "train"]
    known = [_asked(row) for row in found]
    draw = random.Random(SEED)
    exchanges, chosen = Exchanges(known, draw), list[tuple[Asked, Exchange]]()
    for one in known:
        if one.own and (ways := exchanges.of(one)):
            chosen.append((one, ways[0]))
    for at, (one, each) in enumerate(draw.sample(chosen, min(QUESTIONS, len(chosen)))):
        plain = Question(f"asked-{at}", "exchanged", "asked", one.question, answerable=True, expected=(one.answers,))
        other = replace(plain, id=f"exchanged-{at}", kind=each.kind, question=exchanged(one.question, each))
        yield plain, other, each.kind


def _asked(row: dict[str, Any]) -> Asked:
    answers = row["answers"]
    texts = tuple(dict.fromkeys(text for _, text in answers))
    return Asked("squad", row["question"], row["title"], row["context"], texts, answers[0][0])


def documents() -> Path:
    """The paragraphs of these articles, a file each."""
    of = [row for row in rows("squad/answered.jsonl") if split_of(row["title"]) != "train"]
    return paragraphs(of, CACHE / "exchanged")


def line(name: str, of: list[Row]) -> list[str | int]:
    """What became of some questions."""
    said = [row for row in of if row.is_said]
    with_answer = sum(row.is_right for row in said)
    states = [sum(row.state == state for row in of) for state in ("doubtful", "refused")]
    return [name, len(of), with_answer, len(said) - with_answer, *states]


def main() -> None:
    """Ask both, print and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", type=Path, default=ROOT, help="a checkout whose engine is asked")
    parser.add_argument("--write", action="store_true", help="write the page")
    given = parser.parse_args()
    chosen = list(questions())
    every = [one for plain, other, _ in chosen for one in (plain, other)]
    found = {row.id: row for row in asked("exchanged", QuestionSet({"exchanged": [documents()]}, every), given.engine)}
    lines = [line("as people asked", [found[plain.id] for plain, _, _ in chosen])]
    lines.append(line("exchanged", [found[other.id] for _, other, _ in chosen]))
    for kind in sorted({kind for *_, kind in chosen}):
        lines.append(line(f"exchanged, {kind}", [found[other.id] for _, other, of in chosen if of == kind]))
    header = ["questions", "n", "said, with the words that answered before", "said, other words", "in doubt", "refused"]
    shown = table(header, lines)
    pairs = [(found[plain.id].certainty or 0.0, found[other.id].certainty or 0.0) for plain, other, _ in chosen]
    above = sum(higher(*pair) for pair in pairs) / len(pairs)
    area = auroc([one for one, _ in pairs], [other for _, other in pairs])
    shown += (
        f"\n\nThe question as people asked it has the higher certainty in {above:.0%} of the pairs; area under the "
        f"curve {area:.3f}. A refusal whose evidence was not read counts as 0."
    )
    print(shown)
    if given.write:
        now = Provenance.now()
        of = (*ANSWERS, "research/contrasts.py")
        PAGE.write_text(f"{OPENING}\n\n{shown}\n\n{footing(now.commit, now.date, COMMAND, of)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
