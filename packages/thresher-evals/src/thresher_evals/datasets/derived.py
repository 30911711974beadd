"""`routing:FILE`: does a recipe know when its collection has the answer, and when to look elsewhere?

Half of the questions keep their evidence. The evidence of the other half is taken out of the collection and put in one
of its own, so that going there, and only going there, answers them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Corpus, Dataset, Question, Split, members, sha1_number
from thresher_evals.datasets.open_domain import Candidate, read_material
from thresher_evals.datasets.records import loaded


def load_routing(spec: str, path: Path, split: Split) -> Dataset:
    """The questions in the order of the file; the two corpora are the same for every split."""
    material = read_material(path)
    sides, moved = divided(material.answerable)
    corpora = {
        Origin.INSIDE: Corpus(tuple(passage for id, passage in material.passages.items() if id not in moved)),
        Origin.OUTSIDE: Corpus(tuple(passage for id, passage in material.passages.items() if id in moved)),
    }
    for origin, corpus in corpora.items():
        if not corpus.passages:
            raise UsageError(
                f"no passage is left {origin}", subject=str(path), next_step="give a file with more questions"
            )
    questions = tuple(
        placed(candidate.question, sides[candidate.question.id], moved)
        for candidate in material.answerable
        if candidate.question.id in sides
    )
    conflicts = len(material.answerable) - len(questions)
    note = (
        f"{material.form}: {len(moved)} of {len(material.passages)} passages moved outside; questions left out: "
        f"{material.left_out} without a first gold passage that holds the answer, {conflicts} whose evidence is "
        "needed on the other side"
    )
    return loaded("routing", spec, path, questions, split, sha256=material.sha256, corpora=corpora, note=note)


def side_of(id: str) -> Origin:
    """The half a question belongs to: outside where sha1 of "route:" and its id is odd."""
    return Origin.OUTSIDE if sha1_number(f"route:{id}") % 2 else Origin.INSIDE


def divided(candidates: Iterable[Candidate]) -> tuple[dict[str, Origin], set[str]]:
    """Question id to side, and the passages that move outside.

    A passage may answer questions of both halves (a paragraph has several). In the order of the hash a question is
    taken when the ones before it leave its evidence where it needs it, and is left out otherwise; so every question
    inside keeps its gold passage, and nothing that answers a question outside stays.
    """
    sides: dict[str, Origin] = {}
    stays: set[str] = set()
    moves: set[str] = set()
    for candidate in sorted(candidates, key=lambda one: sha1_number(f"route:{one.question.id}")):
        side = side_of(candidate.question.id)
        if side is Origin.OUTSIDE and stays.isdisjoint(candidate.evidence):
            moves.update(candidate.evidence)
        elif side is Origin.INSIDE and candidate.gold not in moves:
            stays.add(candidate.gold)
        else:
            continue
        sides[candidate.question.id] = side
    return sides, moves


def placed(question: Question, side: Origin, moved: set[str]) -> Question:
    """The question with its half as category, and where each of its gold places now is."""
    gold = tuple(
        replace(place, origin=Origin.OUTSIDE if place.source in moved else Origin.INSIDE) for place in question.gold
    )
    return replace(question, category=str(side), gold=gold)


# --- questions that no collection of public text answers: about the asker, about here and now, about nothing ----------


OFF_TOPIC = (
    # About the asker.
    "When is my next dentist appointment?",
    "How much did I pay for the heating last winter?",
    "Which shelf did I put the spare keys on?",
    "What did my sister say on the phone this morning?",
    "Who is coming to my birthday dinner on Saturday?",
    "What is the name of my neighbour's new cat?",
    "How many days of leave do I have left this year?",
    "Did I lock the back door before I went out?",
    "What was the last thing I wrote in my diary?",
    "Which of my shirts still have to be ironed?",
    "What is the password of my mail account?",
    "How much milk is left in my fridge?",
    "What grade did my daughter get in her last maths test?",
    "Where did I park my car yesterday evening?",
    "Who sat beside me in the meeting on Tuesday?",
    # About a place too small to be written about.
    "When does the bakery at our corner open on Sundays?",
    "Who mows the lawn behind our house?",
    "Why is the lift in our building out of order again?",
    "What is on the lunch menu of our canteen today?",
    "Which bus was late at our stop this morning?",
    "Who left the red umbrella in our stairwell?",
    "How long is the queue at the counter right now?",
    "What colour is the new door of the house opposite?",
    "Is the small meeting room on our floor free at three?",
    "Which of the two printers in our office has paper left?",
    "Has the parcel for the second floor arrived yet?",
    "Who borrowed the ladder from our cellar?",
    "What is the music playing in the room next door?",
    "How many people are waiting outside our office?",
    "Who forgot to water the plant on our windowsill?",
    # About what has not happened yet.
    "Which numbers will be drawn in the lottery next Saturday?",
    "Will it rain in our garden tomorrow at noon?",
    "What will a loaf of bread cost here in thirty years?",
    "Who will win the chess evening of our club next month?",
    "What shall I have dreamt of when I wake up tomorrow?",
    "Which horse will come in first in the last race tonight?",
    "How will the jury of our school play decide next week?",
    "What will the first word of my unborn nephew be?",
    "At what minute will the next train be late?",
    "Which of my teeth will hurt first?",
    "Who will ring my doorbell next?",
    "What will be written on the next postcard I get?",
    "How many emails will I receive on my last day of work?",
    "What will the last visitor of the museum say tonight?",
    "Which cup will I break next?",
    # About nothing.
    "How many corners has a Wednesday?",
    "What does the square root of blue taste like?",
    "Why did the silent umbrella divorce its thunder?",
    "How heavy is the shadow of a promise?",
    "Which left shoe invented the smell of seven?",
    "When did the letter Q apologise to the soup?",
    "How do I fold a minor key into twelve afternoons?",
    "What is the postal code of yesterday?",
    "Who married the second half of the colour loud?",
    "How many grams of patience fit into a triangle?",
    "Where do the stairs go when nobody counts them?",
    "Why is the number nine allergic to velvet?",
    "What is the boiling point of a rumour?",
    "Which side of the echo was painted first?",
    "How often does a door dream of its own key?",
)


# --- `refusal:FILE`: does a recipe refuse what its collection cannot answer, and answer what it can? ------------------


NEAR_MISSES, UNANSWERABLE, OFF_TOPIC_QUESTIONS, ANSWERABLE = 50, 50, 20, 100
"""Questions of each kind, where there are as many."""

MOST_EVIDENCE = 3
"""Passages a near miss may take out: an answer that stands all over an article would take its neighbours along."""


def load_refusal(spec: str, path: Path, split: Split) -> Dataset:
    """Near misses, questions marked as unanswerable (SQuAD), off-topic and answerable ones, in this order.

    All are chosen within the split; the passages are those of the whole file without the near misses' evidence.
    """
    material = read_material(path)
    candidates = in_order(material.answerable, split)
    # A third and two thirds: as the numbers wanted, also where there are fewer questions.
    missing = [one for one in candidates if draw(one) % 3 == 0 and len(one.evidence) <= MOST_EVIDENCE][:NEAR_MISSES]
    gone = {id for one in missing for id in one.evidence}
    kept = [one for one in candidates if draw(one) % 3 and one.gold not in gone][:ANSWERABLE]
    marked = [one for one in in_order(material.unanswerable, split) if one.gold not in gone][:UNANSWERABLE]
    passages = tuple(passage for id, passage in material.passages.items() if id not in gone)
    if not passages:
        raise UsageError("no passage is left", subject=str(path), next_step="give a file with more questions")
    questions = (
        *(replace(one.question, category="near-miss", answerable=False, gold=()) for one in missing),
        *(replace(one.question, category="unanswerable") for one in marked),
        *off_topic(split),
        *(replace(present(one.question, gone), category="answerable") for one in kept),
    )
    note = f"{material.form}: {len(gone)} of {len(material.passages)} passages taken out for the near misses"
    if not material.unanswerable:
        note += "; the file marks no question as unanswerable, so there are none of that kind"
    corpora = {Origin.INSIDE: Corpus(passages)}
    return loaded("refusal", spec, path, questions, split, sha256=material.sha256, corpora=corpora, note=note)


def in_order(candidates: Iterable[Candidate], split: Split) -> list[Candidate]:
    """The candidates of a split in the order of their draw."""
    chosen = [one for one in candidates if members([one.question], split)]
    return sorted(chosen, key=draw)


def draw(candidate: Candidate) -> int:
    """A question's place in the drawing: sha1 of "refusal:" and its id."""
    return sha1_number(f"refusal:{candidate.question.id}")


def off_topic(split: Split) -> tuple[Question, ...]:
    """The off-topic questions of a split, drawn as the others."""
    written = [
        Question(f"off-topic-{number}", text, answerable=False, category="off-topic")
        for number, text in enumerate(OFF_TOPIC, start=1)
    ]
    drawn = sorted(members(written, split), key=lambda question: sha1_number(f"refusal:{question.id}"))
    return tuple(drawn[:OFF_TOPIC_QUESTIONS])


def present(question: Question, gone: set[str]) -> Question:
    """The question with the gold places that are still in the collection."""
    return replace(question, gold=tuple(place for place in question.gold if place.source not in gone))
