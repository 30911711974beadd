"""Questions to handbooks whose wrong texts are of the same page as the right one, for the judge.

    .venv/bin/python -m research.page_negatives --out DATA/pages.jsonl PACKAGE_FOLDER ..

A page is cut as `corrective` cuts it. What is asked is an entry of a list of options or settings (a line that begins
with a name which is no plain word, and prose below it) or a section, by its heading; right is the chunk that holds its
beginning. Wrong are chunks of the same page that hold nothing of the entry or section: `contents` has the name in lists
of names, or is a list, `code` has it in lines of code, or is code, `mention` has it in other sentences, `beside` is the
chunk before or behind, `alike` shares most terms with the question. Writes groups of the shape of
`research.train.groups`, which reads the file as the stream `pages`. The packages of `benchmarks.real_text` are refused.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real_text.documents import PACKAGES
from research.train.groups import number_of
from thresher.documents.read import parse
from thresher.documents.sources import Item, fetch
from thresher.errors import ThresherError
from thresher.recipes.cuts import hierarchy
from thresher.recipes.settings import CorrectiveSettings
from thresher.text.language import language_of
from thresher.text.terms import term_set
from thresher.types import Chunk, Document

SEED = 11
PAGES, ENTRIES, SECTIONS = 40, 14, 6
"""Of a package, and of a page, at most: one handbook is not to be a tenth of the rows."""
SHORTEST_PAGE, SHORTEST_CHUNK = 6, 150
"""Chunks of a page and characters of a chunk: in a shorter page there is nothing to mistake."""
KINDS = ("contents", "code", "mention", "beside", "alike")
OF_A_KIND, NEGATIVES = 3, 9
DEFAULTS = 0.5
"""Share of the entries with a default that are asked for it."""
FEWEST_WORDS, MOST_WORDS = 2, 12
"""Of a heading that is asked."""
LONGEST_HEAD, SHORTEST_PROSE, SHORTEST_SECTION = 100, 60, 300
SHORTEST_NAME = 4
"""Of a name without a dash in front."""
SPAN = 200
"""Characters of the first sentence of an entry that may be the answer's place."""

NAME = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z][\w.-]*[_.-][\w.-]*\w(?:\(\))?|[a-z]+[A-Z]\w+")
"""A name that is no plain word: an option, a setting, a variable, a function."""
PROSE = re.compile(r"^[A-Z][^\n]*[a-z]{2}[^\n]*(?:\n[^\n]+)*?[.:](?=\s|$)", re.MULTILINE)
BELOW = re.compile(rf"[^\n]*\n\s*(?P<prose>{PROSE.pattern})", re.MULTILINE)
"""Prose below a heading."""
PARAGRAPH = re.compile(r"[^\n].*(?:\n(?!\s*\n).*)*")
CODE_LINE = re.compile(r"^(?:\s{2,}|[$#>%] ).*|^[^.]*[={}<>|;\\][^.]*$")
"""Indented, behind a prompt, or with the signs of code and no end of a sentence."""
LISTED = re.compile(r"^[-*•] [^.:]{1,80}$")
"""An item of a list of names: short, and no sentence."""
DEFAULT = re.compile(
    r"\b[Dd]efault(?:s to| value(?: is)?| is|:):? +"
    r"(?:[`'\"“‘](?P<quoted>[^`'\"”’\n]+)|(?P<bare>[\w./+-]*\w)(?=[).,;\n]|$))"
)

ABOUT = ("What does {} do?", "What is {} for?", "what does {} do in {package}", "what is {} used for", "meaning of {}")
VALUE = ("What is the default of {}?", "what does {} default to", "Which value has {} if I don't set it?")
WHICH = ("Which setting is it: {}?", "what do I set to {}", "how do I {} in {package}")
NUMBERED = re.compile(r"^(?:[A-Z]\.)?[\d.]+ |[¶#\uf0c1]$")
"""The number in front of a heading, and the sign of its link."""
IMPERATIVE = re.compile(
    r"(?P<verb>[A-Z][a-z]*(?:[^\Ws]|ss)) (?P<rest>(?:the|a|an|all|whether|how|which|this) [^.;:(,\n]{12,80})(?=[.;:(,])"
)

Group = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A question to a page: the name that it asks for, if one, where the page answers, and where it speaks of it."""

    kind: str
    question: str
    name: str
    place: tuple[int, int]
    extent: tuple[int, int]


def entries(document: Document, package: str, draw: random.Random) -> Iterator[Asked]:
    """Questions for what stands below a name."""
    text = document.text[: document.card]
    headings = {mark.start for mark in document.marks if mark.kind == "heading"}
    heads = []
    paragraphs = list(PARAGRAPH.finditer(text))
    for above, head, below in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False):
        line, _, rest = head[0].partition("\n")
        name = NAME.match(line)
        known = name and (name[0][0] == "-" or len(name[0]) >= SHORTEST_NAME) and head.start() not in headings
        named = not above[0].endswith(":")  # else it is the value of something
        if name and known and named and len(line) <= LONGEST_HEAD and not PROSE.match(line):
            heads.append((head.start(), head.start() + len(line) + 1 if rest else below.start(), name[0]))
    ends = sorted([*headings, *(start for start, *_ in heads), len(text)])
    for start, at, called in heads:
        prose = PROSE.match(text, at)
        if prose is None or len(prose[0]) < SHORTEST_PROSE:
            continue
        extent = (start, ends[bisect_right(ends, start)])
        stated = DEFAULT.search(text, *extent)
        if stated and draw.random() < DEFAULTS:
            question = draw.choice(VALUE).format(called)
            yield Asked("default", question, called, stated.span(stated.lastgroup or 0), extent)
        elif (act := IMPERATIVE.match(prose[0])) and draw.random() < 0.5:
            words = f"{act['verb'].lower()} {act['rest']}"
            yield Asked(
                "which", draw.choice(WHICH).format(words, package=package), called, (start, prose.end()), extent
            )
        else:
            question = draw.choice(ABOUT).format(called, package=package)
            yield Asked("option", question, called, (at, min(prose.end(), at + SPAN)), extent)


def sections(document: Document) -> Iterator[Asked]:
    """Headings that could be asked, as they stand."""
    marks = [mark for mark in document.marks if mark.kind == "heading"]
    names = Counter(mark.name for mark in marks)
    for mark, following in itertools.pairwise(marks):
        question, extent = NUMBERED.sub("", mark.name), (mark.start, following.start)
        body = BELOW.match(document.text, *extent)
        long = body and len(body["prose"]) >= SHORTEST_PROSE and extent[1] - extent[0] >= SHORTEST_SECTION
        if body and long and names[mark.name] == 1 and FEWEST_WORDS <= len(question.split()) <= MOST_WORDS:
            start, end = body.span("prose")
            yield Asked("section", question, "", (start, min(end, start + SPAN)), extent)


def group(asked: Asked, chunks: Sequence[Chunk], package: str) -> Group | None:
    """The question with its chunks; None where no chunk holds the answer's place, or none is wrong."""
    (start, end), (first, last) = asked.place, asked.extent
    right = next((at for at, one in enumerate(chunks) if one.start <= start and end <= one.end), None)
    if right is None:
        return None
    wanted = term_set(asked.question)
    whole = re.compile(rf"(?<![\w-]){re.escape(asked.name)}(?![\w-])") if asked.name else None
    kinds: dict[str, list[Group]] = {kind: [] for kind in KINDS}
    # What follows a section may be a part of it.
    free = [at for at, one in enumerate(chunks) if one.end <= first or one.start >= last + (SPAN if not whole else 0)]
    free = [at for at in free if len(chunks[at].text) >= SHORTEST_CHUNK]
    for at in sorted(free, key=lambda at: (-len(wanted & term_set(chunks[at].text)), at)):
        inked = [line for line in chunks[at].text.splitlines() if line.strip()]
        named = [line for line in inked if whole and whole.search(line)]
        if any(line.startswith(asked.name) and not LISTED.match(line) for line in named):
            continue  # it may say what is asked as well
        if named:
            kind = (
                "contents"
                if all(map(LISTED.match, named))
                else "code"
                if all(map(CODE_LINE.match, named))
                else "mention"
            )
        elif sum(CODE_LINE.match(line) is not None for line in inked) > len(inked) / 2:
            kind = "code"
        elif sum(LISTED.match(line) is not None for line in inked) > len(inked) / 2:
            kind = "contents"
        else:
            kind = "beside" if abs(at - right) == 1 else "alike"
        kinds[kind].append(as_passage(chunks[at]) | {"why": kind})
    negatives = [one for every in kinds.values() for one in every[:OF_A_KIND]][:NEGATIVES]
    if not negatives:
        return None
    answer = as_passage(chunks[right], [(start - chunks[right].start, end - chunks[right].start)])
    return {
        "set": f"page_{asked.kind}",
        "kind": "passage",
        "question": asked.question,
        "positives": [answer],
        "negatives": negatives,
        "near": [],
        "certain": True,
        "source": f"{package} {Path(chunks[right].source).name}",
    }


def as_passage(chunk: Chunk, spans: Sequence[tuple[int, int]] = ()) -> Group:
    """A chunk as the judge reads it."""
    return {"title": chunk.title, "text": chunk.text, "spans": list(spans)}


def pages_of(folder: Path) -> Iterator[Document]:
    """Pages of a package, in an order that follows from their names."""
    paths = [path for path in folder.rglob("*") if path.suffix in (".html", ".md", ".rst") and path.is_file()]
    for path in sorted(paths, key=lambda path: number_of(str(path.relative_to(folder)))):
        item = Item(source=str(path), root=str(folder), path=path)
        try:
            found = list(parse(item, *fetch(item)))
        except ThresherError:
            continue  # a page that cannot be read is not trained on
        yield from (one for one in found if isinstance(one, Document))


def groups(folder: Path) -> Iterator[Group]:
    """The questions of a package."""
    package = folder.name
    settings = CorrectiveSettings()
    cut = hierarchy(settings, settings.chunk, settings.subchunk)
    draw = random.Random(f"{SEED} {package}")
    read = 0
    for document in pages_of(folder):
        chunks = [one for one in cut(document) if one.level == "chunk"]
        if len(chunks) < SHORTEST_PAGE or language_of(document.text):
            continue
        named = list(entries(document, package.removesuffix("-doc"), draw))
        asked = [*draw.sample(named, min(ENTRIES, len(named)))]
        headed = list(sections(document))
        asked += draw.sample(headed, min(SECTIONS, len(headed)))
        yield from filter(None, (group(one, chunks, package) for one in asked))
        read += 1
        if read == PAGES:
            return


def main() -> None:
    """Write the groups and print how many there are of each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path, nargs="+", help="folders, each of the name of its package")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if hidden := [one.name for one in arguments.packages if one.name in PACKAGES]:
        sys.exit(f"{hidden[0]}: benchmarks.real_text asks pages of this package; leave it out")
    counts: Counter[str] = Counter()
    with arguments.out.open("w", encoding="utf-8") as file:
        for folder in arguments.packages:
            for one in groups(folder):
                file.write(json.dumps(one, ensure_ascii=False) + "\n")
                counts[one["set"]] += 1
                counts.update(f"{one['set']}: {text['why']}" for text in one["negatives"])
                counts[folder.name] += 1
    print(json.dumps(dict(sorted(counts.items())), indent=1))


if __name__ == "__main__":
    main()
