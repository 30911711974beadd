"""What is refused before anything is sent to a cluster."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

import thresher
from tests.servers.ray import HEAD, free_port
from thresher.errors import StoreError, UsageError

pytest.importorskip("ray", reason="ray is not installed (pip install ./packages/thresher-ray)")
pytestmark = pytest.mark.skipif(not entry_points(group="thresher.clusters"), reason="thresher-ray is not installed")


def test_an_address_at_which_no_cluster_answers_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.")
    with thresher.open(tmp_path / "home") as collection:
        for address in (f"{HEAD}:{free_port(HEAD)}", f"ray://{HEAD}:{free_port(HEAD)}"):
            with pytest.raises(UsageError, match=r"no Ray cluster answers there .*start one with: ray start --head"):
                collection.add(tmp_path / "a.txt", on=address)
        for address in ("nowhere", "http://127.0.0.1:80", "ray://127.0.0.1"):
            with pytest.raises(UsageError, match=r"is no address of a Ray cluster; give HOST:PORT"):
                collection.add(tmp_path / "a.txt", on=address)


def test_another_lance_than_the_one_inside_lancedb_is_refused_before_anything_is_connected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher_ray.cluster.version", {"lancedb": "0.40.0", "pylance": "0.1.0"}.__getitem__)
    (tmp_path / "a.txt").write_text("Some words.")
    words = "pylance 0.1.0 is not the Lance inside lancedb .*install a pair that belongs together"
    with thresher.open(tmp_path / "home") as collection, pytest.raises(StoreError, match=words):
        collection.add(tmp_path / "a.txt", on="auto")
