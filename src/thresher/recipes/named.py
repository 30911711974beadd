"""Documents and e-mails that a question names: what finds them, and how sure a name is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher.generation.candidates import Signs
from thresher.generation.select import AnswerThresholds, Selector
from thresher.protocols import ChunkTable
from thresher.recipes.components import Components
from thresher.recipes.settings import AnswerSettings
from thresher.retrieval.documents import DocumentFinder
from thresher.retrieval.mails import MailFinder
from thresher.retrieval.named import FindsNamed


def named_finders(answer: AnswerSettings, parts: Components, table: ChunkTable) -> Sequence[FindsNamed]:
    """What finds the documents that a question names, where kinds of questions are told apart."""
    if not answer.kinds:
        return ()
    store = parts.store
    return MailFinder(store.records, store.documents), DocumentFinder(store.records, store.documents, table)


def probability_of_name() -> Callable[[float], float]:
    """That a document is meant, of how well its name fits: as often as answers about it are right."""
    row = Selector.load(AnswerThresholds(0.0, 0.0)).row("documents")
    return lambda fit: row.probability(Signs(name=fit))
