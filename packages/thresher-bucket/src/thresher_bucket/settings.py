"""How a bucket is asked: the table `bucket` of the settings of a collection."""

from __future__ import annotations

from typing import cast

from pydantic import Field

from thresher.home import settings
from thresher.protocols import Home
from thresher.settings import Frozen
from thresher_bucket.folder import BucketFolder


class BucketSettings(Frozen):
    """How a bucket is asked, for a home such as s3://BUCKET/PREFIX.

    Where it is, and with which keys, its own variables say, e.g. AWS_ACCESS_KEY_ID.
    """

    # A request's bound is that of a part of 5 MB at .5 MB/s.
    timeout_seconds: float = Field(10.0, gt=0, le=3600, description="seconds for one request; it is tried three times")
    seconds_behind: float = Field(
        5.0, ge=0, le=3600, description="seconds after which a question looks for what other machines have changed"
    )

    def heed(self, folder: Home) -> None:
        """A call gave these values for the collection in a folder: they count for its bucket from now on."""
        if isinstance(folder, BucketFolder):
            from thresher_bucket.files import say

            say(folder, {name: getattr(self, name) for name in self.model_fields_set})


def around(folder: BucketFolder) -> BucketSettings:
    """What the settings around say."""
    return cast(BucketSettings, settings.of_home(folder).bucket)  # type: ignore[attr-defined]
