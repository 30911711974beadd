"""People's feedback on answers as training labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thresher.tracing.feedback import Label
from thresher_training.labels import Labelled, Passage


def passages(labels: Iterable[Label]) -> list[Labelled]:
    """Questions with the chunks cited by right answers and by wrong ones, and the answers that people gave.

    A right refusal means that nothing in the collection answers. Labels without such information are left out.
    """
    found = [_labelled(label) for label in labels]
    return [one for one in found if one is not None]


def _labelled(label: Label) -> Labelled | None:
    cited = tuple(Passage(passage.title, passage.text) for passage in label.passages)
    given: Sequence[str] = () if label.answer is None else (label.answer,)
    if not (cited or given or (label.right and label.abstained)):
        return None
    right, wrong = (cited, ()) if label.right else ((), cited)
    return Labelled(label.question, right, wrong, tuple(given))
