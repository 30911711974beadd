"""Where the recipes that correct go: the web, or another collection. Imported when a question may go outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher.chunking.spans import split_at_whitespace
from thresher.correction.corrector import SearchingCorrector
from thresher.correction.recorded import RecordedPages, RecordedSearch
from thresher.correction.source import FetchPage, OutsideSource, RetrieverSource, WebSource
from thresher.correction.web import WebSearch
from thresher.correction.words import AsAsked, KeywordWords, LLMSearchWords, SearchWords
from thresher.errors import UsageError
from thresher.protocols import Corrector, Judge, Retriever
from thresher.recipes.parts import Outside, Parts
from thresher.settings import OutsideSettings, WebSettings


def searching(
    settings: OutsideSettings,
    parts: Parts,
    outside: Outside,
    retriever: Callable[[Parts], Retriever],
    *,
    judge: Callable[[Parts], Judge] | None,
    keywords: bool,
    sure: float,
) -> Corrector:
    """Searches outside; see `thresher.recipes.correcting.corrector`."""
    there = parts if outside.archive is None else parts.elsewhere(outside.archive)
    model = parts.language_model(settings.llm)
    words: SearchWords
    if model is not None:
        words = LLMSearchWords(model, settings.search.style)
    else:
        words = KeywordWords() if keywords and outside.archive is None else AsAsked()
    source = _source(settings, parts, outside, retriever)
    # A second opinion is for another collection: it costs little there, and nothing leaves the machine for it.
    doubt = 0.0 if outside.archive is None else sure
    return SearchingCorrector(words, source, None if judge is None else judge(there), sure=doubt)


def _source(
    settings: OutsideSettings, parts: Parts, outside: Outside, retriever: Callable[[Parts], Retriever]
) -> OutsideSource:
    if outside.archive is not None:
        return RetrieverSource(retriever(parts.elsewhere(outside.archive)), outside.given)
    size = settings.web.passage

    def passages(text: str) -> Sequence[tuple[int, int]]:
        return list(split_at_whitespace(text, 0, len(text), size))

    search = RecordedSearch(web_search(settings.web, parts), parts.exchanges, parts.meter)
    fetch = page_fetcher(settings.web, parts) if settings.web.fetch else None
    return WebSource(search, fetch, passages, limit=settings.web.results)


def web_search(settings: WebSettings, parts: Parts) -> WebSearch:
    """The configured provider. Raises UsageError when there is none."""
    key = None if settings.api_key is None else settings.api_key.get_secret_value()
    if parts.exchanges.replaying:
        key = key or "played back"  # keys are not stored, and nothing is asked
    if settings.provider == "searxng" and settings.base_url:
        from thresher.correction.searxng import SearxngSearch

        return SearxngSearch(settings.base_url, parts.meter, settings.timeout_seconds)
    if settings.provider == "tavily" and key:
        from thresher.correction.tavily import TavilySearch

        return TavilySearch(key, parts.meter, settings.base_url, settings.timeout_seconds)
    raise UsageError(
        "no web search is configured",
        subject="--outside web",
        next_step="set web.provider=searxng and web.base_url, or web.provider=tavily and web.api_key",
    )


def page_fetcher(settings: WebSettings, parts: Parts) -> FetchPage:
    """Fetches the pages of the results."""
    from thresher.correction.pages import PageFetcher

    fetch = PageFetcher(parts.meter, timeout_seconds=settings.timeout_seconds)
    return RecordedPages(fetch, parts.exchanges, parts.meter)
