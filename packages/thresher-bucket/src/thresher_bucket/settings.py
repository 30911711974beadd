"""The settings table `bucket` of a collection."""

from __future__ import annotations

from typing import cast

from pydantic import Field

from thresher.protocols import Home
from thresher.settings import Frozen, of_home
from thresher_bucket.folder import BucketFolder


class BucketSettings(Frozen):
    """Access to a home's bucket. Endpoint and keys come from the store's own variables, e.g. AWS_ACCESS_KEY_ID."""

    # Allows 5 MB at .5 MB/s.
    timeout_seconds: float = Field(10.0, gt=0, le=3600, description="seconds for one request; it is tried three times")
    seconds_behind: float = Field(
        5.0, ge=0, le=3600, description="seconds after which a question looks for what other machines have changed"
    )

    def heed(self, folder: Home) -> None:
        """Apply values given in a call for the collection in a folder to its bucket, from now on."""
        if isinstance(folder, BucketFolder):
            from thresher_bucket.files import say

            say(folder, {name: getattr(self, name) for name in self.model_fields_set})


def around(folder: BucketFolder) -> BucketSettings:
    """The settings of a folder's home."""
    return cast(BucketSettings, of_home(folder).bucket)  # type: ignore[attr-defined]
