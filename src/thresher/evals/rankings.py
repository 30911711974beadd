"""Rankings of chunks to rankings of documents, and their measures through ir-measures (trec_eval).

A document stands where its best chunk stands. Relevance labels name any of a document's sources; several labels of one
document are one relevant document, and several documents under one label are one result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thresher.errors import MissingExtra
from thresher.evals.matching import matching
from thresher.evals.rows import Place, Row
from thresher.evals.statistics import Counts

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
