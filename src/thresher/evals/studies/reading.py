"""A study's folder as a section of the report."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.report.section import Section
from thresher.evals.studies.folder import STUDY_FILE, read_study, read_study_rows
from thresher.evals.studies.kinds import kind_of


def is_study(directory: Path) -> bool:
    """Whether the folder is one that `thresher eval study` wrote."""
    return (directory / STUDY_FILE).is_file()


def section_of(directory: Path) -> Section:
    """What the rows of a study say. Raises UsageError for a folder that holds no study, or a damaged one."""
    study = read_study(directory)
    kind = kind_of(study.kind)
    rows = read_study_rows(directory)
    if not rows:
        return Section(study.title, ("Nothing has been measured yet.",))
    return kind.section(rows, study)
