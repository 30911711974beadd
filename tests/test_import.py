"""Importing is cheap: what is heavy is imported by the part that needs it, when it needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from research.structure import COMMANDS, entered_by

HEAVY = {"numpy", "pyarrow", "lancedb", "onnxruntime", "tokenizers", "fastembed", "openai", "httpx", "pypdfium2"}
HEAVY |= {"pydantic", "sqlglot", "scipy", "sentencex", "ray", "thresher_ray"}


def loaded_by(code: str) -> set[str]:
    """Top-level modules that are there after some code."""
    shown = f"import sys\n{code}\nprint('\\n' + ' '.join({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import thresher",
        "import thresher; thresher.recipes.names()",
        "import thresher.cli.app, contextlib\nwith contextlib.suppress(SystemExit): thresher.cli.app.main(['--help'])",
        "import thresher.types, thresher.protocols, thresher.pipeline, thresher.tracing.traces, thresher.testing.fakes",
        "import thresher, thresher_testing.pytest_plugin",  # which every pytest imports where it is installed
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    loaded = loaded_by(code)
    assert "thresher" in loaded
    assert loaded & HEAVY == set()


def test_the_front_door_says_what_is_behind_it() -> None:
    import thresher

    assert all(hasattr(thresher, name) for name in thresher.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        thresher.nonsense  # noqa: B018 - the access is what is tested


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "thresher", "recipes"], capture_output=True, text=True, check=True)
    assert "corrective" in done.stdout


def test_a_command_lists_tables_without_the_rest_client_of_lancedb(tmp_path: Path) -> None:
    code = (
        "from thresher.cli.app import without_rest_client\nwithout_rest_client()\nimport lancedb, sys\n"
        f"database = lancedb.connect({str(tmp_path)!r})\ndatabase.create_table('one', [{{'text': 'a'}}])\n"
        "page = database.list_tables(page_token=None)\nassert 'urllib3' not in sys.modules\n"
        "assert 'overrides.enforce' not in sys.modules\nprint(page.tables, page.page_token)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['one'] None\n"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="lancedb needs overrides before Python 3.12 only")
def test_a_part_of_somebody_elses_that_checks_its_methods_finds_the_package_for_it() -> None:
    code = (
        "from thresher.cli.app import without_rest_client\nwithout_rest_client()\nimport lancedb\n"
        "import overrides\nprint(overrides.overrides.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "overrides.overrides\n"


@pytest.mark.slow
def test_commands_enter_no_more_files_than_their_budgets(tmp_path: Path) -> None:
    entered = {name: len(entered_by(arguments, tmp_path)) for name, (arguments, _) in COMMANDS.items()}
    assert {name: files for name, files in entered.items() if files > COMMANDS[name][1]} == {}


def test_a_method_of_another_distribution_is_imported_when_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THRESHER_DATA", raising=False)  # no key of ours: that it is none is known with all recipes only
    names = "import thresher, pathlib\nrecipes = thresher.recipes\nassert 'crag' in recipes.names()\n"
    ours = f"{names}recipes.get('corrective').configured({{}}, home=pathlib.Path({str(tmp_path)!r}))"
    assert "thresher_methods" not in loaded_by(ours)
    assert "thresher_methods" in loaded_by(f"{ours}\nrecipes.get('crag')")
