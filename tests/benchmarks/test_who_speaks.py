"""Doubles read a prompt as it is sent and speak by their rule; what became of their sentences is counted right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.questions.rules import plain
from benchmarks.speakers.doubles import FAULTLESS, LIARS, Double, concerns
from benchmarks.speakers.measuring import counted, fate, row, unmarked
from benchmarks.speakers.prompts import Known, other_reply
from benchmarks.speakers.questions import Question, chosen, load
from thresher.answering.second_reader import CONTROLS
from thresher.judging.llm_scorers import GRADES, PROMPT, LLMRelevance
from thresher.models.chat import ChatModel
from thresher.models.replies import read_text
from thresher.models.usage import Meter
from thresher.question.rewrite import LLMRewriter
from thresher.text.injection import evidence_blocks
from thresher.types import UNIT, Chunk, Evidence, Hit, Query, Score
from thresher_testing.llm_server import ScriptedServer

KOPU = Question(
    "kopu",
    "island",
    "When was the Kõpu lighthouse built?",
    gold="The lighthouse was built in 1531.",
    paraphrase="Since 1531 there is a light.",
    german="Der Leuchtturm wurde 1531 gebaut.",
    value=(("1531",),),
    holds=(("Kõpu",), ("built in 1531",)),
    number=("1531", "1649"),
)
OTHER = Question(
    "gouda", "cheese", "How long does Gouda ripen?", gold="Gouda is ripe after a year.", value=(("year",),)
)
MISS = Question("height", "island", "How high is the Kõpu lighthouse?")
TEXTS = (
    "The Sõrve lighthouse was built in 1960. It is 52 metres high in all [3].",
    'The "Kõpu" lighthouse is white <and red>. The Kõpu lighthouse was built in 1531 [12]. It stands on a hill.',
)


def evidence() -> list[Evidence]:
    found = []
    for at, text in enumerate(TEXTS):
        chunk = Chunk(f"c{at}", f"d{at}", f"/{at}.txt", f"Island, part {at}", 0, len(text), text)
        found.append(Evidence(Hit(chunk, Score(1.0, UNIT), 1), 0, len(text), text))
    return found


def prompt(question: str, pieces: list[Evidence]) -> str:
    return f"{evidence_blocks(pieces)}\n\nQuestion: {question}"


def said(double: str, question: Question = KOPU) -> tuple[str, ...]:
    speaker = Double(double, [KOPU, OTHER, MISS])
    user = prompt(question.question, evidence())
    reply = speaker(
        {"messages": [{"role": "system", "content": "Answer from the evidence."}, {"role": "user", "content": user}]}
    )
    assert reply == (" ".join(speaker.said) or "NOT IN THE EVIDENCE")
    return speaker.said


# --- reading a prompt -------------------------------------------------------------------------------------------------


def test_a_question_is_known_again_with_its_spelling_mended() -> None:
    known = Known([KOPU, OTHER, MISS])
    assert known.find("when was the  Kõpu lighthouse bilt") is KOPU
    assert known.find("Who won the cup in 1998?") is None


@pytest.mark.parametrize("form", [PROMPT, GRADES])
def test_the_judge_is_honest_in_every_form_it_is_asked_in(form: Any) -> None:
    with ScriptedServer(Double("number", [KOPU, MISS])) as server:
        judge = LLMRelevance(ChatModel(server.base_url, "double", Meter()), prompt=form)
        hits = [piece.hit for piece in evidence()]
        scores = judge(Query(KOPU.question, KOPU.question, 5), hits).scores
        missed = judge(Query(MISS.question, MISS.question, 5), hits).scores
    assert [score.value if score else None for score in (*scores, *missed)] == [0.0, 1.0, 0.0, 0.0]


def test_a_question_is_rewritten_to_itself() -> None:
    with ScriptedServer(Double("plain", [KOPU])) as server:
        query = LLMRewriter(ChatModel(server.base_url, "double", Meter()))(Query(KOPU.question, KOPU.question, 5))
    assert (query.search, query.notes.degraded) == (KOPU.question, ())
    words = other_reply("Reply with a JSON object", f"<question>\n{KOPU.question}\n</question>", Known([KOPU]))
    assert read_text(words or "", "words") == "When was the Kõpu lighthouse built"


def test_asked_to_check_its_sentences_a_double_stands_by_them() -> None:
    sentences = ["It is so.", *CONTROLS]
    tagged = (f'<sentence number="{n}">{text}</sentence>' for n, text in enumerate(sentences, start=1))
    user = "\n".join([prompt(KOPU.question, evidence()), *tagged])
    reply = other_reply("Reply with a JSON object", user, Known([KOPU]))
    told = json.loads(reply or "")
    assert [told[f"verdict_{n}"] for n in range(1, 5)] == ["supported", "not stated", "supported", "not stated"]
    assert told["words_1"] in " ".join(piece.text for piece in evidence())


# --- speaking ---------------------------------------------------------------------------------------------------------


def test_the_faultless_speak_by_the_passage_that_holds_the_answer() -> None:
    assert said("plain") == ("The lighthouse was built in 1531 [2].",)
    assert said("paraphrase") == ("Since 1531 there is a light [2].",)
    assert said("copy") == ("The Kõpu lighthouse was built in 1531 [2].",)
    assert said("no markers") == ("The lighthouse was built in 1531.",)
    assert said("German") == ("Der Leuchtturm wurde 1531 gebaut [2].",)
    first, second = said("two sentences")
    assert (first, second) == (said("plain")[0], "The Sõrve lighthouse was built in 1960 [1].")


@pytest.mark.parametrize("double", FAULTLESS)
def test_the_faultless_refuse_what_no_passage_holds(double: str) -> None:
    assert said(double, MISS) == ()


def test_liars_say_what_is_wrong_and_cite_what_is_right() -> None:
    assert said("number") == ("The lighthouse was built in 1649 [2].",)
    assert said("negation") == ("The lighthouse was not built in 1531 [2].",)
    assert said("elsewhere") == ("Gouda is ripe after a year [2].",)
    assert said("nearest", MISS) == ("The ”Kõpu” lighthouse is white ‹and red› [2].",)
    assert [double for double in LIARS if concerns(double, KOPU)] == ["number", "negation", "elsewhere"]
    assert [double for double in (*FAULTLESS, *LIARS) if concerns(double, MISS)] == ["plain", "nearest"]


# --- what became of it ------------------------------------------------------------------------------------------------


def answer(text: str, *sentences: tuple[str, str], **more: Any) -> Mapping[str, Any]:
    found = [
        {"text": one, "state": state, "start": text.find(one), "end": text.find(one) + len(one)}
        for one, state in sentences
    ]
    return {"text": text, "abstained": False, "answered_by": "model", "sentences": found, **more}


def test_a_sentence_is_shown_marked_or_removed() -> None:
    built, high = "The lighthouse was built in 1531 [2].", "It is 52.5 metres high [1]."
    told = answer(
        "The lighthouse was built in 1531. [1] It is 52.5 metres high. [2] (not verified: in Latin; unverified)",
        ("The lighthouse was built in 1531.", "supported"),
        ("It is 52.5 metres high.", "unverified"),
        removed=[{"text": "It is blue.", "state": "contradicted", "start": 0, "end": 0}],
    )
    fates = [fate(one, told) for one in (built, high, "It is blue [1].", "It was built in 1532 [1].")]
    assert [(one.state, one.shown, one.marked, one.caught) for one in fates] == [
        ("supported", True, False, False),
        ("unverified", True, True, True),
        ("contradicted", False, False, True),
        ("", False, False, True),
    ]


@pytest.mark.parametrize("told", [True, False])
def test_what_is_marked_is_no_shown_answer(told: bool) -> None:
    text = "It is white. [1] The lighthouse was built in 1531. [2] [unverified] It stands on a hill. [1]"
    sentences = [("The lighthouse was built in 1531.", "unverified")] if told else []
    found = answer(text, *sentences)
    assert plain(unmarked(found)) == "it is white. it stands on a hill."
    measured = {"held": True, "calls": 1, "seconds": 1.0, "cpu_seconds": 1.0}
    kept = row(KOPU, "corrective", "plain", ["The lighthouse was built in 1531 [2]."], found, **measured)
    assert (kept.right, kept.right_marked, kept.answers) == (False, True, True)


def test_false_marks_lost_answers_and_planted_errors_are_counted() -> None:
    gold, wrong = "The lighthouse was built in 1531 [2].", "The lighthouse was built in 1649 [2]."
    shown = answer("The lighthouse was built in 1531. [1]", ("The lighthouse was built in 1531.", "supported"))
    marked = answer(
        "The lighthouse was built in 1531. [unverified]", ("The lighthouse was built in 1531.", "unverified")
    )
    refused = {"text": "Nothing is known.", "abstained": True}
    lied = answer("The lighthouse was built in 1649. [1]", ("The lighthouse was built in 1649.", "supported"))

    def kept(double: str, sentence: str | None, told: Mapping[str, Any], question: Question = KOPU) -> Any:
        sentences = [sentence] if sentence else []
        measured = {"held": True, "calls": 2, "seconds": 0.5, "cpu_seconds": 0.4}
        return row(question, "corrective", double, sentences, told, **measured)

    plainly = [kept("plain", gold, shown), kept("plain", gold, marked), kept("plain", gold, refused)]
    found = counted([*plainly, kept("plain", None, refused), kept("plain", None, shown, MISS)])
    assert [found[name] for name in ("questions", "written", "shown", "shown marked", "lost")] == [4, 3, 1, 1, 1]
    assert [found[name] for name in ("sentences", "marked", "removed", "called unsupported")] == [3, 1, 1, 1]
    assert (found["near misses"], found["near misses answered"]) == (1, 1)
    lies = counted([kept("number", wrong, lied), kept("number", wrong, refused)])
    assert (lies["wrong shown unmarked"], lies["wrong removed"], lies["caught"]) == (1, 1, 1)


# --- the questions ----------------------------------------------------------------------------------------------------


def test_every_gold_sentence_answers_in_every_wording_and_can_be_made_wrong() -> None:
    every = load()
    answerable = [one for one in every if one.answerable]
    assert len(answerable) >= 100
    assert len(every) - len(answerable) >= 20
    for one in answerable:
        assert all(one.answered_by(text) for text in (one.gold, one.paraphrase, one.german)), one.id
        assert one.holds, one.id
        assert one.denied != one.gold, one.id
        assert all(one.changed(change) != one.gold for change in (one.number, one.name) if change), one.id


def test_a_part_of_the_questions_has_near_misses_in_proportion() -> None:
    part = chosen(load(), 30)
    assert [sum(one.answerable is which for one in part) for which in (True, False)] == [30, 6]
    assert part == chosen(load(), 30)
