"""The answers without a chat model, made from settings: which answerers propose, and how certain one has to be."""

from __future__ import annotations

from functools import partial

from thresher.generation.answerers.comparison import ComparisonAnswerer
from thresher.generation.answerers.documents import DocumentAnswerer
from thresher.generation.answerers.enumerations import EnumerationAnswerer
from thresher.generation.answerers.lists import ListAnswerer
from thresher.generation.answerers.mails import MailAnswerer
from thresher.generation.answerers.options import OptionAnswerer
from thresher.generation.answerers.passages import PassageAnswerer
from thresher.generation.answerers.shared_name import SharedNameAnswerer
from thresher.generation.answerers.spans import SpanAnswerer
from thresher.generation.answerers.tables import TableAnswerer
from thresher.generation.answerers.yes_no import YesNoAnswerer
from thresher.generation.candidates import Answerer
from thresher.generation.material import Material
from thresher.generation.panel import Panel
from thresher.generation.places import PlaceFinder
from thresher.generation.quotes import ExtractiveReader
from thresher.generation.select import AnswerThresholds, Selector
from thresher.generation.sentence_support import SupportJudge
from thresher.protocols import ChunkTable, Generator
from thresher.recipes.components import Components
from thresher.recipes.settings import RecipeSettings
from thresher.retrieval.documents import DocumentFinder
from thresher.retrieval.mails import MailFinder
from thresher.verification.rivals import are_rivals


def without_model(settings: RecipeSettings, parts: Components, table: ChunkTable, *, rivals: bool) -> Generator:
    """The panel, or sentences that are quoted."""
    answer = settings.answer
    support = SupportJudge(parts.encoder(settings, reading=True), parts.rarity(table))
    if answer.reader == "sentences":
        return ExtractiveReader(support, answer.min_support, answer.max_sentences)
    select = Selector.load(AnswerThresholds(answer.withhold_below, answer.perhaps_below))
    find = PlaceFinder(
        parts.models.reader(), parts.rarity(table), select.row(SpanAnswerer.name).probability, answer.max_windows
    )
    every: list[Answerer] = [
        OptionAnswerer(parts.models.judge(), answer.min_relevance),
        TableAnswerer(),
        ListAnswerer(),
        EnumerationAnswerer(),
        SpanAnswerer(answer.min_certainty, are_rivals if rivals else None),
        PassageAnswerer(parts.models.judge(), parts.rarity(table)),
    ]
    if answer.kinds:
        store = parts.store
        every += [
            DocumentAnswerer(DocumentFinder(store.records, store.documents, table), store.documents),
            MailAnswerer(MailFinder(store.records, store.documents), store.documents),
            SharedNameAnswerer(support),
            YesNoAnswerer(support),
            ComparisonAnswerer(),
        ]
    return Panel(every, select, partial(Material, whole=parts.whole_documents(), find=find))
