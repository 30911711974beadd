"""How many words of real files are not kept when they are read, by kind of file.

    .venv/bin/python -m benchmarks.fidelity FOLDER... [--most N]

Every file under the folders of a kind that has an account, at most N of a kind (100), chosen by the hash of its name.
The words are those of the file's own text nodes (`thresher.documents.account`); of a PDF they are PDFium's text. A file
of which too much is lost, which `index` refuses, counts with all that it loses.
Printed are a table for each kind and the files that lose the largest share.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from thresher.documents.account import PIECES, Account, account, words_of
from thresher.documents.assembly import Parsed
from thresher.documents.formats.pdf.glyphs import glyphs_of, joined
from thresher.documents.formats.pdf.opening import opened
from thresher.documents.registry import RawFile, by_extension, kind_of
from thresher.errors import ThresherError

COUNTED = {*PIECES, "pdf", "email", "mht"}
WORST = 12


@dataclass(slots=True)
class Tally:
    """What became of the files of one kind."""

    files: int = 0
    refused: int = 0
    size: int = 0
    seconds: float = 0.0
    words: int = 0
    missing: int = 0
    losing: int = 0
    """Files with a word that is missing."""
    places: Counter[str] = field(default_factory=Counter)


def chosen(folders: list[str], most: int) -> Iterator[tuple[str, Path]]:
    """The files to read, with their kinds."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in Path(folder).rglob("*"):
            kind = by_extension(path.suffix)
            if kind and kind.name in COUNTED and path.is_file() and not path.is_symlink():
                found[kind.name].append(path)
    for name, paths in sorted(found.items()):
        yield from ((name, path) for path in sorted(paths, key=lambda one: sha256(one.name.encode()).digest())[:most])


def counted(file: RawFile, parsed: Parsed) -> Account | None:
    """The account of a file; of a PDF by the text of its pages."""
    if file.kind.name != "pdf":
        return account(file, parsed)
    with opened(file.data) as document:
        there = Counter(words_of("\n".join(joined(page.characters) for page in glyphs_of(document))))
    missing = there - Counter(words_of(f"{parsed.text}\n{parsed.title}"))
    return Account(sum(there.values()), sum(missing.values()), ("running heads",))


def main() -> None:
    """Read the files and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--most", type=int, default=100)
    given = parser.parse_args()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    worst: list[tuple[float, str, Account]] = []
    for kind, path in chosen(given.folders, given.most):
        tally, data = tallies[kind], path.read_bytes()
        tally.files += 1
        begun = time.process_time()
        try:
            file = RawFile(data, kind_of(data, name=path.name), path.name)
            read = file.kind.read(file)
            parsed = read if isinstance(read, Parsed) else next(one for one in read if isinstance(one, Parsed))
        except (ThresherError, StopIteration) as error:
            print(f"not read: {path}: {error}")
            tally.refused += 1
            continue
        tally.seconds += time.process_time() - begun
        tally.size += len(data)
        found = counted(file, parsed)
        if found is None:
            continue
        tally.words += found.words
        tally.missing += found.missing
        tally.losing += bool(found.missing)
        tally.places.update(dict.fromkeys(found.places, 1) if found.missing else {})
        worst.append((found.missing / max(1, found.words), str(path), found))
    print("| kind | files | not read | MB | words | not kept | share | files that lose one | where | seconds a MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind, tally in tallies.items():
        share = f"{tally.missing / tally.words:.4%}" if tally.words else "-"
        where = ", ".join(place for place, _ in tally.places.most_common(3)) or "-"
        size = tally.size / 1e6
        print(
            f"| {kind} | {tally.files} | {tally.refused} | {size:.1f} | {tally.words:,} | {tally.missing:,} | {share} "
            f"| {tally.losing} | {where} | {tally.seconds / max(size, 0.001):.2f} |"
        )
    for lost, name, found in sorted(worst, reverse=True)[:WORST]:
        print(f"{lost:.2%} {found.missing} of {found.words} ({', '.join(found.places)}): {name}")


if __name__ == "__main__":
    main()
