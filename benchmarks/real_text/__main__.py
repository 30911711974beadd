"""Fetch the texts that exist for their own sake, and check the questions to them; `benchmarks.questions` asks them.

python -m benchmarks.real_text fetch
python -m benchmarks.real_text check
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.real_text import documents, questions


def fetch() -> int:
    """Download and unpack the packages of manuals."""
    documents.fetch()
    print(f"{len(documents.pages())} pages and {len(documents.PAPERS)} papers")
    return 0


def check() -> int:
    """Check the questions against what is read of the documents."""
    texts = documents.texts()
    wrong = [f"{one.id}: {each}" for one in questions.load() for each in questions.problems(one, texts)]
    print("\n".join(wrong) or f"{len(texts)} documents, nothing wrong")
    return 1 if wrong else 0


def main() -> int:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="benchmarks.real_text", description=__doc__)
    commands = {"fetch": fetch, "check": check}
    parser.add_argument("command", choices=commands)
    return commands[parser.parse_args().command]()


if __name__ == "__main__":
    sys.exit(main())
