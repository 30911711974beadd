"""Whether anything that is shown was dropped: every cited character against the evidence that the recipe kept.

    python -m benchmarks.kept [--questions 100] [--home HOME]

Each recipe and preset is asked the same questions of benchmarks/quality, offline: SQuAD and papers, drawn by a hash of
the id. A cited character is kept where a piece of evidence that `refine` handed on covers it; white space does not
count. Citations with other characters are printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import thresher
from benchmarks.quality.sets import SETS, WORK
from thresher import recipes
from thresher.answer import Answer
from thresher.types import Citation

ASKED_OF = ("squad", "papers")


def outside(answer: Answer) -> Iterator[tuple[Citation, str]]:
    """The citations with characters that no kept piece of evidence has, and those characters.

    The nearest sentences of a refusal may stand in what was dropped.
    """
    evidence = next((step.value.evidence for step in answer.steps if step.name == "refine"), ())
    kept = [(piece.hit.chunk.document_id, piece.start, piece.end) for piece in evidence]
    others = () if answer.abstained else answer.alternatives
    for citation in (*answer.citations, *(one.citation for one in others)):
        spans = [(start, end) for id_, start, end in kept if id_ == citation.document_id]
        places = range(citation.start, citation.end)
        bare = [at for at in places if not any(start <= at < end for start, end in spans)]
        if text := "".join(citation.quote[at - citation.start] for at in bare).strip():
            yield citation, text


def main() -> None:
    """Print the counts of each recipe."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--home", type=Path, default=WORK / "main")
    options = parser.parse_args()
    found = {name: SETS[name]() for name in ASKED_OF}
    every = [question for one in found.values() for question in one.questions]
    chosen = sorted(every, key=lambda one: sha256(one.id.encode()).hexdigest())[: options.questions]
    opened = {}
    for one in found.values():
        for name, sources in one.sources.items():
            opened[name] = thresher.open(options.home, name)
            opened[name].add(*sources)
    for recipe in recipes.names():
        counts = Counter[str]()
        for question in chosen:
            answer = opened[question.collection].ask(question.question, recipe=recipe)
            counts["refused" if answer.abstained else "answered"] += 1
            counts["citations"] += len(answer.citations) + len(answer.alternatives)
            for citation, text in outside(answer):
                counts["outside"] += 1
                print(f"  {recipe}, {question.id}, [{citation.marker}] {citation.source}: {text[:120]!r}")
        print(recipe, dict(counts), flush=True)


if __name__ == "__main__":
    main()
