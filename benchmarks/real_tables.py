"""The sources' data sets with a chat model that really writes, beside what they publish of 7B models.

    python -m thresher_testing.real_model                fetches Qwen2.5-Coder-1.5B, 1.1 GB, once
    python -m benchmarks.real_tables --sample 10         10 questions of each set by each recipe: some hours of a core
    python -m benchmarks.real_tables --sample 10 --show  the table of what there is

PopQA's long tail over the contexts that CRAG's authors publish (internal ones inside, those of the web outside),
PubHealth over its explanations, ARC over CRAG's contexts, MultiHop-RAG over its facts: `thresher eval run`, which goes
on where it was stopped. *Right* is an answer with a gold string, the label, or the letter, also one in doubt.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import machine, table1
from benchmarks.commands import thresher
from benchmarks.real_model import chat_model
from thresher_evals.asker import parse_variant
from thresher_evals.report.tables import CLAIMS, CRAG_ABLATIONS

FOLDER = machine.CACHE / "real_tables"
SETS = {
    "popqa-longtail": (table1.FILES["popqa-longtail"], "match"),
    "pubhealth": (table1.FILES["pubhealth"], "label_accuracy"),
    "arc": (machine.DATA / "arc" / "questions.jsonl", "label_accuracy"),
    "multihop": (machine.DATA / "multihop_rag" / "questions.jsonl", "match"),
}
"""A kind of dataset to its file and to what is right."""
RECIPES = (*table1.RECIPES, "crag-paper")
SETTINGS = {"crag-paper": {"judge": "trained"}}
"""CRAG judges by an evaluator of its own; else the chat model judges chunks and strips."""
LLAMA, TUNED = "LLaMA2-hf-7b", "SelfRAG-LLaMA2-7b"
SYSTEMS = {
    "rag": ("RAG", LLAMA),
    "crag-paper": ("CRAG", LLAMA),
    "crag-paper[actions=without-correct]": ("without Correct", LLAMA),
    "crag-paper[actions=without-incorrect]": ("without Incorrect", LLAMA),
    "crag-paper[actions=without-ambiguous]": ("without Ambiguous", LLAMA),
    "crag-paper[actions=only-correct]": ("only Correct", LLAMA),
    "crag-paper[actions=only-incorrect]": ("only Incorrect", LLAMA),
    "crag-paper[actions=only-ambiguous]": ("only Ambiguous", LLAMA),
    "crag-paper[refine.of=none]": ("without refinement", LLAMA),
    "crag-paper[refine.of=inside]": ("without selection", LLAMA),
    "chunkrag": ("ChunkRAG", TUNED),
}
"""A recipe or variant to its name and generator in what the papers print (`thresher_evals.report.tables`)."""
NO_RETRIEVAL = {"popqa-longtail": 0.147, "pubhealth": 0.342}
"""ChunkRAG (arXiv:2410.19572v2), Table 1, LLaMA2-7B without retrieval, which the reports do not print."""


def published(recipe: str, kind: str) -> float | None:
    """The printed share that is right; None for none."""
    named = (
        one.value
        for one in (*CLAIMS, *CRAG_ABLATIONS)
        if (one.system, one.generator) == SYSTEMS.get(recipe) and one.measure == "match" and kind.startswith(one.kind)
    )
    return NO_RETRIEVAL.get(kind) if recipe == "no-retrieval" else next(named, None)


def run(kinds: Sequence[str], recipes: Sequence[str], sample: int, base_url: str | None) -> None:
    """Ask what was not asked."""
    options = ["--sample", str(sample), "--resume", "--together", "--home", str(FOLDER / "home")]
    with chat_model(base_url) as model:
        for kind in kinds:
            for recipe in recipes:
                settings = {**model, "answer.max_words": 40, **SETTINGS.get(parse_variant(recipe).recipe, {})}
                given = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
                dataset = f"{kind}:{SETS[kind][0]}"
                out = str(FOLDER / f"{kind}-{sample}-{recipe}")
                thresher(
                    "eval", "run", "--dataset", dataset, "--recipe", recipe, "--out", out, *given, *options, home=False
                )
                print(*table([kind], [recipe], sample), sep="\n", flush=True)


def table(kinds: Sequence[str], recipes: Sequence[str], sample: int) -> Iterator[str]:
    """What each recipe has right of each set, with 95 % intervals, and refuses; the published figure behind it."""
    yield f"| recipe | {' | '.join(f'{kind}: right | refused | published' for kind in kinds)} | calls |"
    yield "|---" * (2 + 3 * len(kinds)) + "|"
    for recipe in recipes:
        cells, spent = [], []
        for kind in kinds:
            folder = FOLDER / f"{kind}-{sample}-{recipe}"
            found = measured(str(folder), recipe) if folder.is_dir() else {}
            printed = published(recipe, kind)
            right, refused = (of(found, name) for name in (SETS[kind][1], "abstained"))
            cells += [right, refused, "-" if printed is None else f"{100 * printed:.1f} %"]
            spent.append(found)
        calls = [one["llm_calls"]["value"] for one in spent if one]
        yield f"| {' | '.join([f'`{recipe}`', *cells, f'{sum(calls) / max(1, len(calls)):.1f}'])} |"


def measured(folder: str, recipe: str) -> dict[str, Any]:
    """The measures of one run."""
    scored: dict[str, Any] = json.loads(thresher("eval", "score", folder, "--json", home=False))
    return dict(scored["recipes"][recipe])


def of(found: Mapping[str, Any], name: str) -> str:
    """A share with its interval."""
    if not found or found[name]["value"] is None:
        return "-"
    value, low, high = (found[name][key] for key in ("value", "low", "high"))
    return f"{value:.0%} ({low:.0%} to {high:.0%})"


def main() -> None:
    """Ask and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    parser.add_argument(
        "--recipes", nargs="+", default=RECIPES, metavar="RECIPE", help="also variants of docs/ablations.md"
    )
    parser.add_argument("--sample", type=int, default=10, help="questions of each set, the same for every recipe")
    parser.add_argument("--base-url", help="a server that has the model already, as one built for this processor")
    parser.add_argument("--show", action="store_true", help="ask nothing")
    given = parser.parse_args()
    machine.tell()
    if not given.show:
        run(given.sets, given.recipes, given.sample, given.base_url)
    print("\n".join(table(given.sets, given.recipes, given.sample)))


if __name__ == "__main__":
    main()
