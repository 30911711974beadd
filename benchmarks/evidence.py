"""The whole evidence: every recipe and preset on the real data, every ablation, every study, one report.

    .venv/bin/python -m benchmarks.evidence               writes docs/results, in an hour or more
    .venv/bin/python -m benchmarks.evidence --sample 6    a smoke run: six questions of each, into benchmarks/.cache
    .venv/bin/python -m benchmarks.evidence --only crag   what has `crag` in its name, and the report of all there is

No chat model is used. Rows are kept below benchmarks/.cache and what was stopped goes on; `--fresh` starts anew. The
collections are prepared on the first run, which takes longer, and used again. docs/results/seeds.md, which reads some
of these pages, is written again too.

`--jobs 2` runs and studies are measured at a time, and the recipes of a run are asked in turn (`eval run --together`),
so that they find remembered what others have read. What each answer takes is measured in the run `latency` and in the
study `growth`, which have the machine to themselves, at the end.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.commands import HOME, PROCESSES, interrupted_by_signals, thresher
from benchmarks.seeds import page
from benchmarks.seeds.rows import Provenance
from benchmarks.studies.judge_accuracy import RETRIEVER
from thresher.judging.calibration import SHIPPED

QUESTIONS = 300
"""Of each set in the tables that compare recipes, chosen by hash; fewer where there are fewer."""

BESIDE = 100
"""Of each set beside those: what a recipe does elsewhere."""

ABLATED = 100
"""Questions of an ablation, the same for all of them."""

TIMED = 100
"""Questions of the run that tells what each recipe takes."""

RECIPES = ("rag", "hybrid", "ecrag", "chunkrag", "crag", "corrective")
PLAIN = ("rag", "crag", "corrective")
RANKING = ("rag", "hybrid", "crag", "corrective")
RANKED = ("--limit", "20")
"""Results of a search: the measures look at the first ten, and a recipe that judges judges all of them."""
PRESETS = ("hybrid-literal", "ecrag-literal", "chunkrag-v1", "crag-paper", "crag-code", "no-retrieval")

OUR_JUDGE = SHIPPED["trained"]
BOUNDS = f"judge=calibrated,upper={OUR_JUDGE.upper},lower={OUR_JUDGE.lower}"
FAIR = (
    f"ecrag[judge=calibrated,kdm.internal={OUR_JUDGE.upper},kdm.external={OUR_JUDGE.lower}]",
    "chunkrag[judge=calibrated]",
    f"crag[{BOUNDS}]",
)
"""Published recipes with our judge, calibration and bounds in their slots; all of them have our reader already."""

CRAG = (
    "crag",
    *(f"crag[actions={which}]" for which in ("without-correct", "without-incorrect", "without-ambiguous")),
    *(f"crag[actions={which}]" for which in ("only-correct", "only-incorrect", "only-ambiguous")),
    "crag[refine.of=none]",
    "crag[refine.of=inside]",
    "crag[search.style=question]",
    "crag[actions=only-ambiguous,refine.of=none,lower=0,bounds=code]",
    "crag[decompose=fixed_num]",
    "crag[decompose=excerption]",
    "crag[decompose=selection]",
)
ECRAG = (
    "ecrag",
    "ecrag[flat=true]",
    "ecrag[summary=text]",
    "ecrag[subchunk.tail=literal]",
    "ecrag[chunk.overlap=0,subchunk.overlap=0]",
    *(f"ecrag[kdm.cosine_weight={weight}]" for weight in (0, 0.5, 1)),
    *(f"ecrag[kdm.cut={cut}]" for cut in (0.1, 0.3, 0.7, 0.9)),
    "ecrag[kdm.combine=sum]",
    "ecrag[kdm.nonzero_rule=normalized]",
    "ecrag[kdm.fit=retrieved]",
    "ecrag[kdm.route=survivors]",
    "ecrag[kdm.route=off]",
    "ecrag[refine.of=none]",
    "ecrag[refine.of=all]",
)
CHUNKRAG = (
    "chunkrag",
    "chunkrag[fuse.lexical_weight=0]",
    "chunkrag[fuse.dense_weight=0]",
    "chunkrag[dedup.threshold=1]",
    *(f"chunkrag[dedup.threshold={threshold}]" for threshold in (0.5, 0.7)),
    "chunkrag[threshold=fixed]",
    "chunkrag[threshold=none]",
    "chunkrag[rerank=none]",
    *(f"chunkrag[chunk.theta={theta}]" for theta in (0.5, 0.7, 0.9)),
    "chunkrag[chunk.compare=chunk_centroid]",
    "chunkrag[edge_order=true]",
)
"""Rewriting, reflection, the critic and the model's threshold change nothing without a chat model."""

HYBRID = (
    "hybrid",
    "hybrid[fuse.lexical_weight=0,rerank=none,protect.n=0]",
    "hybrid[fuse.dense_weight=0,rerank=none,protect.n=0]",
    "hybrid[fuse.method=rrf,rerank=none,protect.n=0]",
    "hybrid[rerank=none]",
    *(f"hybrid[protect.n={number}]" for number in (0, 1, 3)),
    *(f"hybrid[dense.depth={depth},lexical.depth={depth}]" for depth in (10, 50, 100)),
)
CORRECTIVE = (
    "corrective",
    "corrective[judge=local]",
    "corrective[decompose=selection]",
    "corrective[refine.top_k=5]",
    "corrective[answer.check=none]",
)
DEGRADED = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Shares of the questions that may find their gold documents (CRAG, Figure 3)."""


@dataclass(frozen=True)
class Job:
    """One call of `eval run` or of `eval study`, and what belongs to it."""

    name: str
    arguments: Sequence[str]
    """Of `thresher eval`, without --out, --sample and --resume."""
    questions: int
    judged: bool = False
    """Whether `eval judge` follows."""
    timed: bool = False
    """Whether it tells what an answer takes: then it runs alone, and a run recipe by recipe."""
    indexed: Sequence[str] = ()
    """What `index` is given before, where no run has made the collection already."""


def run(
    name: str,
    dataset: str,
    recipes: Sequence[str],
    questions: int = QUESTIONS,
    options: Sequence[str] = (),
    *,
    judged: bool = False,
    timed: bool = False,
) -> Job:
    """A run of some recipes over the collections of the benchmarks."""
    chosen = [part for recipe in recipes for part in ("--recipe", recipe)]
    together = () if timed else ("--together",)
    arguments = ("run", "--dataset", dataset, *chosen, *together, *options, "--home", str(HOME))
    return Job(name, arguments, questions, judged, timed)


def study(kind: str, *options: str, questions: int = 100, timed: bool = False, indexed: Sequence[str] = ()) -> Job:
    """A study, called as its kind."""
    return Job(kind, ("study", kind, *options), questions, timed=timed, indexed=indexed)


def jobs(*, smoke: bool = False) -> Iterator[Job]:
    """Everything that is measured, in the order of the report; a smoke run grows a collection less far."""
    data, small = machine.DATA, pool()
    compared = (*RECIPES, *FAIR)
    longtail = f"popqa-longtail:{data / 'popqa_longtail' / 'questions.jsonl'}"
    popqa, squad = f"routing:{small / 'popqa.jsonl'}", f"routing:{data / 'squad' / 'answered.jsonl'}"
    yield run("routing-popqa", popqa, compared, judged=True)
    yield run("routing-squad", squad, compared, judged=True)
    yield run("routing-nq", f"routing:{small / 'nq.jsonl'}", (*RECIPES, FAIR[-1]))
    yield run("routing-popqa-inside", popqa, PLAIN, options=("--outside", "none"))
    yield run("refusal-squad", f"refusal:{data / 'squad' / 'answered.jsonl'}", compared)
    yield run("papers", "papers", RECIPES)
    yield run("popqa-longtail", longtail, RECIPES)
    yield run("squad", f"squad:{data / 'squad' / 'answered.jsonl'}", RECIPES, BESIDE)
    yield run("clapnq", f"clapnq:{data / 'clapnq' / 'questions.jsonl'}", RECIPES, BESIDE)
    yield run("multihop", f"multihop:{data / 'multihop_rag' / 'questions.jsonl'}", RECIPES, BESIDE)
    yield run("biography", f"biography:{data / 'biography' / 'questions.jsonl'}", RECIPES, BESIDE, judged=True)
    yield run("pubhealth", f"pubhealth:{data / 'pubhealth' / 'claims.jsonl'}", PLAIN, BESIDE)
    yield run("arc", f"arc:{data / 'arc' / 'questions.jsonl'}", PLAIN, BESIDE)
    yield run("climate-fever", f"climate-fever:{data / 'climate_fever' / 'claims.jsonl'}", PLAIN, BESIDE)
    yield run("scifact", f"beir:{data / 'scifact'}", RANKING, options=RANKED)
    yield run("cranfield", f"beir:{data / 'cranfield'}", RANKING, options=RANKED)
    yield run("presets", popqa, (*PLAIN, *PRESETS), ABLATED)
    yield run("crag-ablations", popqa, CRAG, ABLATED)
    yield run("ecrag-ablations", squad, ECRAG, ABLATED)
    yield run("chunkrag-ablations", squad, CHUNKRAG, ABLATED)
    yield run("hybrid-ablations", f"beir:{data / 'scifact'}", HYBRID, ABLATED, RANKED)
    yield run("corrective-ablations", popqa, CORRECTIVE, ABLATED)
    for share in DEGRADED:
        told = f"degraded-{share}"
        yield run(told, longtail, PLAIN, ABLATED, ("--degrade", str(share)))
    yield run("latency", popqa, RECIPES, TIMED, timed=True)
    home, pooled = ("--home", str(HOME)), f"wikipedia:{small / 'popqa.jsonl'}"
    yield study("redundancy", "--dataset", popqa, *home)
    yield study("relevance", "--dataset", popqa, *home)
    yield study("retrieved", "--dataset", popqa, *home, questions=3)
    yield study("actions", "--dataset", longtail, questions=QUESTIONS)
    whole = ("--collection", "evidence-pool")
    passages = (str(small / "corpus.jsonl"), "--recipe", RETRIEVER, *whole)
    yield study("evaluator", "--dataset", pooled, *whole, *home, questions=QUESTIONS, indexed=passages)
    sizes = "10,20" if smoke else "10,25,50,100,250,500"
    growing = ("--set", f"sizes={sizes}", "--set", "rounds=2")
    yield study("growth", "--dataset", pooled, *growing, questions=20, timed=True)


PASSAGES = 10_000
NAMING = {"popqa": ("gold_ids",), "nq": ("silver_ids", "retrieved_ids")}


def pool(passages: int = PASSAGES) -> Path:
    """The folder with corpus.jsonl, popqa.jsonl and nq.jsonl: every passage the questions name, and random others.

    The whole pool (28,735 passages) takes three quarters of an hour to index for all recipes on two cores; this one
    takes a third of that, for each set of questions. Made once; the same size gives the same pool.
    """
    folder = machine.CACHE / f"pool-{passages}"
    if (folder / "corpus.jsonl").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    named: set[str] = set()
    for name, fields in NAMING.items():
        shutil.copy(machine.DATA / "wikipedia" / f"{name}.jsonl", folder)
        for question in machine.rows(f"wikipedia/{name}.jsonl"):
            named.update(id_ for field in fields for id_ in question.get(field, ()))
    rows = machine.rows("wikipedia/corpus.jsonl")
    rows.sort(key=lambda row: (row["_id"] not in named, hashlib.sha1(f"pool:{row['_id']}".encode()).hexdigest()))
    unfinished = folder / "corpus.jsonl.new"
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows[:passages])
    unfinished.write_text("".join(lines), encoding="utf-8")
    unfinished.rename(folder / "corpus.jsonl")
    return folder


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
    parser.add_argument("--only", action="append", default=[], help="only runs and studies with this in their names")
    parser.add_argument("--rows-only", action="store_true", help="write no report")
    parser.add_argument("--fresh", action="store_true", help="ask everything again")
    parser.add_argument("--jobs", type=int, default=2, help="runs and studies at a time; those that time run alone")
    given = parser.parse_args()
    if given.jobs < 1:
        parser.error("--jobs is a number from 1")
    started = time.perf_counter()
    machine.tell()
    kept = machine.CACHE / ("evidence" if given.sample is None else f"evidence-{given.sample}")
    if given.fresh:
        shutil.rmtree(kept, ignore_errors=True)
    planned = list(jobs(smoke=given.sample is not None))
    chosen = [job for job in planned if not given.only or any(part in job.name for part in given.only)]
    seconds = measure_all(chosen, kept, given.sample, at_a_time=given.jobs)
    print(f"{len(chosen)} jobs: {seconds:.0f} s in all", flush=True)
    if given.rows_only:
        return 0
    folders = [str(kept / job.name) for job in planned if (kept / job.name).is_dir()]
    report = machine.ROOT / "docs" / "results" if given.sample is None else kept / "report"
    title = "What correction is worth" if given.sample is None else f"A smoke run of {given.sample} questions each"
    print(thresher("eval", "report", *folders, "--out", str(report), "--title", title, home=False))
    without_own_paths(report)
    if given.sample is None and not given.only:
        made = Provenance.now()
        machine.keep("evidence", {"commit": made.commit, "date": made.date})
    if given.sample is None:
        page.write()
    print(f"whole report: {(time.perf_counter() - started) / 60:.0f} min")
    if given.sample is not None:
        print(f"THIS WAS A SMOKE RUN: {given.sample} questions of each set prove nothing.")
    return 0


def without_own_paths(report: Path) -> None:
    """Name the folders of data and of the project as anyone has them, not where they are on this machine."""
    places = {str(machine.DATA): "$THRESHER_DATA", f"{machine.ROOT}/": "", str(machine.ROOT): "."}
    for file in report.rglob("*"):
        if file.suffix in (".md", ".html", ".csv", ".jsonl"):
            text = file.read_text(encoding="utf-8")
            for place, name in places.items():
                text = text.replace(place, name)
            file.write_text(text, encoding="utf-8")


def measure_all(jobs: Sequence[Job], kept: Path, sample: int | None, *, at_a_time: int) -> float:
    """Run what is left of the jobs, those that time alone at the end; the sum of their seconds.

    A job that fails ends it all once those that are running have ended; the others are not begun.
    """
    workers = ThreadPoolExecutor(at_a_time)
    left = deque(job for job in jobs if not job.timed)
    running: set[Future[float]] = set()
    seconds = 0.0
    try:
        while left or running:
            while left and len(running) < at_a_time:
                job = left.popleft()
                running.add(workers.submit(measured, job, kept / job.name, sample))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            seconds += sum(one.result() for one in done)
    except (Exception, SystemExit):
        workers.shutdown()
        raise
    finally:  # an interruption waits for nobody
        workers.shutdown(wait=False)
    return seconds + sum(measured(job, kept / job.name, sample) for job in jobs if job.timed)


def measured(job: Job, out: Path, sample: int | None) -> float:
    """Run what is left of a job; the seconds it took."""
    started = time.perf_counter()
    questions = str(job.questions if sample is None else min(sample, job.questions))
    try:
        if job.indexed:
            thresher("index", *job.indexed)
        thresher("eval", *job.arguments, "--out", str(out), "--sample", questions, "--resume", home=False)
        if job.judged:
            thresher("eval", "judge", str(out), "--judge", "offline", home=False)
    except (Exception, SystemExit):
        print(f"{job.name}: not finished", flush=True)
        raise
    seconds = time.perf_counter() - started
    print(f"{job.name}: {seconds:.0f} s", flush=True)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
