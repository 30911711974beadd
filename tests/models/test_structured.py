from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.replies import (
    Unreadable,
    asked,
    grades_schema,
    read_choice,
    read_grades,
    read_integer,
    read_scores,
    read_text,
    scores_schema,
    text_schema,
)
from thresher.testing.fakes import ScriptedModel

DEEP = "[" * 100_000

Read = Callable[[str], Any]

one_score: Read = partial(read_scores, number=1)
two_scores: Read = partial(read_scores, number=2)
one_grade: Read = partial(read_grades, number=1)
two_grades: Read = partial(read_grades, number=2)
query: Read = partial(read_text, field="query")
rating: Read = partial(read_integer, field="rating", low=1, high=5)
verdict: Read = partial(read_choice, field="verdict", options=("correct", "incorrect", "Ambiguous"))

READ: list[tuple[Read, Any, list[str]]] = [
    (
        two_scores,
        [0.1, 1.0],
        [
            '{"scores": [0.1, 1]}',
            '  {"scores"\n:\n[ 0.1, "1" ]\n, "reason": "because"}\n\n',
            "[0.1, 1.0]",
            '```json\n{"scores": [0.1, 1]}\n```',
            "```JSON\n[0.1, 1]\n```",
            "Here are the scores:\n```\n[0.1, 1]\n```\nI hope this helps!",
            'Sure! {"scores": [0.1, 1]} There you are.',
            '{"scores": [0.1, 1]}\n```json\n{ "scores": [ 0.1, 1 ] }\n```',
        ],
    ),
    (
        one_score,
        [0.7],
        [
            '{"score": 0.7}',
            '{"score": "0.7"}',
            '{"score": [0.7]}',
            '{"scores": 0.7}',
            "[0.7]",
            '["7e-1"]',
            *("0.7", ".7.", "0.7\n", '"0.7"', "**0.7**", "`0.7`", "```\n0.7\n```", "Score: 0.7", "**Score:** 0.7"),
        ],
    ),
    (two_grades, [0, 3], ['{"1": 0, "2": 3}', '{"2": 3.0, "1": "0"}', "[0, 3]", 'Here: {"1": 0, "2": 3}']),
    (one_grade, [2], ["2", "Grade: 2", '{"1": 2}']),
    (
        query,
        "red\nwine",
        ['{"query": "  red\\nwine "}', '{"query": "red\nwine"}', '```json\n{"query": "red\\nwine"}\n```'],
    ),
    (query, "a {brace}, a [1] and 🌾", ['{"query": "a {brace}, a [1] and 🌾"}']),
    (rating, 4, ['{"rating": 4}', '{"rating": 4.0}', '{"rating": "4"}', "4", "4.", "**Rating:** 4", "```\n4\n```"]),
    (verdict, "incorrect", ['{"verdict": " INCORRECT "}', "Incorrect.", '"incorrect".', "**Verdict:** **incorrect**"]),
    (verdict, "Ambiguous", ['{"verdict": "ambiguous"}', "```\nambiguous\n```"]),
]

UNREADABLE: list[tuple[Read, list[str]]] = [
    (  # beyond 0 to 1, never clamped
        one_score,
        [
            *(
                "2.0",
                "8",
                "-0.1",
                "1.0000001",
                "7/10",
                "8 out of 10",
                "70%",
                "1e999",
                '{"score": 8}',
                '{"scores": [-0.1]}',
            ),
            *('{"score": "70%"}', '{"scores": [1e999]}', '{"scores": [' + "9" * 5000 + "]}", "0." + "9" * 5000 + "e9"),
        ],
    ),
    (  # no numbers
        one_score,
        [
            *("NaN", "inf", "true", "null", "very relevant", "0x1", "相关性：0.7", "1,000", '{"scores": [NaN]}'),
            *('{"scores": [Infinity]}', '{"scores": ["nan"]}', '{"scores": [true]}', '{"scores": [null]}'),
            *('{"scores": null}', '{"scores": [""]}', '{"scores": [[0.1]]}', '{"scores": {"1": 0.1}}'),
        ],
    ),
    (  # nothing, or half of something
        one_score,
        [
            *("", "  \n", '""', "{", "{}", "[]", ".", DEEP, '{"scores": ' + DEEP, "\x00", "\ud800", '{"scores": [0.1'),
            *('{"scores": [0.1,]}', "{'scores': [0.1]}", '{"scores": [.5]}', '```json\n{"scores": [0.1'),
            '{"scores": [0.1]} and {"scores": [0.',
        ],
    ),
    (
        two_scores,
        ['{"scores": [0.1]}', '{"scores": [0.1, 0.2, 0.3]}', '{"score": 0.7}', "0.7", "0.7, 0.8", "see [0, 1]"],
    ),
    (  # several, or one of another thing
        one_score,
        [
            *("0.7, 0.8", "0.7\n0.7", "Score: 0.7 or 0.8", '{"scores": [0.1]} {"scores": [0.2]}'),
            *(
                "```\n[0.1]\n```\n```\n[0.2]\n```",
                '{"scores": [0.1], "scores": [0.2]}',
                '{"score": 0.1, "scores": [0.2]}',
            ),
            *('Passage [1] is good: {"scores": [0.7]}', "Irrelevance: 0.9", "Passage 1: 0.9", "not 0.9", "about 0.7"),
            *('{"relevance": 0.7}', '{"result": {"scores": [0.7]}}', "<html>502 Bad Gateway</html>"),
        ],
    ),
    (two_grades, ['{"1": 2}', '{"1": 2, "2": 2, "3": 0}', '{"0": 2, "1": 2}', "[1, 2, 3]", '{"1": 2, "2": 4}']),
    (one_grade, ['{"1": 2, "1": 3}', '{"1": 0.5}', '{"1": true}', "2 or 3", ""]),
    (
        query,
        [
            *(
                '{"query": " \\n "}',
                '{"query": null}',
                '{"query": ["red"]}',
                '{"Query": "red"}',
                '{"query": "half \\ud800"}',
            ),
            *('{"query": "red', '"red"', '["red"]', "red wine", ""),
        ],
    ),
    (
        rating,
        [
            *('{"rating": 0}', '{"rating": 6}', '{"rating": 4.5}', '{"rating": "4/5"}', '{"rating": true}'),
            *('{"rating": [4]}', '{"rating": 1e999}', '{"score": 4}', "[4]", "4 or 5", "four", "9" * 5000),
        ],
    ),
    (
        verdict,
        [
            *('{"verdict": "not correct"}', '{"verdict": ""}', '{"verdict": true}', '{"verdict": ["correct"]}'),
            *('{"answer": "correct"}', "not correct", "It is correct.", "correct, incorrect", "richtig", ""),
        ],
    ),
]


@pytest.mark.parametrize(("read", "wanted", "texts"), READ)
def test_what_can_be_meant_in_one_way_only_is_read(read: Read, wanted: Any, texts: list[str]) -> None:
    found = [read(text) for text in texts]
    assert found == [wanted] * len(texts)
    assert {type(value) for value in found} == {type(wanted)}


@pytest.mark.parametrize(("read", "texts"), UNREADABLE)
def test_all_else_is_unreadable_and_the_reason_holds_no_word_of_the_reply(read: Read, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(Unreadable) as caught:
            read(text)
        assert 0 < len(str(caught.value)) < 60
        assert len(text) < 9 or text not in str(caught.value)


@given(some.lists(some.integers(0, 3), min_size=1, max_size=20))
def test_all_grades_are_asked_for_by_number_and_read_back(grades: list[int]) -> None:
    schema = grades_schema(len(grades))
    assert schema["required"] == [str(at) for at in range(1, len(grades) + 1)]
    assert all(grade["enum"] == [0, 1, 2, 3] for grade in schema["properties"].values())
    assert read_grades(json.dumps(dict(zip(schema["required"], grades, strict=True))), len(grades)) == grades


@given(some.lists(some.floats(0, 1), max_size=12), some.floats(0, 1))
def test_all_scores_are_read_back(scores: list[float], score: float) -> None:
    for text in (json.dumps({"scores": scores}), f"Here:\n```json\n{json.dumps(scores, indent=1)}\n```"):
        assert read_scores(text, len(scores)) == scores
    for text in (str(score), f"Score: {score}", json.dumps({"score": score}), json.dumps({"score": str(score)})):
        assert one_score(text) == [score]


PIECES = some.sampled_from([*'{}[]",:.`0123456789eE-+% \n', "```json\n", '"scores"', "true", "NaN", "Score: "])


@given(some.one_of(some.text(), some.lists(PIECES, max_size=40).map("".join)))
def test_no_text_raises_anything_but_unreadable(text: str) -> None:
    for read in (one_score, two_scores, one_grade, two_grades, query, rating, verdict):
        with suppress(Unreadable):
            read(text)


def test_schemas_ask_for_objects_with_nothing_besides() -> None:
    schemas = {"scores": scores_schema(3), "query": text_schema("query")}
    for field, schema in schemas.items():
        assert (schema["type"], schema["required"], schema["additionalProperties"]) == ("object", [field], False)
    assert schemas["scores"]["properties"]["scores"]["maxItems"] == 3


def ask(model: Any) -> Any:
    return asked(model, "rate", "texts", schema=scores_schema(1), read=one_score)


def test_an_unreadable_reply_is_asked_for_once_more_with_the_reason() -> None:
    model = ScriptedModel(["high", "0.8"])
    answer = ask(model)
    assert (answer.value, answer.unreadable) == ([0.8], 1)
    assert model.seen[1][1].startswith("texts\n\nYour last reply could not be read (a score is not a number).")


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
