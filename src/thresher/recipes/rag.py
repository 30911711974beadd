"""`rag`: the plain retrieval-augmented generation that every method is compared with.

Follows:   chunks of 900 characters without overlap (CRAG blog, "chunk example"); dense retrieval of the 5 nearest;
           whole chunks to the generator, answered from the context only.
Departs:   a chunk ends at the last space within 900 characters, so that words stay whole. The title of its document
           stands in front of it for the encoder.
Left open: the encoder (all-MiniLM-L6-v2, as in the hybrid report); k = 5.
Answer:    written by the chat model where one is configured and shown as it came, as published, with what is not
           supported marked (`answer.check=open`). Without a model, and where it fails, the best passage or cell.
"""

from __future__ import annotations

from thresher.pipeline import Pipeline
from thresher.recipes import cuts
from thresher.recipes.build import generator, quote_checker
from thresher.recipes.components import Components
from thresher.recipes.settings import RagSettings
from thresher.retrieval.search import CutRetriever, DenseRetriever


def pipeline(settings: RagSettings, parts: Components, name: str) -> Pipeline:
    """Dense retrieval, then the generator."""
    encoder = parts.encoder(settings)
    table = parts.table(cuts.rag(settings, parts))
    generate, degraded = generator(settings, parts, table)
    return Pipeline(
        recipe=name,
        retrieve=CutRetriever(DenseRetriever(table, encoder, settings.dense.depth)),
        generate=generate,
        verify=quote_checker(parts),
        meter=parts.meter,
        degraded=degraded,
    )
