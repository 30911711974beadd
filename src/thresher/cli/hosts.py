"""The hosts outside this machine that the settings of a command name: written to stderr before anything is sent."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from thresher.cli import output
from thresher.errors import ThresherError

if TYPE_CHECKING:
    from thresher.home.places import Home


def tell(home: Home, given: Mapping[str, Any], recipe: str | Sequence[str] | None, outside: str | None) -> None:
    """A line for each host, with the setting and its origin; the command itself complains of wrong settings."""
    from thresher import recipes
    from thresher.settings import own

    found: dict[str, dict[str, None]] = {}
    chosen = [recipe] if isinstance(recipe, str) else list(recipe or [""])
    for name in chosen:
        with suppress(ThresherError):
            one = recipes.get(name or recipes.front(home).recipe)
            fitting = own(one.settings, given)
            origins = one.origins(fitting, home=home)
            for host, key in named(one.configured(fitting, home=home), outside):
                origin = origins.get(key, "default")
                found.setdefault(host, {})[f"{key}, {'--set' if origin == 'given' else origin}"] = None
    for host, places in found.items():
        output.complain(f"note: this may send to {host} ({'; '.join(places)})")


def named(settings: Any, outside: str | None = None) -> Iterator[tuple[str, str]]:
    """Each host outside this machine that a recipe with these settings may send to, with the setting that names it."""
    from thresher.settings import flat

    values = flat(settings)
    to_web = (outside or values.get("outside")) == "web"
    to_encoder = str(values.get("encoder")).startswith("endpoint:")
    for key, value in values.items():
        if (key.startswith("web.") and not to_web) or (key.startswith("embeddings.") and not to_encoder):
            continue
        if isinstance(value, str) and value.startswith(("http://", "https://")) and is_elsewhere(host_of(value)):
            yield host_of(value), key
    if to_web and not values.get("web.base_url"):
        yield from _provider(str(values.get("web.provider")), values.get("web.api_key"))


def _provider(name: str, key: str | None) -> Iterator[tuple[str, str]]:
    """The host of a web search that needs no address; none without the key that it needs: nothing is sent then."""
    from thresher.correction.providers import ProviderSettings, web_search
    from thresher.models.usage import Meter

    with suppress(ThresherError):
        search = web_search(name, ProviderSettings(Meter(), api_key=key))
        if is_elsewhere(host_of(f"//{search.host}")):
            yield search.host, "web.provider"


def host_of(address: str) -> str:
    """The host of an address, as it is written there; empty where there is none."""
    with suppress(ValueError):
        return urlsplit(address).hostname or ""
    return ""


def is_elsewhere(host: str) -> bool:
    """Whether a host is not this machine."""
    if not host:
        return False
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host.rstrip(".") != "localhost" and not host.rstrip(".").endswith(".localhost")
