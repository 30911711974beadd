"""A process that asks until a file appears and once more: `python asking.py HOME STOP SETTINGS`.

The last question begins after the last change, so it makes the chunks that only its recipe needs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import thresher
from thresher.errors import StoreError

QUESTIONS = ["What does the harbour master say?", "Which tower is the tallest?", "Who repaired the bridge?"]


def main(home: str, stop: str, settings: str) -> None:
    answers, empty = 0, 0
    cited: set[tuple[str, str]] = set()
    with thresher.open(home) as collection:
        stopped = False
        while not stopped:
            stopped = Path(stop).exists()
            try:
                answer = collection.ask(QUESTIONS[answers % 3], recipe="hybrid", settings=json.loads(settings))
            except StoreError as error:
                if "holds no documents yet" not in str(error):
                    raise
                empty += 1
                continue
            answers += 1
            cited |= {(citation.source, citation.quote) for citation in answer.citations}
    sys.stdout.write(json.dumps({"answers": answers, "cited": sorted(cited)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
