from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from thresher import recipes
from thresher.errors import MissingExtra, UnknownSetting, UsageError
from thresher.settings import (
    ambient,
    check_known,
    descriptions,
    flat,
    flat_public,
    keys,
    parse_assignments,
    secret_keys,
    validated,
)

HYBRID = recipes.get("hybrid").settings
KNOWN = set(keys(HYBRID))


# --- from a command line ----------------------------------------------------------------------------------------------


def test_assignments_are_cut_at_the_first_equals_sign() -> None:
    given = parse_assignments(["rerank=http://x/?a=b", " chunk.size = 900 ", "llm.model="])
    assert given == {"rerank": "http://x/?a=b", "chunk.size": "900", "llm.model": ""}


@pytest.mark.parametrize("wrong", ["rerank", "=none", "", " =x"])
def test_what_is_no_assignment_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="is not key=value"):
        parse_assignments([wrong])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("chunk.sise", "chunk.size"), ("overlap", "chunk.overlap"), ("re-rank", "rerank"), ("llm.modl", "llm.model")],
)
def test_an_unknown_key_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownSetting, match=f"did you mean '{right}'"):
        check_known([wrong], KNOWN)


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("chunk.size", "900", 900),
        ("llm.cache", "true", True),
        ("answer.min_confidence", "0.3", 0.3),
        ("protect.position", "front", "front"),
        ("rerank", "none", "none"),
        ("llm.base_url", "", None),
    ],
)
def test_text_becomes_what_the_setting_is(key: str, value: str, read: object) -> None:
    assert flat(validated(HYBRID, {key: value}))[key] == read


def test_a_table_given_in_part_keeps_the_rest_of_the_recipes_own_default() -> None:
    own = recipes.get("corrective").settings
    assert flat(validated(own, {}))["refine.top_k"] != flat(validated(recipes.get("crag").settings, {}))["refine.top_k"]
    given = flat(validated(own, {"refine.min_score": 0.4}))
    assert given == {**flat(validated(own, {})), "refine.min_score": 0.4}


OUT_OF_BOUNDS = """
    chunk.size=49 chunk.size=many chunk.size=1.5 chunk.overlap=-1 answer.min_confidence=1.01 answer.min_confidence=nan
    llm.timeout_seconds=inf llm.timeout_seconds=0 llm.base_url=localhost:11434 llm.base_url=ftp://host/v1
    llm.base_url=http://[ fuse.method=sum
"""


@pytest.mark.parametrize("given", OUT_OF_BOUNDS.split())
def test_a_value_out_of_bounds_is_an_error_in_one_line_that_names_the_setting(given: str) -> None:
    key, _, value = given.partition("=")
    with pytest.raises(UsageError) as caught:
        validated(HYBRID, {key: value})
    assert str(caught.value).startswith(f"setting {key}: ")
    assert "\n" not in str(caught.value)


def test_two_weights_of_zero_are_refused() -> None:
    with pytest.raises(UsageError, match="must be above 0"):
        validated(HYBRID, {"fuse.dense_weight": 0, "fuse.lexical_weight": 0})


def test_a_key_that_is_wrong_is_not_repeated_in_the_error() -> None:
    with pytest.raises(UsageError) as caught:
        validated(HYBRID, {"llm.api_key": 12345678})
    told = "".join(map(str, (caught.value, caught.value.__cause__, caught.value.__suppress_context__)))
    assert "12345678" not in told


# --- the surroundings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[chunk\n", "cannot be read"),
        ("a = " + "[" * 9999, "cannot be read"),
        (".".join("a" * 9999) + " = 1", "cannot be read"),
        ("a = " + "9" * 9999, "cannot be read"),
        ("\ud800", "cannot be read"),
        ("[chunk]\nsise = 3\n", "chunk.sise: unknown"),
        ('llm = "x"\n', "llm: unknown setting"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, written: str, told: str) -> None:
    (tmp_path / "thresher.toml").write_bytes(written.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError, match=rf"thresher\.toml: {told}"):
        ambient(KNOWN, tmp_path, {})


def test_a_misspelt_variable_names_the_nearest() -> None:
    with pytest.raises(UnknownSetting, match="did you mean 'THRESHER_LLM__MODEL'"):
        ambient(KNOWN, Path("nowhere"), {"THRESHER_LLM__MODLE": "x"})


@pytest.mark.parametrize(
    ("installed", "told"),
    [
        ({}, r"server\.prot: the package 'thresher-server' is not installed; in a checkout: pip install"),
        ({"server": None}, r"server\.prot: unknown setting; did you mean 'server\.port'\?"),
    ],
)
def test_a_table_of_a_distribution_is_missing_only_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: dict[str, None], told: str
) -> None:
    monkeypatch.setattr("thresher.settings.brought", lambda group: installed)
    (tmp_path / "thresher.toml").write_text("[server]\nprot = 1\n", encoding="utf-8")
    known = KNOWN | {"server.port"} if installed else KNOWN
    with pytest.raises((UsageError, MissingExtra), match=rf"thresher\.toml: {told}"):
        ambient(known, tmp_path, {})


def test_files_count_from_the_user_s_folder_over_the_nearest_above_to_the_home(tmp_path: Path) -> None:
    user, project, home = tmp_path / "config" / "thresher", tmp_path / "project", tmp_path / "home"
    for folder, size in ((user, 1), (project, 2), (home, 3), (tmp_path, 9)):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "thresher.toml").write_text(f"chunk.size = {size}\n", encoding="utf-8")
    below = project / "below"
    below.mkdir()
    layers = ambient(KNOWN, home, {"XDG_CONFIG_HOME": str(tmp_path / "config")}, below)
    assert [layer.values["chunk.size"] for layer in layers] == [1, 2, 3]


@pytest.mark.parametrize("name", recipes.names())
def test_every_setting_says_what_it_is(name: str) -> None:
    assert all(descriptions(recipes.get(name).settings).values())


@pytest.mark.parametrize("name", recipes.names())
def test_every_key_is_a_secret_that_is_not_shown(name: str) -> None:
    model = recipes.get(name).settings
    secret = secret_keys(model)
    assert {key for key in keys(model) if key.endswith("api_key")} == secret
    shown = flat(validated(model, dict.fromkeys(secret, "s3cret")))
    assert {shown[key] for key in secret} == {"**********"}
    assert "s3cret" not in repr(validated(model, dict.fromkeys(secret, "s3cret")))


@pytest.mark.parametrize("name", recipes.names())
def test_what_is_kept_with_an_answer_makes_the_same_settings_again_without_the_secrets(name: str) -> None:
    recipe = recipes.get(name)
    kept = flat_public(recipe.configured(dict.fromkeys(secret_keys(recipe.settings), "s3cret")))
    assert not set(kept) & secret_keys(recipe.settings)
    assert recipe.configured(kept) == recipe.configured({})


def test_the_later_source_is_the_stronger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = recipes.get("crag-code")
    assert flat(code.configured({}, home=tmp_path))["refine.top_k"] == 3  # of the preset; the recipe's own is 5
    (tmp_path / "thresher.toml").write_text("[refine]\ntop_k = 6\n", encoding="utf-8")
    assert flat(code.configured({}, home=tmp_path))["refine.top_k"] == 6
    monkeypatch.setenv("THRESHER_REFINE__TOP_K", "7")
    assert flat(code.configured({}, home=tmp_path))["refine.top_k"] == 7
    assert flat(code.configured({"refine": {"top_k": 8}}, home=tmp_path))["refine.top_k"] == 8
    assert flat(code.configured({}))["refine.top_k"] == 3  # without a home nothing is read


def test_settings_are_read_without_importing_a_part() -> None:
    code = (
        "import sys\nfrom thresher import recipes\n"
        "recipes.get('rag').configured({'dense.depth': 7}); recipes.settings_keys()\n"
        "rooms = ('chunking', 'retrieval', 'judging', 'correction', 'refinement', 'answering', 'models', 'indexing')\n"
        "print(sorted(name for name in sys.modules if name.startswith(tuple(f'thresher.{room}' for room in rooms))))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.slow
def test_a_question_of_rag_imports_no_other_recipe(indexed: Path) -> None:
    code = (
        "import sys, thresher\n"
        f"thresher.open({str(indexed)!r}).ask('When was the lighthouse built?', recipe='rag')\n"
        "known = {'rag', 'hybrid', 'crag', 'ecrag', 'chunkrag', 'corrective', 'no_retrieval'}\n"
        "print(sorted(name for name in known if f'thresher.recipes.{name}' in sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "['rag']"


@pytest.mark.parametrize(
    ("half", "told"),
    [
        ({"llm.model": "m"}, "llm.model is set and llm.base_url is not"),
        ({"llm.base_url": "http://127.0.0.1:1/v1"}, "llm.base_url is set and llm.model is not"),
    ],
)
def test_half_a_chat_model_is_told_which_half(half: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        recipes.get("hybrid").configured(half)
