"""The settings table `bucket` of a collection, and those that hold for a bucket."""

from __future__ import annotations

from threading import Lock
from typing import Any, cast

from pydantic import Field

from thresher.protocols import Home
from thresher.settings import Frozen, of_home
from thresher_bucket.address import BucketAddress


class BucketSettings(Frozen):
    """Access to a home's bucket. Endpoint and keys come from the store's own variables, e.g. AWS_ACCESS_KEY_ID."""

    # Allows 5 MB at .5 MB/s.
    timeout_seconds: float = Field(10.0, gt=0, le=3600, description="seconds for one request; it is tried three times")
    seconds_behind: float = Field(
        5.0, ge=0, le=3600, description="seconds after which a question looks for what other machines have changed"
    )

    def heed(self, folder: Home) -> None:
        """Apply values given in a call for the collection in a folder to its bucket, from now on."""
        if isinstance(folder, BucketAddress):
            given = {name: getattr(self, name) for name in self.model_fields_set}
            with _changing:
                _said[folder.bucket] = {**_said.get(folder.bucket, {}), **given}
                _options.pop(folder.bucket, None)


_said: dict[str, dict[str, Any]] = {}
"""Values given in calls, by bucket."""
_options: dict[str, BucketSettings] = {}
_changing = Lock()


def options_of(folder: BucketAddress) -> BucketSettings:
    """The settings of a folder's bucket: given in a call, else in the settings of its home."""
    with _changing:
        if folder.bucket not in _options:
            home = cast(BucketSettings, of_home(cast(Home, folder)).bucket)  # type: ignore[attr-defined]
            _options[folder.bucket] = home.model_copy(update=_said.get(folder.bucket, {}))
        return _options[folder.bucket]


def forget_options() -> None:
    """Read the settings of every bucket anew at its next use."""
    with _changing:
        _said.clear()
        _options.clear()
