"""What a question costs, counted where models are called, and the budget that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from thresher.errors import BudgetSpent
from thresher.protocols import Encoder, Progress
from thresher.types import Usage

if TYPE_CHECKING:
    from thresher.protocols import Vectors


@dataclass(slots=True)
class Meter:
    """Counts calls, tokens and hosts of one question; `allow` refuses what the budget no longer covers."""

    max_calls: int | None = None
    max_seconds: float | None = None
    _usage: Usage = field(default_factory=Usage)
    _started: float = field(default_factory=monotonic)

    @property
    def usage(self) -> Usage:
        """What was spent so far."""
        return self._usage

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the budget is spent; None without one."""
        return None if self.max_seconds is None else self.max_seconds - (monotonic() - self._started)

    def allow(self) -> None:
        """Raise BudgetSpent when another chat call is not covered."""
        if self.max_calls is not None and self._usage.llm_calls >= self.max_calls:
            raise BudgetSpent(f"the budget of {self.max_calls} model calls is spent")
        self.allow_time()

    def allow_time(self) -> None:
        """Raise BudgetSpent when the seconds are used up."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise BudgetSpent(f"the budget of {self.max_seconds:g} seconds is spent")

    def called(self, url: str) -> None:
        """Record a chat call before it is made: what was sent was sent, whatever comes back."""
        self._usage = replace(self._usage, llm_calls=self._usage.llm_calls + 1, hosts=self._with(url))

    def used(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Record the tokens of a reply."""
        spent = self._usage
        self._usage = replace(
            spent,
            prompt_tokens=spent.prompt_tokens + prompt_tokens,
            completion_tokens=spent.completion_tokens + completion_tokens,
        )

    def visit(self, url: str) -> None:
        """Record that something is sent to a host without a chat call (a reranker, an embedder)."""
        self._usage = replace(self._usage, hosts=self._with(url))

    def _with(self, url: str) -> tuple[str, ...]:
        host = urlsplit(without_password(url)).netloc
        return tuple(sorted({*self._usage.hosts, host}))


@dataclass(frozen=True, slots=True)
class MeteredEncoder:
    """An encoder behind an endpoint whose host is recorded whenever a text is sent there."""

    encoder: Encoder
    meter: Meter
    url: str

    @property
    def name(self) -> str:
        """Of the encoder."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """Of the encoder."""
        return self.encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Of the encoder."""
        return self.encoder.max_tokens

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length."""
        if texts:
            self.meter.visit(self.url)
        return self.encoder.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        self.meter.visit(self.url)
        return self.encoder.encode_query(text)

    def warm_up(self) -> None:
        """Load the weights now instead of at the first use."""
        self.encoder.warm_up()


def without_password(url: str) -> str:
    """An address as it may be shown: the name and password some servers want in it are left out."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
