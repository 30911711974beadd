"""Folders of buckets and their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.errors import UsageError

if TYPE_CHECKING:
    from thresher.protocols import Store
    from thresher_bucket.files import BucketFiles

SCHEMES = ("s3", "gs", "az")
"""Schemes of bucket addresses: S3 and compatible stores, Google Cloud Storage, Azure Blob Storage."""


@dataclass(frozen=True, slots=True)
class BucketFolder:
    """A folder of a bucket (implements `RemoteFolder`); its address contains no secret."""

    address: str

    def __truediv__(self, name: str) -> BucketFolder:
        return BucketFolder(f"{self.address}/{name}")

    def __str__(self) -> str:
        return self.address

    @property
    def kind(self) -> str:
        """The kind of storage."""
        return "bucket"

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def parent(self) -> BucketFolder:
        """The folder above."""
        return BucketFolder(self.address.rpartition("/")[0])

    @property
    def bucket(self) -> str:
        """The address of the bucket."""
        return "/".join(self.address.split("/")[:3])

    @property
    def prefix(self) -> str:
        """Common prefix of all names in the folder, without a slash at the end."""
        return "/".join(self.address.split("/")[3:])

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
