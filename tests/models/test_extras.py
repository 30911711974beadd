"""What a core install does not hold is named, with the extra that brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CASES = [
    ("fastembed", "fastembed", "from thresher.models.fastembed_models import FastembedEncoder as F; F('x').dimension"),
    (
        "fastembed",
        "fastembed",
        "from thresher.models.fastembed_models import FastembedCrossEncoder as F; F('x')('q', 'a')",
    ),
]


@pytest.mark.parametrize(("package", "extra", "use"), CASES)
def test_a_package_that_is_not_installed_is_named_with_its_extra(package: str, extra: str, use: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None\n{use}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"the package '{package}' is not installed; install with: pip install 'thresher[{extra}]'" in done.stderr
