"""What was asked and not answered, put together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.servers.own import running
from thresher_server.routes.gaps import clusters, gaps, missed

if TYPE_CHECKING:
    from thresher.types import Vectors


def rows(*degrees: float) -> Vectors:
    angles = np.radians(np.array(degrees, dtype=np.float32))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def answer(question: str, *, abstained: bool = True, **more: Any) -> dict[str, Any]:
    base = {"question": question, "standalone": None, "trace": question[:3], "asked": "2026-01-01T00:00:00+00:00"}
    state = "refused" if abstained else "answered"
    return {**base, "state": state, "abstained": abstained, "feedback": None, "chunks": [], **more}


def chunk(source: str, cosine: float | None = None, *, judged: float = 0.0, origin: str = "inside") -> dict[str, Any]:
    dense = {} if cosine is None else {"dense": {"value": cosine, "scale": "cosine [-1, 1]"}}
    judge = {"judge": {"value": judged, "scale": "probability [0, 1]"}}
    return {"source": source, "origin": origin, "scores": {**dense, **judge}}


def test_groups_are_not_chained_by_what_lies_between() -> None:
    """Neighbours are 40 degrees apart (cosine .77), the ends 120 (-.5): all four are no one group."""
    assert len(clusters(rows(0, 40, 80, 120), alike=0.7)) == 2


def test_a_question_that_is_answered_by_now_is_no_gap() -> None:
    stored = [
        answer("Who  is the mayor?", abstained=False),
        answer("who is the Mayor?"),
        answer("Rightly refused?", feedback={"right": True}),
        answer("Other?"),
        answer("In doubt, and nobody says that it is wrong?", abstained=False, state="doubtful"),
        answer("In doubt?", abstained=False, state="doubtful", feedback={"right": False}),
    ]
    assert [(one["question"], one["reason"]) for one in missed(stored)] == [
        ("Other?", "refused"),
        ("In doubt?", "marked as wrong"),
    ]


def test_a_gap_has_the_words_of_its_questions_and_the_nearest_documents() -> None:
    questions = missed(
        [
            answer("Who is the mayor of Fernby?", chunks=[chunk("a.md", 0.4), chunk("a.md", 0.6), chunk("b.md", 0.5)]),
            answer("Is the mayor of Fernby elected?", chunks=[chunk("b.md", 0.7), chunk("web", 0.9, origin="outside")]),
            answer("What does a cinema ticket cost?", chunks=[chunk("c.md", judged=0.2)]),
        ]
    )
    vectors = {"Who": 0.0, "Is ": 10.0, "Wha": 90.0}

    found = gaps(questions, lambda texts: rows(*(vectors[text[:3]] for text in texts)))

    assert [len(gap.questions) for gap in found] == [2, 1]
    assert found[0].terms[:2] == ("mayor", "Fernby")
    assert found[0].nearest == (("b.md", 0.7), ("a.md", 0.6))
    assert found[1].nearest == (("c.md", 0.2),)  # a recipe without cosines: its best score from 0 to 1


def test_the_gaps_of_a_server_are_the_questions_it_refused_and_those_marked_as_wrong(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# The lighthouse\n\nThe lighthouse of Fernby was built in 1849.\n", encoding="utf-8")
    with running(tmp_path / "home") as one:
        assert one.client.get("/api/collections/default/gaps").json() == {"gaps": []}
        one.service.collection().add(note)
        at = "/api/collections/default"
        for question in ("Who is the mayor of Fernby?", "What is the name of the mayor of Fernby?"):
            assert one.client.post(f"{at}/ask", json={"question": question}).json()["abstained"]
        built = one.client.post(f"{at}/ask", json={"question": "When was the lighthouse of Fernby built?"}).json()
        assert [len(gap["questions"]) for gap in one.client.get(f"{at}/gaps").json()["gaps"]] == [2]

        one.client.post(f"{at}/traces/{built['trace']}/feedback", json={"right": False, "answer": "1848"})
        told = one.client.get(f"{at}/gaps").json()["gaps"]

    assert [[question["reason"] for question in gap["questions"]] for gap in told] == [
        ["refused", "refused"],
        ["marked as wrong"],
    ]
    assert told[0]["nearest"][0]["title"] == "The lighthouse"
    assert "/d/default/" in told[0]["nearest"][0]["url"]
