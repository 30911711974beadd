"""German and French questions over German and French documents: what finds the paragraph that answers.

    python -m benchmarks.languages [--encoder NAME]

Sixteen paragraphs and a question about each in both languages, written for this; a question has another form of its
words than the paragraph. Counted are the questions whose paragraph comes first by BM25 with English stems alone, by
BM25 as it is indexed, by the encoder, and the answers of `corrective` that hold the right words.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import thresher
from thresher.text.terms import chunk_terms, index_terms, query_terms

SETS = Path(__file__).with_suffix(".jsonl")
K1, B = 1.2, 0.75
Told = Sequence[tuple[str, str, str]]
"""A paragraph, a question about it, and words of the right answer."""


def sets() -> dict[str, list[tuple[str, str, str]]]:
    """The paragraphs with their questions and answers, by language."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for line in map(json.loads, SETS.read_text(encoding="utf-8").splitlines()):
        found.setdefault(line["language"], []).append((line["text"], line["question"], line["answer"]))
    return found


def own_terms(text: str) -> list[str]:
    """The terms of a text as they are indexed."""
    return chunk_terms("", text)


def first_by_words(texts: Sequence[list[str]], asked: Sequence[str]) -> int:
    """The text with the highest BM25."""
    average = sum(map(len, texts)) / len(texts)
    holding = Counter(term for text in texts for term in set(text))

    def score(text: list[str]) -> float:
        counts = Counter(text)
        long = K1 * (1 - B + B * len(text) / average)
        idf = {term: math.log(1 + (len(texts) - holding[term] + 0.5) / (holding[term] + 0.5)) for term in asked}
        return sum(idf[term] * counts[term] * (K1 + 1) / (counts[term] + long) for term in asked)

    return max(range(len(texts)), key=lambda at: score(texts[at]))


def by_words(told: Told, of_text: Callable[[str], list[str]], of_question: Callable[[str], list[str]]) -> int:
    """How many questions find their own paragraph by BM25 over these terms."""
    texts = [of_text(text) for text, _, _ in told]
    return sum(first_by_words(texts, of_question(question)) == at for at, (_, question, _) in enumerate(told))


def by_search(told: Told, collection: thresher.Collection, recipe: str, settings: Mapping[str, str]) -> int:
    """How many questions find their own paragraph by what a recipe retrieves first."""
    found = [collection.search(question, recipe=recipe, limit=1, settings=settings).hits for _, question, _ in told]
    return sum(bool(hits) and int(Path(hits[0].chunk.source).stem) == at for at, hits in enumerate(found))


HEADS = (
    *("language", "questions", "BM25, English stems", "BM25, as indexed"),
    *("encoder", "`hybrid`", "`corrective` right", "refused"),
)


def main() -> None:
    """Print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="", help="as the setting `encoder` has it; the bundled one otherwise")
    encoder_name = parser.parse_args().encoder
    print(
        f"encoder {encoder_name or 'bundled'}; questions whose paragraph comes first, and answers with the right words"
    )
    settings = {"encoder": encoder_name} if encoder_name else {}
    print(f"\n| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|", sep="\n")
    for language, told in sets().items():
        by_english, by_language = by_words(told, index_terms, index_terms), by_words(told, own_terms, query_terms)
        with tempfile.TemporaryDirectory() as folder, thresher.open(home=Path(folder) / "home") as collection:
            for at, (text, _, _) in enumerate(told):
                (Path(folder) / f"{at:02d}.txt").write_text(text, encoding="utf-8")
            collection.add(Path(folder), include="*.txt", recipe=("rag", "hybrid", "corrective"), settings=settings)
            by_vector, both = (by_search(told, collection, recipe, settings) for recipe in ("rag", "hybrid"))
            answers = [collection.ask(question, settings=settings) for _, question, _ in told]
        said = sum(words in answer.text for (_, _, words), answer in zip(told, answers, strict=True))
        refused = sum(answer.abstained for answer in answers)
        cells = (language, len(told), by_english, by_language, by_vector, both, said, refused)
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
