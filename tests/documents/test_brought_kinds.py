"""Kinds by the entry points `thresher.formats`: each in a process of its own, which finds them as installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

INI = '''
"""INI files."""
import configparser
import os
from thresher.documents.assembly import Parsed
from thresher.documents.registry import FileKind

def read_ini(file):
    """Each section is a paragraph."""
    parser = configparser.ConfigParser()
    parser.read_string(file.data.decode())
    return Parsed("".join(f"{name}: {dict(parser[name])}" for name in parser.sections()), metadata={"by": os.getpid()})

INI = FileKind("ini", "an INI file", (".ini",), ("text/x-ini",), "ini_format:read_ini")
TAKEN = FileKind("own", "its own", (".rtf",), (), "ini_format:read_ini")
'''

READ = """
import os, sys
from pathlib import Path
from thresher.documents.reading_process import ReadingProcess
from thresher.documents.sources import Hints, Item
from thresher.errors import ThresherError
with ReadingProcess() as process:
    for path in map(Path, sys.argv[1:]):
        try:
            for read in process.read(Item(path.name, "", path), path.read_bytes(), Hints()):
                print(read.kind, read.source, read.text, read.metadata.get("by") in (process.pid, None))
        except ThresherError as error:
            print(type(error).__name__, error)
"""


def read(folder: Path, entry_points: str, *names: str, distribution: str = "ini-format") -> list[str]:
    """What a program prints of files that it reads with a distribution in the folder; `python -m zipfile` packs."""
    about = folder / f"{distribution.replace('-', '_')}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    (folder / "ini_format.py").write_text(INI, encoding="utf-8")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    asked = [sys.executable, "-c", READ, *(str(folder / name) for name in names)]
    done = subprocess.run(asked, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_kind_that_a_distribution_brings_is_read_in_the_process_that_reads_files(tmp_path: Path) -> None:
    (tmp_path / "lamp.ini").write_text("[lamp]\nvolts = 3\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "zipfile", "-c", "a.zip", "lamp.ini"], cwd=tmp_path, check=True)
    assert read(tmp_path, "[thresher.formats]\nini = ini_format:INI\n", "lamp.ini", "a.zip") == [
        "ini lamp.ini lamp: {'volts': '3'} True",
        "ini a.zip/lamp.ini lamp: {'volts': '3'} True",
    ]


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ("nowhere:INI", "UsageError entry point ini = nowhere:INI: could not be loaded (ModuleNotFoundError"),
        ("ini_format:TAKEN", "UsageError .rtf: is taken by another file kind"),
    ],
)
def test_a_distribution_whose_kind_cannot_be_had_is_named(named: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Rye is ripe.\n", encoding="utf-8")
    (line,) = read(tmp_path, f"[thresher.formats]\nini = {named}\n", "a.md")
    assert line.startswith(error)


@pytest.mark.slow
def test_where_the_entry_points_of_thresher_are_not_installed_its_formats_are_missed_by_their_files_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("Rye is ripe.\n", encoding="utf-8")
    (tmp_path / "a.rst").write_text("Oats\n====\n", encoding="utf-8")
    found, missed = read(tmp_path, "", "a.md", "a.rst", distribution="thresher")
    assert found == "markdown a.md Rye is ripe. True"
    assert missed == (
        "DocumentError a.rst: no kind of file is named .rst, and the formats that come with Thresher are not "
        "installed; install Thresher again (in a checkout: make dev)"
    )
