"""Routing (docs/evaluating.md): half of the answers were moved to a second collection. Who notices, who gets them?

For every recipe as it is printed, and for the published ones again with our judge and its bounds in their slots; with
the second collection as the outside source, and without any. PopQA and NQ over a pool of 10,000 Wikipedia passages
(pool.py), SQuAD over its own paragraphs. The recipes run without a chat model.

    python routing.py [popqa|nq|squad ...]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import evaluate
import machine
import pool

from thresher.judging.calibration import SHIPPED

QUESTIONS = 300
"""Of each set, chosen by hash; the final slice is the fifth of them that nothing was tuned on."""

MEASURES = ("match", "abstained", "verdict_accuracy", "auroc", "ece", "outside_used", "words_median", "seconds_p50")
PRINTED = ["rag", "hybrid", "crag", "ecrag", "chunkrag", "corrective"]
CORRECTING = ["rag", "crag", "ecrag", "corrective"]
RIVALS = ["rag", "crag", "ecrag", "chunkrag"]
OUR_JUDGE = SHIPPED["trained"]
OURS = (
    "judge=calibrated",
    f"upper={OUR_JUDGE.upper}",
    f"lower={OUR_JUDGE.lower}",
    f"kdm.internal={OUR_JUDGE.upper}",
    f"kdm.external={OUR_JUDGE.lower}",
)
"""Our judge, calibration and bounds in the slots of the published recipes; all of them have our reader already."""

RUNS: dict[str, tuple[list[str], tuple[str, ...], str]] = {
    "with outside, as printed": (PRINTED, (), "auto"),
    "with outside, our judge": (RIVALS, OURS, "auto"),
    "without outside, as printed": (CORRECTING, (), "none"),
    "without outside, our judge": (["rag", "crag", "ecrag"], OURS, "none"),
}


def datasets() -> dict[str, str]:
    """Names and specs."""
    folder = pool.made()
    return {
        "popqa": f"routing:{folder / 'popqa.jsonl'}",
        "nq": f"routing:{folder / 'nq.jsonl'}",
        "squad": f"routing:{machine.DATA / 'squad' / 'answered.jsonl'}",
    }


def main(chosen: list[str]) -> None:
    machine.tell()
    specs = datasets()
    for name in chosen or list(specs):
        results: dict[str, Any] = {"dataset": name, "passages": pool.PASSAGES if name != "squad" else "its own"}
        for label, (recipes, settings, outside) in RUNS.items():
            run = f"routing-{name}-{label.replace(', ', '-').replace(' ', '-')}"
            scored = evaluate.measured(
                run,
                specs[name],
                recipes,
                settings=settings,
                options=("--outside", outside, "--resume", "--sample", str(QUESTIONS)),
                fresh=False,
            )
            final = json.loads(
                evaluate.thresher("eval", "score", str(evaluate.rows(run)), "--split", "final", "--json", home=False)
            )
            results[label] = {"all": scored, "final": final}
            print(f"\n{name}, {label}, n = {scored['n']}")
            for recipe in recipes:
                evaluate.show(recipe, scored["recipes"][recipe], MEASURES)
                against = scored["against"]["recipes"].get(recipe, {}).get("match")
                if against is not None:
                    print(
                        f"{'':<28} match against rag {told(against)}; final slice, n = {final['n']}: "
                        f"match {final['recipes'][recipe]['match']['value']:.3f}, "
                        f"against rag {told(final['against']['recipes'][recipe]['match'])}"
                    )
        evaluate.keep(f"routing_{name}", results)


def told(comparison: dict[str, Any]) -> str:
    """A paired difference in words."""
    low, high, p = comparison["low"], comparison["high"], comparison.get("p_holm", comparison["p"])
    return f"{comparison['difference']:+.3f} [{low:+.3f}, {high:+.3f}], p {p:.2g}"


if __name__ == "__main__":
    main(sys.argv[1:])
