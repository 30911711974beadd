"""What a judge of answers is, which answers each measure looks at, and what follows without asking anybody.

Hallucination is measured in two senses, which are never added up: `unsupported` is the share of an answer's sentences
that its context does not support, and `judged_correct` says whether the answer is wrong against the gold answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from thresher.errors import ProviderError, UnknownSetting, UsageError
from thresher.models.structured import in_parallel
from thresher.protocols import Progress
from thresher_evals.datasets.registry import load
from thresher_evals.jsonl import write_whole
from thresher_evals.judges.knowledge import Knowledge, factscore, sentences
from thresher_evals.metrics.answers import answered, spoken
from thresher_evals.metrics.registry import parse
from thresher_evals.rows import LineFile, Row, fingerprint, held, read_rows, read_run, whole_lines

UNSUPPORTED, FACTS, CORRECT, RELEVANCE, QUALITY = (
    "unsupported",
    "factscore",
    "judged_correct",
    "judged_relevance",
    "likert",
)

VALUES: Mapping[str, tuple[str, ...]] = {
    UNSUPPORTED: ("unsupported",),
    FACTS: ("factscore", "responded"),
    CORRECT: ("judged_correct",),
    RELEVANCE: ("judged_relevance",),
    QUALITY: ("likert_correctness", "likert_coherence", "likert_relevance"),
}
"""What is judged at once, and the names of the numbers that come of it."""


@dataclass(frozen=True)
class Case:
    """An answer and what it is judged by."""

    row: Row
    references: Knowledge | None = None
    """What the facts of a long answer are checked against."""

    @cached_property
    def text(self) -> str:
        """The answer without citation markers and quotation marks; empty where nothing was answered."""
        return spoken(self.row.reply) if answered(self.row.reply) else ""

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the answer."""
        return sentences(self.text)

    @cached_property
    def context(self) -> tuple[str, ...] | None:
        """The texts that the answer was written from; the quotes of its citations where a row does not keep them.

        None where neither is known.
        """
        if self.row.context is not None:
            return tuple(piece.text for piece in self.row.context)
        reply = self.row.reply
        return tuple(cited.quote for cited in reply.citations) or None if reply else None

    @property
    def context_is_quotes(self) -> bool:
        """Whether the context is only what the answer quotes of it."""
        return self.row.context is None and bool(self.context)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of judging one measure of one answer."""

    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    """Whether a reply could not be read, after one retry."""


Look = Callable[[Case], Outcome]


@dataclass(frozen=True, slots=True)
class Judge:
    """Somebody who judges answers: a look for each measure it knows."""

    name: str
    prompts: str
    """Version of its prompts or rules."""
    looks: Mapping[str, Look]
    described: Mapping[str, Any] = field(default_factory=dict)
    """For judge.json."""
    note: str = ""
    """What must be said beside its numbers."""
    workers: int = 1
    """Answers judged at the same time."""

    def wanted(self, names: list[str] | None) -> tuple[str, ...]:
        """The measures that are meant by their names or those of their numbers; all it knows where none are given."""
        if not names:
            return tuple(self.looks)
        known = {**{value: measure for measure, values in VALUES.items() for value in values}, **{m: m for m in VALUES}}
        chosen = dict.fromkeys(known[name] if name in known else unknown(name) for name in names)
        for measure in chosen:
            if measure not in self.looks:
                raise UsageError(
                    f"is nothing the judge {self.name} can say",
                    subject=measure,
                    next_step=f"it knows {', '.join(self.looks)}; --judge llm knows all",
                )
        return tuple(chosen)


def unknown(name: str) -> str:
    """Raise UnknownSetting for the name of a measure."""
    raise UnknownSetting(name, [*VALUES, *(value for values in VALUES.values() for value in values)], kind="measure")


def judged(judge: Judge, measure: str, case: Case) -> Outcome:
    """What a judge says, asked only where there is something to say.

    A refusal or a failure of a question with gold answers is not correct, and does not respond to a topic; a sentence
    written from no context at all is unsupported. Other measures do not apply to them.
    """
    asked = case.row.question
    match measure:
        case "judged_correct":
            if not asked.answerable or not asked.answers:
                return Outcome()
            return judge.looks[measure](case) if case.text else Outcome({measure: 0.0})
        case "factscore":
            if not asked.topic:
                return Outcome()
            return judge.looks[measure](case) if case.sentences else Outcome({"responded": 0.0})
        case "judged_relevance":
            return judge.looks[measure](case) if case.context else Outcome()
        case "unsupported":
            return unsupported(judge, case)
        case _:
            return judge.looks[measure](case) if case.text else Outcome()


def unsupported(judge: Judge, case: Case) -> Outcome:
    """Whether the context supports the sentences; said without a judge where there is none or it is not known."""
    if not case.sentences:
        return Outcome()
    if case.context is None:
        return Outcome(detail={"context": "not known"})
    if not case.context:
        return Outcome({"unsupported": 1.0}, {"context": "none", "sentences": len(case.sentences)})
    told = judge.looks[UNSUPPORTED](case)
    origin = "quotes of the citations" if case.context_is_quotes else "all"
    return Outcome(told.values, {"context": origin, **told.detail}, told.failed)


def share_unsupported(sentences: list[str], supported: list[bool], **detail: Any) -> Outcome:
    """The share of the sentences that are not supported, and which they are."""
    lacking = [sentence for sentence, holds in zip(sentences, supported, strict=True) if not holds]
    told = {"sentences": len(sentences), **detail, "unsupported_sentences": lacking}
    return Outcome({"unsupported": len(lacking) / len(sentences)}, told)


# --- what was judged of a run's answers, kept beside its rows: `judgements/RECIPE.jsonl` and `judgements/judg----------


FOLDER = "judgements"
JUDGES = "judge.json"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of the answer to one question."""

    id: str
    """Of the question."""
    judge: str
    prompts: str
    """Version of the prompts or rules: numbers of different versions are not of one kind."""
    answer: str
    """Which answer was judged; see `answer_of`."""
    measures: tuple[str, ...]
    """What was looked at, also where it does not apply to the question or could not be read."""
    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    """Measures whose replies could not be read, after one retry each."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of judgements/RECIPE.jsonl."""
        return {
            "id": self.id,
            "judge": self.judge,
            "prompts": self.prompts,
            "answer": self.answer,
            "measures": list(self.measures),
            "values": dict(self.values),
            "detail": dict(self.detail),
            "failed": list(self.failed),
        }


def read_judgement(line: Mapping[str, Any]) -> Judgement:
    """The judgement that `Judgement.to_dict` described."""
    return Judgement(
        line["id"],
        line["judge"],
        line["prompts"],
        line["answer"],
        tuple(line["measures"]),
        {str(name): float(value) for name, value in line["values"].items()},
        line["detail"],
        tuple(line["failed"]),
    )


def answer_of(row: Row) -> str:
    """Hash of what is judged in a row: the answer and what it was written from."""
    reply = None if row.reply is None else [row.reply.text, row.reply.abstained]
    context = None if row.context is None else [piece.text for piece in row.context]
    return fingerprint([row.question.question, reply, context])[:16]


def judgements_path(directory: Path, recipe: str) -> Path:
    """Where the judgements of a recipe's answers are; a name that is no file name is escaped, as for its rows."""
    return directory / FOLDER / f"{quote(recipe, safe=' ')}.jsonl"


# --- reading ----------------------------------------------------------------------------------------------------------


def read_judgements(directory: Path, recipe: str) -> dict[str, dict[str, float]]:
    """Question id to what was measured of its answer, by the judge that was asked last; nothing where none was.

    Numbers of two judges are never mixed, and what was said of an answer that is no longer in the rows is left out.
    """
    every = judgements_of(directory, recipe)
    if not every:
        return {}
    judge = latest_judge(directory) or every[-1].judge
    said = [one for one in every if one.judge == judge]
    return {one.id: values_of(one) for one in of_answers(said, read_rows(directory, recipe))}


def values_of(judgement: Judgement) -> dict[str, float]:
    """The numbers of a judgement, and `judge_failed`: 1 where a reply could not be read."""
    return {**judgement.values, "judge_failed": float(bool(judgement.failed))}


def of_answers(judgements: Iterable[Judgement], rows: Iterable[Row]) -> list[Judgement]:
    """The judgements of the answers that are in the rows."""
    answers = {(row.question.id, answer_of(row)) for row in rows}
    return [one for one in judgements if (one.id, one.answer) in answers]


def judgements_of(directory: Path, recipe: str) -> list[Judgement]:
    """One judgement for each question and judge: later lines add measures to earlier ones of the same answer."""
    path = judgements_path(directory, recipe)
    found: dict[tuple[str, str], Judgement] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            one = read_judgement(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                "not a judgement", subject=f"{path}:{number}", next_step="delete the line and judge again"
            ) from error
        key = (one.id, one.judge)
        found[key] = merged(found[key], one) if key in found else one
    return list(found.values())


def merged(earlier: Judgement, later: Judgement) -> Judgement:
    """Both together; the later one alone where the answer or the prompts have changed since."""
    if (earlier.answer, earlier.prompts) != (later.answer, later.prompts):
        return later
    return Judgement(
        later.id,
        later.judge,
        later.prompts,
        later.answer,
        tuple(dict.fromkeys([*earlier.measures, *later.measures])),
        {**earlier.values, **later.values},
        {**earlier.detail, **later.detail},
        tuple(dict.fromkeys([*earlier.failed, *later.failed])),
    )


def latest_judge(directory: Path) -> str | None:
    """The name of the judge that was asked last; None where none was."""
    latest = read_judges(directory).get("latest")
    return None if latest is None else str(latest)


def read_judges(directory: Path) -> dict[str, Any]:
    """judge.json: `latest`, and under `judges` what each judge of the run is; empty where nothing was judged."""
    path = directory / FOLDER / JUDGES
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict) or not isinstance(told.get("judges"), dict):
            raise ValueError("not a judge.json")
    except (OSError, ValueError) as error:
        raise UsageError("damaged", subject=str(path), next_step="delete it and judge again") from error
    return told


# --- writing ----------------------------------------------------------------------------------------------------------


def remember_judge(directory: Path, name: str, described: Mapping[str, Any]) -> None:
    """Write into judge.json who judges now; what earlier judges were stays."""
    judges = {**read_judges(directory).get("judges", {}), name: dict(described)}
    folder = directory / FOLDER
    folder.mkdir(exist_ok=True)
    write_whole(folder / JUDGES, (json.dumps({"latest": name, "judges": judges}, indent=2) + "\n").encode())


class Book:
    """Adds judgements to the file of one recipe. Safe to use from several threads."""

    def __init__(self, directory: Path, recipe: str) -> None:
        self._lines = LineFile(judgements_path(directory, recipe))

    def add(self, judgement: Judgement) -> None:
        """One more line, on disk before this returns."""
        self._lines.add(judgement.to_dict())


def missing(
    rows: Sequence[Row], known: Sequence[Judgement], *, judge: str, prompts: str, measures: Sequence[str]
) -> list[tuple[Row, tuple[str, ...]]]:
    """The rows that this judge has not looked at, each with the measures that are missing."""
    done = {(one.id, one.answer): set(one.measures) for one in known if (one.judge, one.prompts) == (judge, prompts)}
    wanted = [
        (row, tuple(name for name in measures if name not in done.get((row.question.id, answer_of(row)), ())))
        for row in rows
    ]
    return [(row, names) for row, names in wanted if names]


# --- judges the answers of a run and keeps what was said beside its rows; nothing is judged twice ---------------------


PATIENCE = 3
"""Answers in a row that the judge's server fails at before judging stops: it is not the answers then."""

SCORED = (
    "unsupported",
    "factscore",
    "respond_ratio",
    "judged_correct",
    "judged_relevance",
    "likert_correctness",
    "likert_coherence",
    "likert_relevance",
)
"""The measures that are made of what judges say; see `thresher_evals.metrics.registry`."""

References = Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class Done:
    """What a judging did."""

    judged: dict[str, int] = field(default_factory=dict)
    """Recipe to the answers that were judged now."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Recipe to the answers that had been judged before."""
    unreached: dict[str, list[str]] = field(default_factory=dict)
    """Recipe to the errors of the judge's server; those answers can be judged again."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"judged": self.judged, "skipped": self.skipped, "unreached": self.unreached}


def rows_of(directory: Path, recipes: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """The rows of the chosen recipes of a run, or of all. Raises UsageError for a run without rows."""
    known = read_run(directory)["recipes"]
    for recipe in recipes or ():
        if recipe not in known:
            raise UnknownSetting(recipe, known, kind="recipe of this run")
    rows = {recipe: read_rows(directory, recipe) for recipe in dict.fromkeys(recipes or known)}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with --resume")
    return rows


def generators_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """What wrote the answers: the rows say, and the settings of the run for rows that do not."""
    settings = read_run(directory)["settings"]
    told = [row.generator for each in rows.values() for row in each]
    set_up = [settings.get(recipe, {}).get("llm.model") for recipe in rows]
    return sorted({str(one) for one in (*told, *set_up) if one})


def references_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> References:
    """The texts that long answers are checked against, from the run's dataset; nothing where no question has a topic.

    Raises UsageError where the dataset's files are not those that were asked.
    """
    if not any(row.question.topic for each in rows.values() for row in each):
        return {}
    asked = read_run(directory)["dataset"]
    dataset = load(asked["spec"], split=asked.get("split", "all"))
    if dataset.sha256 != asked["sha256"]:
        raise UsageError(
            f"is not the file that was asked (was {asked['sha256']:.12}, now {dataset.sha256:.12})",
            subject=asked["spec"],
            next_step="put the old file back, or judge without --measure factscore",
        )
    return dataset.references


def judge_run(
    directory: Path,
    judge: Judge,
    rows: Mapping[str, Sequence[Row]],
    measures: Sequence[str],
    *,
    gamma: float,
    references: References,
    progress: Progress = lambda _: None,
) -> Done:
    """Judge what this judge has not judged yet, a line for each answer as soon as it is judged.

    An answer at which the judge's server fails is left for the next time; after `PATIENCE` of them in a row the
    failure is raised. Raises ProviderError, ModelError, and StoreError where another process is judging the run.
    """
    knowledge = {id: Knowledge(texts) for id, texts in references.items()}
    done = Done()
    with held(directory / FOLDER):
        remember_judge(directory, judge.name, {**judge.described, "measures": list(judge.looks)})
        for recipe, answers in rows.items():
            book = Book(directory, recipe)
            known = judgements_of(directory, recipe)
            for changed in regraded(known, judge, gamma) if FACTS in measures else ():
                book.add(changed)
            todo = missing(answers, known, judge=judge.name, prompts=judge.prompts, measures=measures)
            done.skipped[recipe] = len(answers) - len(todo)
            progress(done.skipped[recipe])
            desk = Desk(judge, book, knowledge, progress)
            in_parallel([desk.task(row, names) for row, names in todo], workers=judge.workers)
            done.judged[recipe] = len(todo) - len(desk.unreached)
            done.unreached[recipe] = desk.unreached
    return done


class Desk:
    """Where the answers of one recipe are judged, several at a time."""

    def __init__(self, judge: Judge, book: Book, knowledge: Mapping[str, Knowledge], progress: Progress) -> None:
        self.unreached: list[str] = []
        self._judge, self._book, self._knowledge, self._progress = judge, book, knowledge, progress
        self._lock = Lock()
        self._failing = 0

    def task(self, row: Row, measures: Sequence[str]) -> Callable[[], None]:
        """Judging one answer, to be called later."""
        return lambda: self._judged(row, measures)

    def _judged(self, row: Row, measures: Sequence[str]) -> None:
        case = Case(row, self._knowledge.get(row.question.id))
        try:
            judgement = judgement_of(self._judge, case, measures)
        except ProviderError as error:
            with self._lock:
                self.unreached.append(f"{row.question.id}: {error}")
                self._failing += 1
                if self._failing >= PATIENCE:
                    raise
        else:
            self._book.add(judgement)
            with self._lock:
                self._failing = 0
        with self._lock:
            self._progress(1)


def judgement_of(judge: Judge, case: Case, measures: Sequence[str]) -> Judgement:
    """Everything a judge says of one answer."""
    outcomes = {measure: judged(judge, measure, case) for measure in measures}
    return Judgement(
        case.row.question.id,
        judge.name,
        judge.prompts,
        answer_of(case.row),
        tuple(measures),
        {name: value for outcome in outcomes.values() for name, value in outcome.values.items()},
        {measure: dict(outcome.detail) for measure, outcome in outcomes.items() if outcome.detail},
        tuple(measure for measure, outcome in outcomes.items() if outcome.failed),
    )


def regraded(known: Sequence[Judgement], judge: Judge, gamma: float) -> list[Judgement]:
    """The judgements whose factscore was made with another gamma, made again from the counts that were kept."""
    made = []
    for one in known:
        facts = one.detail.get(FACTS, {})
        if one.judge == judge.name and FACTS in one.values and facts["gamma"] != gamma:
            value = factscore(facts["supported"], facts["facts"], gamma)
            detail = {**one.detail, FACTS: {**facts, "gamma": gamma}}
            made.append(replace(one, values={**one.values, FACTS: value}, detail=detail))
    return made


# --- what came of it --------------------------------------------------------------------------------------------------


def summary(directory: Path, judge: Judge, rows: Mapping[str, Sequence[Row]], *, seed: int = 0) -> dict[str, Any]:
    """Recipe to the mean of each number with its interval, what failed, and what must be known beside them."""
    return {recipe: summed(directory, judge, recipe, answers, seed=seed) for recipe, answers in rows.items()}


def summed(directory: Path, judge: Judge, recipe: str, rows: Sequence[Row], *, seed: int) -> dict[str, Any]:
    """The measures of `eval score` over what this judge said of the answers that are in the rows now."""
    mine = [one for one in judgements_of(directory, recipe) if (one.judge, one.prompts) == (judge.name, judge.prompts)]
    said = of_answers(mine, rows)
    values = {one.id: values_of(one) for one in said}
    scored = [replace(row, judged=values.get(row.question.id, {})) for row in rows]
    intervals = {name: parse(name).summarise(scored, seed=seed) for name in SCORED}
    told = {name: interval.to_dict() for name, interval in intervals.items() if interval.n}
    support = [one.detail.get("unsupported", {}) for one in said]
    return {
        "values": told,
        "judged": len(said),
        "judge_failed": sum(bool(one.failed) for one in said),
        "sentences": sum(int(one.get("sentences", 0)) for one in support),
        "verbatim": sum(int(one.get("verbatim", 0)) for one in support),
        "context_is_quotes": sum(one.get("context") == "quotes of the citations" for one in support),
        "context_not_known": sum(one.get("context") == "not known" for one in support),
    }
