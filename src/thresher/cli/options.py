"""Shared by the commands: options, exit codes, their collection, the words of their errors."""

from __future__ import annotations

import inspect
import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints
from urllib.parse import urlsplit

import typer

from thresher.cli import output
from thresher.errors import ThresherError

if TYPE_CHECKING:
    from thresher.collection import Collection
    from thresher.home import places
    from thresher.recipes.settings import FrontSettings

__all__ = [
    "FAILED",
    "IN_PART",
    "AsJson",
    "Home",
    "On",
    "RecipeName",
    "Settings",
    "Strict",
    "Target",
    "assignments",
    "on_collection",
    "target_of",
    "tell_hosts",
]

DONE, FAILED, WRONG_USAGE, IN_PART, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes of the public contract; 130 is what shells expect of a command that Ctrl-C ended."""

COMPLETE = "_THRESHER_COMPLETE"  # the variable in which a shell asks what can follow


def recipe_names(incomplete: str) -> list[str]:
    """For the shell: recipes that begin so."""
    from thresher import recipes

    return [name for name in recipes.names() if name.startswith(incomplete)]


def _collections(incomplete: str) -> list[str]:
    """For the shell: collections of the usual home that begin so."""
    from thresher import recipes
    from thresher.home import folders

    return [name for name in folders.names(_home(recipes.front().home)) if name.startswith(incomplete)]


def _home(given: str) -> places.Home:
    """A folder of this machine, or a remote one."""
    from thresher.home.places import home_of

    return home_of(given)


Home = Annotated[
    Any,
    typer.Option(
        "--home",
        metavar="FOLDER",
        parser=_home,
        envvar="THRESHER_HOME",
        help="Folder of all collections, or s3://BUCKET/PREFIX; .thresher where nothing says more.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--collection",
        metavar="NAME",
        help="Which collection; `default` where nothing says more.",
        autocompletion=_collections,
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting; see `thresher show`.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
RecipeName = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME",
        help="Which recipe, see `thresher recipes`; `corrective` where nothing says more.",
        autocompletion=recipe_names,
    ),
]
RecipeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe",
        metavar="NAME",
        help="Which recipe, see `thresher recipes`; `corrective` where nothing says more (repeatable).",
        autocompletion=recipe_names,
    ),
]
Where = Annotated[
    str | None,
    typer.Option("--where", metavar="FILTER", help="Filter on metadata, e.g. \"kind = 'pdf' AND page <= 3\"."),
]
Strict = Annotated[
    bool | None,
    typer.Option("--strict/--no-strict", help="Refuse when a part of the recipe is not available.", show_default=False),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="ADDRESS",
        help="Work on a Ray cluster: its address (HOST:PORT, ray://HOST:PORT) or auto; needs thresher-ray.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Question = Annotated[list[str], typer.Argument(metavar="QUESTION", help="The question, in quotes or not.")]

# --- the collection a command is about --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """The values of --home, --collection, --set and --json."""

    home: places.Home
    collection: str
    settings: dict[str, str]
    json: bool

    def open(self) -> Collection:
        """The collection, telling on stderr when it completes an index."""
        from thresher.collection import Collection

        return Collection(self.home, self.collection, completing=output.Completing())

    def show(self, result: Any, in_words: Callable[[Any], None]) -> None:
        """Print the result of a command, as JSON or in words."""
        if self.json:
            output.as_json(result)
        else:
            in_words(result)

    @property
    def options(self) -> str:
        """The options that name the collection, less those with their usual values."""
        from thresher import recipes

        usual = recipes.front()
        given = "" if self.home == _home(usual.home) else f" --home {quote(str(self.home))}"
        return given if self.collection == usual.collection else f"{given} --collection {quote(self.collection)}"

    def recipe(self, given: str | None) -> str:
        """The recipe that is asked for, or that a file or the environment names."""
        return given or self._front.recipe

    def strict(self, given: bool | None) -> bool:
        """Whether to refuse when a part of the recipe is not available, by the same."""
        return self._front.strict if given is None else given

    @property
    def _front(self) -> FrontSettings:
        from thresher import recipes

        return recipes.front(self.home)


def target_of(home: places.Home | None, collection: str | None, settings: dict[str, str], json: bool) -> Target:
    """The options, else `thresher.toml` and the environment; an ignored `thresher.toml` is named on stderr."""
    from thresher.settings import passed_over

    if found := passed_over():
        file, why = found
        output.complain(f"note: {file} is ignored: {why}")
    if home is None or collection is None:
        from thresher import recipes

        home = home or _home(recipes.front().home)
        collection = collection or recipes.front(home).collection
    return Target(home, collection, settings, json)


def on_collection(
    *, reads_settings: bool = True, sends: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command --home, --collection, --set and --json after its own options; it takes them as a `Target`, first.

    The library checks the settings that a command reads against its recipe; those of a command that reads none are
    checked here. For a command that reads settings and `sends`, the hosts outside this machine that they name are shown
    before it runs.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(
            *, home: places.Home | None, collection: str | None, settings: list[str] | None, json: bool, **own: Any
        ) -> None:
            given = assignments(settings)
            if given and not reads_settings:
                from thresher import recipes
                from thresher.settings import check_known

                check_known(given, recipes.settings_keys())
            target = target_of(home, collection, given, json)
            if reads_settings and sends:
                tell_hosts(target.home, given, own.get("recipe"), own.get("outside"))
            command(target, **own)

        hints = get_type_hints(command, include_extras=True)
        _, *own = inspect.signature(command).parameters.values()
        shared: dict[str, tuple[Any, Any]] = {"home": (Home, None), "collection": (Name, None)}
        shared |= {"settings": (Settings, None), "json": (AsJson, False)}
        parameters = [one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in shared.items()
        ]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        return call

    return decorate


# --- hosts outside this machine that settings name, written to stderr before anything is sent -------------------------


def tell_hosts(
    home: places.Home, given: Mapping[str, Any], recipe: str | Sequence[str] | None, outside: str | None
) -> None:
    """A line for each host, with the setting and its origin; the command itself complains of wrong settings."""
    from thresher import recipes
    from thresher.settings import known_to

    found: dict[str, dict[str, None]] = {}
    chosen = [recipe] if isinstance(recipe, str) else list(recipe or [""])
    for name in chosen:
        with suppress(ThresherError):
            one = recipes.get(name or recipes.front(home).recipe)
            fitting = known_to(one.settings, given)
            origins = one.origins(fitting, home=home)
            for host, key in _hosts(one.configured(fitting, home=home), outside):
                origin = origins.get(key, "default")
                found.setdefault(host, {})[f"{key}, {'--set' if origin == 'given' else origin}"] = None
    for host, places in found.items():
        output.complain(f"note: this may send to {host} ({'; '.join(places)})")


def _hosts(settings: Any, outside: str | None = None) -> Iterator[tuple[str, str]]:
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


def assignments(settings: list[str] | None) -> dict[str, str]:
    """The KEY=VALUE of --set."""
    if not settings:
        return {}
    from thresher.settings import parse_assignments

    return parse_assignments(settings)


# --- the words of an error --------------------------------------------------------------------------------------------

COMMAND_OF = {
    "add": "index",
    "settings": "show",
    "tables": "status",
}  # commands with another name than the method they call

CODE = re.compile(r"(?P<call>call )?`(?P<name>\w+)(?:\((?P<arguments>[^`]*)\))?`")
"""How an error of the library writes a parameter, `where`, and a call, `add(PATH)`."""


def in_flags(message: str, command: Any) -> str:
    """An error of the library in the words of a command line: `where` is --where, `add(PATH)` is thresher index PATH.

    `command` is the command line's root; a name that is none of its options or commands stays as it is.
    """
    if not CODE.search(message):
        return message
    flags = dict(_flags(command))

    def word(code: re.Match[str]) -> str:
        name, arguments = code["name"], code["arguments"]
        if arguments is None:
            return flags.get(name, code[0])
        called = COMMAND_OF.get(name, name)
        if called not in command.commands:
            return code[0]
        return f"{'run ' if code['call'] else ''}thresher {called} {arguments}".rstrip()

    return CODE.sub(word, message)


def _flags(command: Any) -> Iterator[tuple[str, str]]:
    """The options of a command and of those below it, by the names of their parameters."""
    yield from ((one.name, one.opts[0]) for one in command.params if one.opts[0].startswith("--"))
    for below in getattr(command, "commands", {}).values():
        yield from _flags(below)
