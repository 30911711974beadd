"""Whose a settings file is: which one counts above a folder, and what of it counts only once the user trusted it.

A `thresher.toml` may be a stranger's: in a folder that others can write, in a home that was handed over, in a
repository that was cloned. Three rules keep documents, questions and keys from going where such a file wants them:

1. A file that is met on the way up counts where the user or root owns it, and nobody else can write it or a folder on
   the way. The way ends at the home directory and at a repository's root.
2. Addresses, keys, models, `home` and `outside` (`guarded`) count in the file of the user's configuration folder; in
   any other, which may be the user's on disk and yet written by somebody else, once the user has trusted them. What is
   trusted is remembered by its hash, so that a change is asked about again.
3. A key that came with an address goes to that address alone (`stray_secrets`).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from thresher.errors import LONGEST_SHOWN, UsageError

CONFIG_FILE = "thresher.toml"
TRUSTED_FILE = "trusted.json"
"""Beside the user's own settings: the files that are trusted, each with the hash of what it may set."""

ROOTS = (".git", ".hg", ".svn", ".jj")
"""What the root of a repository holds."""

ADMINISTRATOR = 0
"""The number of the user who may write everything anyway."""

NAMES_A_MODEL_OR_A_PLACE = {
    "home": (),
    "base_url": ("",),
    "dsn": ("",),
    "model": ("",),
    "api_key": ("",),
    "rerank_api_key": ("",),
    "outside": ("", "none"),
    "provider": ("", "none"),
    "encoder": ("bundled",),
    "rerank": ("", "none", "bundled"),
    "judge": ("auto", "llm", "local", "trained", "calibrated"),
    "judge_model": ("bundled",),
    "admin_key": ("",),
    "host": ("127.0.0.1", "localhost"),
    "allowed_hosts": ("",),
    "allowed_origins": ("",),
    "public_url": ("",),
}
"""Last parts of the keys that say where documents, questions and keys go or which model is loaded; with the values that
are nothing to trust, because they name what comes with Thresher, or nothing."""


# --- files ------------------------------------------------------------------------------------------------------------


def user_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the user's own settings; it need not be there."""
    return (
        Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".config")
        / "thresher"
    )


def is_own(file: Path, environment: Mapping[str, str]) -> bool:
    """Whether a file is the one in the user's configuration folder."""
    return file.resolve() == (user_folder(environment) / CONFIG_FILE).resolve()


def nearest(start: Path, environment: Mapping[str, str]) -> Path | None:
    """The first `thresher.toml` on the way up from a folder, whosever it is."""
    return next((folder / CONFIG_FILE for folder in _way(start, environment) if (folder / CONFIG_FILE).is_file()), None)


def _way(start: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """A folder and those above it, as far as the home directory or the root of a repository, these included."""
    home = Path(environment.get("HOME", "~")).expanduser().resolve()
    for folder in (start, *start.parents):
        yield folder
        if folder.resolve() == home or any((folder / name).exists() for name in ROOTS):
            return


def objection(file: Path, start: Path) -> str:
    """Why a file that was met on the way up from a folder does not count; the empty text when it does."""
    folders = [folder for folder in (start, *start.parents) if folder.is_relative_to(file.parent)]
    return next(filter(None, map(_others_write, (file, *reversed(folders)))), "")


def _others_write(place: Path) -> str:
    """Who besides the user and root can write a file or folder, in words; the empty text for nobody."""
    if not hasattr(os, "geteuid"):
        return ""  # no owners and modes to look at; what is guarded has to be trusted all the same
    try:
        found = {place.lstat(), place.stat()}  # of a link what it leads to as well
    except OSError as error:
        return f"{place} cannot be looked at ({error.strerror})"
    for one in found:
        if one.st_uid not in (os.geteuid(), ADMINISTRATOR):
            return f"{place} belongs to somebody else"
        others = stat.S_IMODE(one.st_mode) & stat.S_IWOTH
        shared = stat.S_IMODE(one.st_mode) & stat.S_IWGRP and not _alone(one.st_uid, one.st_gid)
        if (others or shared) and not stat.S_ISLNK(one.st_mode):  # the mode of a link says nothing
            return f"others can write {place}"
    return ""


def _alone(user: int, group: int) -> bool:
    """Whether a group is the user's own, with nobody else in it, as many systems make one for each user."""
    import grp
    import pwd

    try:
        owner, shared = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    return owner.pw_gid == group and owner.pw_name == shared.gr_name and set(shared.gr_mem) <= {owner.pw_name}


# --- what is trusted --------------------------------------------------------------------------------------------------


def guarded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of the values of a file, by dotted key, those that say where something goes or which model is loaded."""
    return {key: value for key, value in values.items() if _is_guarded(key.rpartition(".")[2], value)}


def _is_guarded(name: str, value: Any) -> bool:
    if name in NAMES_A_MODEL_OR_A_PLACE:
        return value not in NAMES_A_MODEL_OR_A_PLACE[name]
    return "://" in str(value)  # of a setting that a recipe from elsewhere brings


def check_trusted(file: Path, values: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Raise UsageError for guarded values that the user has not trusted."""
    asked = guarded(values)
    if not asked or is_own(file, environment) or _remembered(environment).get(_name(file)) == _digest(file, asked):
        return
    named = shown(asked)
    raise UsageError(
        f"sets {', '.join(f'{key} = {value}' for key, value in named.items())}, and you have not trusted that",
        subject=str(file),
        next_step=f"if it is what you want, call `trust({quote(str(file))})`, else remove it from the file",
    )


def shown(values: Mapping[str, Any]) -> dict[str, str]:
    """Values as they can be printed: keys as stars, nothing that a terminal would act upon, none of them long."""

    def one(key: str, value: Any) -> str:
        if key.endswith(("api_key", "dsn")):
            return "**********"
        written = json.dumps(value, default=str)
        return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"

    return {key: one(key, value) for key, value in values.items()}


def remember(file: Path, values: Mapping[str, Any] | None, environment: Mapping[str, str]) -> None:
    """Trust the guarded values of a file from now on; None for what it says no longer to be trusted."""
    kept = {name: digest for name, digest in _remembered(environment).items() if name != _name(file)}
    if values is not None:
        kept[_name(file)] = _digest(file, guarded(values))
    folder = user_folder(environment)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    working = folder / f".{TRUSTED_FILE}-{os.getpid()}"
    working.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    working.chmod(0o600)
    working.replace(folder / TRUSTED_FILE)


def _remembered(environment: Mapping[str, str]) -> dict[str, str]:
    """The hash that each trusted file had. Raises UsageError for a list that cannot be read."""
    file = user_folder(environment) / TRUSTED_FILE
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read ({error})", subject=str(file), next_step="mend or remove it") from error
    return found if isinstance(found, dict) else {}


def _name(file: Path) -> str:
    return str(file.resolve())


def _digest(file: Path, values: Mapping[str, Any]) -> str:
    """A hash of what a file sets, and of where it is: the same words elsewhere may be another person's."""
    written = json.dumps([_name(file), sorted(values.items())], default=str)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


# --- keys and the addresses they came with ----------------------------------------------------------------------------


def stray_secrets(layers: Sequence[tuple[str, Mapping[str, Any]]]) -> list[set[str]]:
    """For each place with its values, the stronger the later, the keys that must not go to the address that counts.

    A key that came with an address (or the provider of a web search) is meant for that one. A key that came alone, as
    from the environment, is for the address that counts, whichever of the user's files names it.
    """
    chosen = {key: (place, value) for place, values in layers for key, value in values.items()}
    own: dict[str, dict[str, Any]] = {}
    for place, values in layers:
        own.setdefault(place, {}).update(values)

    def strays(place: str, secret: str) -> bool:
        addresses = _addresses(secret)
        if not any(address in own[place] for address in addresses):
            return False
        return any(
            _server(chosen.get(address, (place, None))[1]) != _server(own[place].get(address)) for address in addresses
        )

    return [{key for key in values if key.endswith("api_key") and strays(place, key)} for place, values in layers]


def _addresses(secret: str) -> Iterable[str]:
    """The settings that say where a key goes: those of its own table, or the one that it is named after."""
    table, dot, name = secret.rpartition(".")
    if name == "api_key":
        return (f"{table}{dot}base_url", f"{table}{dot}provider")
    return (f"{table}{dot}{name.removesuffix('_api_key')}",)


def _server(value: Any) -> object:
    """What two addresses on the same server have in common; another value is itself, and the empty one nothing."""
    if not isinstance(value, str) or "://" not in value:
        return value or None
    try:
        parts = urlsplit(value)
        return parts.scheme, parts.hostname, parts.port
    except ValueError:
        return value
