"""Rankings of chunks to rankings of documents, and their measures through ir-measures (trec_eval).

A document stands where its best chunk stands. Relevance labels name any of a document's sources; several labels of one
document are one relevant document, and several documents under one label are one result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from thresher.errors import MissingExtra
from thresher.types import Origin
from thresher_evals.dataset import Gold, Question, Task
from thresher_evals.metrics import retrieval as rankings
from thresher_evals.metrics import retrieval as spans
from thresher_evals.metrics.answers import matches, matching
from thresher_evals.metrics.measure import Measure, Summary, Values, each
from thresher_evals.rows import Place, Row
from thresher_evals.stats import Counts

try:
    import ir_measures
except ModuleNotFoundError as error:
    if error.name != "ir_measures":
        raise
    raise MissingExtra("ir-measures", extra="evals") from error

Judged = tuple[dict[str, int], dict[str, float]]
"""Grade of each label, and score of each document, under the same names."""


def documents(ranking: Sequence[Place], relevance: Mapping[str, float]) -> Judged:
    """Labels and documents of one question under common names; the earlier document has the higher score."""
    grades = {label: max(0, round(grade)) for label, grade in relevance.items()}
    order: list[str] = []
    taken: set[str] = set()
    known: set[str] = set()
    for place in ranking:
        if place.source in known:
            continue
        labels = matching(relevance, place.source, place.also)
        left = [label for label in labels if label not in taken]
        # A document without a label must not be taken for one: labels are names of sources, so a prefix keeps it apart.
        name = left[0] if left else f"unlabelled:{place.source}"
        known.add(place.source)
        if labels and not left:
            continue
        order.append(name)
        taken.update(left)
        if left:
            grades[name] = max(grades.pop(label) for label in left)
    return grades, {name: float(len(order) - position) for position, name in enumerate(order)}


def ranking_values(
    measure: str, rows: Sequence[Row], *, cutoff: int | None = None, exponential: bool = False
) -> list[float | None]:
    """A measure of ir-measures for each row; 0 where nothing was found, None where nothing is labelled.

    With a `cutoff`, nothing is known but the first documents: what was not found is not missed. With `exponential`
    gain, a grade g is worth 2^g - 1 (Burges et al. 2005) and not g.
    """
    relevance = [row.question.relevance for row in rows]
    judged = [documents(row.ranking or (), grades) for row, grades in zip(rows, relevance, strict=True)]
    if cutoff is not None:
        judged = [only_first(one, cutoff) for one in judged]
    if exponential:
        judged = [({name: 2**grade - 1 for name, grade in grades.items()}, scores) for grades, scores in judged]
    # Rows are keyed by position: the same question may stand in several rows.
    labels = {str(number): grades for number, (grades, _) in enumerate(judged) if grades}
    found = {str(number): scores for number, (_, scores) in enumerate(judged) if scores and str(number) in labels}
    parsed = ir_measures.parse_measure(measure)
    values = {result.query_id: result.value for result in ir_measures.iter_calc([parsed], labels, found)}
    return [float(values.get(str(number), 0.0)) if relevance[number] else None for number in range(len(rows))]


def only_first(judged: Judged, cutoff: int) -> Judged:
    """The first documents and their labels."""
    grades, scores = judged
    first = sorted(scores, key=lambda name: -scores[name])[:cutoff]
    return {name: grades[name] for name in first if name in grades}, {name: scores[name] for name in first}


def document_counts(row: Row, cutoff: int) -> Counts | None:
    """Relevant ones among the first documents, and among all labels; None where nothing is labelled."""
    relevance = row.question.relevance
    if not relevance:
        return None
    grades, scores = documents(row.ranking or (), relevance)
    relevant = sum(grades.get(name, 0) > 0 for name in only_first((grades, scores), cutoff)[1])
    return Counts(relevant, cutoff, relevant, sum(grade > 0 for grade in grades.values()))


def harmonic(precision: Sequence[float | None], recall: Sequence[float | None]) -> list[float | None]:
    """F1 of each question."""
    return [
        None if p is None or r is None else (2 * p * r / (p + r) if p + r else 0.0)
        for p, r in zip(precision, recall, strict=True)
    ]


# --- measures of a ranking: over documents, gold spans or gold pages, question by question or all questions t----------


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


# --- hits of a ranking against the places that answer a question: by character span, or by document and page ----------


Level = Literal["span", "chunk"]


def counts(row: Row, cutoff: int, level: Level) -> Counts | None:
    """Relevant ones among the first hits, and gold places they meet; None where no gold place is in the collection.

    A missing hit is not relevant: the number of hits is the cutoff also when fewer came.
    """
    gold = gold_places(row.question, level)
    if not gold:
        return None
    meets: Callable[[Place, Gold], bool] = overlaps if level == "span" else stands_at
    met = [[meets(hit, place) for place in gold] for hit in (row.ranking or ())[:cutoff]]
    return Counts(
        relevant=sum(map(any, met)),
        hits=cutoff,
        met=sum(map(any, zip(*met, strict=True))),
        gold=len(gold),
    )


def gold_places(question: Question, level: Level) -> Sequence[Gold]:
    """The distinct places inside that answer a question; documents that are judged relevant where there are none."""
    inside = [gold for gold in question.gold if gold.origin is Origin.INSIDE]
    places = inside or [Gold(source) for source, grade in question.grades.items() if grade > 0]
    if level == "chunk":
        places = [Gold(gold.source, gold.page) for gold in places]
    return tuple(dict.fromkeys(places))


def overlaps(hit: Place, gold: Gold) -> bool:
    """Whether a hit shares a character with a gold span; without offsets, the whole document is the span."""
    if not matches(gold.source, hit.source, hit.also):
        return False
    if hit.start is None or hit.end is None or gold.start is None or gold.end is None:
        return True
    return hit.start < gold.end and gold.start < hit.end


def stands_at(hit: Place, gold: Gold) -> bool:
    """Whether a hit begins on the gold page, or is of the gold document where no page is told."""
    return matches(gold.source, hit.source, hit.also) and gold.page in (None, hit.page)
