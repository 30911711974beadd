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


def checked(tmp_path: Path, pylance: str) -> subprocess.CompletedProcess[str]:
    """The check of a process that finds this pylance installed."""
    installed = tmp_path / f"pylance-{pylance}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pylance\nVersion: {pylance}\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    code = "from thresher_ray.lance import check_lance; check_lance()"
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


def test_the_lance_that_is_inside_lancedb_may_be_installed_too(tmp_path: Path) -> None:
    from thresher_ray.lance import lance_inside

    inside = lance_inside()
    assert inside is not None
    assert checked(tmp_path, inside).returncode == 0


def test_another_lance_is_refused_with_the_version_to_install(tmp_path: Path) -> None:
    refused = checked(tmp_path, "0.1.0").stderr
    assert "pylance 0.1.0: is not the Lance inside lancedb" in refused
    assert "indexes that one of them builds, the other does not see; pip install pylance==" in refused
