"""The calibrations of a collection: one for each judge and encoder, in one JSON file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import StoreError, UsageError
from thresher.judging.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Calibrations:
    """A file of calibrations; absent until the first one is put."""

    file: Path

    def get(self, judge: str, encoder: str) -> Calibration | None:
        """The calibration of a judge on vectors of an encoder. Raises StoreError for a damaged file."""
        stored = self._read().get(_key(judge, encoder))
        try:
            return None if stored is None else Calibration.from_dict(stored)
        except UsageError as error:
            raise self._damaged() from error

    def put(self, calibration: Calibration) -> None:
        """Keep one in place of an earlier one and of a damaged file; a reader sees the old or the new, never half."""
        try:
            before = self._read()
        except StoreError:
            before = {}
        stored = {**before, _key(calibration.judge, calibration.encoder): calibration.to_dict()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            unfinished.write_text(json.dumps(stored, indent=1), encoding="utf-8")
            unfinished.replace(self.file)
        finally:
            unfinished.unlink(missing_ok=True)

    def _read(self) -> dict[str, dict[str, object]]:
        if not self.file.is_file():
            return {}
        try:
            read = json.loads(self.file.read_text(encoding="utf-8"))
            if not isinstance(read, dict):
                raise ValueError("not an object")
        except ValueError as error:
            raise self._damaged() from error
        return read

    def _damaged(self) -> StoreError:
        return StoreError(
            "the stored calibrations are damaged", subject=str(self.file), next_step="run thresher calibrate again"
        )


def _key(judge: str, encoder: str) -> str:
    return f"{judge} | {encoder}"
