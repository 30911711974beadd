"""No test leaves this machine: a connection to anything but loopback is an error, here and in processes started here.

An audit hook sees every connection that Python makes, whatever library asks for it, and cannot be taken off again.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import sys
from typing import Any


class LeavesTheMachine(BaseException):
    """Not an OSError, nor any Exception: no part may take it for a server that is down."""


HOST_NAME = re.compile(r"[\w.-]+", re.ASCII)


def is_address(host: str) -> bool:
    """Whether a host is written as an address, in whatever odd way: nobody is asked for what it means."""
    try:
        socket.inet_aton(host)
    except OSError:
        return ":" in host
    return True


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise for a connection or a look-up of a name that would leave this machine."""
    match event, arguments:
        case (("socket.connect" | "socket.sendto"), (_, (str(host), *_))):
            if not (is_loopback(host) or host == "localhost"):
                raise LeavesTheMachine(f"a test connects to {host}")
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (str(host) | bytes(host), *_)):
            name = (host.decode() if isinstance(host, bytes) else host).rstrip(".")
            if name in ("", "localhost") or is_address(name):
                return
            if name.endswith(".invalid") or not HOST_NAME.fullmatch(name):  # RFC 6761: known to be nowhere
                raise socket.gaierror(socket.EAI_NONAME, "name is not known")
            raise LeavesTheMachine(f"a test looks up {name}")


sys.addaudithook(refuse)
