from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.structured import (
    Unreadable,
    asked,
    grades_schema,
    in_parallel,
    read_choice,
    read_grades,
    read_integer,
    read_scores,
    read_text,
    scores_schema,
    text_schema,
)
from thresher.testing.fakes import ScriptedModel

NO = Unreadable
DEEP = "[" * 100_000

SCORES: list[tuple[str, int, object]] = [
    # --- as asked
    ('{"scores": [0.1, 0.2]}', 2, [0.1, 0.2]),
    ('{"scores": [0, 1]}', 2, [0.0, 1.0]),
    ('{"scores": [1.0]}', 1, [1.0]),
    ('{"scores": [1e-3]}', 1, [0.001]),
    ('{"scores": []}', 0, []),
    ('  {"scores"\n:\n[ 0.5 ]\n}\n\n', 1, [0.5]),
    ('{"scores": [0.5], "reason": "because"}', 1, [0.5]),
    # --- odd but meant in one way only
    ('```json\n{"scores": [0.1, 0.2]}\n```', 2, [0.1, 0.2]),
    ('```\n{"scores": [0.1, 0.2]}\n```', 2, [0.1, 0.2]),
    ("```JSON\n[0.1, 0.2]\n```", 2, [0.1, 0.2]),
    ('Here are the 2 scores:\n```json\n{"scores": [0.1, 0.2]}\n```\nI hope this helps!', 2, [0.1, 0.2]),
    ("Here are the scores:\n```json\n[0.1, 0.2]\n```", 2, [0.1, 0.2]),
    ('Sure! {"scores": [0.1, 0.2]} There you are.', 2, [0.1, 0.2]),
    ('{"scores": [0.1]}\n{"scores": [0.1]}', 1, [0.1]),
    ('{"scores": [0.1]}\n```json\n{ "scores": [ 0.1 ] }\n```', 1, [0.1]),
    ("[0.1, 0.2]", 2, [0.1, 0.2]),
    ("[0.1]", 1, [0.1]),
    ("[]", 0, []),
    ('{"scores": ["0.7", "1"]}', 2, [0.7, 1.0]),
    ('["0.7", 0.2]', 2, [0.7, 0.2]),
    ('[" .5 "]', 1, [0.5]),
    ('{"score": 0.7}', 1, [0.7]),
    ('{"score": "0.7"}', 1, [0.7]),
    ('{"score": "0,7"}', 1, [0.7]),
    ('{"score": [0.7]}', 1, [0.7]),
    ('{"scores": 0.7}', 1, [0.7]),
    ("0.8", 1, [0.8]),
    ("0.8.", 1, [0.8]),
    ("0.8\n", 1, [0.8]),
    (".8", 1, [0.8]),
    ("1", 1, [1.0]),
    ("0", 1, [0.0]),
    ("1.", 1, [1.0]),
    ("8e-1", 1, [0.8]),
    ('"0.8"', 1, [0.8]),
    ("**0.8**", 1, [0.8]),
    ("`0.8`", 1, [0.8]),
    ("```\n0.8\n```", 1, [0.8]),
    ("```json\n0.8\n```", 1, [0.8]),
    ("Score: 0.7", 1, [0.7]),
    ("score = 0.7", 1, [0.7]),
    ("**Score:** 0.7", 1, [0.7]),
    ("Relevance: 0.7.", 1, [0.7]),
    ("Relevance score: 0.7", 1, [0.7]),
    ("The relevance score is 0.7.", 1, [0.7]),
    ("0,7", 1, [0.7]),
    ("Score: 0,75", 1, [0.75]),
    ("1,0", 1, [1.0]),
    # --- beyond 0 to 1, never clamped
    ("2.0", 1, NO),
    ("8", 1, NO),
    ("10", 1, NO),
    ("-0.1", 1, NO),
    ("1.0000001", 1, NO),
    ("7/10", 1, NO),
    ("0.7/1", 1, NO),
    ("8 out of 10", 1, NO),
    ("70%", 1, NO),
    ("0.7%", 1, NO),
    ("70", 1, NO),
    ('{"scores": [2.0, 0.1]}', 2, NO),
    ('{"scores": [-0.1]}', 1, NO),
    ('{"scores": [85, 20]}', 2, NO),
    ('{"score": 8}', 1, NO),
    ('{"score": "70%"}', 1, NO),
    ('{"scores": [1e999]}', 1, NO),
    ("1e999", 1, NO),
    ('{"scores": [' + "9" * 5000 + "]}", 1, NO),
    ("0." + "9" * 5000 + "e9", 1, NO),
    # --- not numbers
    ('{"scores": [NaN]}', 1, NO),
    ('{"scores": [Infinity]}', 1, NO),
    ('{"scores": [-Infinity]}', 1, NO),
    ('{"scores": ["nan"]}', 1, NO),
    ("NaN", 1, NO),
    ("inf", 1, NO),
    ('{"scores": [true]}', 1, NO),
    ('{"scores": [true, false]}', 2, NO),
    ("true", 1, NO),
    ('{"scores": [null]}', 1, NO),
    ('{"scores": null}', 1, NO),
    ("null", 1, NO),
    ('{"scores": [""]}', 1, NO),
    ('{"scores": ["high"]}', 1, NO),
    ('{"scores": [[0.1], [0.2]]}', 2, NO),
    ('{"scores": [{"score": 0.1}]}', 1, NO),
    ('{"scores": {"1": 0.1, "2": 0.2}}', 2, NO),
    ('{"scores": "0.1, 0.2"}', 2, NO),
    # --- nothing, or half of something
    ("", 1, NO),
    ("", 0, NO),
    ("   \n", 1, NO),
    ('""', 1, NO),
    ("{", 1, NO),
    ("{}", 1, NO),
    ("[]", 1, NO),
    ('{"scores": [0.1, 0.2', 2, NO),
    ('{"scores": [0.1, 0.2]', 2, NO),
    ('{"scores": [0.1, 0.2,]}', 2, NO),
    ("{'scores': [0.1, 0.2]}", 2, NO),
    ("{scores: [0.1, 0.2]}", 2, NO),
    ('"scores": [0.1, 0.2]', 2, NO),
    ('{"scores": [.5]}', 1, NO),
    ('```json\n{"scores": [0.1', 1, NO),
    ('{"scores": [0.1]} and {"scores": [0.', 1, NO),
    ("0.", 2, NO),
    (".", 1, NO),
    (DEEP, 1, NO),
    ('{"scores": ' + DEEP, 1, NO),
    # --- too few, too many, several
    ('{"scores": [0.1]}', 2, NO),
    ('{"scores": [0.1, 0.2, 0.3]}', 2, NO),
    ('{"scores": [0.1, 0.2]}', 1, NO),
    ('{"score": 0.7}', 2, NO),
    ("0.7", 2, NO),
    ("0.7, 0.8", 2, NO),
    ("0.7, 0.8", 1, NO),
    ("0.7 0.8", 1, NO),
    ("0.7\n0.7", 1, NO),
    ("0.7-0.8", 1, NO),
    ("Score: 0.7 or 0.8", 1, NO),
    ('{"scores": [0.1]} {"scores": [0.2]}', 1, NO),
    ('First I said {"scores": [0.1]}, now ```json\n{"scores": [0.2]}\n```', 1, NO),
    ("```\n[0.1]\n```\n```\n[0.2]\n```", 1, NO),
    ('{"scores": [0.1], "scores": [0.2]}', 1, NO),
    ('{"score": 0.1, "scores": [0.2]}', 1, NO),
    ('Passage [1] is good: {"scores": [0.7]}', 1, NO),
    # --- words
    ("Passage [1] is irrelevant.", 1, NO),
    ("see [0, 1]", 2, NO),
    ("very relevant", 1, NO),
    ("zero point seven", 1, NO),
    ("Irrelevance: 0.9", 1, NO),
    ("Passage 1: 0.9", 1, NO),
    ("not 0.9", 1, NO),
    ("about 0.7", 1, NO),
    ("0.7 because it names the year", 1, NO),
    ("I cannot rate this passage.", 1, NO),
    ("Punktzahl: 0,7", 1, NO),
    ("相关性：0.7", 1, NO),
    ("٠٫٧", 1, NO),
    ("零点七", 1, NO),
    ("0，7", 1, NO),
    ("1,000", 1, NO),
    ("01", 1, NO),
    ("0x1", 1, NO),
    ('{"relevance": 0.7}', 1, NO),
    ('{"Scores": [0.7]}', 1, NO),
    ('{"result": {"scores": [0.7]}}', 1, NO),
    ("<html>502 Bad Gateway</html>", 1, NO),
    ("\x00", 1, NO),
    ("\ud800", 1, NO),
]

CHOICES = ("correct", "incorrect", "Ambiguous")

OTHERS: list[tuple[Callable[[str], object], str, object]] = [
    *(
        (lambda text: read_text(text, "query"), text, wanted)
        for text, wanted in [
            ('{"query": "red wine"}', "red wine"),
            ('{"query": "  red\\nwine "}', "red\nwine"),
            ('{"query": "red\nwine"}', "red\nwine"),
            ('{"query": "a {brace} and a [1]"}', "a {brace} and a [1]"),
            ('Here: ```json\n{"query": "red"}\n```', "red"),
            ('{"query": "π 🌾"}', "π 🌾"),
            ('{"query": ""}', NO),
            ('{"query": " \\n "}', NO),
            ('{"query": null}', NO),
            ('{"query": 7}', NO),
            ('{"query": ["red"]}', NO),
            ('{"Query": "red"}', NO),
            ('{"query": "half \\ud800"}', NO),
            ('{"query": "red', NO),
            ('"red"', NO),
            ('["red"]', NO),
            ("red wine", NO),
            ("", NO),
        ]
    ),
    *(
        (lambda text: read_integer(text, "rating", 1, 5), text, wanted)
        for text, wanted in [
            ('{"rating": 4}', 4),
            ('{"rating": 4.0}', 4),
            ('{"rating": "4"}', 4),
            ('```json\n{"rating": 5}\n```', 5),
            ("4", 4),
            ("4.", 4),
            ("Rating: 4", 4),
            ("**Rating:** 4", 4),
            ("```\n4\n```", 4),
            ('{"rating": 0}', NO),
            ('{"rating": 6}', NO),
            ('{"rating": -4}', NO),
            ('{"rating": 4.5}', NO),
            ('{"rating": "4/5"}', NO),
            ('{"rating": true}', NO),
            ('{"rating": null}', NO),
            ('{"rating": [4]}', NO),
            ('{"rating": 1e999}', NO),
            ('{"rating": NaN}', NO),
            ('{"score": 4}', NO),
            ("[4]", NO),
            ("4/5", NO),
            ("4 or 5", NO),
            ("four", NO),
            ("４", NO),
            ("9" * 5000, NO),
            ("", NO),
        ]
    ),
    *(
        (lambda text: read_choice(text, "verdict", CHOICES), text, wanted)
        for text, wanted in [
            ('{"verdict": "correct"}', "correct"),
            ('{"verdict": " INCORRECT "}', "incorrect"),
            ('{"verdict": "ambiguous"}', "Ambiguous"),
            ("Correct", "correct"),
            ("Incorrect.", "incorrect"),
            ('"correct".', "correct"),
            ("Verdict: correct", "correct"),
            ("**Verdict:** **correct**", "correct"),
            ('```json\n{"verdict": "correct"}\n```', "correct"),
            ("```\ncorrect\n```", "correct"),
            ('{"verdict": "not correct"}', NO),
            ('{"verdict": "correct or ambiguous"}', NO),
            ('{"verdict": ""}', NO),
            ('{"verdict": true}', NO),
            ('{"verdict": null}', NO),
            ('{"verdict": ["correct"]}', NO),
            ('{"answer": "correct"}', NO),
            ("not correct", NO),
            ("It is correct.", NO),
            ("correct, incorrect", NO),
            ("richtig", NO),
            ("", NO),
        ]
    ),
]


@pytest.mark.parametrize(("text", "number", "wanted"), SCORES, ids=lambda value: repr(value)[:60])
def test_scores_are_read_when_they_can_be_meant_in_one_way_only(text: str, number: int, wanted: object) -> None:
    if wanted is NO:
        with pytest.raises(Unreadable):
            read_scores(text, number)
    else:
        assert read_scores(text, number) == wanted


@pytest.mark.parametrize(("read", "text", "wanted"), OTHERS)
def test_other_forms_are_read_as_strictly(read: Callable[[str], object], text: str, wanted: object) -> None:
    if wanted is NO:
        with pytest.raises(Unreadable):
            read(text)
    else:
        found = read(text)
        assert found == wanted
        assert type(found) is type(wanted)


GRADES: list[tuple[str, int, object]] = [
    ('{"1": 0, "2": 3}', 2, [0, 3]),
    ('{"2": 3, "1": 0}', 2, [0, 3]),
    ('{"1": "2", "2": 1.0}', 2, [2, 1]),
    ("[1, 2]", 2, [1, 2]),
    ("2", 1, [2]),
    ("Grade: 2", 1, [2]),
    ('Here: {"1": 2}', 1, [2]),
    ('{"1": 2}', 2, NO),
    ('{"1": 2, "2": 2, "3": 0}', 2, NO),
    ('{"0": 2, "1": 2}', 2, NO),
    ('{"1": 2, "1": 3}', 1, NO),
    ('{"1": 4}', 1, NO),
    ('{"1": 0.5}', 1, NO),
    ('{"1": true}', 1, NO),
    ("[1, 2, 3]", 2, NO),
    ("2 or 3", 1, NO),
    ("", 1, NO),
]


@pytest.mark.parametrize(("text", "number", "wanted"), GRADES)
def test_grades_are_read_when_they_can_be_meant_in_one_way_only(text: str, number: int, wanted: object) -> None:
    if wanted is NO:
        with pytest.raises(Unreadable):
            read_grades(text, number)
    else:
        assert read_grades(text, number) == wanted


@given(some.lists(some.integers(0, 3), min_size=1, max_size=20))
def test_all_grades_are_asked_for_by_number_and_read_back(grades: list[int]) -> None:
    schema = grades_schema(len(grades))
    assert schema["required"] == [str(at) for at in range(1, len(grades) + 1)]
    assert all(grade["enum"] == [0, 1, 2, 3] for grade in schema["properties"].values())
    assert read_grades(json.dumps(dict(zip(schema["required"], grades, strict=True))), len(grades)) == grades


def test_what_was_wrong_is_said_without_the_words_of_the_reply() -> None:
    for text, number, wanted in SCORES:
        if wanted is NO and len(text) > 3:
            with pytest.raises(Unreadable) as caught:
                read_scores(text, number)
            assert 0 < len(str(caught.value)) < 60
            assert text not in str(caught.value)


@given(some.lists(some.floats(0, 1), max_size=12))
def test_every_list_of_scores_is_read_back(scores: list[float]) -> None:
    number = len(scores)
    assert read_scores(json.dumps({"scores": scores}), number) == scores
    assert read_scores(json.dumps(scores), number) == scores
    assert read_scores(f"Here:\n```json\n{json.dumps(scores, indent=1)}\n```", number) == scores


@given(some.floats(0, 1))
def test_every_single_score_is_read_back(score: float) -> None:
    for text in (str(score), f"Score: {score}", json.dumps({"score": score}), json.dumps({"score": str(score)})):
        assert read_scores(text, 1) == [score]


PIECES = some.sampled_from([*'{}[]",:.`0123456789eE-+% \n', "```json\n", '"scores"', "true", "NaN", "Score: "])


@given(some.one_of(some.text(), some.lists(PIECES, max_size=40).map("".join)), some.integers(0, 3))
def test_no_text_raises_anything_but_unreadable(text: str, number: int) -> None:
    readers: Sequence[Callable[[], Any]] = (
        lambda: read_scores(text, number),
        lambda: read_grades(text, number),
        lambda: read_text(text, "scores"),
        lambda: read_integer(text, "scores", 0, 9),
        lambda: read_choice(text, "scores", ["a", "b"]),
    )
    for read in readers:
        with suppress(Unreadable):
            read()


def test_schemas_ask_for_objects_with_nothing_besides() -> None:
    schemas = {"scores": scores_schema(3), "query": text_schema("query")}
    for field, schema in schemas.items():
        assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", [field], False)
    assert schemas["scores"]["properties"]["scores"]["maxItems"] == 3


def ask(model: Any) -> Any:
    return asked(model, "rate", "texts", schema=scores_schema(1), read=lambda text: read_scores(text, 1))


def test_an_unreadable_reply_is_asked_for_once_more_and_told_why() -> None:
    model = ScriptedModel(["high", "0.8"])
    answer = ask(model)
    assert (answer.value, answer.unreadable) == ([0.8], 1)
    assert model.seen[1][1].startswith("texts\n\nYour last reply could not be read (no JSON).")


def test_two_unreadable_replies_are_no_value() -> None:
    model = ScriptedModel(["high", "low", "0.8"])
    answer = ask(model)
    assert (answer.value, answer.unreadable, len(model.seen)) == (None, 2, 2)


@pytest.mark.parametrize("error", [ProviderError("down"), BudgetSpent("spent")], ids=["provider", "budget"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_failing_model_passes_through_at_either_try(error: Exception, before: int) -> None:
    def reply(system: str, user: str) -> str:
        if len(model.seen) > before:
            raise error
        return "high"

    model = ScriptedModel(reply)
    with pytest.raises(type(error)):
        ask(model)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    last_may_go = threading.Event()

    def first() -> int:
        assert workers == 1 or last_may_go.wait(10)
        return 0

    def last() -> int:
        last_may_go.set()
        return 9

    assert in_parallel([first, *(lambda n=n: n for n in range(1, 9)), last], workers=workers) == list(range(10))
    assert in_parallel([], workers=workers) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_tasks_not_begun_when_one_raises_never_begin(workers: int) -> None:
    begun: list[int] = []
    failing, never = threading.Event(), threading.Event()

    def fail() -> None:
        failing.set()
        raise ProviderError("down")

    def take_long(number: int) -> None:
        begun.append(number)
        never.wait(1)

    # The other workers are held until the failing task has begun; then each may take one more before it has failed.
    held = [lambda: failing.wait(10)] * (workers - 1)
    with pytest.raises(ProviderError, match="down"):
        in_parallel([*held, fail, *(lambda n=n: take_long(n) for n in range(100))], workers=workers)
    assert len(begun) < workers
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("calls")]


def test_of_several_errors_the_first_tasks_is_raised() -> None:
    both = threading.Barrier(2)

    def fail(name: str) -> None:
        both.wait(10)
        raise ProviderError(name)

    with pytest.raises(ProviderError, match="first"):
        in_parallel([lambda: fail("first"), lambda: fail("second")], workers=2)


def test_an_interrupt_begins_no_more_tasks() -> None:
    main, begun, never = threading.main_thread().ident, [], threading.Event()

    def interrupt() -> None:
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    def take_long() -> None:
        begun.append(1)
        never.wait(0.05)

    with pytest.raises(KeyboardInterrupt):
        in_parallel([interrupt, *[take_long] * 100], workers=2)
    assert len(begun) < 100
