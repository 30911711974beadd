"""Goes outside when the verdict asks for it, and never makes a question fail (CRAG guide; Z5, Z11 in docs/methods.md).

    search words -> results -> pages -> passages (judged where a judge is given)

The trace states each failure. What remains are the snippets of the search results; without them the collection alone
(ambiguous) or nothing (incorrect), on which the recipe abstains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import httpx

from thresher.correction.fetch import Page
from thresher.correction.providers import ANYWHERE, Restriction, WebResult, WebSearch
from thresher.correction.search_query import SearchQueryWriter
from thresher.errors import BudgetSpent, ProviderError
from thresher.models.running import in_parallel
from thresher.net import NotFetched
from thresher.protocols import Judge, Retriever, about
from thresher.types import (
    NO_NOTES,
    Chunk,
    Correction,
    Decision,
    Hit,
    Judgement,
    Notes,
    Origin,
    Query,
    Scale,
    Score,
    Verdict,
    ranked_judgements,
)

Cut = Callable[[str], Sequence[tuple[int, int]]]  # a text to the spans of its passages, in order

WEB_RANK = Scale("web rank", 0.0, 1.0)  # 1 / rank of the result, for providers that give no score to each

RESULTS = 5  # looked at (CRAG repository: the first five of ten)
MOST_PASSAGES = 20  # kept of a page: 18,000 characters of passages of 900, more than the main text of most pages
WORKERS = 4  # pages fetched at once

PAGES, SNIPPETS, NOTHING = "pages", "snippets", "nothing"
"""Outcomes: whole texts (pages, or passages of a collection), search results' snippets alone, neither."""

_PAGE, _SENT, _SNIPPET, _NOTHING = "page", "text from the provider", "snippet", "nothing"
"""What a result's text is."""

_WORD = re.compile(r"\w+")


OutsideSource = Callable[[Query, str], Correction]
"""A query and the words to search for it to what is there, its outcome PAGES, SNIPPETS or NOTHING; the facts name
provider, results and pages. Raises ProviderError, BudgetSpent."""


@dataclass(frozen=True, slots=True)
class RetrieverSource:
    """Another collection, searched on this machine without the query's filter, which fits the first one alone."""

    retrieve: Retriever
    about: str  # e.g. `collection:archive`

    def __call__(self, query: Query, words: str) -> Correction:
        """The retriever's hits, now from outside."""
        judged = self.retrieve(replace(query, search=words, where=None))
        judgements = tuple(replace(one, hit=replace(one.hit, origin=Origin.OUTSIDE)) for one in judged.judgements)
        facts = {"provider": self.about, "results": len(judged.kept), "pages": []}
        return Correction(judgements, PAGES if judged.kept else NOTHING, replace(judged.notes, facts=facts))


@dataclass(frozen=True, slots=True)
class _Taken:
    """The text of a result, where it is from, and why it is not the page."""

    page: Page
    status: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class WebSource:
    """Searches, fetches the pages of the results in parallel, and cuts them into passages.

    Where a page cannot be had, what the provider sent of it stands in: its text, else its snippet (Z11 in
    docs/methods.md). `fetch=None` takes no page and only that. Of a long page the passages that hold the most of the
    search words are kept, in the page's order: the others stay in the trace.
    """

    search: WebSearch
    fetch: Callable[[str], Page] | None  # an address to its page. Raises NotFetched, BudgetSpent
    cut: Cut
    only: Restriction = ANYWHERE
    """The restriction for pages: they may lead elsewhere than the result did, and state their own date."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"web{self.only.about}"

    def __call__(self, query: Query, words: str) -> Correction:
        """Passages in the order of the results. Raises ProviderError and BudgetSpent when the search fails."""
        once: dict[str, WebResult] = {}
        for result in self.search(words, limit=RESULTS):
            once.setdefault(result.url, result)
        results = list(once.values())
        taken = in_parallel([partial(self._take, result) for result in results], workers=WORKERS)
        scores = _scores(results)
        judgements: list[Judgement] = []
        lines: list[dict[str, Any]] = []
        texts: dict[str, str] = {}
        for at, (result, text) in enumerate(zip(results, taken, strict=True)):
            line: dict[str, Any] = {"url": result.url, "status": text.status, "fetched": text.page.fetched}
            lines.append(line if text.error is None else {**line, "error": text.error})
            key = " ".join(text.page.text.split())
            if not key:
                continue
            if key in texts:
                lines[-1]["status"] = f"the same text as {texts[key]}"
                continue
            texts[key] = result.url
            judgements.extend(self._passages(text, words, scores[at], f"web result {at + 1}"))
        whole = any(text.status in (_PAGE, _SENT) for text in taken)
        outcome = PAGES if judgements and whole else SNIPPETS if judgements else NOTHING
        within = {name: value for name, value in asdict(self.only).items() if value}
        notes = Notes(facts={"provider": self.search.host, "results": len(taken), "pages": lines, **within})
        ranked = ranked_judgements(sorted(judgements, key=lambda judgement: not judgement.keep))
        return Correction(ranked, outcome, notes + _without_pages(taken, outcome))

    def _take(self, result: WebResult) -> _Taken:
        """The page of a result, or its substitute."""
        error = None
        if self.fetch is not None:
            try:
                page = self.fetch(result.url)
            except (NotFetched, BudgetSpent) as failure:
                error = str(failure)
            else:
                if not self.only.new_enough(page.date):  # so is what the provider sent of it
                    left_out = replace(page, text="")
                    return _Taken(left_out, _NOTHING, f"left out: it is dated {page.date}")
                if self.only.on_site(page.url):
                    return _Taken(page, _PAGE)
                error = f"left out: it led to {httpx.URL(page.url).host}"
        status, text = (_SENT, result.content) if result.content else (_SNIPPET, result.snippet)
        return _Taken(Page(result.url, result.title, text, result.fetched), status if text else _NOTHING, error)

    def _passages(self, taken: _Taken, words: str, score: Score, place: str) -> list[Judgement]:
        page = taken.page
        spans = [(start, end) for start, end in self.cut(page.text) if page.text[start:end].strip()]
        if taken.status == _SNIPPET:
            spans = [(0, len(page.text))]
        wanted = set(_WORD.findall(words.lower()))
        held = [len(wanted & set(_WORD.findall(page.text[start:end].lower()))) for start, end in spans]
        chosen = set(sorted(range(len(spans)), key=lambda at: -held[at])[:MOST_PASSAGES])
        reason = f"{place}, {taken.status}" + ("" if taken.error is None else f" ({taken.error})")
        document = sha256(f"{page.url}\n{page.text}".encode(errors="surrogatepass")).hexdigest()
        judgements = []
        for number, (start, end) in enumerate(spans, start=1):
            id_ = sha256(f"{document}:web:{start}:{end}".encode()).hexdigest()[:24]
            chunk = Chunk(id_, document, page.url, page.title, start, end, page.text[start:end], number=number)
            hit = Hit(chunk, score, number, Origin.OUTSIDE, {score.scale.name: score}, page.fetched)
            keep = number - 1 in chosen
            why = "" if keep else f", not among the {MOST_PASSAGES} passages with most of the search words"
            judgements.append(Judgement(hit, keep=keep, reason=f"{reason}{why}"))
        return judgements


def _without_pages(taken: Sequence[_Taken], outcome: str) -> Notes:
    """The note that no page could be read, if so."""
    errors = [text.error for text in taken if text.error is not None]
    if not errors or any(text.status == _PAGE for text in taken):
        return NO_NOTES
    instead = "nothing was found" if outcome == NOTHING else "what the search itself sent was used"
    return Notes((f"correct: no page could be read ({errors[0]}); {instead}",))


def _scores(results: Sequence[WebResult]) -> list[Score]:
    """The provider's scores where every result has one, 1/rank otherwise: numbers of two scales do not mix."""
    scores = [result.score for result in results if result.score is not None]
    if len(scores) == len(results):
        return scores
    return [Score(1 / rank, WEB_RANK) for rank in range(1, len(results) + 1)]


GOES_OUTSIDE = frozenset({Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.UNSURE})
"""One heading of the guide has `incorrect` alone, its text and its table `ambiguous` too (Z5); `unsure` acts so."""

COLLECTION, NOT_ASKED = "collection", "not asked"
"""Outcomes besides those of the sources: the collection is all there is to answer from; there was no need to look."""


@dataclass(frozen=True, slots=True)
class SearchingCorrector:
    """Searches `source` for `words` on verdicts that go outside; `judge` sifts what was found.

    With `sure`, a second opinion is asked for on any verdict whose confidence is below it or unknown. Not published.
    Facts: the `words` sent, the `provider`, the number of `results`, the status of each of the `pages`.
    """

    words: SearchQueryWriter
    source: OutsideSource
    judge: Judge | None = None
    sure: float = 0.0

    @property
    def about(self) -> str:
        """For people, in a few words."""
        judged = "" if self.judge is None else ", judged"
        second = f", second opinion below {self.sure:g}" if self.sure else ""
        return f"{about(self.source)}, searched with {about(self.words)}{judged}{second}"

    def __call__(self, query: Query, decision: Decision) -> Correction:
        """What was found outside; empty when there was no need, or no way."""
        doubtful = self.sure > 0 and (decision.confidence is None or decision.confidence < self.sure)
        if decision.verdict not in GOES_OUTSIDE and not doubtful:
            return Correction(outcome=NOT_ASKED)
        without, instead = COLLECTION, "answered from the collection alone"
        if decision.verdict is Verdict.INCORRECT:
            without, instead = NOTHING, "nothing to answer from"
        words = self.words(query)
        notes = replace(words.notes, facts={"words": words.text, "rewriting": dict(words.notes.facts)})
        try:
            result = self.source(query, words.text)
        except (ProviderError, BudgetSpent) as error:
            failed = Notes((f"correct: {error}; {instead}",), facts={"pages": [], "results": 0})
            return Correction(outcome=without, notes=notes + failed)
        notes += result.notes
        judgements = result.judgements
        kept = [judgement.hit for judgement in judgements if judgement.keep]
        if self.judge is not None and kept:
            judged = self.judge(query, kept)
            judgements = (*judged.judgements, *(judgement for judgement in judgements if not judgement.keep))
            notes += judged.notes.without_facts
        outcome = result.outcome if any(judgement.keep for judgement in judgements) else without
        return Correction(judgements, outcome, notes)
