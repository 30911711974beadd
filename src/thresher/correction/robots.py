"""What a site's robots.txt lets us read (RFC 9309)."""

from __future__ import annotations

from urllib.robotparser import RobotFileParser

from thresher.correction.bounded import AGENT, Reply


def rules_of(reply: Reply | None) -> RobotFileParser:
    """The rules of a site by what its /robots.txt answered, None when nothing did (RFC 9309, section 2.3.1).

    A file that is not there (4xx) allows everything, a server that fails or is out of reach nothing.
    """
    rules = RobotFileParser()
    if reply is not None and reply.status == 200:
        rules.parse(reply.body.decode("utf-8", errors="replace").splitlines())
    elif reply is not None and 400 <= reply.status < 500:
        rules.parse(["User-agent: *", "Allow: /"])
    else:
        rules.parse(["User-agent: *", "Disallow: /"])
    return rules


def allows(rules: RobotFileParser, url: str) -> bool:
    """Whether we may read an address."""
    return rules.can_fetch(AGENT, url)
