"""Every recipe on the real data, without a chat model: docs/results/report.md and a page for each set.

    .venv/bin/python -m benchmarks.evidence               writes docs/results
    .venv/bin/python -m benchmarks.evidence --sample 6    a smoke run: six questions of each, into benchmarks/.cache
    .venv/bin/python -m benchmarks.evidence --only nq     what has `nq` in its name, and the report of all there is

Rows are kept below benchmarks/.cache. What was stopped goes on, and what was asked of an engine that has changed since
is asked anew. The collections are prepared on the first run, which takes longer, and used again. `--jobs 2` runs are
measured at a time; the recipes of a run are asked in turn (`eval run --together`), so that they find remembered what
others have read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.commands import HOME, PROCESSES, interrupted_by_signals, thresher
from benchmarks.seeds.rows import Provenance
from benchmarks.stale import ANSWERS, changed_since, footing

QUESTIONS = 60
"""Of each set in the tables that compare recipes, chosen by hash; fewer where there are fewer."""

BESIDE = 50
"""Of each set beside those: what a recipe does elsewhere."""

REFUSALS = 80
"""Of which more than half cannot be answered."""

RECIPES = ("rag", "hybrid", "ecrag", "chunkrag", "crag", "corrective")
JUDGING = ("ecrag", "crag", "corrective")
PLAIN = ("rag", "crag", "corrective")
RANKING = ("rag", "hybrid[rerank=none,protect.n=0]", "hybrid", "crag", "corrective")
"""`corrective` has the judge as reranker, the second none, `hybrid` the bundled cross-encoder."""
RANKED = ("--limit", "20")
"""Results of a search: the measures look at the first ten, and a recipe that judges judges all of them."""


@dataclass(frozen=True)
class Job:
    """One call of `eval run`, and whether `eval judge` follows."""

    name: str
    dataset: str
    recipes: Sequence[str]
    questions: int = QUESTIONS
    options: Sequence[str] = ()
    judged: bool = False

    @property
    def arguments(self) -> Sequence[str]:
        """Of `thresher eval`, without --out, --sample and --resume."""
        chosen = [part for recipe in self.recipes for part in ("--recipe", recipe)]
        return ("run", "--dataset", self.dataset, *chosen, "--together", *self.options, "--home", str(HOME))


def jobs() -> Iterator[Job]:
    """Everything that is measured, in the order of the report."""
    data = machine.DATA
    popqa, nq = (pool(name) / f"{name}.jsonl" for name in ("popqa", "nq"))
    squad = data / "squad" / "answered.jsonl"
    yield Job("routing-popqa", f"routing:{popqa}", RECIPES)
    yield Job("routing-squad", f"routing:{squad}", RECIPES)
    yield Job("routing-nq", f"routing:{nq}", RECIPES)
    yield Job("routing-nq-final", f"routing:{nq}", JUDGING, options=("--split", "final"))
    yield Job("refusal-squad", f"refusal:{squad}", RECIPES, REFUSALS)
    yield Job("multihop", f"multihop:{data / 'multihop_rag' / 'questions.jsonl'}", RECIPES, BESIDE)
    yield Job("biography", f"biography:{data / 'biography' / 'questions.jsonl'}", RECIPES, BESIDE, judged=True)
    yield Job("pubhealth", f"pubhealth:{data / 'pubhealth' / 'claims.jsonl'}", RECIPES, BESIDE)
    yield Job("climate-fever", f"climate-fever:{data / 'climate_fever' / 'claims.jsonl'}", PLAIN, BESIDE)
    yield Job("scifact", f"beir:{abstracts()}", RANKING, options=RANKED)


PASSAGES, ABSTRACTS = 2000, 1000
NAMING = {"popqa": ("gold_ids",), "nq": ("silver_ids", "retrieved_ids")}


def pool(name: str) -> Path:
    """The folder with NAME.jsonl and corpus.jsonl: the passages of Wikipedia that its questions name, and others.

    All of them (28,735) would take three quarters of an hour to index for all recipes on two cores.
    """
    questions = machine.rows(f"wikipedia/{name}.jsonl")
    named = {id_ for question in questions for field in NAMING[name] for id_ in question.get(field, ())}
    return drawn(f"pool-{name}-{PASSAGES}", "wikipedia", PASSAGES, named, f"{name}.jsonl")


def abstracts() -> Path:
    """SciFact with the abstracts that its claims name, and others."""
    lines = (machine.DATA / "scifact" / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    named = {line.split("\t")[1] for line in lines}
    return drawn(f"scifact-{ABSTRACTS}", "scifact", ABSTRACTS, named, "queries.jsonl", "qrels.tsv")


def drawn(name: str, of: str, number: int, named: Set[str], *beside: str) -> Path:
    """A folder with files of a set and a part of its corpus: what is named, and others by their hash."""
    folder = machine.CACHE / name
    if (folder / "corpus.jsonl").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for file in beside:
        shutil.copy(machine.DATA / of / file, folder)
    rows = machine.rows(f"{of}/corpus.jsonl")
    rows.sort(key=lambda row: (row["_id"] not in named, hashlib.sha1(f"pool:{row['_id']}".encode()).hexdigest()))
    unfinished = folder / "corpus.jsonl.new"
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows[:number])
    unfinished.write_text("".join(lines), encoding="utf-8")
    unfinished.rename(folder / "corpus.jsonl")
    return folder


KEPT = machine.CACHE / "evidence"
REPORT = machine.ROOT / "docs" / "results"
COMMAND = "python -m benchmarks.evidence"
OF = (*ANSWERS, "packages/thresher-evals/src")


ANSWERS_TABLE = re.compile(r"### Every question and every answer\n.*?(?=^#|\Z)", re.DOTALL | re.MULTILINE)
"""It stands on a page of few questions; questions.csv has it."""


def main() -> int:
    """Measure what is left; what was measured is kept when it is interrupted."""
    interrupted_by_signals()
    try:
        return evidence()
    except KeyboardInterrupt:
        PROCESSES.end()
        print("interrupted; what was measured is kept, run it again to go on", file=sys.stderr)
        return 130


def evidence() -> int:
    """Every job that is chosen, and the report of all there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="ask this many questions of each run: a smoke run, not evidence")
    parser.add_argument("--only", action="append", default=[], help="only runs with this in their names")
    parser.add_argument("--rows-only", action="store_true", help="write no report")
    parser.add_argument("--report-only", action="store_true", help="ask nothing")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    given = parser.parse_args()
    if given.jobs < 1:
        parser.error("--jobs is a number from 1")
    started = time.perf_counter()
    machine.tell()
    kept = KEPT if given.sample is None else machine.CACHE / f"evidence-{given.sample}"
    planned = list(jobs())
    chosen = [job for job in planned if not given.only or any(part in job.name for part in given.only)]
    if not given.report_only:
        measure_all(chosen, kept, given.sample, at_a_time=given.jobs)
    if given.rows_only:
        return 0
    report(planned, kept, REPORT if given.sample is None else kept / "report", given.sample)
    print(f"{(time.perf_counter() - started) / 60:.0f} min")
    if given.sample is not None:
        print(f"THIS WAS A SMOKE RUN: {given.sample} questions of each set prove nothing.")
    return 0


def report(planned: Sequence[Job], kept: Path, out: Path, sample: int | None) -> None:
    """The report of what has rows, each page with the state that was asked; what the seeds' page reads of it."""
    done = [job for job in planned if made_file(kept / job.name).is_file()]
    title = "What correction is worth" if sample is None else f"A smoke run of {sample} questions each"
    folders = [str(kept / job.name) for job in done]
    print(thresher("eval", "report", *folders, "--out", str(out), "--title", title, home=False))
    without_own_paths(out)
    made = {job.name: made_of(kept / job.name) for job in done}
    for page in (out / "datasets").glob("*.md"):
        text = ANSWERS_TABLE.sub("", page.read_text(encoding="utf-8"))
        of = [one for name, one in made.items() if re.search(rf"^## {name}\b(?!-)", text, re.MULTILINE)]
        oldest = min(of, key=lambda one: one.date)
        page.write_text(f"{text}\n{footing(oldest.commit, oldest.date, COMMAND, OF)}\n", encoding="utf-8")
    oldest = min(made.values(), key=lambda one: one.date)
    with (out / "report.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{footing(oldest.commit, oldest.date, COMMAND, OF)}\n")


def made_file(folder: Path) -> Path:
    """Beside the rows of a run: the state of the engine that was asked."""
    return folder.with_suffix(".json")


def made_of(folder: Path) -> Provenance:
    """With which engine the rows of a run were made."""
    return Provenance(**json.loads(made_file(folder).read_text(encoding="utf-8")))


def without_own_paths(report: Path) -> None:
    """Name the folders of data and of the project as anyone has them, and a small sample by its intervals."""
    places = {str(machine.DATA): "$THRESHER_DATA", str(machine.CACHE.resolve()): "benchmarks/.cache"}
    places |= {f"{machine.ROOT}/": "", str(machine.ROOT): "."}
    for file in report.rglob("*"):
        if file.suffix in (".md", ".html", ".csv", ".jsonl"):
            text = file.read_text(encoding="utf-8")
            for place, name in places.items():
                text = text.replace(place, name)
            text = text.replace("a smoke run, not evidence", "few, so read the intervals")
            file.write_text(text, encoding="utf-8")


def measure_all(jobs: Sequence[Job], kept: Path, sample: int | None, *, at_a_time: int) -> None:
    """Run what is left of the jobs.

    A job that fails ends it all once those that are running have ended; the others are not begun.
    """
    workers = ThreadPoolExecutor(at_a_time)
    left = deque(jobs)
    running: set[Future[None]] = set()
    try:
        while left or running:
            while left and len(running) < at_a_time:
                job = left.popleft()
                running.add(workers.submit(measured, job, kept / job.name, sample))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                one.result()
    except (Exception, SystemExit):
        workers.shutdown()
        raise
    finally:  # an interruption waits for nobody
        workers.shutdown(wait=False)


def measured(job: Job, out: Path, sample: int | None) -> None:
    """Run what is left of a job."""
    started = time.perf_counter()
    questions = str(job.questions if sample is None else min(sample, job.questions))
    made = made_file(out)
    if made.is_file() and changed_since(machine.ROOT, made_of(out).commit.rstrip("+"), OF):
        shutil.rmtree(out, ignore_errors=True)
        made.unlink()
    if not made.is_file():
        out.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(vars(Provenance.now())), encoding="utf-8")
    try:
        thresher("eval", *job.arguments, "--out", str(out), "--sample", questions, "--resume", home=False)
        if job.judged:
            thresher("eval", "judge", str(out), "--judge", "offline", home=False)
    except (Exception, SystemExit):
        print(f"{job.name}: not finished", flush=True)
        raise
    print(f"{job.name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
