"""Pages of the public web, fetched with care: what they hold is text to be judged, where they are is not trusted.

The address of a page comes from a search engine, or from a page that redirects: somebody else's words. So only http
and https on a few ports, only public addresses, resolved once and connected to as checked; each redirect is checked
like the first address; time, size and kind are bounded; robots.txt is kept to; no cookies, no proxies, no passwords.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from threading import Lock
from time import monotonic
from urllib.robotparser import RobotFileParser

import httpx

from thresher.errors import MissingExtra
from thresher.models.usage import Exchanges, Meter
from thresher.net import AGENT, AddressRefused, Bounds, NotFetched, Reach, Reply, follow, parsed_address


def rules_of(reply: Reply | None) -> RobotFileParser:
    """The rules by the answer for /robots.txt: 4xx allows everything, 5xx or None nothing (RFC 9309, section 2.3.1)."""
    rules = RobotFileParser()
    if reply is not None and reply.status == 200:
        rules.parse(reply.body.decode("utf-8", errors="replace").splitlines())
    elif reply is not None and 400 <= reply.status < 500:
        rules.parse(["User-agent: *", "Allow: /"])
    else:
        rules.parse(["User-agent: *", "Disallow: /"])
    return rules


KINDS = ("text/html", "application/xhtml+xml", "text/plain")
ACCEPT = {"Accept": ", ".join(KINDS)}

PAGE_BYTES = 2_000_000
"""Of a page's unpacked HTML. The main text is looked for without a time limit: the worst 2 MB that were tried (80,000
paragraphs) took 9 s on one slow core, tags without words next to nothing."""

MAX_CHARACTERS = 200_000  # of a page's main text, about a hundred printed pages; what follows is cut off


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read: `url` after redirects, its main text, when it was fetched and which date it states."""

    url: str
    title: str
    text: str
    fetched: str  # ISO 8601, with the time zone
    date: str | None = None  # ISO 8601, if the page states it


@dataclass(frozen=True)
class PageFetcher:
    """Fetches pages and remembers the robots.txt of each site; thread-safe. `reach` is for tests."""

    meter: Meter
    timeout_seconds: float = 20.0  # for one page, with its redirects and robots.txt
    max_bytes: int = PAGE_BYTES
    reach: Reach = field(default_factory=Reach)
    _rules: dict[str, RobotFileParser] = field(default_factory=dict, repr=False, compare=False)
    _locks: dict[str, Lock] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Say at once that a page could not be read."""
        if find_spec("trafilatura") is None:
            raise MissingExtra("trafilatura", extra="web")

    def __call__(self, url: str) -> Page:
        """The page at an address. Raises NotFetched, and BudgetSpent when a question's seconds are used up."""
        self.meter.allow_waiting()
        bounds = Bounds(monotonic() + self.meter.seconds_within(self.timeout_seconds), self.max_bytes)
        final, reply = follow(
            parsed_address(url),
            reach=self.reach,
            bounds=bounds,
            headers=ACCEPT,
            wanted=_page_wanted,
            before=lambda hop: self._check_robots(hop, bounds),
            sending=lambda hop: self.meter.searched(str(hop)),
        )
        fetched = datetime.now(UTC).isoformat(timespec="seconds")
        if reply.status != 200:
            raise NotFetched(f"the server answered {reply.status}")
        if _kind(reply) == "text/plain":
            return Page(str(final), "", _bounded(_decoded(reply) or _guessed(reply.body)), fetched)
        return _read(str(final), reply, fetched)

    def _check_robots(self, url: httpx.URL, bounds: Bounds) -> None:
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        lock = self._locks.setdefault(site, Lock())  # several pages of a site ask for its rules once
        if not lock.acquire(timeout=bounds.seconds_left):
            raise NotFetched("no complete answer in time")
        try:
            if site not in self._rules:
                self._rules[site] = rules_of(self._robots(site, bounds))
        finally:
            lock.release()
        if not self._rules[site].can_fetch(AGENT, str(url)):
            raise NotFetched("refused: not allowed by the site's robots.txt")

    def _robots(self, site: str, bounds: Bounds) -> Reply | None:
        try:
            return follow(
                httpx.URL(f"{site}/robots.txt"),
                reach=self.reach,
                bounds=bounds,
                headers=ACCEPT,
                sending=lambda hop: self.meter.searched(str(hop)),
            )[1]
        except AddressRefused:  # so would the page be: that is what to say, and not what its robots.txt allows
            raise
        except NotFetched:
            return None


def _page_wanted(head: Reply) -> bool:
    if head.status != 200:
        return False
    if _kind(head) not in KINDS:
        raise NotFetched(f"refused: neither HTML nor plain text ({_kind(head) or 'no content type'})")
    return True


def _kind(reply: Reply) -> str:
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def _decoded(reply: Reply) -> str | None:
    """The body in the encoding its server names; None where it names none that exists."""
    charset = httpx.Response(200, headers={"content-type": reply.headers.get("content-type", "")}).charset_encoding
    try:
        return None if charset is None else reply.body.decode(charset, errors="replace")
    except (LookupError, ValueError):
        return None


def _guessed(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def _read(url: str, reply: Reply, fetched: str) -> Page:
    """The main text, title and date of an HTML page. Raises NotFetched without a text."""
    import trafilatura

    try:
        html = _decoded(reply) or reply.body
        extracted = trafilatura.bare_extraction(html, url=url, with_metadata=True, include_comments=False)
    except Exception as error:  # hostile HTML must not end a question, whatever it makes the parser raise
        raise NotFetched(f"the HTML could not be read ({type(error).__name__})") from error
    if extracted is None or isinstance(extracted, dict) or not (extracted.text or "").strip():
        raise NotFetched("no main text in the page")
    return Page(url, extracted.title or "", _bounded(extracted.text or ""), fetched, extracted.date or None)


def _bounded(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise NotFetched("no text in the page")
    return text[:MAX_CHARACTERS]


@dataclass(frozen=True, slots=True)
class RecordedPages:
    """A page fetcher whose pages, and failures, are part of a question's record."""

    fetch: Callable[[str], Page]
    exchanges: Exchanges
    meter: Meter

    def __call__(self, url: str) -> Page:
        """The page at an address. Raises NotFetched and BudgetSpent, as they were raised."""

        def make() -> str:
            try:
                return json.dumps({"page": asdict(self.fetch(url))})
            except NotFetched as failure:
                return json.dumps({"failure": str(failure)})

        reply = json.loads(self.exchanges.reply(["page", url], make, meter=self.meter))
        if "failure" in reply:
            raise NotFetched(reply["failure"])
        return Page(**reply["page"])
