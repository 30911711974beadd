"""Reads, merges and checks the values of settings. The models of recipes are in `recipes.settings`.

A value comes from, the later the stronger: the recipe's default, its preset, a `thresher.toml` (in the user's
configuration folder; the nearest one in this folder or above it; in the home folder), environment variables
(`THRESHER_LLM__BASE_URL` for `llm.base_url`), what the caller gives (`--set key=value`). Which file counts, and what of
it has to be trusted first, is in `trusted`.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo

from thresher.errors import MissingExtra, ThresherError, UnknownSetting, UsageError, missing, without_password
from thresher.plugins import brought, loaded
from thresher.trusted import (
    CONFIG_FILE,
    check_trusted,
    guarded,
    is_own,
    nearest,
    objection,
    remember,
    shown,
    stray_secrets,
    user_folder,
)

if TYPE_CHECKING:
    from thresher.protocols import Home

ENVIRONMENT_PREFIX = "THRESHER_"

TABLES = "thresher.settings"
"""The entry points of tables of settings that distributions bring for collections.

    [project.entry-points."thresher.settings"]
    mine = "my_package.settings:MySettings"

is the table `mine`: a `Frozen` model with a default for every field, and `heed`, see `SettingsTable`.
"""

FOLDERS = {"home"}
"""Keys whose values are folders: in a file a path is relative to that file."""


class Frozen(BaseModel):
    """Unknown keys are errors, values do not change, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _address(given: str | None) -> str | None:
    """An http address; None for an empty text."""
    if not given:
        return None
    parts = urlsplit(given)  # a ValueError of its own for what cannot be an address
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address starts with http:// or https://")
    return given


Address = Annotated[str | None, AfterValidator(_address)]
AddressOrNothing = Annotated[str, AfterValidator(lambda given: _address(given) or "")]
"""An http address, or the empty text."""


def _listed(given: object) -> object:
    """A list as one text with commas; a text without the spaces around its commas."""
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        return given  # for pydantic to refuse
    return ",".join(filter(None, (part.strip() for part in parts)))


Listed = Annotated[str, BeforeValidator(_listed)]
"""Names separated by commas, given as a text or as a list."""


def check_weights(**weights: float | None) -> None:
    """Raise ValueError if all weights are 0: every candidate would be equally good."""
    if all(weight == 0 for weight in weights.values()):
        raise ValueError(f"one of {' and '.join(weights)} must be above 0")


# --- what a model holds -----------------------------------------------------------------------------------------------


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Dotted key and field of every setting of a model and of its tables."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from fields(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


@cache
def keys(model: type[BaseModel]) -> tuple[str, ...]:
    """All dotted keys of a settings model."""
    return tuple(key for key, _ in fields(model))


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """The description of each dotted key."""
    return {key: field.description or "" for key, field in fields(model)}


def secret_keys(model: type[BaseModel]) -> set[str]:
    """The dotted keys of secrets, whose values are never shown."""
    kinds = {key: field.annotation for key, field in fields(model)}
    return {key for key, kind in kinds.items() if SecretStr in (kind, *getattr(kind, "__args__", ()))}


def flat(settings: BaseModel) -> dict[str, Any]:
    """Dotted keys and values, secrets as stars, addresses without name and password."""
    values = dict(dotted(settings.model_dump()))
    return {
        key: without_password(str(value)) if isinstance(value, str | SecretStr) else value
        for key, value in values.items()
    }


def flat_public(settings: BaseModel) -> dict[str, Any]:
    """Dotted keys and values without the secret ones, as they can be given again."""
    hidden = secret_keys(type(settings))
    return {key: value for key, value in flat(settings).items() if key not in hidden}


# --- from values to settings ------------------------------------------------------------------------------------------

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Layer:
    """Values by dotted key from one origin."""

    origin: str
    """For people: a file, a variable, `preset` or `given`."""
    values: Mapping[str, Any]

    @property
    def place(self) -> str:
        """The origin; `the environment` for every variable."""
        return "the environment" if self.origin.startswith(ENVIRONMENT_PREFIX) else self.origin


def resolved(
    model: type[Model],
    given: Mapping[str, Any],
    *,
    preset: Mapping[str, Any] | None = None,
    home: Home | None = None,
    known: Collection[str] = (),
    around: Sequence[Layer] | None = None,
) -> Model:
    """The settings of a recipe, by the precedence at the top of this file. Raises UsageError in one line.

    `known` are the keys that a `thresher.toml` and the environment may hold: those of every recipe. Without a `home`
    neither is read; `around` is what was read of them already.
    """
    return stacked(model, layers(model, given, preset=preset, home=home, known=known, around=around))


def settings_around(model: type[Model], home: Home) -> Model:
    """A model with the values of each `thresher.toml` and of the environment; keys of other models are ignored."""
    found = [Layer(one.origin, known_to(model, one.values)) for one in ambient(keys(model), home, strict=False)]
    return stacked(model, _without_strays(found))


def stacked(model: type[Model], layers: Sequence[Layer]) -> Model:
    """A model of the values of all layers."""
    return validated(model, {key: value for layer in layers for key, value in layer.values.items()}, origins(layers))


def layers(
    model: type[BaseModel],
    given: Mapping[str, Any],
    *,
    preset: Mapping[str, Any] | None = None,
    home: Home | None = None,
    known: Collection[str] = (),
    around: Sequence[Layer] | None = None,
) -> list[Layer]:
    """What a model is given besides its defaults, the stronger the later; arguments as of `resolved`."""
    given = dict(dotted(given))
    check_known(given, keys(model))
    if around is None:
        around = [] if home is None else ambient(known, home)
    own_of = [Layer(layer.origin, known_to(model, layer.values)) for layer in around]
    return _without_strays([Layer("preset", preset or {}), *own_of, Layer("given", given)])


def _without_strays(layers: Sequence[Layer]) -> list[Layer]:
    """The same layers without secrets that belong to an address which another layer replaces."""
    strays = stray_secrets([(layer.place, layer.values) for layer in layers])
    return [
        Layer(layer.origin, {key: value for key, value in layer.values.items() if key not in stray})
        for layer, stray in zip(layers, strays, strict=True)
    ]


def origins(layers: Iterable[Layer]) -> dict[str, str]:
    """The origin of the value of each key; a key of no layer has its default."""
    return {key: layer.origin for layer in layers for key in layer.values}


def validated(model: type[Model], values: Mapping[str, Any], origins: Mapping[str, str] | None = None) -> Model:
    """A model of dotted keys and values. Raises UsageError for the first invalid value, with its origin."""
    # A table that is given in part keeps what the model's own default says of the rest of it.
    nested: dict[str, Any] = {
        name: field.default.model_dump(exclude_unset=True)
        for name, field in model.model_fields.items()
        if isinstance(field.default, BaseModel)
    }
    for key, value in values.items():
        *path, last = key.split(".")
        inner = nested
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = value
    try:
        return model.model_validate(nested)
    except ValidationError as error:
        # Without the cause: pydantic's own words hold the value, which may be a key.
        raise _bad_setting(error.errors()[0], model, origins or {}) from None


def _bad_setting(first: Mapping[str, Any], model: type[BaseModel], origins: Mapping[str, str]) -> UsageError:
    """The error in one line for the first error of pydantic."""
    key = ".".join(str(part) for part in first["loc"])
    origin = origins.get(key, "given")
    place = "" if origin in ("given", "preset") else f"{origin}: "
    shown = "" if key in secret_keys(model) or isinstance(first["input"], Mapping) else f" (given: {first['input']!r})"
    what = first["msg"].removeprefix("Value error, ")
    return UsageError(f"{what}{shown}", subject=f"{place}setting {key}", next_step="see `settings(RECIPE)`")


def ambient(
    known: Collection[str],
    home: Home | None,
    environment: Mapping[str, str] = os.environ,
    here: Path | None = None,
    *,
    strict: bool = True,
) -> list[Layer]:
    """Values from each `thresher.toml` and from the environment, for the known keys, the stronger the later.

    `here` is the folder from which a file is looked for upwards, the current one by default. Raises UsageError for a
    file that cannot be read, or that sets what the user has not trusted; `strict` for a key that is not known too.
    """
    found = []
    for file in config_files(home, environment, here):
        found.append(_read(file, known if strict else None))
        check_trusted(file, found[-1].values, environment)
    for name, value in environment.items():
        if not name.startswith(ENVIRONMENT_PREFIX):
            continue
        key = name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
        if variable(key) == name and key in known:
            found.append(Layer(name, {key: value}))
        elif strict and ("__" in name or _misspelt(name, map(variable, known))):
            raise _unknown(name, key.partition(".")[0], map(variable, known), kind="setting in the environment")
    return found


def config_files(
    home: Home | None, environment: Mapping[str, str] = os.environ, here: Path | None = None
) -> list[Path]:
    """Every `thresher.toml` that applies, later ones win: the user's, the nearest from here up, the home's."""
    met = _met(environment, here)
    named = [user_folder(environment) / CONFIG_FILE, *([met[0]] if met and not met[1] else [])]
    named += [home / CONFIG_FILE] if isinstance(home, Path) else []
    return list({file.resolve(): file for file in named if file.is_file()}.values())  # met twice it counts where first


def passed_over(environment: Mapping[str, str] = os.environ, here: Path | None = None) -> tuple[Path, str] | None:
    """The nearest `thresher.toml` from here up if it does not apply, with the reason."""
    met = _met(environment, here)
    return met if met and met[1] and not is_own(met[0], environment) else None


def _met(environment: Mapping[str, str], here: Path | None) -> tuple[Path, str] | None:
    """The nearest `thresher.toml` from here up, with the reason why it does not apply; empty if it does."""
    start = here or Path(os.path.abspath(os.curdir))
    above = nearest(start, environment)
    return None if above is None else (above, objection(above, start))


def trust(
    file: Path, known: Collection[str], environment: Mapping[str, str] = os.environ, *, forget: bool = False
) -> dict[str, str]:
    """Remember that a file may say where documents, questions and keys go; returns what it says, as it can be printed.

    With `forget` that is no longer so. Raises UsageError for a file that cannot be read.
    """
    values = _read(file, known).values
    remember(file, None if forget else values, environment)
    return shown(guarded(values))


def _read(file: Path, known: Collection[str] | None) -> Layer:
    """The values of a file. Raises UsageError that names the file, and the key that is not known; None knows all."""
    try:
        values = dict(dotted(tomllib.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError, RecursionError) as error:  # the latter two of numbers and nesting without end as well
        raise UsageError(f"cannot be read ({error})", subject=str(file), next_step="mend or remove it") from error
    try:
        check_known(values, values if known is None else known)
    except (UnknownSetting, MissingExtra) as error:
        error.subject = f"{file}: {error.subject}"
        raise
    for key in FOLDERS & values.keys():
        values[key] = str(values[key]) if "://" in str(values[key]) else str(file.parent / str(values[key]))
    return Layer(str(file), values)


def _misspelt(variable: str, known: Iterable[str]) -> bool:
    """Whether a variable resembles a known one; others may belong to other programs."""
    name = variable.removeprefix(ENVIRONMENT_PREFIX)
    names = (one.removeprefix(ENVIRONMENT_PREFIX) for one in known)
    return bool(difflib.get_close_matches(name, names, n=1, cutoff=0.85))


def variable(key: str) -> str:
    """The environment variable of a setting, THRESHER_LLM__BASE_URL for `llm.base_url`."""
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "__")


def known_to(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings that a model has: with several recipes, a setting counts for those that have it."""
    known = set(keys(model))
    return {key: value for key, value in given.items() if key in known}


def check_known(given: Iterable[str], known: Collection[str]) -> None:
    """Raise UnknownSetting for the first key that is not known, MissingExtra where what brings it is not installed."""
    for key in given:
        if key not in known:
            raise _unknown(key, key.partition(".")[0], known)


def _unknown(key: str, table: str, known: Iterable[str], *, kind: str = "setting") -> ThresherError:
    """The error for an unknown key: the distribution of its table is not installed, or the key does not exist."""
    absent = None if table in brought(TABLES) else missing(TABLES, table)
    if absent is None:
        return UnknownSetting(key, known, kind=kind)
    absent.subject = key
    return absent


def dotted(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def parse_assignments(
    assignments: Sequence[str], *, parameter: str = "settings", example: str = "rerank=none"
) -> dict[str, str]:
    """`key=value` pairs from a command line; of a key given twice the last value counts."""
    parsed = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise UsageError(
                "is not key=value", subject=f"`{parameter}` {assignment!r}", next_step=f"e.g. `{parameter}` {example}"
            )
        parsed[key.strip()] = value.strip()
    return parsed


# --- of a collection --------------------------------------------------------------------------------------------------


class SettingsTable(Protocol):
    """A model of settings that a distribution brings for its store, or its homes."""

    def heed(self, folder: Home) -> None:
        """Use the values in `model_fields_set`, which a call gave for the collection in a folder."""


class ReadingSettings(Frozen):
    """Limits of the process that reads files, and what it reads; a file that exceeds them is an error."""

    memory_megabytes: int = Field(2048, ge=256, le=1_048_576, description="MiB of memory at most (Linux)")
    seconds: float = Field(
        300.0, gt=0, le=86_400, description="seconds for a file, a page of OCR or the next rows of a corpus at most"
    )
    stack_megabytes: int = Field(64, ge=1, le=1024, description="MiB of stack: how deep a file may be nested")
    hidden: bool = Field(True, description="read hidden text, sheets and slides too; `index` counts them")


class CollectionSettings(Frozen):
    """Settings of every collection; `collection_model` adds the tables of distributions."""

    store: str = Field("lance", description="who keeps its tables; a collection stays with the one it was made with")
    memory_megabytes: int = Field(
        1024,
        ge=16,
        le=1_048_576,
        description="MB that a process keeps of what it has read of tables: rows of small ones, and indexes",
    )
    reading: ReadingSettings = ReadingSettings()


@cache
def collection_model() -> type[CollectionSettings]:
    """The settings of a collection with the tables that installed distributions bring. Raises UsageError."""
    kinds = {name: loaded(entry) for name, entry in sorted(brought(TABLES).items())}
    tables: Any = {name: (kind, kind()) for name, kind in kinds.items()}
    return create_model("CollectionSettings", __base__=CollectionSettings, **tables)


def of_home(home: Home) -> CollectionSettings:
    """The settings of a home. An unknown key is refused when a recipe is configured."""
    return settings_around(collection_model(), home)


def tell_tables(folder: Home, given: Mapping[str, Any]) -> None:
    """Pass the values of a call, by dotted key, to their tables for the collection in a folder. Raises UsageError."""
    names = [name for name in brought(TABLES) if any(key.startswith(f"{name}.") for key in given)]
    if names:
        found = resolved(
            collection_model(), {key: value for key, value in given.items() if key.partition(".")[0] in names}
        )
        for name in names:
            cast(SettingsTable, getattr(found, name)).heed(folder)
