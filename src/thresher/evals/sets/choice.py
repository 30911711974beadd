"""`choice:FILE.jsonl`: questions with options, one of which is right, asked of what comes along or of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

from thresher.evals.labels import Dataset, Question
from thresher.evals.lines import Record, records
from thresher.evals.sets.fields import unique
from thresher.evals.sets.gathering import Passages, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split

LETTERS = tuple(ascii_uppercase[:8])
"""Letters a question's options can have; `thresher.generation.options` reads these back."""


def load_choice(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; the collection is made of the `contexts` of all lines, where there are any."""
    contexts = Passages()
    questions: list[Question] = []
    for id, record in unique(records(path)).items():
        questions.append(read_choice(id, record))
        for text in record.texts("contexts"):
            contexts.add("", text)
    return loaded("choice", spec, path, questions, split, corpora=sides(contexts))


def read_choice(id: str, record: Record) -> Question:
    """One line with `choices` (letters to texts, or ARC's two lists) or with `labels`, and the `answer` among them.

    Choices are lettered from A on in their order, whatever the file called them: some of ARC's are numbered.
    """
    question = record.text("question")
    answer = record.identity("answer" if "answer" in record.fields else "answerKey")
    if record.fields.get("labels") is not None:
        labels = checked(record, record.texts("labels"), answer)
        return Question(id, with_labels(question, labels), (answer,), options=labels)
    names, texts = choices_of(record)
    letters = LETTERS[: len(checked(record, names, answer))]
    right = letters[names.index(answer)]
    return Question(id, lettered(question, texts), (right,), options=letters)


def choices_of(record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the choices are called in the file, and their texts."""
    choices = record.fields.get("choices")
    if not isinstance(choices, dict):
        raise record.bad("no 'choices' and no 'labels'", next_step='give "choices": {"A": "...", "B": "..."}')
    if isinstance(choices.get("text"), list):
        both = Record(record.path, record.number, choices)
        names, texts = both.texts("label"), both.texts("text")
    else:
        given = Record(record.path, record.number, {"choices": list(choices.values())})
        names, texts = tuple(choices), given.texts("choices")
    if len(names) != len(texts):
        raise record.bad("a choice has no text, or no label")
    if len(names) > len(LETTERS):
        raise record.bad(f"{len(names)} choices", next_step=f"give {len(LETTERS)} at most")
    return names, texts


def checked(record: Record, names: tuple[str, ...], answer: str) -> tuple[str, ...]:
    """The names of the options, which are several and different, and the answer one of them."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise record.bad("fewer than two options, or two of the same name")
    if answer not in names:
        raise record.bad(f"the answer '{answer}' is none of the options", next_step=f"they are {', '.join(names)}")
    return names


def lettered(question: str, texts: Sequence[str]) -> str:
    """The question with its options below it, a letter before each."""
    options = "".join(f"\n({letter}) {text}" for letter, text in zip(LETTERS, texts, strict=False))
    return f"{question}{options}"


def with_labels(question: str, labels: Sequence[str]) -> str:
    """The question with the labels that may be answered."""
    return f"{question}\nAnswer with one of these labels: {', '.join(labels)}."
