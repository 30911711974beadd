"""What was judged of a run's answers, kept beside its rows: judgements/RECIPE.jsonl, and judge.json that says by whom.

Numbers of two judges, or of two versions of a judge's prompts, are never mixed; nothing is judged twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic.dataclasses import dataclass as model

from thresher.errors import ProviderError, UnknownSetting, UsageError
from thresher.models.structured import in_parallel
from thresher.protocols import Progress
from thresher_evals.datasets.registry import load
from thresher_evals.judges.base import FACTS, UNSUPPORTED, Case, Judge, judged
from thresher_evals.judges.knowledge import Knowledge, factscore
from thresher_evals.metrics.registry import parse
from thresher_evals.rows import Row, RowLog, fingerprint, read_rows, read_run


@model(frozen=True)
class Judgement:
    """What one judge said of the answer to one question: one line of judgements/RECIPE.jsonl."""

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

    @property
    def numbers(self) -> dict[str, float]:
        """The values, and `judge_failed`: 1 where a reply could not be read."""
        return {**self.values, "judge_failed": float(bool(self.failed))}

    def merged(self, later: Judgement) -> Judgement:
        """Both together; the later one alone where the answer or the prompts have changed since."""
        if (self.answer, self.prompts) != (later.answer, later.prompts):
            return later
        return replace(
            later,
            measures=tuple(dict.fromkeys([*self.measures, *later.measures])),
            values={**self.values, **later.values},
            detail={**self.detail, **later.detail},
            failed=tuple(dict.fromkeys([*self.failed, *later.failed])),
        )


def answer_of(row: Row) -> str:
    """Hash of what is judged in a row: the answer and what it was written from."""
    reply = None if row.reply is None else [row.reply.text, row.reply.abstained]
    context = None if row.context is None else [piece.text for piece in row.context]
    return fingerprint([row.question.question, reply, context])[:16]


# --- the folder -------------------------------------------------------------------------------------------------------


def judgement_log(directory: Path) -> RowLog[Judgement]:
    """The judgements of a run, a file for each recipe."""
    return RowLog(
        directory / "judgements", Judgement, head="judge.json", needed=("judges",), lines="{}.jsonl", what="judge"
    )


def judgements_of(directory: Path, recipe: str) -> list[Judgement]:
    """One judgement for each question and judge: later lines add measures to earlier ones of the same answer."""
    found: dict[tuple[str, str], Judgement] = {}
    for one in judgement_log(directory).rows(recipe):
        key = (one.id, one.judge)
        found[key] = found[key].merged(one) if key in found else one
    return list(found.values())


def of_answers(judgements: Iterable[Judgement], rows: Iterable[Row]) -> list[Judgement]:
    """The judgements of the answers that are in the rows."""
    answers = {(row.question.id, answer_of(row)) for row in rows}
    return [one for one in judgements if (one.id, one.answer) in answers]


def read_judgements(directory: Path, recipe: str) -> dict[str, dict[str, float]]:
    """Question id to what was measured of its answer, by the judge that was asked last; nothing where none was.

    What was said of an answer that is no longer in the rows is left out.
    """
    every = judgements_of(directory, recipe)
    if not every:
        return {}
    judge = read_judges(directory).get("latest") or every[-1].judge
    latest = [one for one in every if one.judge == judge]
    return {one.id: one.numbers for one in of_answers(latest, read_rows(directory, recipe))}


def read_judges(directory: Path) -> dict[str, Any]:
    """judge.json: `latest`, and under `judges` what each judge of the run is; empty where nothing was judged."""
    log = judgement_log(directory)
    return log.read_head() if log.head.is_file() else {}


def remember_judge(directory: Path, name: str, described: Mapping[str, Any]) -> None:
    """Write into judge.json who judges now; what earlier judges were stays."""
    judges = {**read_judges(directory).get("judges", {}), name: dict(described)}
    judgement_log(directory).write_head({"latest": name, "judges": judges})


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


# --- judging the answers of a run -------------------------------------------------------------------------------------


PATIENCE = 3
"""Answers in a row that the judge's server fails at before judging stops: it is not the answers then."""

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


def rows_of(directory: Path, recipes: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """The rows of the chosen recipes of a run, or of all. Raises UsageError for a run without rows."""
    known = read_run(directory)["recipes"]
    for recipe in recipes or ():
        if recipe not in known:
            raise UnknownSetting(recipe, known, kind="recipe of this run")
    rows = {recipe: read_rows(directory, recipe) for recipe in dict.fromkeys(recipes or known)}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with `resume`")
    return rows


def generators_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """What wrote the answers: the rows say, and the settings of the run for rows that do not."""
    settings = read_run(directory)["settings"]
    written = [row.generator for each in rows.values() for row in each]
    set_up = [settings.get(recipe, {}).get("llm.model") for recipe in rows]
    return sorted({str(one) for one in (*written, *set_up) if one})


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
            next_step="put the old file back, or judge other measures than factscore",
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
    log, done, lock = judgement_log(directory), Done(), Lock()
    failing = 0

    def judge_one(recipe: str, row: Row, names: Sequence[str]) -> None:
        nonlocal failing
        try:
            judgement = judgement_of(judge, Case(row, knowledge.get(row.question.id)), names)
        except ProviderError as error:
            with lock:
                done.unreached[recipe].append(f"{row.question.id}: {error}")
                failing += 1
                if failing >= PATIENCE:
                    raise
        else:
            log.add(judgement, recipe)
            with lock:
                failing = 0
        with lock:
            progress(1)

    with log.locked():
        remember_judge(directory, judge.name, {**judge.described, "measures": list(judge.looks)})
        for recipe, answers in rows.items():
            known = judgements_of(directory, recipe)
            for changed in regraded(known, judge, gamma) if FACTS in measures else ():
                log.add(changed, recipe)
            todo = missing(answers, known, judge=judge.name, prompts=judge.prompts, measures=measures)
            done.skipped[recipe], done.unreached[recipe], failing = len(answers) - len(todo), [], 0
            progress(done.skipped[recipe])
            in_parallel([partial(judge_one, recipe, row, names) for row, names in todo], workers=judge.workers)
            done.judged[recipe] = len(todo) - len(done.unreached[recipe])
    return done


def judgement_of(judge: Judge, case: Case, measures: Sequence[str]) -> Judgement:
    """Everything a judge says of one answer."""
    outcomes = {measure: judged(judge, measure, case) for measure in measures}
    return Judgement(
        id=case.row.question.id,
        judge=judge.name,
        prompts=judge.prompts,
        answer=answer_of(case.row),
        measures=tuple(measures),
        values={name: value for outcome in outcomes.values() for name, value in outcome.values.items()},
        detail={measure: dict(outcome.detail) for measure, outcome in outcomes.items() if outcome.detail},
        failed=tuple(measure for measure, outcome in outcomes.items() if outcome.failed),
    )


def regraded(known: Sequence[Judgement], judge: Judge, gamma: float) -> Iterator[Judgement]:
    """The judgements whose factscore was made with another gamma, made again from the counts that were kept."""
    for one in known:
        facts = one.detail.get(FACTS, {})
        if one.judge == judge.name and FACTS in one.values and facts["gamma"] != gamma:
            value = factscore(facts["supported"], facts["facts"], gamma)
            detail = {**one.detail, FACTS: {**facts, "gamma": gamma}}
            yield replace(one, values={**one.values, FACTS: value}, detail=detail)


# --- what came of it --------------------------------------------------------------------------------------------------

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


def summary(directory: Path, judge: Judge, rows: Mapping[str, Sequence[Row]], *, seed: int = 0) -> dict[str, Any]:
    """Recipe to the mean of each number with its interval, what failed, and what must be known beside them."""
    return {recipe: summed(directory, judge, recipe, answers, seed=seed) for recipe, answers in rows.items()}


def summed(directory: Path, judge: Judge, recipe: str, rows: Sequence[Row], *, seed: int) -> dict[str, Any]:
    """The measures of `eval score` over what this judge said of the answers that are in the rows now."""
    mine = [one for one in judgements_of(directory, recipe) if (one.judge, one.prompts) == (judge.name, judge.prompts)]
    current = of_answers(mine, rows)
    values = {one.id: one.numbers for one in current}
    scored = [replace(row, judged=values.get(row.question.id, {})) for row in rows]
    intervals = {name: parse(name).summarise(scored, seed=seed) for name in SCORED}
    support = [one.detail.get(UNSUPPORTED, {}) for one in current]
    return {
        "values": {name: interval.to_dict() for name, interval in intervals.items() if interval.n},
        "judged": len(current),
        "judge_failed": sum(bool(one.failed) for one in current),
        "sentences": sum(int(one.get("sentences", 0)) for one in support),
        "verbatim": sum(int(one.get("verbatim", 0)) for one in support),
        "context_is_quotes": sum(one.get("context") == "quotes of the citations" for one in support),
        "context_not_known": sum(one.get("context") == "not known" for one in support),
    }
