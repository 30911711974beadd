"""Folders of buckets, as homes of collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.errors import UsageError
from thresher_bucket.address import BucketAddress

if TYPE_CHECKING:
    from thresher.protocols import Store
    from thresher_bucket.files import BucketFiles

SCHEMES = ("s3", "gs", "az")
"""Schemes of bucket addresses: S3 and compatible stores, Google Cloud Storage, Azure Blob Storage."""


@dataclass(frozen=True, slots=True)
class BucketFolder(BucketAddress):
    """A folder of a bucket (implements `RemoteFolder`)."""

    @property
    def kind(self) -> str:
        """The kind of storage."""
        return "bucket"

    def files(self) -> BucketFiles:
        """Its files."""
        from thresher_bucket.files import BucketFiles

        return BucketFiles(self)

    def folders(self) -> Sequence[str]:
        """Names of its subfolders, sorted."""
        return self.files().folders()

    def size(self) -> tuple[int, int]:
        """Number of objects below it, and their bytes."""
        return self.files().size()

    def remove_all(self) -> None:
        """Remove everything in it."""
        self.files().remove_all()

    def store(self) -> Store:
        """The LanceDB store in it."""
        from thresher_bucket.tables import BucketLanceStore

        return BucketLanceStore(self)

    def purge_remark(self) -> str:
        """What a purge cannot reach, in words; empty if it reaches everything."""
        from thresher_bucket.files import bucket_of

        advice = "let a rule of the bucket expire them"
        match bucket_of(self).keeps_versions:
            case True:
                return f"the bucket keeps old versions of what was removed, which are out of reach here: {advice}"
            case None:
                return f"whether the bucket keeps old versions of what was removed cannot be determined here: {advice}"
            case False:
                return ""


def home_of(address: str) -> BucketFolder:
    """The folder at an address such as s3://BUCKET/PREFIX. Raises UsageError."""
    scheme, _, rest = address.partition("://")
    bucket, _, prefix = rest.partition("/")
    if "@" in bucket:
        advice = "leave them to the environment, e.g. AWS_ACCESS_KEY_ID"
        raise UsageError("holds credentials", subject="the address of a home", next_step=advice)
    parts = [part for part in prefix.split("/") if part]
    if scheme not in SCHEMES or not bucket or any(part.startswith(".") for part in parts) or set(rest) & set("?#\\"):
        known = ", ".join(f"{known}://BUCKET/PREFIX" for known in SCHEMES)
        raise UsageError("is not a home", subject=address, next_step=f"give a folder, or one of {known}")
    return BucketFolder("/".join([f"{scheme}://{bucket}", *parts]))
