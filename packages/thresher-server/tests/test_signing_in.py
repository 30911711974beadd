"""A browser signs in with a key, and its cookie stands for the key: for our own page alone, until it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.servers.own import Running, running
from thresher_server.security.keys import Keys, Scope
from thresher_server.security.sessions import COOKIE, MOST_KEPT, Sessions

SESSION = "/api/session"


SignIn = Callable[[Running, str], tuple[httpx.Client, str]]


@pytest.fixture
def signed_in() -> Iterator[SignIn]:
    """Makes a browser with the cookie; also what the server said of it."""
    with ExitStack() as browsers:

        def sign_in(one: Running, key: str) -> tuple[httpx.Client, str]:
            browser = browsers.enter_context(httpx.Client(base_url=one.url, headers={"Origin": one.url}, timeout=60))
            told = browser.post(SESSION, json={"days": 30}, headers={"Authorization": f"Bearer {key}"})
            assert told.status_code == 200, told.text
            return browser, told.headers["set-cookie"]

        yield sign_in


@pytest.fixture
def key(keyed: Running) -> str:
    return Keys(keyed.service.home).make("mara", [Scope.READ, Scope.ASK], None)


def test_the_cookie_is_the_servers_own_and_no_script_or_other_site_gets_it(
    signed_in: SignIn, keyed: Running, key: str
) -> None:
    browser, cookie = signed_in(keyed, key)
    assert browser.get(SESSION).json()["caller"] == "mara"
    assert {"HttpOnly", "SameSite=strict", "Max-Age=2592000", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    stored = "".join(file.read_text() for file in Path(keyed.service.home).rglob("sessions/*"))
    assert browser.cookies[COOKIE] not in stored
    assert key.rsplit("_", 1)[1] not in cookie + stored


def test_under_https_the_cookie_is_secure_and_for_the_path_of_the_server(
    signed_in: SignIn, keyed: Running, key: str
) -> None:
    keyed.service.public_url = "https://docs.example.org/thresher"
    _, cookie = signed_in(keyed, key)
    assert {"Secure", "Path=/thresher"} <= set(cookie.split("; "))


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {}],
)
def test_a_post_of_another_site_with_the_cookie_is_refused(
    signed_in: SignIn, keyed: Running, key: str, headers: dict[str, str]
) -> None:
    browser, _ = signed_in(keyed, key)
    asked = {"question": "When does the ferry leave?"}
    cookie = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
    told = keyed.client.post("/api/collections/default/ask", json=asked, headers={**cookie, **headers})
    assert told.status_code in (401, 403)
    assert browser.post("/api/collections/default/ask", json=asked).status_code == 200


def test_a_cookie_makes_no_second_one(signed_in: SignIn, keyed: Running, key: str) -> None:
    browser, _ = signed_in(keyed, key)
    assert browser.post(SESSION, json={"days": 365}).status_code == 401


def test_of_a_callers_sign_ins_the_oldest_end(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    ids = [sessions.begin("mara" if number else "nils", "", 1)[0] for number in range(MOST_KEPT + 2)]
    assert [bool(sessions.get(id_)) for id_ in ids] == [True, False, *[True] * MOST_KEPT]


def test_signing_out_ends_it_on_the_server_too(signed_in: SignIn, keyed: Running, key: str) -> None:
    browser, _ = signed_in(keyed, key)
    cookie = browser.cookies[COOKIE]
    assert browser.delete(SESSION).status_code == 204
    assert COOKIE not in browser.cookies
    assert keyed.client.get(SESSION, headers={"Cookie": f"{COOKIE}={cookie}"}).status_code == 401


def test_a_sign_in_does_not_outlive_its_key(signed_in: SignIn, keyed: Running, key: str) -> None:
    keys = Keys(keyed.service.home)
    browser, _ = signed_in(keyed, key)
    other, _ = signed_in(keyed, keys.rotate("mara"))
    assert browser.get(SESSION).status_code == 401
    keys.revoke("mara")
    assert other.get(SESSION).status_code == 401


def test_the_token_of_a_restart_ends_a_sign_in_and_an_open_server_has_none(signed_in: SignIn, tmp_path: Path) -> None:
    with running(tmp_path, server__open=False) as one:
        browser, _ = signed_in(one, one.service.token)
        assert browser.get(SESSION).json()["caller"] == "loopback"
        one.service.token = "another"
        assert browser.get(SESSION).status_code == 401
    with running(tmp_path / "open") as one:
        assert one.client.post(SESSION, json={"days": 1}).status_code == 409
