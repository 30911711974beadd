"""A settings file of a stranger sends nothing anywhere: neither documents nor questions nor the user's keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from thresher import recipes
from thresher.cli.options import is_elsewhere
from thresher.errors import UsageError
from thresher.settings import ambient, config_files, keys, passed_over
from thresher.trusted import guarded
from thresher_testing.llm_server import ScriptedServer

QUESTION = "When was the Kõpu lighthouse built?"
UNANSWERED = "Who won the football world cup in 1998?"
LLM = 'llm.base_url = "{server}/v1"\nllm.model = "m"\n'
SOMEBODY_ELSE = 65534
"""The number of the user `nobody`, who is not who runs the tests."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")

ATTACKS = {
    "a chat model": (LLM, "ask Q --recipe rag"),
    "an address for the user's own key and model": ('llm.base_url = "{server}/v1"\n', "ask Q --recipe rag"),
    "an encoder": (
        'encoder = "endpoint:m"\nembeddings.base_url = "{server}/v1"\n',
        "index NOTE --recipe rag --collection new",
    ),
    "a reranker": ('rerank = "{server}/rerank"\n', "ask Q --recipe hybrid"),
    "a judge": ('judge = "{server}/rerank"\n', "ask Q --recipe crag"),
    "a critic": (LLM + 'critic.model = "m"\n', "ask Q --recipe chunkrag"),
    "a web search": (
        'outside = "web"\nweb.provider = "json"\nweb.base_url = "{server}/search?q={{words}}"\n',
        "ask UNANSWERED --recipe crag",
    ),
}
KEYS = {"THRESHER_LLM__API_KEY": "s3cret", "THRESHER_WEB__API_KEY": "s3cret", "THRESHER_RERANK_API_KEY": "s3cret"}


@pytest.fixture(autouse=True)
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's own settings would be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "thresher" / "thresher.toml"


@pytest.fixture
def stranger(serve: Callable[..., ScriptedServer]) -> ScriptedServer:
    return serve("The Kõpu lighthouse was built in 1531 [1].")


def written(folder: Path, text: str) -> Path:
    """A settings file in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "thresher.toml").write_text(text, encoding="utf-8")
    return folder / "thresher.toml"


def attacked(run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str) -> Any:
    """What becomes of what the user types, with keys of his own in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    if "own key" in attack:
        monkeypatch.setenv("THRESHER_LLM__MODEL", "m")
    note = tmp_path / "note.txt"
    note.write_text("The mill on the hill grinds rye since 1720.", encoding="utf-8")
    named = {"Q": QUESTION, "UNANSWERED": UNANSWERED, "NOTE": note}
    return run(*(named.get(word, word) for word in ATTACKS[attack][1].split()), "--home", home)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("place", ["home", "clone"])
def test_a_home_or_a_clone_of_a_stranger_sends_nothing_and_is_refused(
    run: Run,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stranger: ScriptedServer,
    attack: str,
    place: str,
) -> None:
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / "src").mkdir()
    file = written(home if place == "home" else tmp_path / "clone", ATTACKS[attack][0].format(server=stranger.address))
    monkeypatch.chdir(tmp_path / "clone" / "src")
    ran = attacked(run, home, tmp_path, monkeypatch, attack)
    assert stranger.requests == []
    assert ran.code == 2
    assert ran.error.startswith(f"thresher: {file}: sets ")
    assert ran.error.endswith(f"run thresher trust {file}, else remove it from the file")
    assert "s3cret" not in ran.err


@pytest.mark.parametrize("attack", ["a chat model", "an encoder"])
def test_a_file_in_a_folder_that_others_can_write_sends_nothing_and_is_told_of(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: ScriptedServer, attack: str
) -> None:
    file = written(tmp_path / "shared", ATTACKS[attack][0].format(server=stranger.address))
    (tmp_path / "shared" / "mine").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.chdir(tmp_path / "shared" / "mine")
    ran = attacked(run, home, tmp_path, monkeypatch, attack)
    assert stranger.requests == []
    assert ran.code == 0
    assert f"note: {file} is ignored: others can write {tmp_path / 'shared'}\n" in ran.err


def test_a_file_that_names_another_home_gets_no_document(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.txt").write_text("The mill on the hill grinds rye since 1720.", encoding="utf-8")
    written(tmp_path / "clone", 'home = "../strangers"\n')
    monkeypatch.chdir(tmp_path / "clone")
    ran = run("index", tmp_path / "note.txt", "--recipe", "rag")
    assert (ran.code, "sets home = " in ran.error) == (2, True)
    assert not (tmp_path / "strangers").exists()


# --- which file counts ------------------------------------------------------------------------------------------------


def sizes(here: Path, **environment: str) -> list[object]:
    """The sizes of chunks that the files above a folder set, the stronger the later."""
    layers = ambient(set(keys(recipes.get("rag").settings)), None, environment, here)
    return [layer.values["chunk.size"] for layer in layers]


@pytest.mark.parametrize("mode", [0o666, 0o777, 0o1777, pytest.param(None, marks=as_root)])
@pytest.mark.parametrize("place", ["thresher.toml", ".", "below"])
def test_a_file_that_others_own_or_can_write_or_whose_way_they_can_does_not_count(
    tmp_path: Path, place: str, mode: int | None
) -> None:
    file = written(tmp_path / "project", "chunk.size = 700\n")
    (tmp_path / "project" / "below").mkdir()
    where = tmp_path / "project" / place
    if mode is None:
        os.chown(where, SOMEBODY_ELSE, SOMEBODY_ELSE)
    else:
        where.chmod(mode)
    assert sizes(tmp_path / "project" / "below") == []
    why = f"{where} belongs to somebody else" if mode is None else f"others can write {where}"
    assert passed_over({}, tmp_path / "project" / "below") == (file, why)


@as_root
def test_a_group_of_others_may_not_write_and_the_users_own_group_may(tmp_path: Path) -> None:
    file = written(tmp_path, "chunk.size = 700\n")
    file.chmod(0o664)
    assert sizes(tmp_path) == [700]
    os.chown(file, -1, SOMEBODY_ELSE)
    assert sizes(tmp_path) == []


@as_root
def test_a_link_of_somebody_else_to_a_file_of_the_users_own_does_not_count(tmp_path: Path) -> None:
    file = written(tmp_path / "own", "chunk.size = 700\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "thresher.toml").symlink_to(file)
    assert sizes(tmp_path / "project") == [700]
    os.lchown(tmp_path / "project" / "thresher.toml", SOMEBODY_ELSE, SOMEBODY_ELSE)
    assert sizes(tmp_path / "project") == []


def test_the_way_up_ends_at_a_repositorys_root_and_at_the_home_directory(tmp_path: Path) -> None:
    written(tmp_path, "chunk.size = 700\n")
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / "src").mkdir()
    assert sizes(tmp_path / "clone" / "src") == []
    assert sizes(tmp_path / "clone", HOME=str(tmp_path)) == []
    (tmp_path / "me" / "work").mkdir(parents=True)
    assert sizes(tmp_path / "me" / "work") == [700]
    assert sizes(tmp_path / "me" / "work", HOME=str(tmp_path / "me")) == []
    written(tmp_path / "me", "chunk.size = 800\n")
    assert sizes(tmp_path / "me" / "work", HOME=str(tmp_path / "me")) == [800]
    written(tmp_path / "clone", "chunk.size = 900\n")
    assert sizes(tmp_path / "clone" / "src") == [900]


# --- trust ------------------------------------------------------------------------------------------------------------


def test_what_is_trusted_once_counts_until_it_changes(
    run: Run, home: Path, stranger: ScriptedServer, own_file: Path
) -> None:
    file = written(home, LLM.format(server=stranger.address) + 'llm.api_key = "s3cret"\n')
    told = run("trust", home)
    assert (told.code, "s3cret" in told.out) == (0, False)
    assert f'llm.base_url = "{stranger.base_url}"' in told.out
    asked = ("ask", QUESTION, "--recipe", "rag", "--home", home)
    assert run(*asked).code == 0
    assert [one.headers["authorization"] for one in stranger.asked()] == ["Bearer s3cret"]
    assert own_file.with_name("trusted.json").stat().st_mode & 0o777 == 0o600
    file.write_text(file.read_text(encoding="utf-8") + "chunk.size = 500\n", encoding="utf-8")
    assert run("config", "--home", home).code == 0  # a size is nothing to trust
    file.write_text(file.read_text(encoding="utf-8").replace("/v1", "/v2"), encoding="utf-8")
    assert "you have not trusted that" in run(*asked).error
    run("trust", file)
    assert run("config", "--home", home).code == 0
    run("trust", file, "--forget")
    assert "you have not trusted that" in run(*asked).error


def test_the_same_words_in_another_file_are_not_trusted(tmp_path: Path) -> None:
    for name in ("one", "two"):
        written(tmp_path / name, 'judge_model = "/somewhere"\n')
    assert thresher.trust(tmp_path / "one" / "thresher.toml") == {"judge_model": '"/somewhere"'}
    corrective = recipes.get("corrective")
    assert corrective.configured({}, home=tmp_path / "one").judge_model == "/somewhere"  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"call `trust\(.*two/thresher.toml\)`"):
        corrective.configured({}, home=tmp_path / "two")


def test_the_file_in_the_users_own_folder_needs_no_trust(own_file: Path, tmp_path: Path) -> None:
    written(own_file.parent, 'judge_model = "/somewhere"\n')
    configured = recipes.get("corrective").configured({}, home=tmp_path)
    assert configured.judge_model == "/somewhere"  # type: ignore[attr-defined]
    assert config_files(tmp_path) == [own_file]


def test_a_file_that_cannot_be_read_is_not_trusted(run: Run, tmp_path: Path) -> None:
    assert "cannot be read" in run("trust", tmp_path / "nowhere.toml").error
    assert "unknown setting" in run("trust", written(tmp_path, "llm.modle = 'x'\n")).error


def test_what_a_terminal_would_act_upon_is_not_printed(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, r'rerank = "http://h/\u001b[2Kall is well"' + "\n")
    assert "\x1b" not in run("ask", "x", "--home", tmp_path).err + run("trust", file).out


@pytest.mark.parametrize("name", recipes.names())
def test_every_setting_that_names_an_address_a_key_or_a_model_is_guarded(name: str) -> None:
    named = {"base_url", "api_key", "model", "encoder", "rerank", "judge", "outside", "provider", "judge_model"}
    asked = [key for key in keys(recipes.get(name).settings) if key.rpartition(".")[2] in named]
    assert set(guarded(dict.fromkeys(asked, "http://h/v1"))) == set(asked)
    assert guarded({"chunk.size": 7, "rerank": "none", "encoder": "bundled", "judge": "local", "outside": "none"}) == {}


# --- a key and the address it came with -------------------------------------------------------------------------------


def key_sent(given: dict[str, str], table: str = "llm") -> str | None:
    """The key that a recipe would send."""
    key = getattr(recipes.get("crag").configured(given, home=Path("nowhere")), table).api_key
    return None if key is None else str(key.get_secret_value())


def test_a_key_goes_to_no_other_address_than_the_one_it_came_with(
    own_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(own_file.parent, '[llm]\nbase_url = "https://one.invalid/v1"\nmodel = "m"\napi_key = "s3cret"\n')
    assert key_sent({}) == "s3cret"
    assert key_sent({"llm.base_url": "https://one.invalid/v2"}) == "s3cret"
    assert key_sent({"llm.base_url": "https://two.invalid/v1"}) is None
    assert key_sent({"llm.base_url": "http://one.invalid/v1"}) is None
    assert key_sent({"llm.base_url": "https://two.invalid/v1", "llm.api_key": "another"}) == "another"
    monkeypatch.setenv("THRESHER_LLM__BASE_URL", "https://three.invalid/v1")
    assert key_sent({}) is None


def test_a_key_alone_in_the_environment_goes_to_the_address_of_the_users_own_file(
    own_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(own_file.parent, '[llm]\nbase_url = "https://one.invalid/v1"\nmodel = "m"\n')
    monkeypatch.setenv("THRESHER_LLM__API_KEY", "s3cret")
    assert key_sent({}) == "s3cret"
    monkeypatch.setenv("THRESHER_LLM__BASE_URL", "https://two.invalid/v1")
    assert key_sent({"llm.base_url": "https://one.invalid/v1"}) is None


def test_the_key_of_a_web_search_goes_to_no_other_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THRESHER_WEB__PROVIDER", "tavily")
    monkeypatch.setenv("THRESHER_WEB__API_KEY", "s3cret")
    assert key_sent({}, "web") == "s3cret"
    assert key_sent({"web.provider": "brave"}, "web") is None
    assert key_sent({"web.base_url": "https://two.invalid"}, "web") is None


# --- hosts ------------------------------------------------------------------------------------------------------------


def test_each_host_outside_this_machine_is_told_with_the_file_that_names_it(
    run: Run, indexed: Path, own_file: Path, stranger: ScriptedServer
) -> None:
    searched = ("search", QUESTION, "--recipe", "rag", "--home", indexed)
    written(own_file.parent, 'llm.base_url = "https://one.invalid/v1"\nllm.model = "m"\n')
    assert run(*searched).err == f"note: this may send to one.invalid (llm.base_url, {own_file})\n"
    told = run(*searched, "--set", "llm.base_url=https://two.invalid/v1").err
    assert told == "note: this may send to two.invalid (llm.base_url, --set)\n"
    assert run(*searched, "--set", f"llm.base_url={stranger.base_url}").err == ""


def test_the_host_of_a_web_search_is_told_where_the_web_is_searched(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_WEB__PROVIDER", "brave")
    asked = ("ask", QUESTION, "--recipe", "crag", "--home", tmp_path)
    assert "may send" not in run(*asked, "--outside", "web").err
    monkeypatch.setenv("THRESHER_WEB__API_KEY", "s3cret")
    assert "may send" not in run(*asked).err
    told = run(*asked, "--outside", "web").err
    assert "note: this may send to api.search.brave.com (web.provider, THRESHER_WEB__PROVIDER)\n" in told


@pytest.mark.parametrize(
    ("host", "elsewhere"),
    [("localhost", False), ("127.0.0.7", False), ("::1", False), ("10.0.0.1", True), ("localhost.example", True)],
)
def test_loopback_is_this_machine(host: str, elsewhere: bool) -> None:
    assert is_elsewhere(host) is elsewhere
