"""Measures of a ranking: over documents through ir-measures (trec_eval), over gold spans and pages by counting.

A document has the rank of its best chunk. Labels name any source of a document; several labels of one document are one
relevant document, several documents under one label are one result. Every name accepts any cutoff (`R@100`); `micro_`
sums the counts over questions first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from thresher.errors import MissingExtra
from thresher.types import Origin
from thresher_evals.dataset import Gold, Question, Task, matches, matching
from thresher_evals.metrics.measure import MEAN, Family, Measure, each
from thresher_evals.rows import Place, Row
from thresher_evals.stats import Counts, pooled_interval

try:
    import ir_measures
except ModuleNotFoundError as error:
    if error.name != "ir_measures":
        raise
    raise MissingExtra("ir-measures", distribution="thresher-evals") from error

NAME = re.compile(
    r"""MRR|MAP
    |nDCG(?P<retrieved>_retrieved)?(?P<exponential>_exp)?@(?P<depth>[1-9][0-9]{0,3})
    |returned_P@(?P<first>[1-9][0-9]{0,3})
    |(?P<micro>micro_)?(?:(?P<level>span|chunk)_)?(?P<kind>P|R|F1)@(?P<cutoff>[1-9][0-9]{0,3})""",
    re.VERBOSE,
)
BOTH: tuple[Task, ...] = ("search", "ask")

Level = str | None
"""Unit of counting: `span` for gold character spans, `chunk` for gold pages, None for documents."""

HITS: Mapping[Level, str] = {None: "documents", "span": "hits", "chunk": "hits"}
RELEVANT: Mapping[Level, str] = {
    None: "relevant documents",
    "span": "hits that overlap a gold span (the document where no offsets are known)",
    "chunk": "hits on a gold page (of the document where no page is known)",
}
GOLD: Mapping[Level, str] = {None: "relevant documents", "span": "gold spans", "chunk": "gold pages"}
FAMILIES: Mapping[Level, Family] = {None: Family.DOCUMENTS, "span": Family.SPANS, "chunk": Family.PAGES}
LABELLED, PLACED = "those with relevant documents", "those with an indexed gold passage"

ranked = partial(Measure, family=Family.DOCUMENTS, better="higher", summary=MEAN, tasks=BOTH, questions=LABELLED)


def retrieval(name: str) -> Measure | None:
    """The ranking measure of that name; None if there is none."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    if found["kind"]:
        return shares(name, found["level"], found["kind"], int(found["cutoff"]), micro=bool(found["micro"]))
    if name == "MRR":
        meaning = "one over the rank of the first relevant document"
        return ranked(name, meaning, "Voorhees 1999", partial(ranking_values, "RR"))
    if name == "MAP":
        meaning = "mean precision at the ranks of the relevant documents, those not found counting 0"
        return ranked(name, meaning, "Buckley and Voorhees 2000", partial(ranking_values, "AP"))
    if found["first"]:
        cutoff = int(found["first"])
        meaning = f"relevant among the first {cutoff} documents, divided by how many came"
        values = partial(ranking_values, "SetP", cutoff=cutoff)
        return ranked(name, meaning, "ECRAG thesis, section 6.5", values, tasks=())
    retrieved, exponential, cutoff = bool(found["retrieved"]), bool(found["exponential"]), int(found["depth"])
    worth = "2^grade - 1" if exponential else "grade"
    best = f"the best order of those {cutoff} alone" if retrieved else "the best order of all judged documents"
    return ranked(
        name,
        f"discounted gain ({worth}) of the first {cutoff} documents over that of {best}",
        "hybrid report" if retrieved else "Burges et al. 2005" if exponential else "Järvelin and Kekäläinen 2002",
        partial(ranking_values, f"nDCG@{cutoff}", cutoff=cutoff if retrieved else None, exponential=exponential),
        tasks=() if retrieved or exponential else BOTH,
    )


def shares(name: str, level: Level, kind: str, cutoff: int, *, micro: bool) -> Measure:
    """`P@k`, `R@k` or `F1@k` of documents, spans or pages: the mean over questions, or of summed counts."""
    meaning = {
        "P": f"{RELEVANT[level]} among the first {cutoff} {HITS[level]}, divided by {cutoff} also when fewer came",
        "R": f"share of the {GOLD[level]} met by the first {cutoff} {HITS[level]}",
        "F1": f"harmonic mean of the precision and recall of the first {cutoff} {HITS[level]}, by {GOLD[level]}",
    }[kind]
    count = partial(document_counts, cutoff=cutoff) if level is None else partial(counts, cutoff=cutoff, level=level)
    measure = partial(ranked, family=FAMILIES[level], questions=PLACED if level else LABELLED)
    if micro:
        summary, tasks = partial(pooled_interval, share=kind), BOTH if kind == "F1" else ()
        meaning = f"{meaning}; counts of all questions summed"
        return measure(name, meaning, "Lewis 1991", each(count), summary=summary, paired=False, tasks=tasks)
    if level is None and kind != "F1":
        return ranked(name, meaning, "trec_eval", partial(ranking_values, name))
    source = "van Rijsbergen 1979" if kind == "F1" else "Thresher"
    return measure(name, meaning, source, each(lambda row: share(count(row), kind)))


def share(counted: Counts | None, kind: str) -> float | None:
    """Precision, recall or F1 of one question."""
    if counted is None:
        return None
    precision = counted.relevant / counted.hits
    recall = counted.met / counted.gold if counted.gold else 0.0
    return {"P": precision, "R": recall, "F1": harmonic(precision, recall)}[kind]


def harmonic(precision: float, recall: float) -> float:
    """F1."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# --- documents --------------------------------------------------------------------------------------------------------

Judged = tuple[dict[str, int], dict[str, float]]
"""Grade of each label and score of each document, under common names."""


def ranking_values(
    measure: str, rows: Sequence[Row], *, cutoff: int | None = None, exponential: bool = False
) -> list[float | None]:
    """A measure of ir-measures for each row; 0 if nothing was found, None without labels.

    With a `cutoff` only the first documents are known, so others are not missed. With `exponential` gain a grade g
    counts 2^g - 1 (Burges et al. 2005) instead of g.
    """
    relevance = [row.question.relevance for row in rows]
    judged = [documents(row.ranking or (), grades) for row, grades in zip(rows, relevance, strict=True)]
    if cutoff is not None:
        judged = [only_first(one, cutoff) for one in judged]
    if exponential:
        judged = [({name: 2**grade - 1 for name, grade in grades.items()}, scores) for grades, scores in judged]
    # Rows are keyed by position: several may have the same question.
    labels = {str(number): grades for number, (grades, _) in enumerate(judged) if grades}
    found = {str(number): scores for number, (_, scores) in enumerate(judged) if scores and str(number) in labels}
    parsed = ir_measures.parse_measure(measure)
    values = {result.query_id: result.value for result in ir_measures.iter_calc([parsed], labels, found)}
    return [float(values.get(str(number), 0.0)) if relevance[number] else None for number in range(len(rows))]


def documents(ranking: Sequence[Place], relevance: Mapping[str, float]) -> Judged:
    """Labels and documents of a question under common names; earlier documents have higher scores."""
    grades = {label: max(0, round(grade)) for label, grade in relevance.items()}
    order: list[str] = []
    taken: set[str] = set()
    known: set[str] = set()
    for place in ranking:
        if place.source in known:
            continue
        known.add(place.source)
        labels = matching(relevance, place.source, place.also)
        left = [label for label in labels if label not in taken]
        if labels and not left:
            continue
        # Labels are names of sources: the prefix keeps unlabelled documents apart.
        name = left[0] if left else f"unlabelled:{place.source}"
        order.append(name)
        taken.update(left)
        if left:
            grades[name] = max(grades.pop(label) for label in left)
    return grades, {name: float(len(order) - position) for position, name in enumerate(order)}


def only_first(judged: Judged, cutoff: int) -> Judged:
    """The first documents and their labels."""
    grades, scores = judged
    first = sorted(scores, key=lambda name: -scores[name])[:cutoff]
    return {name: grades[name] for name in first if name in grades}, {name: scores[name] for name in first}


def document_counts(row: Row, cutoff: int) -> Counts | None:
    """Relevant documents among the first ones and among all labels; None without labels."""
    relevance = row.question.relevance
    if not relevance:
        return None
    grades, scores = documents(row.ranking or (), relevance)
    relevant = sum(grades.get(name, 0) > 0 for name in only_first((grades, scores), cutoff)[1])
    return Counts(relevant, cutoff, relevant, sum(grade > 0 for grade in grades.values()))


# --- gold passages: by character span, or by document and page -------------------------------------------------------


def counts(row: Row, cutoff: int, level: Level) -> Counts | None:
    """Relevant hits among the first ones and gold passages that they meet; None without an indexed gold passage.

    Missing hits count as not relevant: the number of hits is always the cutoff.
    """
    gold = gold_places(row.question, level)
    if not gold:
        return None
    meets = overlaps if level == "span" else stands_at
    met = [[meets(hit, place) for place in gold] for hit in (row.ranking or ())[:cutoff]]
    return Counts(sum(map(any, met)), cutoff, sum(map(any, zip(*met, strict=True))), len(gold))


def gold_places(question: Question, level: Level) -> Sequence[Gold]:
    """The distinct gold passages inside, else the documents judged relevant."""
    inside = [gold for gold in question.gold if gold.origin is Origin.INSIDE]
    places = inside or [Gold(source) for source, grade in question.grades.items() if grade > 0]
    if level == "chunk":
        places = [Gold(gold.source, gold.page) for gold in places]
    return tuple(dict.fromkeys(places))


def overlaps(hit: Place, gold: Gold) -> bool:
    """Whether a hit overlaps a gold span; without offsets, the span is the whole document."""
    if not matches(gold.source, hit.source, hit.also):
        return False
    if hit.start is None or hit.end is None or gold.start is None or gold.end is None:
        return True
    return hit.start < gold.end and gold.start < hit.end


def stands_at(hit: Place, gold: Gold) -> bool:
    """Whether a hit begins on the gold page, or without a page is from the gold document."""
    return matches(gold.source, hit.source, hit.also) and gold.page in (None, hit.page)
