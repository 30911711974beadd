"""Restricts a web search to sites, and to results from a date on.

Providers are asked accordingly where they can be; other results are left out here. A result without a date stays: most
providers date few.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx


@dataclass(frozen=True, slots=True)
class Restriction:
    """Sites and a date; without either it restricts nothing."""

    sites: tuple[str, ...] = ()
    """Hosts in lower case, each with all hosts below it: `wikipedia.org` is `en.wikipedia.org` too. Empty for all."""
    since: str = ""
    """ISO 8601 date from which results count; empty for any time."""

    @property
    def about(self) -> str:
        """For people, in a few words; empty where nothing is restricted."""
        parts = ["/".join(self.sites), f"from {self.since} on" if self.since else ""]
        return f" ({', '.join(filter(None, parts))})" if any(parts) else ""

    def searched(self, words: str, *, most: int | None = None) -> str:
        """The words with `site:` operators, as search engines read them; the words give way to `most` characters."""
        operators = " OR ".join(f"site:{site}" for site in self.sites)
        operators = f" ({operators})" if len(self.sites) > 1 else operators and f" {operators}"
        return f"{words if most is None else words[: max(0, most - len(operators))]}{operators}"

    def on_site(self, url: str) -> bool:
        """Whether an address leads to one of the sites."""
        host = httpx.URL(url).host.lower().rstrip(".")
        return not self.sites or any(host == site or host.endswith(f".{site}") for site in self.sites)

    def new_enough(self, date: str | None) -> bool:
        """Whether a date (ISO 8601, as exact as it is known) may be `since` or later; what has no date may be."""
        known = (date or "")[: len("2024-05-01")]
        return not (self.since and known) or known >= self.since[: len(known)]


def iso_date(value: object) -> str | None:
    """A provider's date as an ISO 8601 one (2024-05-01); None for what is none."""
    if not isinstance(value, str):
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(value.strip()).date().isoformat()
        except (ValueError, TypeError):
            continue
    return None
