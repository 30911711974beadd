"""Refusal (docs/evaluating.md): near misses, unanswerable and off-topic questions among answerable ones.

Over the SQuAD paragraphs, without a chat model and without any outside source.
"""

from __future__ import annotations

from typing import Any

import evaluate
import machine

RECIPES = ["rag", "hybrid", "crag", "ecrag", "chunkrag", "corrective"]
MEASURES = ("match", "refusal_precision", "refusal_recall", "wrong_refusals", "auroc", "ece")


def main() -> None:
    machine.tell()
    spec = f"refusal:{machine.DATA / 'squad' / 'answered.jsonl'}"
    scored = evaluate.measured("refusal-squad", spec, RECIPES)
    print(f"n = {scored['n']}")
    for recipe in RECIPES:
        evaluate.show(recipe, scored["recipes"][recipe], MEASURES)
    print("\nrefused, by kind of question")
    for category, recipes in scored["categories"].items():
        shares: dict[str, Any] = {recipe: values["abstained"] for recipe, values in recipes.items()}
        n = next(iter(shares.values()))["n"]
        print(
            f"{category:<14} n={n:<4} "
            + "  ".join(f"{recipe} {share['value']:.2f}" for recipe, share in shares.items())
        )
    evaluate.keep("refusal", {"refusal": scored})


if __name__ == "__main__":
    main()
