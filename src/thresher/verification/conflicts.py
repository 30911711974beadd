"""Evidence that contradicts other evidence: shown beside each other, never blended into one statement.

Only sentences of different documents that are about the same thing, under the same conditions, and nearly alike are
compared, by the rules of `contradiction`, which miss a contradiction rather than report a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations, pairwise

from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
from thresher.types import Evidence
from thresher.verification.contradiction import (
    ARTICLES,
    PAST,
    PRESENT,
    PRONOUNS,
    Statement,
    Word,
    differing_numbers,
    exclude_each_other,
    folded_prefixes,
    has_new_condition,
    opposed_pairs,
    statement,
    word_set,
)

WHICH = word_set("male/female first/last older/younger majority/minority rich/poor import/export")
"""Pairs that name two different things: a statement about men never contradicts one about women."""

CONDITIONS = word_set(
    """may might could can should would if unless when while some most many few several only sometimes often
    usually probably possibly perhaps rarely likely both each previously formerly once now currently longer still until
    since yet already claim claims claimed believe believes believed said says alleged allegedly reportedly myth
    according expected predicted planned estimated"""
)
"""Words that limit a statement or lay it in another mouth: sentences that differ in one do not contradict."""

OVERLAP = 0.6
"""Least share of the content words of two sentences that are in both. Chosen on the pairs of the tests."""

IDENTIFIER_DIGITS = 3
"""Invoice 0415 is not invoice 0718."""

EDITIONS = range(1900, 2101)
"""Years in titles."""

NAMED_WORDS, SHARED_WORDS = 2, 3
"""Least common content words where the titles differ; one more for sentences that begin with an article and share no
name: "the tower" may be any tower."""


Titles = tuple[frozenset[str], frozenset[str]]


def find_conflicts(evidence: Sequence[Evidence]) -> tuple[tuple[int, int], ...]:
    """Pairs of positions, from 1, of evidence of different documents that contradicts each other; never of tables."""
    sentences = [
        (position, piece.hit.chunk, piece.text[start:end])
        for position, piece in enumerate(evidence, start=1)
        if piece.hit.chunk.kind != "table"
        for start, end in sentence_spans(piece.text)
    ]
    statements = [statement(sentence) for *_, sentence in sentences]
    titles = [_title_words(chunk.title) for _, chunk, _ in sentences]
    pairs: set[tuple[int, int]] = set()
    for one, two in combinations(range(len(sentences)), 2):
        (first, chunk, _), (second, other, _) = sentences[one], sentences[two]
        new = chunk.document_id != other.document_id and (first, second) not in pairs
        if new and _conflict(statements[one], statements[two], (titles[one], titles[two])):
            pairs.add((first, second))
    return tuple(sorted(pairs))


@lru_cache(maxsize=256)
def _title_words(title: str) -> frozenset[str]:
    """The words of a title, and numbers that are neither years nor short: those distinguish editions, not subjects."""
    return frozenset(
        term
        for term in index_terms(title)
        if not term.isdecimal() or (len(term) >= IDENTIFIER_DIGITS and int(term) not in EDITIONS)
    )


def _conflict(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether sentences of two documents are about the same thing and differ in what contradicts, in that alone."""
    shared, either = len(one.content & other.content), len(one.content | other.content)
    if shared + 1 < OVERLAP * (either - 1):  # folding makes one word more common at best
        return False
    one, other = folded_prefixes(one, other)
    if not _comparable(one, other) or not _same_subject(one, other, titles):
        return False
    reached = {side.words[at].key for side in (one, other) for _, scope in side.negations for at in scope}
    opposed = [key for key in opposed_pairs(one, other) if key not in reached]
    if differing := differing_numbers(one, other):
        balanced = len(one.negations) == len(other.negations)
        return len(differing) == 1 and balanced and not opposed and exclude_each_other(*differing[0], one, other)
    if len(one.negations) + len(other.negations) + len(opposed) != 1 or has_new_condition(one, other):
        return False  # none, or two that may undo each other
    if opposed:
        return not _picks_out(one, opposed[0]) and not _picks_out(other, opposed[0])
    return _denies(one, other) if one.negations else _denies(other, one)


def _comparable(one: Statement, other: Statement) -> bool:
    if one.is_question or other.is_question or one.opposites != other.opposites:
        return False
    if one.plain & CONDITIONS != other.plain & CONDITIONS:
        return False
    tenses = [(bool(side.plain & PAST), bool(side.plain & PRESENT)) for side in (one, other)]
    if all(any(tense) for tense in tenses) and tenses[0] != tenses[1]:
        return False
    shared = one.content & other.content
    # words on both sides that the other has not: another subject, another predicate
    if len(shared) < OVERLAP * len(one.content | other.content) or (one.content - shared and other.content - shared):
        return False
    beside = chain(pairwise(one.words), pairwise(other.words))  # a word of its own and a shared one: the large model
    return not any(a.key and b.key and (a.key in shared) != (b.key in shared) for a, b in beside)


def _same_subject(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether words and titles show the same subject.

    In documents about different things a sentence speaks for itself only where its subject is a name or stands in a
    title: "the county" is another one in each article.
    """
    ours, theirs = titles
    if ours and ours == theirs:
        return True
    if ours & theirs and (only_ours := ours - theirs) and (only_theirs := theirs - ours):
        # Of one series: the manager is another one in each branch's report, the total in each invoice.
        numbered = any(map(str.isdecimal, only_ours)) and any(map(str.isdecimal, only_theirs))
        if numbered or not one.names & other.names:
            return False
    openings = {side.words[0].text for side in (one, other) if side.words}
    if openings & (PRONOUNS | {"we", "i"}):
        return False
    if ours - theirs and theirs - ours and not one.subject & other.subject:
        firsts = {next((word.key for word in side.words if word.key), "") for side in (one, other)}
        return len(firsts) == 1 and bool(firsts & (ours | theirs))
    vague = openings & ARTICLES and not one.names & other.names
    return len(one.content & other.content) >= (SHARED_WORDS if vague else NAMED_WORDS)


def _denies(sentence: Statement, other: Statement) -> bool:
    """Whether the first word in the scope of its negation is asserted by the other."""
    ((_, scope),) = sentence.negations
    word = sentence.words[scope[0]] if scope else Word("")
    return word.says not in other.signs.get(word.sign, {word.says})


def _picks_out(sentence: Statement, pair: str) -> bool:
    """Whether an opposite word selects one of two things: the north tower and the south tower, men and women."""
    at = next(at for at, word in enumerate(sentence.words) if word.key == pair)
    return pair in WHICH or at == 0 or (at == 1 and sentence.words[0].text in ARTICLES)
