"""Table 1 of the ChunkRAG paper (arXiv:2410.19572) with a chat model of your own: PopQA, PubHealth and Biography.

    .venv/bin/python -m benchmarks.table1 --base-url http://localhost:8000/v1 --model MODEL --judge-model ANOTHER

Every recipe answers with the model, `no-retrieval` without any document and `rag` without correction; Biography is
scored by FActScore with the other model as judge, the rest by its gold answers. Rows are kept, what was stopped goes
on, and the report draws the published numbers hollow beside the measured ones: they are of other generators. A key is
read from the variables THRESHER_LLM__API_KEY and THRESHER_JUDGE__LLM__API_KEY. `--sample 5` first shows what it costs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks import machine
from benchmarks.commands import thresher

RECIPES = ("no-retrieval", "rag", "hybrid", "ecrag", "chunkrag", "crag", "corrective")
FILES = {
    "popqa-longtail": machine.DATA / "popqa_longtail" / "questions.jsonl",
    "pubhealth": machine.DATA / "pubhealth" / "claims.jsonl",
    "biography": machine.DATA / "biography" / "questions.jsonl",
}
PRESETS = {
    "popqa-longtail": {"THRESHER_ANSWER__MAX_WORDS": "20"},
    "pubhealth": {"THRESHER_ANSWER__MAX_WORDS": "20"},
    "biography": {"THRESHER_ANSWER__STYLE": "detailed"},
}
"""How long answers are: the published prompts ask for a few words of a fact or a label, and for a whole biography."""


def main() -> int:
    """Answer, judge, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True, help="of a server that speaks OpenAI's chat completions")
    parser.add_argument("--model", required=True, help="writes the answers, and judges chunks where a recipe asks")
    parser.add_argument("--judge-base-url", help="where the judge is, if elsewhere")
    parser.add_argument("--judge-model", help="checks the facts; FActScore is left out without one")
    parser.add_argument("--recipe", action="append", help=f"default: {', '.join(RECIPES)}")
    parser.add_argument("--parallel", type=int, default=4, help="questions asked at a time")
    parser.add_argument("--sample", type=int, help="questions of each set; all of them when not given")
    parser.add_argument("--out", type=Path, default=machine.CACHE / "table1", help="folder of the rows and the report")
    for kind, file in FILES.items():
        parser.add_argument(f"--{kind}", type=Path, default=file, metavar="FILE", help=f"default: {file}")
    given = parser.parse_args()
    machine.tell()
    os.environ["THRESHER_LLM__BASE_URL"], os.environ["THRESHER_LLM__MODEL"] = given.base_url, given.model
    recipes = [part for recipe in given.recipe or RECIPES for part in ("--recipe", recipe)]
    options = ["--resume", "--parallel", str(given.parallel), "--home", str(given.out / "home")]
    if given.sample is not None:
        options += ["--sample", str(given.sample)]
    folders = []
    for kind in FILES:
        out = given.out / kind
        dataset = f"{kind}:{getattr(given, kind.replace('-', '_'))}"
        command = ("eval", "run", "--dataset", dataset, *recipes, "--out", str(out), *options)
        thresher(*command, home=False, environment=PRESETS[kind])
        folders.append(str(out))
    if given.judge_model is not None:
        judge = {"base_url": given.judge_base_url or given.base_url, "model": given.judge_model}
        pinned = [part for name, value in judge.items() for part in ("--set", f"judge.llm.{name}={value}")]
        thresher(
            "eval",
            "judge",
            str(given.out / "biography"),
            "--judge",
            "llm",
            "--measure",
            "factscore",
            *pinned,
            home=False,
        )
    report = given.out / "report"
    title = f"PopQA, PubHealth and Biography with {given.model}"
    print(thresher("eval", "report", *folders, "--out", str(report), "--title", title, home=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
