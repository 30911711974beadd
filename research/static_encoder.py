"""Static token vectors instead of the bundled encoder: boundaries of semantic chunks, first retrieval, speed.

    .venv/bin/python -m research.distil_static_encoder
    .venv/bin/python -m research.static_encoder

Boundaries: documents of eight runs of two to eight sentences, each from another Wikipedia passage, SQuAD paragraph or
SciFact abstract, joined by spaces; where a run begins is known. Each encoder has its own `theta` for each source, the
one with the least Pk on the tuning documents, which share no article with the others. Pk (Beeferman et al. 1999),
WindowDiff (Pevzner and Hearst 2002) and F1 of the boundaries count sentences; the window is half a mean run.

Retrieval: SciFact's abstracts, unchunked, and its training claims; BM25 with our terms, 20 + 20 candidates, fused by
weighted scores; differences are to the bundled encoder at the weight that is shipped, 0.4. The judge is the local one,
uncalibrated, with the bundled encoder in both arms.

One thread. What the bundled encoder says is kept in research/.cache, since only the timed parts must run again.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import DATA, RESEARCH, keep, rows, tell
from research.distil_static_encoder import TARGET, TRAINING_PARTS, loaded_tokenizer
from research.pools import CUTOFF, grades, ndcg
from thresher.chunking.semantic import SemanticChunker
from thresher.documents.read import fetch, parse
from thresher.documents.sources import Item
from thresher.judging.scorers import LocalRelevance
from thresher.models.encoders import BundledEncoder, RememberingEncoder
from thresher.text.sentences import sentence_spans
from thresher.text.terms import TITLE_WEIGHT, index_terms, query_terms
from thresher.types import Document
from thresher_evals.stats import mean_interval, paired_difference

Matrix = NDArray[np.float32]

TUNING, TESTING = 150, 300  # documents of each source
RUNS, RUN_SENTENCES = 8, (2, 8)
THETAS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
MARGIN = 0.01  # of Pk and of nDCG@10: more than this is not "equal"
FASTER_CHUNKS, FASTER_TEXTS = 20, 10
ROUNDS = 7
PAPERS = ("BERT.pdf", "2005.11401.pdf", "GPT2.pdf")
ENCODED_BLOCK = 48  # abstracts a round
DENSE_WEIGHTS = (0.2, 0.3, 0.4)  # 0.4 is what `hybrid` ships; a weaker encoder may deserve less
DEPTH = 20
JUDGED_CLAIMS = 120
JUDGE_WEIGHT = 0.35  # what `corrective` ships
UNCUT = 1_000_000


class StaticEncoder:
    """Texts to unit vectors: the sum of their tokens' vectors, scaled to length 1."""

    max_tokens = 1_000_000

    def __init__(self, table: Path) -> None:
        self.name = f"static-{table.stem}"
        self._table = np.load(table).astype(np.float32)
        self._tokenizer = loaded_tokenizer()

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self._table.shape[1])

    def encode(self, texts: Sequence[str], *, block: int = 256) -> Matrix:
        """(n_texts, dimension) float32; a text without tokens is all zeros but the first number."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), block):
            clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts[start : start + block]]
            encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
            rows = [(start + row, encoding.ids) for row, encoding in enumerate(encodings) if encoding.ids]
            if rows:
                begins = np.cumsum([0, *(len(ids) for _, ids in rows[:-1])])
                tokens = self._table[np.concatenate([ids for _, ids in rows])]
                vectors[[row for row, _ in rows]] = np.add.reduceat(tokens, begins, axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[lengths[:, 0] == 0, 0] = 1
        return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


def kept_vectors(encoder: BundledEncoder, texts: Sequence[str]) -> Matrix:
    """The encoder's vectors, from a file where these very texts were encoded before."""
    digest = hashlib.sha256(json.dumps([encoder.name, *texts]).encode()).hexdigest()[:16]
    file = TARGET / f"texts-{digest}.npy"
    if not file.is_file():
        np.save(file, encoder.encode(texts))
    return np.asarray(np.load(file))


# --- documents with known boundaries ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joined:
    """A text, its sentences' spans, and which of them begin a run; the first always does."""

    text: str
    spans: tuple[tuple[int, int], ...]
    begins: NDArray[np.bool_]

    @property
    def sentences(self) -> list[str]:
        """The texts of the spans."""
        return [self.text[start:end] for start, end in self.spans]


def passages() -> dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]]:
    """Of each source the (article, text) of the tuning and of the test documents."""

    def part(name: str, parts: int) -> int:
        return int(hashlib.sha1(f"static:{name}".encode()).hexdigest(), 16) % parts

    wikipedia: tuple[list[Any], list[Any]] = ([], [])
    for row in rows("wikipedia/corpus.jsonl"):
        at = part(row["title"], 10)
        if at >= TRAINING_PARTS:
            text = row["text"].removeprefix(row["title"]).strip()
            wikipedia[at != TRAINING_PARTS].append((row["title"], text))
    squad: tuple[list[Any], list[Any]] = ([], [])
    seen = set()
    for row in [*rows("squad/answered.jsonl"), *rows("squad/questions_only.jsonl")]:
        if (row["title"], row["paragraph"]) not in seen:
            seen.add((row["title"], row["paragraph"]))
            squad[part(row["title"], 2)].append((row["title"], row["context"]))
    scifact: tuple[list[Any], list[Any]] = ([], [])
    for row in rows("scifact/corpus.jsonl"):
        scifact[part(row["_id"], 3) > 0].append((row["_id"], row["text"]))
    return {"wikipedia": wikipedia, "squad": squad, "scifact": scifact}


def joined(texts: Sequence[tuple[str, str]], count: int, source: random.Random) -> list[Joined]:
    """Documents of runs from different articles; one whose runs do not begin at sentences is left out."""
    pool = [(name, whole) for name, text in texts if len(whole := whole_sentences(text)) >= RUN_SENTENCES[0]]
    documents: list[Joined] = []
    waiting: list[tuple[str, list[str]]] = []
    while len(documents) < count:
        if len(waiting) < 4 * RUNS:
            more = list(pool)
            source.shuffle(more)
            waiting += more
        runs: list[str] = []
        names: set[str] = set()
        later = []
        while len(runs) < RUNS and waiting:
            name, sentences = waiting.pop()
            if name in names:
                later.append((name, sentences))
                continue
            names.add(name)
            length = source.randint(RUN_SENTENCES[0], min(RUN_SENTENCES[1], len(sentences)))
            first = source.randint(0, len(sentences) - length)
            runs.append(" ".join(sentences[first : first + length]))
        waiting = later + waiting
        text = " ".join(runs)
        begins = set(np.cumsum([0, *(len(run) + 1 for run in runs[:-1])]).tolist())
        spans = sentence_spans(text)
        if begins <= {start for start, _ in spans}:
            marks = np.array([start in begins for start, _ in spans])
            documents.append(Joined(text, tuple(spans), marks))
    return documents


def whole_sentences(text: str) -> list[str]:
    """Without a last one that the passage cuts off."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    return sentences[:-1] if sentences and sentences[-1][-1] not in ".!?" else sentences


def begun(document: Joined, vectors: dict[str, Matrix], theta: float) -> NDArray[np.bool_]:
    """Which sentences begin a chunk of `SemanticChunker` in mode `percentile`."""
    chunker = SemanticChunker(
        lambda texts: np.stack([vectors[text] for text in texts]), "kept", theta, UNCUT, mode="percentile"
    )
    starts = {chunk.start for chunk in chunker(as_document(document.text))}
    return np.array([start in starts for start, _ in document.spans])


def as_document(text: str) -> Document:
    """A text as a document."""
    return Document(id="joined", source="joined", title="", text=text, kind="text")


def boundary_measures(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Pk and WindowDiff (lower is better), and F1 of the boundaries after the first."""
    window = max(1, round(len(truth) / truth.sum() / 2))
    inside = [np.cumsum(marks)[window:] - np.cumsum(marks)[:-window] for marks in (truth, found)]
    both = int((truth & found)[1:].sum())
    marked = int(truth[1:].sum() + found[1:].sum())
    return (
        float(((inside[0] == 0) != (inside[1] == 0)).mean()),
        float((inside[0] != inside[1]).mean()),
        2 * both / max(1, marked),
    )


def boundaries(bundled: BundledEncoder, static: Sequence[StaticEncoder]) -> dict[str, Any]:
    """Every encoder on the documents of every source, at its best theta."""
    source_of = {}
    for name, (before, after) in passages().items():
        draw = random.Random(1)
        source_of[name] = (joined(before, TUNING, draw), joined(after, TESTING, draw))
    texts = sorted({text for parts in source_of.values() for part in parts for doc in part for text in doc.sentences})
    tables = {"bundled": kept_vectors(bundled, texts), **{one.name: one.encode(texts) for one in static}}
    measured: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    results: dict[str, Any] = {}
    for encoder, table in tables.items():
        vectors = dict(zip(texts, table, strict=True))
        for name, (tuning, testing) in source_of.items():
            lost = {
                theta: statistics.fmean(boundary_measures(doc.begins, begun(doc, vectors, theta))[0] for doc in tuning)
                for theta in THETAS
            }
            theta = min(THETAS, key=lambda value: lost[value])
            values = [boundary_measures(doc.begins, begun(doc, vectors, theta)) for doc in testing]
            measured.setdefault(encoder, {})[name] = values
            entry: dict[str, Any] = {"theta": theta}
            for at, measure in enumerate(("Pk", "WindowDiff", "F1")):
                ours = [value[at] for value in values]
                entry[measure] = mean_interval(ours).to_dict()
                if encoder != "bundled":
                    first = [value[at] for value in measured["bundled"][name]]
                    entry[f"{measure} against bundled"] = paired_difference(first, ours).to_dict()
            results.setdefault(name, {})[encoder] = entry
            print(
                f"{name:<10} {encoder:<18} theta {theta:.2f}  "
                + "  ".join(cell(measure, entry) for measure in ("Pk", "WindowDiff", "F1"))
            )
    return results


def cell(measure: str, entry: dict[str, Any]) -> str:
    """A measure, and its difference to the bundled encoder's where there is one."""
    against = entry.get(f"{measure} against bundled")
    told = f"{measure} {entry[measure]['value']:.3f}"
    return told + (
        f" ({against['difference']:+.3f} [{against['low']:+.3f}, {against['high']:+.3f}])" if against else ""
    )


# --- speed ------------------------------------------------------------------------------------------------------------


def speeds(bundled: BundledEncoder, static: Sequence[StaticEncoder], abstracts: Sequence[str]) -> dict[str, Any]:
    """How many times faster, in rounds that alternate: chunking papers, chunking Wikipedia, encoding abstracts."""
    paper = [document for name in PAPERS for document in read_paper(DATA / "papers" / name)]
    texts = [text for _, text in passages()["wikipedia"][1]]
    article = [as_document("\n\n".join(texts[start : start + 60])) for start in (0, 60)]
    encoders: dict[str, Any] = {"bundled": bundled, **{one.name: one for one in static}}
    jobs: dict[str, Callable[[Any, int], object]] = {
        "chunks of papers": lambda encoder, turn: chunked(encoder, [paper[turn % len(paper)]]),
        "chunks of Wikipedia": lambda encoder, turn: chunked(encoder, [article[turn % len(article)]]),
        "vectors of abstracts": lambda encoder, turn: encoder.encode(
            abstracts[turn * ENCODED_BLOCK : (turn + 1) * ENCODED_BLOCK]
        ),
    }
    results: dict[str, Any] = {}
    for job, work in jobs.items():
        seconds: dict[str, list[float]] = {name: [] for name in encoders}
        for encoder in encoders.values():
            work(encoder, 0)
        for turn in range(ROUNDS):
            for name, encoder in encoders.items():
                begin = time.perf_counter()
                work(encoder, turn)
                seconds[name].append(time.perf_counter() - begin)
        for name in list(encoders)[1:]:
            ratios = [slow / fast for slow, fast in zip(seconds["bundled"], seconds[name], strict=True)]
            spread = {"median": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}
            results.setdefault(job, {})[name] = {"times_faster": spread, "seconds": seconds[name]}
            print(f"{job:<22} {name:<18} {spread['median']:.0f} times faster ({min(ratios):.0f} to {max(ratios):.0f})")
        results[job]["bundled"] = {"seconds": seconds["bundled"]}
    return results


def chunked(encoder: Any, documents: Iterable[Document]) -> None:
    """Cut documents into semantic chunks."""
    for document in documents:
        SemanticChunker(encoder.encode, encoder.name)(document)


def read_paper(path: Path) -> Iterator[Document]:
    """The document of a file."""
    item = Item(str(path), str(path), path)
    for document in parse(item, *fetch(item)):
        if isinstance(document, Document):
            yield document


# --- retrieval --------------------------------------------------------------------------------------------------------


def retrieval(bundled: BundledEncoder, static: Sequence[StaticEncoder]) -> dict[str, Any]:
    """nDCG@10 of every encoder alone, fused, and judged."""
    abstracts, claims, relevant = rows("scifact/corpus.jsonl"), rows("scifact/queries.jsonl"), grades("scifact")
    place = {row["_id"]: at for at, row in enumerate(abstracts)}
    texts, questions = abstract_texts(abstracts), [row["text"] for row in claims]
    gold = [{place[abstract]: grade for abstract, grade in relevant[row["_id"]].items()} for row in claims]
    tables = {
        "bundled": (kept_vectors(bundled, texts), kept_vectors(bundled, questions)),
        **{one.name: (one.encode(texts), one.encode(questions)) for one in static},
    }
    terms = [index_terms(row["title"]) * TITLE_WEIGHT + index_terms(row["text"]) for row in abstracts]
    lexical = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    lexical.index(terms, show_progress=False)
    matching = [lexical.get_scores(query_terms(question)) for question in questions]
    judge = local_judge(bundled, terms)
    picked = sorted(range(len(claims)), key=lambda at: hashlib.sha1(claims[at]["_id"].encode()).hexdigest())
    found: dict[str, dict[str, list[float]]] = {}
    for name, (documents, asked) in tables.items():
        near = [documents @ vector for vector in asked]
        values = found.setdefault(name, {})
        values["dense"] = [ndcg(list(best(scores, CUTOFF)), right) for scores, right in zip(near, gold, strict=True)]
        for weight in DENSE_WEIGHTS:
            fused = [fuse(one, other, weight) for one, other in zip(near, matching, strict=True)]
            values[f"hybrid, dense {weight}"] = [ndcg(list(one), right) for one, right in zip(fused, gold, strict=True)]
            if weight in (DENSE_WEIGHTS[0], DENSE_WEIGHTS[-1]):
                values[f"hybrid, dense {weight}, and judge"] = [
                    ndcg(judged(judge, questions[at], abstracts, fused[at]), gold[at]) for at in picked[:JUDGED_CLAIMS]
                ]
    words = [ndcg(list(best(scores, CUTOFF)), right) for scores, right in zip(matching, gold, strict=True)]
    results: dict[str, Any] = {"BM25": {"bundled": {"nDCG@10": mean_interval(words).to_dict()}}}
    for name, values in found.items():
        for variant, ours in values.items():
            entry: dict[str, Any] = {"nDCG@10": mean_interval(ours).to_dict()}
            if name != "bundled":
                shipped = re.sub(r"dense 0\.\d", f"dense {DENSE_WEIGHTS[-1]}", variant)
                entry["nDCG@10 against bundled"] = paired_difference(found["bundled"][shipped], ours).to_dict()
            results.setdefault(variant, {})[name] = entry
            print(f"{variant:<30} {name:<18} {cell('nDCG@10', entry)}  n={len(ours)}")
    return results


def abstract_texts(abstracts: Iterable[dict[str, Any]]) -> list[str]:
    """Titles and texts."""
    return [f"{row['title']}\n{row['text']}" for row in abstracts]


def best(scores: NDArray[Any], count: int) -> dict[int, float]:
    """The places with the highest scores, best first."""
    return {int(at): float(scores[at]) for at in np.argsort(-scores, kind="stable")[:count]}


def fuse(near: NDArray[Any], matching: NDArray[Any], dense_weight: float) -> dict[int, float]:
    """As `weighted_fusion` does it: each list from 0 to 1 by its minimum and maximum, 0 where it has no entry."""
    sums: dict[int, float] = {}
    for scores, weight in ((best(near, DEPTH), dense_weight), (best(matching, DEPTH), 1 - dense_weight)):
        low, high = min(scores.values()), max(scores.values())
        for at, score in scores.items():
            sums[at] = sums.get(at, 0.0) + weight * ((score - low) / (high - low) if high > low else 1.0)
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def local_judge(encoder: BundledEncoder, terms: Sequence[Sequence[str]]) -> LocalRelevance:
    """The local judge over these abstracts, with BM25's inverse document frequencies for rarity."""
    holding: dict[str, int] = {}
    for words in terms:
        for word in set(words):
            holding[word] = holding.get(word, 0) + 1

    def rarity(question: str) -> dict[str, float]:
        counts = {word: holding.get(word, 0) for word in query_terms(question)}
        return {word: math.log(1 + (len(terms) - n + 0.5) / (n + 0.5)) for word, n in counts.items()}

    return LocalRelevance(RememberingEncoder(encoder, 200_000), index_terms, rarity, sentence_spans)


def judged(
    judge: LocalRelevance, question: str, abstracts: Sequence[dict[str, Any]], fused: dict[int, float]
) -> list[int]:
    """The best 20 by retrieval and judge together, as `BlendedJudge` does it."""
    first = list(fused)[:DEPTH]
    low, high = fused[first[-1]], fused[first[0]]
    opinions = judge(question, [abstracts[at]["text"] for at in first], [abstracts[at]["title"] for at in first])
    blended = {
        at: (1 - JUDGE_WEIGHT) * ((fused[at] - low) / (high - low) if high > low else 1.0) + JUDGE_WEIGHT * opinion
        for at, opinion in zip(first, opinions, strict=True)
    }
    return sorted(blended, key=lambda at: -blended[at])


# --- the rule ---------------------------------------------------------------------------------------------------------


def verdict(results: dict[str, Any], name: str) -> dict[str, bool]:
    """Whether an encoder meets what was asked of it."""
    lost = [source[name]["Pk against bundled"] for source in results["boundaries"].values()]
    faster = {job: of[name]["times_faster"]["median"] for job, of in results["speed"].items()}
    judged = [entry[name]["nDCG@10 against bundled"] for at, entry in results["retrieval"].items() if "judge" in at]
    return {
        "chunks 20 times faster": min(faster["chunks of papers"], faster["chunks of Wikipedia"]) >= FASTER_CHUNKS,
        "boundaries equal": all(one["difference"] <= MARGIN and one["low"] <= 0 for one in lost),
        "texts 10 times faster": faster["vectors of abstracts"] >= FASTER_TEXTS,
        "retrieval equal": any(one["difference"] >= -MARGIN for one in judged),
    }


def main() -> None:
    """Speed, boundaries, retrieval, and whether the rule is met."""
    tell()
    bundled = BundledEncoder(threads=1)
    static = [StaticEncoder(TARGET / f"{name}.npy") for name in ("plain", "distilled")]
    results: dict[str, Any] = {"speed": speeds(bundled, static, abstract_texts(rows("scifact/corpus.jsonl")))}
    results["boundaries"] = boundaries(bundled, static)
    results["retrieval"] = retrieval(bundled, static)
    results["rule"] = {one.name: verdict(results, one.name) for one in static}
    for name, met in results["rule"].items():
        print(f"{name}: " + ", ".join(f"{rule}: {'yes' if held else 'no'}" for rule, held in met.items()))
    keep("static_encoder", results, folder=RESEARCH)


if __name__ == "__main__":
    main()
