"""Golden files: what three recipes answer to questions over real data, what a run scores, what `--help` says.

    .venv/bin/python tests/golden/behaviour.py record            writes the files beside this one
    .venv/bin/python tests/golden/behaviour.py compare           prints what differs from them; 1 when anything does

Six questions about eight papers and six about Wikipedia passages, half of which lie in an outside collection. Only
the public contract is used, so the files outlive any arrangement of the code. Scores are those of one kind of processor
(int8 arithmetic differs between kinds); `machine.json` says which, and on another a row may differ.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import thresher

HERE = Path(__file__).parent
DATA = Path(os.environ.get("THRESHER_DATA", HERE.parents[2] / "shared" / "data"))
PAPERS = (
    "2005.11401.pdf",
    "2005.11401-second-copy.pdf",
    "Adam_-_A_Method_for_Stochastic_Optimization.pdf",
    "Attention_Is_All_You_Need.pdf",
    "BERT.pdf",
    "GPT1.pdf",
    "GPT2.pdf",
    "OLMo_-_Accelerating_the_Science_of_Language_Models.pdf",
)
"""Two of them are one document."""

ASKED_OF_PAPERS = (
    "How many layers has BERT-base?",
    "Which optimizer was used to train the Transformer?",
    "What is the difference between RAG-Sequence and RAG-Token?",
    "What is the learning rate of OLMo 7B?",
    "What is the price of a ticket to the moon?",
)

RECIPES = ("corrective", "hybrid", "crag")
"""Our own, one that takes what it finds, and one that looks outside: few rows, which a person reads."""

PASSAGES = 500
"""Of Wikipedia, beside those that the questions are about."""

SCORED = 50
"""Questions of the run that is scored."""

COSTS = ("seconds", "cpu_seconds", "memory")
"""How the measures begin that differ from run to run."""


def wikipedia() -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Questions, passages inside and passages outside."""
    questions = [*_lines(DATA / "wikipedia" / "popqa.jsonl")[:30], *_lines(DATA / "wikipedia" / "nq.jsonl")[:30]]
    wanted = {
        id_ for question in questions for id_ in (*question.get("gold_ids", ()), *question.get("retrieved_ids", ()))
    }
    inside, outside, others = [], [], 0
    for row in _lines(DATA / "wikipedia" / "corpus.jsonl"):
        if row["_id"] not in wanted:
            others += 1
            if others > PASSAGES:
                continue
        (inside if hashlib.sha1(row["_id"].encode()).digest()[0] % 2 else outside).append(row)
    return questions, inside, outside


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@contextlib.contextmanager
def collections() -> Iterator[Path]:
    """A home with the papers and the two halves of the passages, cut for every recipe."""
    kept = os.environ.get("THRESHER_GOLDEN_HOME")
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(kept or temporary)
        if not (home / "collections").is_dir():
            home.mkdir(parents=True, exist_ok=True)
            _, inside, outside = wikipedia()
            with thresher.open(home, "papers") as collection:
                collection.add(*(DATA / "papers" / name for name in PAPERS), recipe=RECIPES)
            for name, rows in (("inside", inside), ("outside", outside)):
                folder = home / "corpora" / name
                folder.mkdir(parents=True)
                text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                (folder / "corpus.jsonl").write_text(text, encoding="utf-8")
                with thresher.open(home, name) as collection:
                    collection.add(folder / "corpus.jsonl", recipe=RECIPES)
        yield home


def asked(home: Path, recipe: str) -> Iterator[dict[str, Any]]:
    """What `explain --json` tells of every question."""
    corrects = thresher.recipes.get(recipe).corrects
    of_wikipedia = [one["question"] for one in wikipedia()[0][::10]]
    for name, questions, outside in (
        ("papers", ASKED_OF_PAPERS, None),
        ("inside", of_wikipedia, "collection:outside" if corrects else None),
    ):
        with thresher.open(home, name) as collection:
            for question in questions:
                yield collection.ask(question, recipe=recipe, outside=outside).to_dict(chunks=True)


def without_costs(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what differs from run to run; paths by their last part."""

    def tidy(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 4)
        if isinstance(value, dict):
            return {key: tidy(one) for key, one in value.items() if key not in ("seconds", "fetched", "trace")}
        if isinstance(value, list):
            return [tidy(one) for one in value]
        if isinstance(value, str) and value.startswith("/"):
            return Path(value).name
        return value

    return tidy(row)


def short(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it is kept: everything a user sees, of each chunk its fate, of the scores and reasons a hash."""
    row = without_costs(row)
    fates: dict[str, list[str]] = {}
    for chunk in row["chunks"]:
        fates.setdefault("kept" if chunk["kept"] else chunk["dropped_by"], []).append(chunk["id"][:6])
    told = [[chunk["scores"], chunk["reason"]] for chunk in row["chunks"]]
    cited = [
        [one["marker"], one["source"], one["page"], one["start"], one["end"], one["score"], one["scale"], one["origin"]]
        for one in row["citations"]
    ]
    return {
        **{key: row[key] for key in ("question", "text", "abstained", "reason", "verdict", "confidence")},
        "citations": cited,
        "conflicts": row["conflicts"],
        "degraded": row["degraded"],
        "steps": [[step["name"], step["considered"], step["kept"]] for step in row["steps"]],
        "chunks": {fate: " ".join(ids) for fate, ids in fates.items()},
        "scores": hashlib.sha1(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10],
    }


def explained(home: Path, recipe: str) -> str:
    """The golden file of a recipe."""
    return "".join(json.dumps(short(row), ensure_ascii=False) + "\n" for row in asked(home, recipe))


def scored(home: Path) -> str:
    """`eval score --json` of a run of fifty questions, without what it cost."""
    with tempfile.TemporaryDirectory() as temporary:
        questions = Path(temporary) / "questions.jsonl"
        lines = [
            {
                "id": f"q{number}",
                "question": one["question"],
                "answers": one["answers"],
                "answerable": True,
                "gold": [{"source": id_} for id_ in one.get("gold_ids") or one.get("silver_ids") or ()],
            }
            for number, one in enumerate(wikipedia()[0][:SCORED])
        ]
        questions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        common = ["--home", str(home), "--collection", "inside"]
        run = ["eval", "run", "--dataset", f"qa:{questions}", "--recipe", "hybrid", "--recipe", "corrective"]
        out = str(Path(temporary) / "run")
        _thresher([*run, *common, "--outside", "collection:outside", "--out", out])
        recipes = json.loads(_thresher(["eval", "score", out, "--json"]))["recipes"]
    kept = {
        recipe: {name: one for name, one in measures.items() if not name.startswith(COSTS)}
        for recipe, measures in recipes.items()
    }
    return json.dumps(kept) + "\n"


def _thresher(arguments: Sequence[str]) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "thresher"), *arguments],
        env={**os.environ, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def helped(thresher: Callable[[Sequence[str]], str] = _thresher) -> str:
    """`--help` of every command; `thresher` calls a command and returns what it prints."""
    told = []
    waiting = [[]]
    while waiting:
        command = waiting.pop(0)
        text = thresher([*command, "--help"])
        told.append(f"$ thresher {' '.join([*command, '--help'])}\n{text}")
        _, _, listed = text.partition("\nCommands:\n")
        waiting += [[*command, line.split()[0]] for line in listed.splitlines() if line[2:3].strip()]
    return "\n".join(told)


def machine() -> str:
    """What int8 arithmetic depends on."""
    known = ("avx2", "avx512_vnni", "avx_vnni", "amx_int8")
    with contextlib.suppress(OSError):
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
        return json.dumps([flag for flag in known if flag in flags]) + "\n"
    return "null\n"


def main(arguments: Sequence[str]) -> int:
    """Record, or compare."""
    if arguments[:1] not in (["record"], ["compare"]):
        print(__doc__)
        return 2
    what, *only = arguments
    different = 0
    with collections() as home:
        makers: dict[str, Callable[[], str]] = {
            "help.txt": helped,
            "score.json": lambda: scored(home),
            "machine.json": machine,
        }
        makers |= {f"explain-{name}.jsonl": partial(explained, home, name) for name in RECIPES}
        for name, make in makers.items():
            if only and not any(word in name for word in only):
                continue
            text, file = make(), HERE / name
            if what == "record":
                file.write_text(text, encoding="utf-8")
                continue
            before = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
            rows = [pair for pair in zip_longest(before, text.splitlines(), fillvalue="") if pair[0] != pair[1]]
            different += len(rows)
            print(f"{name}: {len(rows)} of {len(before)} lines differ")
            for one, other in rows[:20]:
                print(f"  - {one[:2000]}\n  + {other[:2000]}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
