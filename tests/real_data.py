"""Where the real data is: the folder that THRESHER_DATA names, or shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("THRESHER_DATA", Path(__file__).parents[2] / "shared" / "data"))
