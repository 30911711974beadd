from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.models.cassette import Exchanges, content_hash
from thresher.models.pool import in_parallel
from thresher.models.usage import Meter


def never() -> str:
    raise AssertionError("playback asks nobody")


def raising(error: Exception) -> Callable[[], str]:
    def make() -> str:
        raise error

    return make


def stored(exchanges: Exchanges) -> Exchanges:
    """The record after a way through JSON, to be played back."""
    return Exchanges(json.loads(json.dumps(exchanges.stored())))


def test_replies_are_played_back_in_their_order_for_each_key() -> None:
    recorded = Exchanges()
    for key, reply in [("a", "1"), ("b", "2"), ("a", "3")]:
        assert recorded.reply([key], lambda reply=reply: reply) == reply
    played = stored(recorded)
    assert (recorded.replaying, played.replaying) == (False, True)
    assert [played.reply([key], never) for key in ("b", "a", "a")] == ["2", "1", "3"]


@pytest.mark.parametrize("key", ["a", "b"])
def test_what_was_not_recorded_is_an_error_that_says_why(key: str) -> None:
    recorded = Exchanges()
    recorded.reply(["a"], lambda: "once")
    played = stored(recorded)
    played.reply(["a"], never)
    with pytest.raises(NotRecorded, match="ask the question anew"):
        played.reply([key], never)


def test_a_record_of_nothing_is_still_a_record() -> None:
    with pytest.raises(NotRecorded):
        stored(Exchanges()).reply(["a"], never)


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("down", subject="m at h", next_step="wait", retryable=True),
        ProviderError("refused", subject="m at h"),
        BudgetSpent("the budget of 3 model calls is spent"),
    ],
    ids=str,
)
def test_failures_are_played_back_too(error: ProviderError | BudgetSpent) -> None:
    recorded = Exchanges()
    with pytest.raises(type(error)):
        recorded.reply(["a"], raising(error))
    with pytest.raises(type(error)) as caught:
        stored(recorded).reply(["a"], never)
    assert vars(caught.value) == vars(error)
    assert str(caught.value) == str(error)


def test_a_mistake_is_not_recorded() -> None:
    recorded = Exchanges()
    with pytest.raises(ZeroDivisionError):
        recorded.reply(["a"], raising(ZeroDivisionError()))
    assert recorded.stored() == {}


def test_what_was_spent_is_spent_again() -> None:
    meter, recorded = Meter(), Exchanges()

    def search() -> str:
        meter.searched("https://search.example/")
        meter.used(3, 4)
        return "found"

    def fail() -> str:
        meter.start("http://model:1/v1")
        raise ProviderError("down")

    recorded.reply(["search"], search, meter=meter)
    meter.visit("http://not-part-of-it/")
    with pytest.raises(ProviderError):
        recorded.reply(["chat"], fail, meter=meter)
    again, played = Meter(), stored(recorded)
    played.reply(["search"], never, meter=again)
    with pytest.raises(ProviderError):
        played.reply(["chat"], never, meter=again)
    assert again.usage.to_dict() == {
        "llm_calls": 1,
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "web_requests": 1,
        "hosts": ["model:1", "search.example"],
    }


def test_threads_record_every_reply_and_the_record_does_not_depend_on_who_was_first() -> None:
    numbers = list(range(60))
    forwards, backwards = Exchanges(), Exchanges()
    for exchanges, order in ((forwards, numbers), (backwards, numbers[::-1])):
        in_parallel([lambda n=n, e=exchanges: e.reply(["k", str(n)], lambda: f"r{n}") for n in order], workers=8)
    assert list(forwards.stored()) == list(backwards.stored())
    assert forwards.stored() == backwards.stored()
    played = stored(forwards)
    assert [played.reply(["k", str(n)], never) for n in numbers] == [f"r{n}" for n in numbers]


def test_what_is_asked_is_not_kept_and_half_characters_do_no_harm() -> None:
    recorded = Exchanges()
    recorded.reply(["secret \ud800 question"], lambda: "half \ud800")
    assert "secret" not in json.dumps(recorded.stored())
    assert stored(recorded).reply(["secret \ud800 question"], never) == "half \ud800"


def test_where_one_part_ends_counts() -> None:
    assert len({content_hash(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])}) == 4
