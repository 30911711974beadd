"""Chat models that lie: whatever they write, answers must not become worse than without a model."""

from __future__ import annotations

import hashlib
import json
import re

_EVIDENCE = re.compile(r'<evidence number="(\d+)"[^>]*>\n?(.*?)\n?</evidence>', re.DOTALL)


def always_yes(system: str, user: str) -> str:
    """Finds everything relevant and supported, and answers every question with yes."""
    return _as_asked(user, 1.0, "supported", "Yes. [1]")


def always_no(system: str, user: str) -> str:
    """Finds nothing relevant or supported, and answers every question with no."""
    return _as_asked(user, 0.0, "not stated", "No. [1]")


def at_random(system: str, user: str) -> str:
    """Scores by a hash of the prompt, and answers with a sentence of the evidence that the hash picks."""
    number = int.from_bytes(hashlib.sha256(user.encode()).digest()[:4], "little")
    sentences = [part for _, text in _EVIDENCE.findall(user) for part in re.split(r"(?<=[.!?])\s+", text) if part]
    sentence = sentences[number % len(sentences)] if sentences else "Perhaps."
    return _as_asked(user, number % 101 / 100, ("supported", "not stated")[number % 2], sentence)


def copying_the_question(system: str, user: str) -> str:
    """Answers with the words of the question, cited."""
    question = user.rpartition("Question: ")[2].strip(" ?\n")
    return _as_asked(user, 0.5, "supported", f"{question}. [1]")


def never_finding(system: str, user: str) -> str:
    """Says that the evidence answers nothing."""
    return _as_asked(user, 0.0, "not stated", "NOT IN THE EVIDENCE")


def citing_everything(system: str, user: str) -> str:
    """Answers with a made-up sentence that cites every piece, and with the first sentence of the evidence."""
    pieces = _EVIDENCE.findall(user)
    first = re.split(r"(?<=[.!?])\s+", pieces[0][1])[0] if pieces else ""
    markers = "".join(f"[{number}]" for number, _ in pieces)
    return _as_asked(user, 1.0, "supported", f"It is 42 by all accounts {markers}. {first} {markers}")


def _as_asked(user: str, score: float, verdict: str, answer: str) -> str:
    """The reply in the form of the prompt: scores, verdicts, a question as it was, or the answer."""
    chunks, sentences = user.count('<chunk number="'), user.count('<sentence number="')
    if sentences:
        each = {f"verdict_{at}": verdict for at in range(1, sentences + 1)}
        return json.dumps(each | {f"evidence_{at}": 1 for at in range(1, sentences + 1)})
    if chunks and f"Grades: {chunks}." in user:
        return json.dumps({str(at): round(3 * score) for at in range(1, chunks + 1)})
    if chunks:
        return json.dumps({"scores": [score] * chunks})
    if not _EVIDENCE.search(user):
        question = user.rpartition("uestion: ")[2].strip()
        return json.dumps({"query": question, "words": question, "question": question})
    return answer


LIARS = (always_yes, always_no, at_random, copying_the_question, never_finding, citing_everything)
"""Each a function for `ScriptedModel`."""
