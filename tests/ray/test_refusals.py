"""What is refused before anything is sent to a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import thresher
from tests.ray.nodes import HEAD, free_port
from thresher.errors import UsageError

COMMAND = Path(sys.executable).with_name("thresher")

pytest.importorskip("ray", reason="ray is not installed (pip install 'thresher[ray]')")
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


def test_another_lance_than_the_one_inside_lancedb_is_refused_before_anything_is_connected(tmp_path: Path) -> None:
    installed = tmp_path / "pylance-0.1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: pylance\nVersion: 0.1.0\n")
    (tmp_path / "a.txt").write_text("Some words.")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    line = [COMMAND, "index", tmp_path / "a.txt", "--home", tmp_path / "home", "--on", "auto"]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == 1
    assert "pylance 0.1.0 is not the Lance inside lancedb" in done.stderr
    assert "install a pair that belongs together" in done.stderr
