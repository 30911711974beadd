"""Loads `KIND:PATH`. A new kind is a file with a loader and a line in `KINDS`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher_evals.dataset import Dataset, Question, members, read_split
from thresher_evals.datasets.beir import load_beir
from thresher_evals.datasets.derived import load_refusal, load_routing
from thresher_evals.datasets.long_form import load_asqa, load_biography, load_clapnq, load_multihop
from thresher_evals.datasets.multiple_choice import load_arc, load_choice, load_climate_fever, load_pubhealth
from thresher_evals.datasets.open_domain import load_popqa_longtail, load_squad, load_wikipedia
from thresher_evals.datasets.qa import QUESTIONS, load_papers, load_qa
from thresher_evals.datasets.records import Loader, digest

KINDS: dict[str, Loader] = {
    "arc": load_arc,
    "asqa": load_asqa,
    "beir": load_beir,
    "biography": load_biography,
    "choice": load_choice,
    "clapnq": load_clapnq,
    "climate-fever": load_climate_fever,
    "multihop": load_multihop,
    "papers": load_papers,
    "popqa-longtail": load_popqa_longtail,
    "pubhealth": load_pubhealth,
    "qa": load_qa,
    "refusal": load_refusal,
    "routing": load_routing,
    "squad": load_squad,
    "wikipedia": load_wikipedia,
}

COME_ALONG: Mapping[str, Path] = {"papers": QUESTIONS}
"""Kinds whose questions are in the package, so that the path may be omitted."""


def load(spec: str, *, split: str = "all", sample: int | None = None, seed: int = 0) -> Dataset:
    """The questions of `KIND:PATH` in the split, or a seeded random `sample` of them.

    A kind in `COME_ALONG` (`papers`) needs no path. `split` is train, tune, final or all; see `thresher_evals.dataset`.
    Raises UsageError for files that cannot be read, UnknownSetting for an unknown kind.
    """
    kind, colon, location = spec.partition(":")
    own = COME_ALONG.get(kind) if not colon else None
    if own is None and not location:
        raise UsageError("not KIND:PATH", subject=spec, next_step=f"kinds are {', '.join(KINDS)}")
    if kind not in KINDS:
        raise UnknownSetting(kind, KINDS, kind="kind of dataset")
    if sample is not None and sample < 1:
        raise UsageError(f"sample is {sample}", subject=spec, next_step="give a number from 1")
    path = own or Path(location).expanduser()
    if not path.exists():
        raise UsageError(
            "no such file or folder",
            subject=str(path),
            next_step=f"check the path; docs/datasets.md says what {kind} is made of and where to get it",
        )
    part = read_split(split)
    content = KINDS[kind](path, part)
    questions = members(content.questions, part)
    if not questions:
        where, advice = ("it", "files") if split == "all" else (f"its split {split}", "files, or take the `split` all")
        raise UsageError(f"no questions in {where}", subject=spec, next_step=f"check the dataset's {advice}")
    ids = {question.id for question in questions}
    return Dataset(
        kind,
        path.name if path.is_dir() else path.stem,
        spec,
        path,
        digest(*(content.files or (path,))),
        questions if sample is None else sampled(questions, sample, seed),
        content.task,
        content.corpus,
        content.collection,
        content.corpora,
        references={id: texts for id, texts in content.references.items() if id in ids},
        note=content.note,
        split=split,
        sample=sample,
        available=len(questions),
        seed=seed,
    )


def sampled(questions: tuple[Question, ...], size: int, seed: int) -> tuple[Question, ...]:
    """`size` questions in their order; a smaller sample with the same seed is contained in a larger one."""

    def draw(question: Question) -> str:
        return hashlib.sha256(f"{seed}:{question.id}".encode("utf-8", "backslashreplace")).hexdigest()

    chosen = {question.id for question in sorted(questions, key=draw)[:size]}
    return tuple(question for question in questions if question.id in chosen)


def references_of(asked: Mapping[str, Any], questions: Iterable[Question]) -> Mapping[str, tuple[str, ...]]:
    """The texts that check long answers, by question id; empty if no question has a topic.

    `asked` is the dataset in run.json. Raises UsageError if its files have changed since.
    """
    if not any(question.topic for question in questions):
        return {}
    dataset = load(asked["spec"], split=asked.get("split", "all"))
    if dataset.sha256 != asked["sha256"]:
        raise UsageError(
            f"is not the file that was asked (was {asked['sha256']:.12}, now {dataset.sha256:.12})",
            subject=asked["spec"],
            next_step="put the old file back, or judge other measures than factscore",
        )
    return dataset.references
