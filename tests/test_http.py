from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.correction.making import names
from thresher.http import NotFetched, checked_addresses, is_public, resolved


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "100.100.100.200",
        "169.254.169.254",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.88.99.1",
        "::",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "2001:db8::1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "172.32.0.1", "100.128.0.1"])
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.integers(0, 2**32 - 1).map(IPv4Address) | st.integers(0, 2**128 - 1).map(IPv6Address))
def test_nothing_is_public_that_the_standard_library_calls_private_or_multicast(
    address: IPv4Address | IPv6Address,
) -> None:
    assert not is_public(address) or (address.is_global and not address.is_multicast)


def test_one_inner_address_among_public_ones_forbids_the_host() -> None:
    with pytest.raises(NotFetched, match="not on the public internet"):
        checked_addresses("a.test", 80, resolve=names(a_test=["8.8.8.8", "10.0.0.1"]), allowed=is_public)


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


@pytest.mark.parametrize("resolve", [names(), names(a_test=[]), names(a_test=["fe80::1%eth0x"]), names(a_test=["?"])])
def test_a_host_without_a_plain_address_is_refused(resolve: object) -> None:
    with pytest.raises(NotFetched):
        checked_addresses("a.test", 80, resolve=resolve, allowed=is_public)  # type: ignore[arg-type]


def test_allowed_addresses_come_in_the_resolvers_order() -> None:
    resolve = names(a_test=["9.9.9.9", "8.8.8.8"])
    assert checked_addresses("a.test", 80, resolve=resolve, allowed=is_public) == ["9.9.9.9", "8.8.8.8"]
