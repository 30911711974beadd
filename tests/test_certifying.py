"""Labelling answers, certifying a bound by the labels, and what later answers say of it."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Ran, Run
from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher.judging.certificate import Certificate, NotCertified
from thresher.types import IN_DOUBT
from thresher_testing.llm_server import ScriptedServer

PLACES = ("Aberfeld", "Brunnau", "Corvale", "Dornwick", "Elmsted", "Farrow", "Gratz", "Hallow")
QUESTIONS = [f"When was the mill of {place} founded?" for place in PLACES]
FEW = {"dense.depth": 5, "lexical.depth": 5}
SET_FEW = [part for key, value in FEW.items() for part in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with eight short documents."""
    home = tmp_path_factory.mktemp("mills")
    with thresher.open(home) as collection:
        for number, place in enumerate(PLACES):
            collection.add_text(f"The mill of {place} was founded in {1500 + number}.", source=place)
    return home


@pytest.fixture
def mills(made: Path, tmp_path: Path) -> Any:
    """That collection, for one test."""
    with thresher.open(shutil.copytree(made, tmp_path / "mills")) as collection:
        yield collection


@pytest.fixture
def typed(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with what is typed."""

    def command(*arguments: object, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        return run(*arguments)

    return command


@pytest.fixture(scope="module")
def certified_once(made: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Certificate]:
    """The same, its answers labelled right, and at most half of them certified to be wrong."""
    home = shutil.copytree(made, tmp_path_factory.mktemp("certified") / "home")
    with thresher.open(home) as collection:
        for question in QUESTIONS:
            collection.feedback(collection.ask(question, settings=FEW), right=True)
        certificate = collection.certify(0.5, settings=FEW)
    assert isinstance(certificate, Certificate)
    return home, certificate


@pytest.fixture
def certified(certified_once: tuple[Path, Certificate], tmp_path: Path) -> Any:
    """That one, for one test."""
    with thresher.open(shutil.copytree(certified_once[0], tmp_path / "certified")) as collection:
        yield collection


def stored(collection: Collection) -> Path:
    """The file of its certificates."""
    return Path(str(collection.folder)) / "certificates.json"


# --- the certificate --------------------------------------------------------------------------------------------------


def test_a_certificate_names_what_it_is_of(certified_once: tuple[Path, Certificate]) -> None:
    made = certified_once[1]
    assert (made.collection, made.recipe, made.labels, made.answered, made.errors) == ("default", "corrective", 8, 8, 0)
    assert (made.level, made.confidence) == (0.5, 0.95)
    assert made.bound == pytest.approx(1 - 0.05 ** (1 / 8))
    assert made.statement == "at most 50 % of all answers are wrong, with 95 % confidence"
    assert {"thresher", "encoder", "judge", "certainties", "calibration"} == made.terms.models.keys()
    assert made.terms.settings["dense.depth"] == 5
    assert Certificate.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_every_answer_under_it_says_so(certified: Collection, run: Run) -> None:
    answer = certified.ask(QUESTIONS[0], settings=FEW)
    assert answer.certificate is not None
    assert (answer.state, answer.certificate.state, answer.certificate.covers) == ("answered", "holds", True)
    line = f"Certified: {answer.certificate.statement} (8 labelled answers, 0 wrong, "
    for shown in (str(answer), answer.explain(), answer.to_markdown().replace("\\", "")):
        assert line in shown
    where = ("--home", certified.home)
    assert line in run("ask", QUESTIONS[0], *SET_FEW, *where).out
    assert run("ask", QUESTIONS[0], *SET_FEW, *where, "--json").json["certificate"]["state"] == "holds"
    assert line in run("explain", *where).out


@pytest.mark.parametrize("question", ["Thanks!", "Summarise Gratz"])
def test_what_is_no_first_answer_is_under_no_certificate(certified: Collection, question: str) -> None:
    answer = certified.ask(question, settings=FEW, history=[(QUESTIONS[0], "")])
    assert answer.certificate is None
    assert not certified.opened.certificates.recent("corrective")


def test_without_a_certificate_an_answer_says_nothing_of_one(mills: Collection) -> None:
    assert "certificate" not in mills.ask(QUESTIONS[0], settings=FEW).to_dict()


def test_an_answer_below_the_threshold_is_in_doubt_and_its_replay_too(certified: Collection) -> None:
    known = certified.certificates.get("corrective")
    assert known is not None
    certified.certificates.put(replace(known, threshold=0.98))
    answer = certified.ask(QUESTIONS[0], settings=FEW)
    assert answer.certificate is not None
    assert (answer.state, answer.certificate.covers) == ("doubtful", False)
    assert answer.text.startswith(IN_DOUBT)
    assert answer.certificate.line.startswith("Not under the certificate (certainty below 0.98): at most 50 %")
    assert certified.replay(answer.trace)[1] == []


def test_what_a_chat_model_says_is_as_certain_as_its_least_supported_sentence(mills: Collection) -> None:
    def quoting(body: Any) -> str:
        evidence = body["messages"][-1]["content"]
        asked = next(place for place in PLACES if f"mill of {place} founded" in evidence)
        return f"The mill of {asked} was founded in {1500 + PLACES.index(asked)} [1]."

    with ScriptedServer(quoting) as server:
        settings = {**FEW, "llm.base_url": server.base_url, "llm.model": "quoting"}
        for question in QUESTIONS:
            answer = mills.ask(question, settings=settings)
            assert (answer.answered_by, answer.certainty) == ("model", None)
            mills.feedback(answer, right=True)
        made = mills.certify(0.5, settings=settings)
        assert isinstance(made, Certificate)
        assert made.answered == len(QUESTIONS)
        answer = mills.ask(QUESTIONS[0], settings=settings)
        assert answer.certificate is not None
        assert (answer.state, answer.certificate.covers) == ("answered", True)
        assert [*mills.certificates.recent("corrective").values()] == [answer.sentences[0].support]
        mills.certificates.put(replace(made, threshold=1.0))
        below = mills.ask(QUESTIONS[1], settings=settings)
        assert below.certificate is not None
        assert (below.state, below.certificate.covers) == ("doubtful", False)
        assert [*mills.certificates.recent("corrective").values()] == [below.sentences[0].support]


def test_it_is_void_when_what_it_names_changes(certified: Collection) -> None:
    given: list[tuple[dict[str, Any], str]] = [
        ({"settings": {**FEW, "dense.depth": 6}}, "dense.depth changed"),
        ({"settings": FEW, "where": "kind = 'markdown'"}, "this was asked with `where`"),
        ({"settings": FEW, "max_tokens": 50}, "this was asked with `max_tokens`"),
    ]
    for options, why in given:
        answer = certified.ask(QUESTIONS[0], **options)
        assert answer.certificate is not None
        assert (answer.certificate.state, answer.certificate.covers) == ("void", False)
        assert answer.certificate.why.startswith(why)
    certified.add_text("The mill of Istvale was founded in 1600.", source="Istvale")
    void = certified.ask(QUESTIONS[0], settings=FEW).certificate
    assert void is not None
    assert void.line == "Note for administrators: the certificate is void, because the documents changed"
    assert certified.certificates.recent("corrective") == {}


def test_a_setting_that_changes_no_answer_leaves_it_as_it_is(certified: Collection) -> None:
    answer = certified.ask(QUESTIONS[0], settings={**FEW, "llm.timeout_seconds": 5})
    assert answer.certificate is not None
    assert answer.certificate.state == "holds"


def test_questions_unlike_the_labelled_ones_put_it_in_doubt(certified: Collection) -> None:
    for number in range(19):
        certified.certificates.note("corrective", f"question {number}", None)
    certified.certificates.note("corrective", "question 0", None)  # once more, which adds nothing
    known = certified.certificates.get("corrective")
    assert known is not None
    held = [*certified.certificates.recent("corrective").values()]
    assert known.standing("", held) == ("holds", "")
    warned = certified.ask("Who is the mayor of Stockholm?", settings=FEW).certificate
    assert warned is not None
    assert warned.state == "doubtful"
    assert warned.why.startswith("the last 20 questions are unlike the labelled ones (p = 0.001")


def test_the_risk_is_another_statement(certified: Collection) -> None:
    made = certified.certify(risk=0.25, settings=FEW)
    assert isinstance(made, Certificate)
    assert made.confidence is None
    assert made.statement == "on average at most 25 % of all questions are answered wrongly (the risk)"
    assert certified.certificates.get("corrective") == made
    few = certified.certify(risk=0.1, settings=FEW)
    assert str(few) == "8 labels with 0 errors: no threshold keeps the risk at 10 %; 9 without an error are needed"


# --- labels -----------------------------------------------------------------------------------------------------------


def test_labels_of_answers_that_are_no_longer_given_do_not_count(certified: Collection) -> None:
    certified.delete("Aberfeld")
    made = certified.certify(0.5, settings=FEW)
    assert made.outdated >= 1
    certified.traces.forget(PLACES)  # as the oldest traces go
    gone = certified.certify(0.5, settings=FEW)
    assert isinstance(gone, NotCertified)
    assert (gone.answered, gone.tested, gone.outdated) == (0, False, 8)


def test_of_people_who_differ_the_one_who_says_wrong_counts(certified: Collection, file: Callable[..., Path]) -> None:
    shown = certified.ask(QUESTIONS[0], settings=FEW).text
    made = certified.certify(
        0.5, labels=file({"question": QUESTIONS[0], "answer": shown, "right": False}), settings=FEW
    )
    assert isinstance(made, Certificate)
    assert (made.labels, made.errors) == (8, 1)


def test_labels_that_speak_against_it_withdraw_it_and_too_few_do_not(certified: Collection, tmp_path: Path) -> None:
    answers = [certified.ask(question, settings=FEW) for question in QUESTIONS[:6]]
    few = certified.certify(0.1, settings=FEW)
    assert isinstance(few, NotCertified)
    assert (few.tested, few.withdrawn) == (False, False)
    for answer in answers:
        certified.feedback(answer, False)
    against = certified.certify(0.5, settings=FEW)
    assert isinstance(against, NotCertified)
    assert (against.errors, against.tested, against.withdrawn) == (6, True, True)
    assert certified.ask(QUESTIONS[7], settings=FEW).certificate is None


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """A file of JSON lines; a text stands as it is."""

    def make(*lines: Any) -> Path:
        made = tmp_path / "labels.jsonl"
        made.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), encoding="utf-8")
        return made

    return make


def test_a_file_of_labels_certifies(mills: Collection, file: Callable[..., Path]) -> None:
    shown = [mills.ask(question, settings=FEW).text for question in QUESTIONS[:6]]
    labels = [{"question": q, "answer": a, "right": True} for q, a in zip(QUESTIONS, shown, strict=False)]
    other = {"question": QUESTIONS[7], "answer": "In 1066.", "right": True}
    made = mills.certify(0.5, labels=file(*labels, other), settings=FEW)
    assert isinstance(made, Certificate)
    assert (made.labels, made.outdated) == (6, 1)


def test_a_file_with_several_faults_is_refused_with_every_line(
    certified: Collection, file: Callable[..., Path], run: Run
) -> None:
    good = {"question": QUESTIONS[0], "answer": "1500", "right": True}
    before = stored(certified).read_bytes()
    labels = file(good, "{", {**good, "right": "yes"}, {**good, "made_by": "model"}, {"question": "?", "answers": []})
    ran = run("calibrate", "--at-most-wrong", "0.5", "--labels", labels, "--home", certified.home)
    assert ran.code == 2
    for fault in (
        "labels.jsonl: line 2 is no JSON",
        'line 3 has no "right" that is true or false',
        "line 4 is of a question made by a rule or a model: those are easier than people's and certify nothing",
        "line 5 is a question with known answers and no person's label of what was shown",
        'write {"question": "...", "answer": "the text that was shown", "right": true} on every line',
    ):
        assert fault in ran.err
    assert stored(certified).read_bytes() == before


def test_what_cannot_be_certified_is_refused(mills: Collection, tmp_path: Path, run: Run) -> None:
    where = ("--home", mills.home)
    refused = {
        ("--at-most-wrong", "1"): "--at-most-wrong 1: must lie between 0 and 1; say 0.1 for one in ten",
        ("--risk", "0"): "--risk 0: must lie between 0 and 1",
        ("--at-most-wrong", "0.1", "--confidence", "95"): "--confidence 95: must lie between 0 and 1",
        ("--at-most-wrong", "0.1", "--risk", "0.1"): "--at-most-wrong and --risk: are two statements",
        ("--labels", tmp_path / "none.jsonl"): "--at-most-wrong or --risk: is missing; give one of them",
        ("--risk", "0.1", "--labels", tmp_path / "none.jsonl"): "none.jsonl: no such file",
        ("--at-most-wrong", "0.1", "--questions", "made.jsonl"): "made.jsonl: are questions with known answers",
    }
    for options, told in refused.items():
        ran = run("calibrate", *options, *where)
        assert (ran.code, told in ran.err) == (2, True), ran.err
    assert "holds no documents yet" in run("calibrate", "--risk", "0.1", "--home", tmp_path / "empty").err
    mills.delete(*PLACES)
    with pytest.raises(UsageError, match="has no documents to ask"):
        mills.certify(0.1)
    assert not stored(mills).exists()


def test_a_damaged_certificate_is_told_and_certifying_again_mends_it(certified: Collection) -> None:
    stored(certified).write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged; remove it, and certify again"):
        certified.ask(QUESTIONS[0], settings=FEW)
    assert isinstance(certified.certify(0.5, settings=FEW), Certificate)
    assert certified.ask(QUESTIONS[0], settings=FEW).certificate is not None


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_thumb_given_through_a_server_is_no_part_of_the_sample(certified: Collection, run: Run) -> None:
    certified.feedback(certified.ask(QUESTIONS[0], settings=FEW), False, by="own passer-by")
    ran = run("calibrate", "--at-most-wrong", "0.5", *SET_FEW, "--home", certified.home)
    assert "(8 labelled answers, 0 wrong" in ran.out
    assert "1 label given through the server did not count" in ran.err


def test_several_attempts_at_several_levels_are_warned_of(certified: Collection, run: Run) -> None:
    again = [certified.certify(level, settings=FEW).attempts for level in (0.5, 0.6, 0.6, 0.1)]
    assert again == [1, 2, 2, 2]  # of 0.1 nothing could be tested
    ran = run("calibrate", "--at-most-wrong", "0.7", *SET_FEW, "--home", certified.home)
    told = "attempt 3 on these documents: each certifies something false with a probability of 5 %, together up to 15 %"
    assert told in ran.err


def test_too_few_labels_are_a_result(mills: Collection, run: Run) -> None:
    ran = run("calibrate", "--at-most-wrong", "0.1", "--home", mills.home)
    assert ran.code == 1
    what = "no threshold can be certified at 10 % with 95 % confidence"
    assert ran.out.startswith(f"0 answered labels with 0 errors: {what}; 29 without an error are needed\n")
    assert ran.out.endswith("an error is an answer that was labelled wrong; refusals do not count\n")


def test_answers_are_labelled_by_one_key_and_it_goes_on_where_it_was_left(
    mills: Collection, tmp_path: Path, typed: Run
) -> None:
    asked = tmp_path / "questions.txt"
    asked.write_text("\n".join(QUESTIONS), encoding="utf-8")
    given = ("label", asked, *SET_FEW, "--home", mills.home)
    first = typed(*given, stdin="rrxs\nw")  # x is no key; the input ends after four questions
    assert first.out.endswith("3 answers labelled; 5 of 8 questions left\n")
    assert sorted(one.right for one in mills.labels.labels()) == [False, True, True]
    assert typed(*given, stdin="rq").out.endswith("1 answer labelled; 4 of 8 questions left\n")
    assert typed(*given, stdin="rrrr").out.endswith("4 answers labelled; 0 of 8 questions left\n")
    assert typed(*given).out == "0 answers labelled; 0 of 8 questions left\n"
    ran = typed("calibrate", "--at-most-wrong", "0.5", *SET_FEW, "--home", mills.home)
    line, *others = ran.out.splitlines()
    assert line.startswith("certified: at most 50 % of all answers are wrong, with 95 % confidence (8 labelled answers")
    assert others[0] == "the exact upper bound is 47.1 %"


def test_questions_asked_before_can_be_labelled(mills: Collection, typed: Run) -> None:
    for question in QUESTIONS[:2]:
        mills.ask(question, settings=FEW)
    ran = typed("label", *SET_FEW, "--home", mills.home, stdin="rr")
    assert ran.out.endswith("2 answers labelled; 0 of 2 questions left\n")
    assert {one.question for one in mills.labels.labels()} == set(QUESTIONS[:2])


def test_an_answer_that_no_search_led_to_is_passed_over(mills: Collection, tmp_path: Path, typed: Run) -> None:
    asked = tmp_path / "questions.txt"
    asked.write_text(f"Hello\nWhat does this document say?\n{QUESTIONS[0]}", encoding="utf-8")
    ran = typed("label", asked, *SET_FEW, "--home", mills.home, stdin="rrr")
    assert ran.out.endswith("1 answer labelled; 0 of 3 questions left; 2 cannot be labelled\n")
    assert "What does this document say?: no label, since it was not searched for" in ran.err


def test_made_questions_are_not_asked_for_labels(mills: Collection, file: Callable[..., Path], typed: Run) -> None:
    ran = typed("label", file({"question": "Who?", "chunk_id": "c1"}, {"question": " "}), "--home", mills.home)
    assert ran.code == 2
    assert "line 1 is of a question made by a rule or a model" in ran.err
    assert 'line 2 has no "question"' in ran.err
