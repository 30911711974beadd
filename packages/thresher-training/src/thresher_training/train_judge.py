"""Trains the judge further on a person's labels, with negatives from their own collection."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from thresher import recipes
from thresher.collection import Label
from thresher.errors import MissingExtra
from thresher.home.places import LocalFiles, working_folder
from thresher.judging.scorers import JUDGE_FILE, LogOdds, TunedJudge
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.parts.chunking import sentence_spans
from thresher.protocols import Counting, Home
from thresher.recipes import corrective
from thresher.recipes.components import Components
from thresher.recipes.judges import calibration, judge_folder, trained_scorer
from thresher.recipes.settings import CorrectiveSettings
from thresher.settings import flat_public
from thresher.text.terms import folded, term_set
from thresher.types import Public, Query
from thresher_training.comparing import Case, Comparison, compared, fitted_judge
from thresher_training.labels import Group, Labelled, PartName, Passage, of_feedback, parted, read_labels, together

if TYPE_CHECKING:
    from thresher_training.tuning import Run

SHORT = 12
"""Characters of the hash that names the folder of a training."""

CANDIDATES = 16
"""Passages retrieved for each question."""

NEGATIVES = 6
"""Best retrieved passages that count as irrelevant where passages are labelled; others stay unlabelled."""

SAME_WORDS = 0.5
"""Share of the shorter text's words from which a retrieved passage counts as the labelled one with other bounds."""

PIECE_CHARACTERS = 600
"""A longer passage is trained on its most relevant piece by the judge, as in retrieval."""


@dataclass(frozen=True, slots=True)
class Trained(Public):
    """What came of a training: the questions of each part, the comparison, and where the judge is, if it is better."""

    questions: Mapping[str, int]
    passages: int
    comparison: Comparison
    installed: Path | None
    report: Path

    def __str__(self) -> str:
        counts = ", ".join(f"{number} questions to {part}" for part, number in list(self.questions.items())[:2])
        lines = [f"{counts}, {self.comparison.questions} held out; {self.passages} passages"]
        lines += ["held out, 95 % intervals:", *(f"  {one}" for one in self.comparison.measured)]
        if self.installed is None:
            lines.append("no significant gain on the held-out questions: the judge was not replaced")
        else:
            use = f"--set judge_model={quote(str(self.installed))}, or judge_model = ... in thresher.toml"
            lines += [f"installed: {self.installed}", f"use it: {use}"]
        return "\n".join([*lines, f"report: {self.report}"])


@contextmanager
def silently(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A counter without output."""
    yield lambda done: None


def train(
    file: Path | None,
    feedback: Sequence[Label],
    settings: CorrectiveSettings,
    parts: Components,
    home: Home,
    *,
    epochs: int,
    seed: int,
    counting: Counting | None = None,
) -> Trained:
    """Train on the labels of a file and of `feedback`; the judge is kept if it is better on held-out labels.

    It is installed in the folder `judges` of `home`. An interrupted call continues from its last checkpoint when
    repeated. Raises MissingExtra without torch, UsageError for unusable labels.
    """
    try:
        from thresher_training.export import exported
        from thresher_training.tuning import Run
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "onnx"):
            raise
        raise MissingExtra(error.name, distribution="thresher-training") from error
    counting = counting or silently
    labels = together([*([] if file is None else read_labels(file)), *of_feedback(feedback)])
    config = recipes.get("corrective").index_config(settings, parts)
    assert config is not None, "the recipe retrieves"
    scorer = trained_scorer(settings, parts, parts.table(config))
    identity = [labels, flat_public(settings), epochs, seed, scorer.reader.name, parts.store.version]
    short = hashlib.sha256(repr(identity).encode("utf-8", "replace")).hexdigest()[:SHORT]
    folder = working_folder(parts.store.folder) / "training" / short
    groups = _gathered(folder / "groups.json", labels, settings, parts, counting)
    base = judge_folder(settings) or BUNDLED_JUDGE
    run = Run(folder, base, [group for group in groups if group.part == "train"], epochs, seed)
    with counting(len(run.plan()), "steps") as progress:
        judge = run.trained(progress)
    staged = folder / "judge"
    weights = exported(judge, run.config, run.sample())
    name = f"{parts.store.folder.name}-{hashlib.sha256(weights).hexdigest()[:8]}"
    _write(staged, run, weights)
    candidate = BundledJudge(staged)
    seen = {part: [group for group in groups if group.part == part] for part in ("tune", "held out")}
    tuned = fitted_judge(
        cases(seen["tune"], candidate), LogOdds(), name=name, encoder=parts.encoder(settings).name, seed=seed
    )
    _whole(staged / JUDGE_FILE, tuned.to_dict())
    before = TunedJudge(scorer.odds, calibration(settings, parts, scorer.name))
    held = seen["held out"]
    comparison = compared(
        (cases(held, parts.models.judge(judge_folder(settings))), before),
        (cases(held, candidate), tuned),
        seed=seed,
    )
    installed = _installed(staged, working_folder(home).resolve() / "judges" / name) if comparison.better else None
    shutil.rmtree(staged, ignore_errors=True)
    counts: dict[str, int] = {part: sum(group.part == part for group in groups) for part in _PARTS}
    passages = sum(len(group.relevant) + len(group.irrelevant) for group in groups)
    made = Trained(counts, passages, comparison, installed, folder / "report.json")
    _whole(made.report, json.loads(json.dumps(made.to_dict(), default=str)))
    (folder / "checkpoint.pt").unlink(missing_ok=True)
    return made


_PARTS: tuple[PartName, ...] = ("train", "tune", "held out")

# --- labels and retrieved passages ------------------------------------------------------------------------------------


def _gathered(
    file: Path, labels: Sequence[Labelled], settings: CorrectiveSettings, parts: Components, counting: Counting
) -> list[Group]:
    """The groups of all parts, from the file if an earlier run wrote it."""
    if file.exists():
        return [Group.from_dict(stored) for stored in json.loads(file.read_text(encoding="utf-8"))]
    _, retrieve = corrective.searched(settings, parts)
    reader = parts.models.judge(judge_folder(settings))
    groups = []
    with counting(len(labels), "questions") as progress:
        for one in labels:
            found = retrieve(Query(one.question, one.question, CANDIDATES)).kept
            groups.append(grouped(one, [Passage(hit.chunk.title, hit.chunk.text) for hit in found]))
            progress(1)
    groups = parted(groups)
    training = [group for group in groups if group.part == "train"]
    with counting(len(training), "questions read") as progress:
        for at, group in enumerate(groups):
            if group.part == "train":
                groups[at] = _focused(group, reader)
                progress(1)
    _whole(file, [asdict(group) for group in groups])
    return groups


def grouped(one: Labelled, found: Sequence[Passage]) -> Group:
    """The labels of a question with retrieved passages.

    With answers: passages that contain one are relevant, others not. Otherwise the best retrieved passages that are not
    labelled are irrelevant; if only irrelevant ones are labelled, they stay unlabelled.
    """
    if one.answers:
        wanted = [_words(answer) for answer in one.answers]
        holding = [passage for passage in found if any(answer in _words(passage.text) for answer in wanted)]
        others = [passage for passage in found if passage not in holding]
        return Group(one.question, (*one.relevant, *holding), (*one.irrelevant, *others))
    if not one.relevant and one.irrelevant:
        return Group(one.question, (), one.irrelevant, tuple(found))
    known = [term_set(passage.text) for passage in (*one.relevant, *one.irrelevant)]
    new = [passage for passage in found if not any(_same(term_set(passage.text), words) for words in known)]
    return Group(one.question, one.relevant, (*one.irrelevant, *new[:NEGATIVES]), tuple(new[NEGATIVES:]))


def _words(text: str) -> str:
    """Words separated and enclosed by spaces, so that answers match whole words."""
    return f" {' '.join(''.join(mark if mark.isalnum() else ' ' for mark in folded(text)).split())} "


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_WORDS * max(1, min(len(one), len(other)))


def _focused(group: Group, judge: BundledJudge) -> Group:
    def focused(passages: Sequence[Passage]) -> tuple[Passage, ...]:
        return tuple(_piece(group.question, passage, judge) for passage in passages)

    relevant, irrelevant = focused(group.relevant), focused(group.irrelevant)
    return replace(group, relevant=relevant, irrelevant=irrelevant)


def _piece(question: str, passage: Passage, judge: BundledJudge) -> Passage:
    pieces: list[tuple[int, int]] = []
    for start, end in sentence_spans(passage.text):
        if pieces and end - pieces[-1][0] <= PIECE_CHARACTERS:
            pieces[-1] = pieces[-1][0], end
        else:
            pieces.append((start, end))
    if len(pieces) < 2:
        return passage
    texts = [passage.text[start:end] for start, end in pieces]
    readings = judge.read(question, texts, [passage.title] * len(texts))
    return Passage(passage.title, texts[max(range(len(texts)), key=lambda at: readings[at].relevance)])


# --- judging and installing -------------------------------------------------------------------------------------------


def cases(groups: Sequence[Group], judge: BundledJudge) -> list[Case]:
    """A judge's logits for the whole passages of each question."""

    def logits(question: str, passages: Sequence[Passage]) -> tuple[float, ...]:
        texts, titles = [passage.text for passage in passages], [passage.title for passage in passages]
        return tuple(reading.relevance for reading in judge.read(question, texts, titles))

    return [Case(logits(group.question, group.relevant), logits(group.question, group.irrelevant)) for group in groups]


def _write(folder: Path, run: Run, weights: bytes) -> None:
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    (folder / "onnx/model.onnx").write_bytes(weights)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"):
        shutil.copyfile(run.base / name, folder / name)


def _installed(staged: Path, target: Path) -> Path:
    """Move the staged folder to its target atomically, unless that has the same weights already."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        staged.replace(target)
    return target


def _whole(file: Path, value: Any) -> None:
    LocalFiles(file.parent).write(file.name, json.dumps(value, ensure_ascii=False).encode())
