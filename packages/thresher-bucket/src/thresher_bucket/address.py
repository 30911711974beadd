"""Addresses of folders of buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """The address of a folder of a bucket; it contains no secret."""

    address: str

    def __truediv__(self, name: str) -> Self:
        return type(self)(f"{self.address}/{name}")

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def parent(self) -> Self:
        """The folder above."""
        return type(self)(self.address.rpartition("/")[0])

    @property
    def bucket(self) -> str:
        """The address of the bucket."""
        return "/".join(self.address.split("/")[:3])

    @property
    def prefix(self) -> str:
        """Common prefix of all names in the folder, without a slash at the end."""
        return "/".join(self.address.split("/")[3:])
