"""Measures of a ranking: over documents, gold spans or gold pages, question by question or all questions together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from thresher.evals import rankings, spans
from thresher.evals.labels import Task
from thresher.evals.measure import Measure, Summary, Values, each
from thresher.evals.rows import Row
from thresher.evals.statistics import Counts

RETRIEVAL = re.compile(
    r"""MRR|MAP
    |(?P<ndcg>nDCG)(?P<retrieved>_retrieved)?(?P<exponential>_exp)?@(?P<depth>[1-9][0-9]{0,3})
    |returned_P@(?P<first>[1-9][0-9]{0,3})
    |(?P<micro>micro_)?(?:(?P<level>span|chunk)_)?(?P<kind>P|R|F1)@(?P<cutoff>[1-9][0-9]{0,3})""",
    re.VERBOSE,
)

BOTH: tuple[Task, ...] = ("search", "ask")
LABELLED = "those with relevant documents"
PLACED = "those with a gold place in the collection"
HITS: Mapping[str | None, str] = {None: "documents", "span": "hits", "chunk": "hits"}
RELEVANT: Mapping[str | None, str] = {
    None: "relevant documents",
    "span": "hits that overlap a gold span (the document where no offsets are known)",
    "chunk": "hits on a gold page (of the document where no page is known)",
}
GOLD: Mapping[str | None, str] = {None: "relevant documents", "span": "gold spans", "chunk": "gold pages"}
MICRO = {"P": Summary.MICRO_P, "R": Summary.MICRO_R, "F1": Summary.MICRO_F1}


def retrieval(found: re.Match[str]) -> Measure:
    """The measure of a name that `RETRIEVAL` matches whole."""
    name = found[0]
    if name == "MRR":
        return ranked(name, "RR", "one over the rank of the first relevant document", "Voorhees 1999")
    if name == "MAP":
        meaning = "mean precision at the ranks of the relevant documents, those not found counting 0"
        return ranked(name, "AP", meaning, "Buckley and Voorhees 2000")
    if found["ndcg"]:
        retrieved, exponential = bool(found["retrieved"]), bool(found["exponential"])
        return gain(name, int(found["depth"]), retrieved=retrieved, exponential=exponential)
    if found["first"]:
        cutoff = int(found["first"])
        meaning = f"relevant among the first {cutoff} documents, divided by how many came"
        return ranked(name, "SetP", meaning, "ECRAG thesis, section 6.5", cutoff=cutoff, tasks=())
    level: spans.Level | None = found["level"]  # type: ignore[assignment]
    return shares(name, level, found["kind"], int(found["cutoff"]), micro=bool(found["micro"]))


def ranked(
    name: str,
    measured: str,
    meaning: str,
    source: str,
    *,
    cutoff: int | None = None,
    exponential: bool = False,
    tasks: tuple[Task, ...] = BOTH,
) -> Measure:
    """A measure of ir-measures over documents; see `rankings.ranking_values`."""

    def values(rows: Sequence[Row]) -> Values:
        return rankings.ranking_values(measured, rows, cutoff=cutoff, exponential=exponential)

    return Measure(name, meaning, source, values, tasks=tasks, questions=LABELLED)


def gain(name: str, cutoff: int, *, retrieved: bool, exponential: bool) -> Measure:
    """`nDCG@k` with linear or exponential gain, over the best order of all judged documents or of the first k."""
    worth = "2^grade - 1" if exponential else "grade"
    best = f"the best order of those {cutoff} alone" if retrieved else "the best order of all judged documents"
    return ranked(
        name,
        f"nDCG@{cutoff}",
        f"discounted gain ({worth}) of the first {cutoff} documents over that of {best}",
        "hybrid report" if retrieved else "Burges et al. 2005" if exponential else "Järvelin and Kekäläinen 2002",
        cutoff=cutoff if retrieved else None,
        exponential=exponential,
        tasks=() if retrieved or exponential else BOTH,
    )


def shares(name: str, level: spans.Level | None, kind: str, cutoff: int, *, micro: bool) -> Measure:
    """`P@k`, `R@k` or `F1@k` of documents, spans or pages: the mean over questions, or of the summed counts."""
    of_each = counts_at(level, cutoff)
    meaning = {
        "P": f"{RELEVANT[level]} among the first {cutoff} {HITS[level]}, divided by {cutoff} also when fewer came",
        "R": f"share of the {GOLD[level]} met by the first {cutoff} {HITS[level]}",
        "F1": f"harmonic mean of the precision and recall of the first {cutoff} {HITS[level]}, by {GOLD[level]}",
    }[kind]
    told = PLACED if level else LABELLED
    if micro:
        meaning, tasks = f"{meaning}; counts of all questions summed", BOTH if kind == "F1" else ()
        return Measure(name, meaning, "Lewis 1991", each(of_each), MICRO[kind], tasks, paired=False, questions=told)
    if level is None and kind != "F1":
        return ranked(name, name, meaning, "trec_eval")

    def values(rows: Sequence[Row]) -> Values:
        counted = [of_each(row) for row in rows]
        precision = [None if one is None else one.relevant / one.hits for one in counted]
        recall = [None if one is None else one.met / one.gold if one.gold else 0.0 for one in counted]
        return {"P": precision, "R": recall, "F1": rankings.harmonic(precision, recall)}[kind]

    return Measure(
        name, meaning, "van Rijsbergen 1979" if kind == "F1" else "Thresher", values, tasks=BOTH, questions=told
    )


def counts_at(level: spans.Level | None, cutoff: int) -> Callable[[Row], Counts | None]:
    """What is counted of one row."""
    if level is None:
        return lambda row: rankings.document_counts(row, cutoff)
    return lambda row: spans.counts(row, cutoff, level)
