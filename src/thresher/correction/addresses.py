"""Which addresses a page may be fetched from: public ones. A host that has any other is refused.

Judged are the addresses a host's name was resolved to, so every way of writing one (decimal, octal, hexadecimal, a
name that points inside) is judged alike.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from thresher.correction.bounded import AddressRefused

Address = IPv4Address | IPv6Address

Resolve = Callable[[str, int], list[str]]
"""A host and a port to the host's addresses, in the order to try; OSError when there are none."""

METADATA_HOSTS = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.azure.internal",
    }
)
"""Names under which clouds hand a machine its own secrets, refused whatever they resolve to."""

_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT; holds the metadata address 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's metadata address, which looks public
        "169.254.0.0/16",  # link-local; holds the metadata address 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")
"""All that is routed publicly. Outside lie loopback, link-local, private (with fd00:ec2::254), multicast, addresses
that hold an IPv4 address (::ffff:0:0/96) and NAT64 (64:ff9b::/96)."""
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",  # documentation
    )
)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet (IANA's special-purpose registries, and the clouds' own)."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _GLOBAL_6 and not any(address in network for network in _NOT_PUBLIC_6)


def resolved(host: str, port: int) -> list[str]:
    """The addresses the system knows for a host. How long that takes is up to the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def checked_addresses(host: str, port: int, *, resolve: Resolve, allowed: Callable[[Address], bool]) -> list[str]:
    """The addresses of a host, resolved once and all of them allowed. Raises NotFetched.

    One forbidden address forbids the host: a name that mixes inner and public addresses is out to deceive.
    """
    if host.lower().rstrip(".") in METADATA_HOSTS:
        raise AddressRefused("refused: a metadata host")
    try:
        addresses = [ip_address(address) for address in resolve(host, port)]
    except (OSError, UnicodeError) as error:
        raise AddressRefused("the host has no address") from error
    except ValueError as error:
        raise AddressRefused("refused: the host has no plain address") from error
    if not addresses:
        raise AddressRefused("the host has no address")
    if not all(allowed(address) for address in addresses):
        raise AddressRefused("refused: the host is not on the public internet")
    return [str(address) for address in addresses]
