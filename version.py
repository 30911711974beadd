"""The version of a build, read by the build backend: every distribution of the checkout has this one.

A commit with a tag v1.2.3 is 1.2.3. Any other is `NEXT`.devN with the number N of its commits, a form without the local
label that an index refuses; where there is no git, `NEXT`.dev0. A source distribution tells its own version.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

NEXT = "0.1.0"
"""The release that the work is for; `make next` writes it here and into the bounds between the distributions."""


def version(root: Path) -> str:
    """The version of the checkout in a folder."""
    if not (root / ".git").exists():  # one of a folder above would be another project's
        return f"{NEXT}.dev0"
    tag = _git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
    return tag.removeprefix("v") or f"{NEXT}.dev{_git(root, 'rev-list', '--count', 'HEAD') or 0}"


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
