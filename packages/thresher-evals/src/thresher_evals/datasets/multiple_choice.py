"""Questions with options: `choice`, `arc`, and the claims of `pubhealth` and `climate-fever`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

from thresher_evals.dataset import Gold, Question, Split
from thresher_evals.datasets.records import Articles, Content, Passages, Record, sides, unique

LETTERS = tuple(ascii_uppercase[:8])
"""Letters of options; `thresher_evals.metrics.answers` reads the one that an answer names."""


def load_choice(path: Path, split: Split) -> Content:
    """All lines in order; the collection has the `contexts` of all lines, if any."""
    contexts = Passages()
    lines = unique(path)
    questions = [read_choice(id, record) for id, record in lines.items()]
    for record in lines.values():
        for text in record.texts("contexts"):
            contexts.add("", text)
    return Content(questions, corpora=sides(contexts))


def load_arc(path: Path, split: Split) -> Content:
    """ARC-Challenge (Clark et al. 2018, arXiv 1803.05457) with the contexts that CRAG's authors published.

    All lines in order; `internal` contexts are inside, `web` contexts outside.
    """
    inside, outside = Passages(), Passages()
    lines = unique(path)
    questions = [read_choice(id, record) for id, record in lines.items()]
    for record in lines.values():
        for name, passages in (("internal", inside), ("web", outside)):
            if text := record.optional(name):
                passages.add("", text)
    note = "contexts are CRAG's, refined already; which of them answers is not known, so there are no gold passages"
    return Content(questions, corpora=sides(inside, outside), note=note)


def read_choice(id: str, record: Record) -> Question:
    """A line with `choices` (letters to texts, or ARC's two lists) or `labels`, and the `answer` among them.

    Choices are lettered from A in order, whatever the file calls them: some of ARC's are numbered.
    """
    question = record.text("question")
    answer = record.identity("answer" if "answer" in record.fields else "answerKey")
    if record.fields.get("labels") is not None:
        labels = checked(record, record.texts("labels"), answer)
        return Question(id, with_labels(question, labels), (answer,), options=labels)
    names, texts = choices_of(record)
    letters = LETTERS[: len(checked(record, names, answer))]
    right = letters[names.index(answer)]
    lettered = "".join(f"\n({letter}) {text}" for letter, text in zip(letters, texts, strict=True))
    return Question(id, question + lettered, (right,), options=letters)


def choices_of(record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and texts of the choices."""
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
    """The names of the options. Raises UsageError unless they are several, distinct, and contain the answer."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise record.bad("fewer than two options, or two of the same name")
    if answer not in names:
        raise record.bad(f"the answer '{answer}' is none of the options", next_step=f"they are {', '.join(names)}")
    return names


def with_labels(question: str, labels: Sequence[str]) -> str:
    """The question with the allowed labels."""
    return f"{question}\nAnswer with one of these labels: {', '.join(labels)}."


# --- claims -----------------------------------------------------------------------------------------------------------

PUBHEALTH = ("true", "false", "mixture", "unproven")
PUBLISHED = ("true", "false")
"""The labels that Self-RAG and the reports after it keep, as SUPPORTS and REFUTES."""

CLIMATE_FEVER = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO", "DISPUTED")
DECIDING = ("SUPPORTS", "REFUTES")
"""Labels of sentences that support or refute their claim; a DISPUTED claim has both."""


def load_pubhealth(path: Path, split: Split) -> Content:
    """Health claims with fact checkers' labels (PubHealth, Kotonya and Toni 2020, arXiv 2010.09926).

    All claims in order, with their label as category; the collection has the checkers' explanations.
    """
    lines = unique(path, "id", "claim_id")
    labels = {id: record.one_of("label", PUBHEALTH) for id, record in lines.items()}
    options = tuple(label for label in PUBHEALTH if label in labels.values())
    explanations = Passages()
    questions: list[Question] = []
    for id, record in lines.items():
        claim = record.text("claim")
        text = with_labels(f"Claim: {claim}\nIs this health claim right?", options)
        explanation, label = record.optional("explanation"), labels[id]
        gold = (Gold(explanations.add("", explanation)),) if explanation else ()
        questions.append(Question(id, text, (label,), gold=gold, category=label, options=options, claim=claim))
    others = sum(label not in PUBLISHED for label in labels.values())
    note = (
        "oracle evidence: the explanation leaks the label; not comparable with published numbers, which leave out "
        f"claims that are neither true nor false ({others} of {len(questions)} here)"
    )
    return Content(questions, corpora=sides(explanations), note=note)


def load_climate_fever(path: Path, split: Split) -> Content:
    """Claims about the climate and sentences of Wikipedia (Diggelmann et al. 2020, arXiv 2012.00614).

    All claims in order, with their label as category; a passage has all known sentences of an article. Gold are the
    sentences that support or refute the claim.
    """
    lines = unique(path, "claim_id", "id")
    labels = {id: record.one_of("claim_label", CLIMATE_FEVER) for id, record in lines.items()}
    options = tuple(label for label in CLIMATE_FEVER if label in labels.values())
    articles = Articles()
    questions: list[Question] = []
    for id, record in lines.items():
        claim, label = record.text("claim"), labels[id]
        text = with_labels(f"Claim: {claim}\nWhat does the evidence say of this claim?", options)
        gold: dict[Gold, None] = {}
        for evidence in record.objects("evidences"):
            place = articles.add(evidence.text("article"), evidence.text("evidence"))
            if evidence.text("evidence_label") in DECIDING:
                gold[place] = None
        places = tuple(gold)
        questions.append(Question(id, text, (label,), gold=places, category=label, options=options, claim=claim))
    note = "the collection is the evidence of all claims: sentences of an article are together, others are missing"
    return Content(questions, corpora=sides(articles), note=note)
