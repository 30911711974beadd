"""The own API: sessions, recipes, searches, past questions, conversations, calibration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION, ended, with_key
from thresher import recipes
from thresher_server.security.keys import Scope


def test_whoever_reaches_loopback_may_do_everything(served: Running) -> None:
    told = served.client.get("/api/session").json()
    assert told["caller"] == "loopback"
    assert told["scopes"] == ["admin", "ask", "read", "write"]
    assert told["collections"] is None
    assert told["needs_key"] is False
    assert (told["collection"], told["recipe"], told["chat_model"]) == ("default", "corrective", None)
    assert told["max_upload_bytes"] == 200 * 1024 * 1024


def test_a_key_is_told_what_it_may_do(tmp_path: Path) -> None:
    key = with_key(tmp_path, "reader", Scope.READ, collections=["papers"])
    with running(tmp_path, server__require_key=True) as one:
        assert one.client.get("/api/session").status_code == 401
        told = one.client.get("/api/session", headers=key).json()
    assert (told["caller"], told["scopes"], told["collections"]) == ("reader", ["read"], ["papers"])
    assert told["needs_key"] is True


def test_recipes_are_told_with_their_slots(served: Running) -> None:
    told = served.client.get("/api/recipes").json()
    assert [one["name"] for one in told] == recipes.names()
    assert {"name", "preset_of", "slots", "follows", "needs_llm"} <= set(told[0])


def test_a_recipe_says_which_settings_a_person_may_change(served: Running) -> None:
    told = served.client.get("/api/recipes/corrective", params={"collection": "default"}).json()
    settings = {one["key"]: one for one in told["settings"]}
    style = settings["answer.style"]
    assert (style["value"], style["may_change"]) == ("auto", True)
    assert style["form"]["enum"] == ["auto", "short", "detailed", "list"]
    assert settings["refine.top_k"]["form"]["anyOf"][0]["minimum"] == 1
    fixed = ("llm.base_url", "llm.api_key", "encoder", "outside", "chunk.size", "web.provider", "judge")
    assert not any(settings[key]["may_change"] for key in fixed)
    assert all(one["description"] for one in told["settings"])


def test_models_and_addresses_are_an_admins_to_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"BASE_URL": "http://inner.example/v1", "MODEL": "m"}.items():
        monkeypatch.setenv(f"THRESHER_LLM__{name}", value)
    keys = [with_key(tmp_path, name, scope) for name, scope in (("boss", Scope.ADMIN), ("reader", Scope.READ))]
    with running(tmp_path, server__require_key=True) as one:
        told = [one.client.get("/api/recipes/corrective", headers=key).text for key in keys]
    assert ["inner.example" in text for text in told] == [True, False]


def test_a_recipe_that_is_not_there_is_404(served: Running) -> None:
    assert served.client.get("/api/recipes/nothing").status_code == 404


def test_a_search_tells_passages_with_addresses(served: Running) -> None:
    told = served.client.post(f"{DEFAULT}/search", json={**QUESTION, "limit": 2}).json()
    assert (told["question"], told["recipe"], len(told["hits"])) == (QUESTION["question"], "corrective", 2)
    assert "built in 1849" in told["hits"][0]["text"]
    assert told["hits"][0]["url"].startswith(f"{served.url}/d/default/")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"question": "   "}, "empty"),
        ({"question": "x" * 9000}, "longer than 8,000"),
        ({**QUESTION, "recipe": "correctiv"}, "corrective"),
        ({**QUESTION, "where": "nothing ="}, ""),
        ({**QUESTION, "k": 3}, "Extra inputs"),
        ({**QUESTION, "settings": {"answer.nothing": 1}}, "unknown setting"),
    ],
)
def test_what_cannot_be_searched_is_said(served: Running, body: dict[str, object], what: str) -> None:
    told = served.client.post(f"{DEFAULT}/search", json=body)
    assert told.status_code == 422
    assert what in told.json()["error"]["message"]


def test_half_a_surrogate_pair_breaks_nothing(served: Running) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (
        b'{"question": "\\ud800 x"}',
        b'{"question": "x", "settings": {"\\ud800": "\\udfff"}}',
        b'{"question":',
    ):
        assert served.client.post(f"{DEFAULT}/search", content=body, headers=headers).status_code == 422


TRACES = f"{DEFAULT}/traces"


def test_a_question_is_its_askers_and_the_admins_to_see(keyed: Running) -> None:
    ann, bob = with_key(keyed.service.home, "ann", Scope.ASK), with_key(keyed.service.home, "bob", Scope.ASK)
    boss = with_key(keyed.service.home, "boss", Scope.ADMIN)
    trace = keyed.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=ann).json()["trace"]
    seen = [len(keyed.client.get(TRACES, headers=who).json()["traces"]) for who in (ann, bob, boss)]
    assert seen == [1, 0, 1]
    assert keyed.client.get(TRACES, params={"own": True}, headers=boss).json()["traces"] == []
    assert keyed.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 404
    assert keyed.client.post(f"{TRACES}/{trace}/replay", headers=bob).status_code == 404
    assert keyed.client.post(f"{TRACES}/{trace}/feedback", json={"right": False}, headers=bob).status_code == 404
    keyed.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=bob)
    assert keyed.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 200


def test_a_trace_is_named_by_its_id_alone(one: Running) -> None:
    one.client.post(f"{DEFAULT}/ask", json=QUESTION)
    for id_ in ("last", "..%2flast", "x", "0" * 12, "%00"):
        assert one.client.get(f"{TRACES}/{id_}").status_code == 404


TALKS = f"{DEFAULT}/conversations"


def test_a_conversation_is_its_callers_alone(keyed: Running) -> None:
    ann, bob = with_key(keyed.service.home, "ann", Scope.ASK), with_key(keyed.service.home, "bob", Scope.ASK)
    talk = keyed.client.post(TALKS, headers=ann).json()["id"]
    assert keyed.client.get(f"{TALKS}/{talk}", headers=ann).status_code == 200
    assert keyed.client.get(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.delete(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.get(TALKS, headers=bob).json() == {"conversations": []}
    asks = {**QUESTION, "conversation": talk}
    assert keyed.client.post(f"{DEFAULT}/ask", json=asks, headers=bob).status_code == 404
    assert keyed.client.post(f"{DEFAULT}/ask", json={**asks, "stream": True}, headers=ann).status_code == 200
    (line,) = keyed.client.get(TALKS, headers=ann).json()["conversations"]
    assert (line["id"], line["turns"], line["question"]) == (talk, 1, QUESTION["question"])
    assert keyed.client.delete(f"{TALKS}/{talk}", headers=ann).status_code == 204
    assert keyed.client.get(f"{TALKS}/{talk}", headers=ann).status_code == 404


def test_an_id_is_no_path(one: Running) -> None:
    for id_ in ("..%2f..%2fkeys", "keys", "x" * 100, "*"):
        assert one.client.get(f"{TALKS}/{id_}").status_code == 404


def test_too_few_questions_fail_the_job_with_a_reason(one: Running) -> None:
    asked = {"questions": [["When was it built?", True]]}
    job = ended(one, one.client.post(f"{DEFAULT}/calibrate", json=asked).json()["job"])
    assert (job["kind"], job["state"]) == ("calibrate", "failed")
    assert "too few" in job["error"]["message"]


@pytest.mark.slow
def test_a_collection_is_calibrated_by_a_job(indexed_home: Path, tmp_path: Path) -> None:
    right = [(f"When was the lighthouse of Fernby built, {number}?", True) for number in range(20)]
    wrong = [(f"Who won the chess match of {1900 + number}?", False) for number in range(20)]
    with running(copied(indexed_home, tmp_path)) as one:
        reply = one.client.post(f"{DEFAULT}/calibrate", json={"questions": [*right, *wrong]})
        job = ended(one, reply.json()["job"])
        assert job["state"] == "done", job
        assert job["result"]["n_positive"] == 20
        assert one.client.get(DEFAULT).json()["calibrated"]["corrective"]["n_negative"] == 20
