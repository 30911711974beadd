"""Processes that change and ask a home until they are killed: `python worker.py HOME FOLDER`.

For each seed on standard input one is forked, before anything of the store was used: loading the modules takes longer
than most actions. Each action is a line of JSON on stdout before it begins, and one with `done` after it. Every version
of a file has a token of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
from importlib import import_module
from pathlib import Path

import thresher
from thresher.home.folders import names
from thresher.testing.fakes import HashEncoder

FILES = 12
NAMES = ("default", "moved")
ENCODER = HashEncoder(32)
QUESTION = "Which keeper of the lighthouse counted the boats?"


def say(told: object) -> None:
    """Tell the process that kills."""
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()


def version(chance: random.Random) -> str:
    """A text with a token of its own."""
    token = f"secretum{chance.getrandbits(64):016x}"
    return "\n\n".join(f"The keeper {token} of the lighthouse counted {n} boats in May." for n in range(1, 10))


def write(file: Path, text: str) -> None:
    """A file, whole or not at all."""
    beside = file.with_name(".beside")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def act(home: Path, folder: Path, chance: random.Random) -> None:
    """One action, told before and after."""
    name = next((name for name in NAMES if name in names(home)), NAMES[0])
    present = sorted(folder.glob("*.txt"))
    match chance.choice(["index", "index", "ask", "purge", "move"]):
        case "index":
            changed = {f"{n:02}.txt": version(chance) for n in chance.sample(range(FILES), 4)}
            say({"act": "index"})
            for file, text in changed.items():
                write(folder / file, text)
            with thresher.open(home, name, encoder=ENCODER) as collection:
                collection.add(folder, recipe="rag")
        case "ask" if present:
            say({"act": "ask"})
            with thresher.open(home, name, encoder=ENCODER) as collection:
                collection.ask(QUESTION, recipe="rag")
        case "purge" if present:
            with thresher.open(home, name, encoder=ENCODER) as collection:
                held = [record.source for record in collection.documents()] if name in names(home) else []
                if not held:
                    return
                gone = chance.choice(held)
                say({"act": "purge", "source": gone})
                Path(gone).unlink(missing_ok=True)
                collection.delete(gone, purge=True)
        case "move" if name in names(home):
            say({"act": "move"})
            thresher.collections(home).rename(name, NAMES[1 - NAMES.index(name)])
        case _:
            return
    texts = {str(file): file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.txt"))}
    say({"act": "done", "texts": texts})


def main(home: str, folder: str) -> None:
    """Fork one process after the other, each of which acts until it is killed."""
    import_module("thresher.recipes.build")
    import_module("lancedb")
    for seed in sys.stdin:
        child = os.fork()
        if not child:
            os.setsid()
            say({"act": "begun", "pid": os.getpid()})
            chance = random.Random(int(seed))
            while True:
                act(Path(home), Path(folder), chance)
        _, status = os.waitpid(child, 0)
        sys.stdout.write("\n")  # after half a line
        say({"act": "ended", "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0})


if __name__ == "__main__":
    main(*sys.argv[1:])
