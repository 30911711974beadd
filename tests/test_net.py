from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from time import monotonic
from traceback import format_exception

import pytest

from tests.correction.making import names
from thresher.net import (
    AddressRefused,
    Bounds,
    NotFetched,
    Reach,
    checked_addresses,
    follow,
    is_public,
    parsed_address,
    resolved,
    send,
)
from thresher_testing.llm_server import Reply, ScriptedServer

NOT_PUBLIC = """
127.0.0.1 10.1.2.3 172.31.0.1 192.168.1.1 100.64.0.1 100.100.100.200 169.254.169.254 168.63.129.16 0.0.0.0 224.0.0.1
255.255.255.255 240.0.0.1 192.0.0.9 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1
:: ::1 fe80::1 fd00:ec2::254 ff02::1 ff0e::1 100::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 2002:7f00:1:: 2001:20::1
2001:0:7f00:1:: 64:ff9b::7f00:1 64:ff9b::808:808 2001:db8::1 3fff::1
"""


@pytest.mark.parametrize("address", NOT_PUBLIC.split())
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "172.32.0.1", "100.128.0.1"])
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["metadata.google.internal", "METADATA.google.internal.", "instance-data"])
def test_a_metadata_host_is_refused_by_name_and_not_even_resolved(host: str) -> None:
    resolve = names()
    with pytest.raises(NotFetched, match="metadata"):
        checked_addresses(host, 80, resolve=resolve, allowed=lambda address: True)
    assert resolve.asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "localhost", "localhost.", "::1"])
def test_odd_ways_of_writing_loopback_resolve_to_loopback_and_are_refused(host: str) -> None:
    with pytest.raises(NotFetched):
        checked_addresses(host, 80, resolve=resolved, allowed=is_public)


@pytest.mark.parametrize("addresses", [None, [], ["fe80::1%eth0x"], ["?"], ["8.8.8.8", "10.0.0.1"]])
def test_a_host_without_a_plain_public_address_or_with_another_one_is_refused(addresses: list[str] | None) -> None:
    with pytest.raises(NotFetched):
        checked_addresses(
            "a.test", 80, resolve=names() if addresses is None else names(a_test=addresses), allowed=is_public
        )


# --- addresses that a person named ------------------------------------------------------------------------------------


def leads(serve: Callable[..., ScriptedServer], location: str) -> ScriptedServer:
    """A server whose /a redirects to a location."""
    return serve(pages={"/a": Reply(status=302, headers={"Location": location}), "/b": "Oats."})


def followed(url: str, **reach: object) -> bytes:
    given = Reach(named=True, **reach)  # type: ignore[arg-type]
    return follow(parsed_address(url), reach=given, bounds=Bounds(monotonic() + 5, 10_000))[1].body


def test_a_named_address_may_be_inner_and_lead_to_inner_ones(serve: Callable[..., ScriptedServer]) -> None:
    assert followed(f"{leads(serve, '/b').address}/a") == b"Oats."


def test_where_a_public_address_leads_must_be_public_too(serve: Callable[..., ScriptedServer]) -> None:
    server = leads(serve, "http://127.0.0.2/")
    with pytest.raises(AddressRefused, match="not on the public internet"):
        followed(f"{server.address}/a", allowed=lambda address: str(address) == "127.0.0.1")


@pytest.mark.parametrize("location", ["http://ann:pw@127.0.0.1/", "ftp://127.0.0.1/", "http://metadata/", "\\\\x", ""])
def test_a_redirect_may_not_lead_anywhere_odd(serve: Callable[..., ScriptedServer], location: str) -> None:
    with pytest.raises(NotFetched, match="refused"):
        followed(f"{leads(serve, location).address}/a")


def test_a_password_goes_to_the_site_it_was_given_for_only(serve: Callable[..., ScriptedServer]) -> None:
    other = serve(pages={"/b": "Oats."})
    here = leads(serve, f"{other.address}/b")
    for server, sent in ((leads(serve, "/b"), [True, True]), (here, [True])):
        followed(f"{server.address.replace('://', '://ann:pw@')}/a")
        assert ["authorization" in request.headers for request in server.requests] == sent
    assert ["authorization" in request.headers for request in other.requests] == [False]


def test_an_endpoint_is_sent_what_it_is_for_and_a_redirect_is_not_followed(
    serve: Callable[..., ScriptedServer],
) -> None:
    server = leads(serve, "/b")
    assert send("GET", f"{server.address}/a", bounds=Bounds(monotonic() + 5, 10_000)).status == 302
    assert send("GET", f"{server.address}/b", bounds=Bounds(monotonic() + 5, 10_000)).body == b"Oats."
    assert [request.path for request in server.requests] == ["/a", "/b"]
    key = {"X-Key": "s3cret\n"}
    with pytest.raises(NotFetched, match="line break") as refused:
        send("GET", f"{server.address}/b", bounds=Bounds(monotonic() + 5, 10_000), headers=key)
    assert "s3cret" not in "".join(format_exception(refused.value))


def test_a_header_may_hold_any_character(serve: Callable[..., ScriptedServer]) -> None:
    server = leads(serve, "/b")
    send("GET", f"{server.address}/b", bounds=Bounds(monotonic() + 5, 10_000), headers={"X-Key": "schlüssel"})
    assert server.requests[0].headers["x-key"].encode("latin-1").decode() == "schlüssel"
