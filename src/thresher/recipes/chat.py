"""The chat model that settings name: for a recipe, for drafting questions, for judging answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.models.exchanges import Exchanges
from thresher.models.meter import Meter
from thresher.models.rate import shared_rate
from thresher.models.reply_cache import ReplyCache
from thresher.settings import LanguageModelSettings

if TYPE_CHECKING:
    from thresher.models.chat import ChatModel


def chat_model(
    settings: LanguageModelSettings,
    meter: Meter,
    *,
    exchanges: Exchanges | None = None,
    cache: ReplyCache | None = None,
) -> ChatModel | None:
    """The chat model, if one is configured; whether `cache` is wanted is for the caller to say."""
    if not (settings.base_url and settings.model):
        return None
    from thresher.models.chat import ChatModel  # it brings an HTTP client, which only those pay for who have a model

    return ChatModel(
        base_url=settings.base_url,
        model=settings.model,
        meter=meter,
        api_key=None if settings.api_key is None else settings.api_key.get_secret_value(),
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout_seconds=settings.timeout_seconds,
        rate=None if settings.per_minute is None else shared_rate(settings.base_url, settings.per_minute),
        exchanges=exchanges,
        cache=cache,
    )
