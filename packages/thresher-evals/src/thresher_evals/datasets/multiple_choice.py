"""`choice:FILE.jsonl`: questions with options, one of which is right, asked of what comes along or of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

from thresher_evals.dataset import Dataset, Gold, Question, Split
from thresher_evals.datasets.records import Articles, Passages, loaded, objects, one_of, optional_text, sides, unique
from thresher_evals.jsonl import Record, records

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


# --- `arc:FILE`: ARC-Challenge (Clark et al. 2018, arXiv 1803.05457) with the contexts that CRAG's authors pu----------


def load_arc(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; all `internal` contexts are inside and all `web` contexts outside."""
    inside, outside = Passages(), Passages()
    questions: list[Question] = []
    for id, record in unique(records(path)).items():
        questions.append(read_choice(id, record))
        for name, passages in (("internal", inside), ("web", outside)):
            if text := optional_text(record, name):
                passages.add("", text)
    note = "contexts are CRAG's, refined already; which of them answers is not known, so there are no gold passages"
    return loaded("arc", spec, path, questions, split, corpora=sides(inside, outside), note=note)


# --- `pubhealth:FILE`: health claims and what fact checkers called them (PubHealth, Kotonya and Toni 2020, 20----------


LABELS = ("true", "false", "mixture", "unproven")
PUBLISHED = ("true", "false")
"""The labels that Self-RAG and the reports after it keep, as SUPPORTS and REFUTES."""


def load_pubhealth(spec: str, path: Path, split: Split) -> Dataset:
    """Every claim in its order, with its label as category; the collection is made of the checkers' explanations."""
    asked = unique(records(path), "id", "claim_id")
    labels = {id: one_of(record, "label", LABELS) for id, record in asked.items()}
    options = tuple(label for label in LABELS if label in labels.values())
    explanations = Passages()
    questions: list[Question] = []
    for id, record in asked.items():
        text = with_labels(f"Claim: {record.text('claim')}\nIs this health claim right?", options)
        explanation, label = optional_text(record, "explanation"), labels[id]
        gold = (Gold(explanations.add("", explanation)),) if explanation else ()
        questions.append(Question(id, text, (label,), gold=gold, category=label, options=options))
    others = sum(label not in PUBLISHED for label in labels.values())
    note = (
        "oracle evidence: the explanation leaks the label; not comparable with published numbers, which leave out "
        f"claims that are neither true nor false ({others} of {len(questions)} here)"
    )
    return loaded("pubhealth", spec, path, questions, split, corpora=sides(explanations), note=note)


# --- `climate-fever:FILE`: claims about the climate and sentences of Wikipedia (Diggelmann et al. 2020, 2012.----------


CLIMATE_FEVER_LABELS = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED")
DECIDING = ("SUPPORTS", "REFUTES")
"""Labels of sentences that say something of their claim; one is DISPUTED by sentences of both kinds."""


def load_climate_fever(spec: str, path: Path, split: Split) -> Dataset:
    """Every claim in its order, with its label as category; a passage has all sentences that are known of an article.

    Gold are the sentences that support or refute the claim.
    """
    asked = unique(records(path), "claim_id", "id")
    labels = {id: one_of(record, "claim_label", CLIMATE_FEVER_LABELS) for id, record in asked.items()}
    options = tuple(label for label in CLIMATE_FEVER_LABELS if label in labels.values())
    articles = Articles()
    questions: list[Question] = []
    for id, record in asked.items():
        text = with_labels(f"Claim: {record.text('claim')}\nWhat does the evidence say of this claim?", options)
        found = [read_evidence(evidence, articles) for evidence in objects(record, "evidences")]
        gold = tuple(dict.fromkeys(place for place, decides in found if decides))
        questions.append(Question(id, text, (labels[id],), gold=gold, category=labels[id], options=options))
    note = "the collection is the evidence of all claims: sentences of an article are together, others are missing"
    return loaded("climate-fever", spec, path, questions, split, corpora=sides(articles), note=note)


def read_evidence(evidence: Record, articles: Articles) -> tuple[Gold, bool]:
    """The place of a sentence, and whether it supports or refutes the claim."""
    place = articles.add(evidence.text("article"), evidence.text("evidence"))
    return place, evidence.text("evidence_label") in DECIDING
