"""What the tests of this room are made of: a page, a certificate, a resolver."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import trustme

AUTHORITY = trustme.CA()
"""Made anew for each run; it signs the certificate of example.test."""

CERTIFICATE = AUTHORITY.issue_cert("example.test")

ARTICLE = """<html><head><title>Kõpu lighthouse</title>
<meta property="article:published_time" content="2024-05-01"></head>
<body><nav>Home | Shop | Login</nav><article><h1>Kõpu lighthouse</h1>
<p>The Kõpu lighthouse was built in 1531 on the island of Hiiumaa. It is among the oldest lighthouses that still work,
and the road to it was a rough one for the monks who carried the stones.</p>
<p>Its light reaches 26 nautical miles, farther than any other light of the Baltic Sea, and it stands 67 metres high
above the sea on a hill that the old sailors knew well.</p></article><footer>Copyright</footer></body></html>"""


def names(**hosts: Sequence[str]) -> Callable[[str, int], list[str]]:
    """A resolver of these hosts (an underscore is a dot) that counts what it was asked."""
    known = {host.replace("_", "."): list(addresses) for host, addresses in hosts.items()}

    def resolve(host: str, port: int) -> list[str]:
        resolve.asked.append(host)  # type: ignore[attr-defined]
        if host not in known:
            raise OSError("no such host")
        return known[host]

    resolve.asked = []  # type: ignore[attr-defined]
    return resolve
