"""A developer: a part of one's own, an answer as it comes, and errors. `python examples/developer.py [FOLDER]`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import thresher
from thresher import recipes
from thresher.types import UNIT, Hit, Judged, Judgement, Query, Score

DESK = Path(__file__).parent / "desk"


def newest_only(query: Query, hits: Sequence[Hit]) -> Judged:
    """Keeps what the newer of the two studies says."""
    keep = ["storms" in hit.chunk.source for hit in hits]
    return Judged(
        tuple(
            Judgement(hit, kept, "the newest study" if kept else "an older study", Score(float(kept), UNIT))
            for hit, kept in zip(hits, keep, strict=True)
        )
    )


def main(folder: Path, home: Path) -> None:
    """Ask with a judge of one's own, sentence by sentence, and make three mistakes."""
    newest = recipes.derive("corrective", name="newest", judge=newest_only)
    with thresher.open(home) as collection:
        collection.add(folder, exclude="questions.csv")

        answer = collection.ask("How high is the present sea wall at Fennmouth?", recipe=newest)
        print(f"{answer.recipe}: {answer.text}")
        for chunk in answer.chunks:
            print(
                f"  {'kept' if chunk.kept else f'dropped by {chunk.dropped_by}'}: {Path(chunk.hit.chunk.source).name}"
            )
        print("  evidence:", sum(len(piece.text) for piece in answer.evidence), "characters")

        for part in collection.stream("When was the highest surge at Fennmouth?"):
            print("  told:", part if isinstance(part, str) else f"done, trace {part.trace}")

        told = collection.ask("When was the highest surge at Fennmouth?").to_dict()
        print("  as JSON:", json.dumps({key: told[key] for key in ("text", "abstained", "verdict")}))

        mistakes = {
            "a number for a question": lambda: collection.ask(42),  # type: ignore[arg-type]
            "a recipe that there is not": lambda: collection.ask("Who?", recipe="correctiv"),
            "a slot that there is not": lambda: recipes.derive("corrective", juge=newest_only),
        }
        for what, make in mistakes.items():
            try:
                make()
            except thresher.ThresherError as error:
                print(f"  {what}: {error}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]) if sys.argv[1:] else DESK, Path(temporary))
