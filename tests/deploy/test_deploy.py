"""What runs the service elsewhere, held against the published rules of each form; nothing is built or started here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def complaints(*command: str | Path) -> str:
    """What a checker prints; empty when it has nothing to say against its input."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_dockerfile_has_no_lint() -> None:
    assert complaints(BIN / "hadolint", ROOT / "Dockerfile") == ""


def test_the_compose_file_follows_the_compose_specification() -> None:
    schema = "vendor.compose-spec"
    assert complaints(BIN / "check-jsonschema", "--builtin-schema", schema, ROOT / "deploy/compose.yaml") == ""


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "deploy/ci/action.yml"),
        ("vendor.github-workflows", "examples/knowledge/.github/workflows/knowledge.yml"),
        ("vendor.gitlab-ci", "deploy/ci/gitlab.yml"),
        ("vendor.gitlab-ci", "examples/knowledge/.gitlab-ci.yml"),
    ],
)
def test_what_runs_thresher_ci_follows_the_schemas_of_github_and_gitlab(schema: str, file: str) -> None:
    assert complaints(BIN / "check-jsonschema", "--builtin-schema", schema, ROOT / file) == ""


def test_the_manifest_follows_the_schemas_of_kubernetes() -> None:
    assert complaints(BIN / "kubernetes-validate", ROOT / "deploy/kubernetes.yaml") == ""


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (ROOT / "deploy/thresher.service").read_text(encoding="utf-8")
    there = tmp_path / "thresher.service"
    there.write_text(unit.replace("/opt/thresher/bin/thresher", "/bin/true"), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", there], capture_output=True, text=True, timeout=60)
    assert [line for line in done.stderr.splitlines() if "thresher.service" in line] == []


def test_every_copied_path_of_the_dockerfile_is_there() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert copied
    assert [path for path in copied if not (ROOT / path).exists()] == []
