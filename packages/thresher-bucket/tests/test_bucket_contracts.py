from __future__ import annotations

from pathlib import Path

import pytest

from thresher.protocols import Files, Store
from thresher_bucket.files import BucketFiles
from thresher_bucket.folder import BucketFolder
from thresher_bucket.tables import BucketLanceStore
from thresher_testing.files_contract import FilesContract
from thresher_testing.store_contract import StoreContract


def folder_of(path: Path) -> BucketFolder:
    """A folder of the bucket for one of the file system."""
    return BucketFolder(f"s3://tests/{'/'.join(path.parts[-3:])}")


@pytest.mark.usefixtures("reached")
class TestBucketFiles(FilesContract):
    def open_files(self, folder: Path) -> Files:
        return BucketFiles(folder_of(folder))


@pytest.mark.slow
@pytest.mark.usefixtures("reached")
class TestBucketLanceStore(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return BucketLanceStore(folder_of(folder))
