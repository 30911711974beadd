"""The version of a build, read by the build backend (pyproject.toml): one for each commit.

A commit with a tag v1.2.3 is 1.2.3; any other is `NEXT`.dev0 with the commit as local part. What is built from a source
distribution has the version of that; where neither it nor git is at hand, the version is `NEXT`.dev0.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

NEXT = "0.1.0"
"""The release that the work is for."""


def version(root: Path) -> str:
    """The version of the checkout or source distribution in a folder."""
    told = root / "PKG-INFO"
    if told.is_file():
        found = re.search(r"^Version: (\S+)$", told.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    if not (root / ".git").exists():  # one of a folder above would be another project's
        return f"{NEXT}.dev0"
    tag = _git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
    if tag:
        return tag.removeprefix("v")
    commit = _git(root, "rev-parse", "--short=7", "HEAD")
    return f"{NEXT}.dev0+g{commit}" if commit else f"{NEXT}.dev0"


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
