"""The whole evidence: every recipe and preset on the real data, every ablation, every study, one report.

    .venv/bin/python benchmarks/evidence.py               writes docs/results, in an hour or more
    .venv/bin/python benchmarks/evidence.py --sample 6    a smoke run: six questions of each, into benchmarks/.cache
    .venv/bin/python benchmarks/evidence.py --only crag   what has `crag` in its name, and the report of all there is

No chat model is used. Rows are kept below benchmarks/.cache and what was stopped goes on; `--fresh` starts anew. The
collections are prepared on the first run, which takes longer, and used again.

`--jobs 2` runs and studies are measured at a time, and the recipes of a run are asked in turn (`eval run --together`),
so that they find remembered what others have read. What each answer takes is measured in the run `latency` and in the
study `growth`, which have the machine to themselves, at the end.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import evaluate
import machine
import pool
import processes

from thresher.judging.calibration import SHIPPED
from thresher_evals.studies.judge_accuracy import RETRIEVER

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
    "crag[search.rewrite=false]",
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
)
CHUNKRAG = (
    "chunkrag",
    "chunkrag[fuse.lexical_weight=0]",
    "chunkrag[fuse.dense_weight=0]",
    "chunkrag[dedup.threshold=1]",
    *(f"chunkrag[dedup.threshold={threshold}]" for threshold in (0.5, 0.7)),
    "chunkrag[threshold=fixed,threshold_value=0.5]",
    "chunkrag[threshold=none]",
    "chunkrag[rerank=bundled]",
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
    *(f"hybrid[fuse.method=rrf,rerank=bundled,protect.n={number}]" for number in range(4)),
    *(f"hybrid[fuse.method=rrf,fuse.k={constant}]" for constant in (10, 100)),
    *(f"hybrid[dense.depth={depth},lexical.depth={depth}]" for depth in (10, 50, 100)),
)
CORRECTIVE = (
    "corrective",
    "corrective[judge=local]",
    "corrective[answer.reader=sentences]",
    "corrective[decompose=selection]",
    "corrective[refine.top_k=5]",
    "corrective[verify=false]",
    "corrective[judge_weight=0]",
    "corrective[judge_weight=1]",
    "corrective[second_opinion_below=0]",
)
DEGRADED = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Shares of the questions that may find their gold documents (CRAG, Figure 3)."""


@dataclass(frozen=True)
class Run:
    """One call of `eval run`, and of `eval judge` where answers are judged."""

    name: str
    dataset: str
    recipes: Sequence[str]
    questions: int = QUESTIONS
    options: Sequence[str] = ()
    judged: bool = False
    timed: bool = False
    """Whether it tells what an answer takes: then it runs alone, recipe by recipe."""


@dataclass(frozen=True)
class Study:
    """One call of `eval study`."""

    name: str
    kind: str
    options: Sequence[str]
    questions: int = 100
    timed: bool = False
    """Whether it tells what an answer takes: then it runs alone."""
    indexed: Sequence[str] = ()
    """What `index` is given before, where no run has made the collection already."""


def jobs(*, smoke: bool = False) -> Iterator[Run | Study]:
    """Everything that is measured, in the order of the report; a smoke run grows a collection less far."""
    data, small = machine.DATA, pool.made()
    compared = (*RECIPES, *FAIR)
    longtail = f"popqa-longtail:{data / 'popqa_longtail' / 'questions.jsonl'}"
    popqa, squad = f"routing:{small / 'popqa.jsonl'}", f"routing:{data / 'squad' / 'answered.jsonl'}"
    yield Run("routing-popqa", popqa, compared, judged=True)
    yield Run("routing-squad", squad, compared, judged=True)
    yield Run("routing-nq", f"routing:{small / 'nq.jsonl'}", (*RECIPES, FAIR[-1]))
    yield Run("routing-popqa-inside", popqa, PLAIN, options=("--outside", "none"))
    yield Run("refusal-squad", f"refusal:{data / 'squad' / 'answered.jsonl'}", compared)
    yield Run("papers", "papers", RECIPES)
    yield Run("popqa-longtail", longtail, RECIPES)
    yield Run("squad", f"squad:{data / 'squad' / 'answered.jsonl'}", RECIPES, BESIDE)
    yield Run("clapnq", f"clapnq:{data / 'clapnq' / 'questions.jsonl'}", RECIPES, BESIDE)
    yield Run("multihop", f"multihop:{data / 'multihop_rag' / 'questions.jsonl'}", RECIPES, BESIDE)
    yield Run("biography", f"biography:{data / 'biography' / 'questions.jsonl'}", RECIPES, BESIDE, judged=True)
    yield Run("pubhealth", f"pubhealth:{data / 'pubhealth' / 'claims.jsonl'}", PLAIN, BESIDE)
    yield Run("arc", f"arc:{data / 'arc' / 'questions.jsonl'}", PLAIN, BESIDE)
    yield Run("climate-fever", f"climate-fever:{data / 'climate_fever' / 'claims.jsonl'}", PLAIN, BESIDE)
    yield Run("scifact", f"beir:{data / 'scifact'}", RANKING, options=RANKED)
    yield Run("cranfield", f"beir:{data / 'cranfield'}", RANKING, options=RANKED)
    yield Run("presets", popqa, (*PLAIN, *PRESETS), ABLATED)
    yield Run("crag-ablations", popqa, CRAG, ABLATED)
    yield Run("ecrag-ablations", squad, ECRAG, ABLATED)
    yield Run("chunkrag-ablations", squad, CHUNKRAG, ABLATED)
    yield Run("hybrid-ablations", f"beir:{data / 'scifact'}", HYBRID, ABLATED, RANKED)
    yield Run("corrective-ablations", popqa, CORRECTIVE, ABLATED)
    for share in DEGRADED:
        told = f"degraded-{share}"
        yield Run(told, longtail, PLAIN, ABLATED, ("--degrade", str(share)))
    yield Run("latency", popqa, RECIPES, TIMED, timed=True)
    home = ("--home", str(machine.CACHE / "home"))
    pooled = f"wikipedia:{small / 'popqa.jsonl'}"
    yield Study("redundancy", "redundancy", ("--dataset", popqa, *home))
    yield Study("relevance", "relevance", ("--dataset", popqa, *home))
    yield Study("retrieved", "retrieved", ("--dataset", popqa, *home), 3)
    yield Study("actions", "actions", ("--dataset", longtail), QUESTIONS)
    whole = ("--collection", "evidence-pool")
    passages = (str(small / "corpus.jsonl"), "--recipe", RETRIEVER, *whole)
    yield Study("evaluator", "evaluator", ("--dataset", pooled, *whole, *home), QUESTIONS, indexed=passages)
    sizes = "10,20" if smoke else "10,25,50,100,250,500"
    growing = ("--dataset", pooled, "--set", f"sizes={sizes}", "--set", "rounds=2")
    yield Study("growth", "growth", growing, 20, timed=True)


def main() -> int:
    processes.interrupted_by_signals()
    try:
        return evidence()
    except KeyboardInterrupt:
        evaluate.PROCESSES.end()
        print("interrupted; what was measured is kept, run it again to go on", file=sys.stderr)
        return 130


def evidence() -> int:
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
    print(evaluate.thresher("eval", "report", *folders, "--out", str(report), "--title", title, home=False))
    without_own_paths(report)
    print(f"whole report: {(time.perf_counter() - started) / 60:.0f} min")
    if given.sample is not None:
        print(f"THIS WAS A SMOKE RUN: {given.sample} questions of each set prove nothing.")
    return 0


def without_own_paths(report: Path) -> None:
    """Name the folders of data and of the project as anyone has them, not where they are on this machine."""
    places = {str(machine.DATA): "$THRESHER_DATA", f"{machine.ROOT}/": "", str(machine.ROOT): "."}
    for file in report.rglob("*"):
        if file.suffix in (".md", ".html", ".svg", ".jsonl"):
            text = file.read_text(encoding="utf-8")
            for place, name in places.items():
                text = text.replace(place, name)
            file.write_text(text, encoding="utf-8")


def measure_all(jobs: Sequence[Run | Study], kept: Path, sample: int | None, *, at_a_time: int) -> float:
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


def measured(job: Run | Study, out: Path, sample: int | None) -> float:
    """Run what is left of a job and tell how long it took."""
    started = time.perf_counter()
    try:
        measure(job, out, sample)
    except (Exception, SystemExit):
        print(f"{job.name}: not finished", flush=True)
        raise
    seconds = time.perf_counter() - started
    print(f"{job.name}: {seconds:.0f} s", flush=True)
    return seconds


def measure(job: Run | Study, out: Path, sample: int | None) -> None:
    """Run what is left of a job."""
    questions = str(job.questions if sample is None else min(sample, job.questions))
    if isinstance(job, Study):
        if job.indexed:
            evaluate.thresher("index", *job.indexed)
        arguments = ["eval", "study", job.kind, "--out", str(out), "--sample", questions, *job.options]
        evaluate.thresher(*arguments, "--resume", home=False)
        return
    recipes = [part for recipe in job.recipes for part in ("--recipe", recipe)]
    arguments = ["eval", "run", "--dataset", job.dataset, *recipes, "--sample", questions, "--out", str(out)]
    together = () if job.timed else ("--together",)
    evaluate.thresher(*arguments, *together, *job.options, "--resume")
    if job.judged:
        evaluate.thresher("eval", "judge", str(out), "--judge", "offline", home=False)


if __name__ == "__main__":
    sys.exit(main())
