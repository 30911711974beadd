"""Builds what an index would get and tries it as a stranger: `make release-check`, which needs build, twine and uv.

    .venv-supply/bin/python .ci/release_check.py [FOLDER]

sdists and wheels of all distributions go to FOLDER (default: a new one). Then: the metadata (twine), the contents, each
wheel in an environment of its own with the others as its only source for what is ours, the commands, the removal.
Nothing is uploaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
WITHOUT_DEPENDENCIES = {"thresher-training": "PyTorch takes gigabytes"}
"""Distributions whose dependencies are resolved and not installed, and why."""
UNWANTED = ("tests", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".git", ".cache")
WEIGHTS = 1_000_000
"""Bytes from which a file may stand in a distribution only once."""


def main(out: Path) -> None:
    """Every step in its order; the first that fails ends it."""
    folders = [ROOT, *sorted(file.parent for file in ROOT.glob("packages/*/pyproject.toml"))]
    for folder in folders:
        do(sys.executable, "-m", "build", "--outdir", out, folder)
    wheels, sources = sorted(out.glob("*.whl")), sorted(out.glob("*.tar.gz"))
    assert len(wheels) == len(sources) == len(folders), f"{out} had something else in it"
    do(sys.executable, "-m", "twine", "check", "--strict", *wheels, *sources)
    (version,) = {wheel.name.split("-")[1] for wheel in wheels}
    assert "+" not in version, f"{version} has a local label, which an index refuses"
    for file in [*wheels, *sources]:
        look_into(file)
    for wheel in wheels:
        with tempfile.TemporaryDirectory() as folder:
            try_alone(wheel, wheels, Path(folder))
    tell(f"{len(wheels)} wheels and {len(sources)} sdists of {version} pass: {out}")


def look_into(distribution: Path) -> None:
    """No tests, no caches, a licence, a long description with absolute links, each large file once."""
    if distribution.suffix == ".whl":
        with zipfile.ZipFile(distribution) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
    else:
        with tarfile.open(distribution) as packed:
            held = {one.name: file.read() for one in packed if (file := packed.extractfile(one))}
    unwanted = [name for name in held if set(name.split("/")) & set(UNWANTED) or name.endswith(".pyc")]
    assert not unwanted, f"{distribution.name} holds {unwanted[:5]}"
    assert any(name.endswith("LICENSE") for name in held), f"{distribution.name} has no LICENSE"
    large = [hashlib.sha256(data).digest() for data in held.values() if len(data) >= WEIGHTS]
    assert len(large) == len(set(large)), f"{distribution.name} holds a large file twice"
    described = next(data.decode() for name, data in held.items() if name.endswith(("METADATA", "PKG-INFO")))
    relative = re.findall(r"\]\((?!https?://|#)[^)]*\)", described)
    assert not relative, f"{distribution.name}: links of README are relative: {relative}"
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        assert "/OWNER/" not in described, (
            "write the repository's address for github.com/OWNER/thresher in every pyproject.toml"
        )
    tell(f"{distribution.name}: {len(held)} files, {len(large)} large, {sum(map(len, held.values())) / 1e6:.1f} MB")


def try_alone(wheel: Path, wheels: list[Path], folder: Path) -> None:
    """One wheel in an empty environment: installed, imported, its commands run, removed without a trace."""
    name = wheel.name.split("-")[0].replace("_", "-")
    environment = folder / "env"
    python = environment / "bin/python"
    do(TOOLS / "uv", "venv", "--quiet", "--python", sys.executable, environment)
    ours = folder / "ours.txt"  # these and no others of the same name, wherever uv looks
    ours.write_text("".join(f"{one.name.split('-')[0]} @ {one.as_uri()}\n" for one in wheels))
    install = [TOOLS / "uv", "pip", "install", "--quiet", "--python", python, "--override", ours]
    if name in WITHOUT_DEPENDENCIES:
        do(*install, "--dry-run", wheel)
        do(*install, "--no-deps", wheel)
    else:
        do(*install, wheel)
        do(TOOLS / "uv", "pip", "check", "--quiet", "--python", python)
        use(name, wheel, environment / "bin/thresher", folder)
    packages = next(environment.glob("lib/python*/site-packages"))
    listed = json.loads(do(TOOLS / "uv", "pip", "list", "--quiet", "--format", "json", "--python", python))
    removed = [one["name"] for one in listed if "thresher" in one["name"]]
    do(TOOLS / "python", "-m", "pip", "--python", python, "uninstall", "--quiet", "--yes", *removed)
    left = [str(path.relative_to(packages)) for path in packages.rglob("*thresher*")]
    assert not left, f"after pip uninstall of {removed}: {left[:5]}"
    tell(f"{name}: installed, used, removed ({', '.join(removed)})")


def use(name: str, wheel: Path, thresher: Path, folder: Path) -> None:
    """What a stranger does first with a distribution."""
    with zipfile.ZipFile(wheel) as archive:
        packages = {"/".join(one.split("/")[:-1]) for one in archive.namelist() if one.endswith("/__init__.py")}
    modules = [one.replace("/", ".") for one in packages if not any(other in one for other in packages - {one})]
    for module in modules:
        do(thresher.parent / "python", "-c", f"import {module}", cwd=folder)
    do(thresher, "--help", cwd=folder)
    if name == "thresher":
        do(thresher, "demo", cwd=folder)
    elif name in ("thresher-ci", "thresher-evals"):
        do(thresher, {"thresher-ci": "ci", "thresher-evals": "eval"}[name], "--help", cwd=folder)
    elif name == "thresher-server":
        serve(thresher, folder)
        initialize(thresher, folder)


def serve(thresher: Path, folder: Path) -> None:
    """`thresher serve` says its address, answers /health and stops when it is interrupted."""
    command = [str(thresher), "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        with urllib.request.urlopen(address.partition("#")[0] + "health", timeout=60) as reply:
            assert reply.status == 200
        server.send_signal(2)
        server.stdout.read()
        assert server.wait(60) == 0, f"thresher serve ended with {server.returncode}"


def initialize(thresher: Path, folder: Path) -> None:
    """`thresher mcp` answers the first request of its protocol on standard output."""
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "release", "version": "1"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who})
    asked = {"input": f"{request}\n", "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run([str(thresher), "mcp"], cwd=folder, check=True, **asked)
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"], done.stderr


def do(*command: object, cwd: Path = ROOT) -> str:
    """What a command prints; its whole output and an end where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()).resolve())
