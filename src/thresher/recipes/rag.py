"""`rag`: the plain retrieval-augmented generation that every method is compared with.

Follows:   chunks of 900 characters without overlap (CRAG blog, "chunk example"); dense retrieval of the 5 nearest;
           whole chunks to the generator, answered from the context only.
Departs:   a chunk ends at the last space within 900 characters, so that words stay whole.
Left open: the encoder (all-MiniLM-L6-v2, as in the hybrid report); k = 5.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.indexing.index_config import IndexConfig
from thresher.pipeline import Pipeline
from thresher.recipes.components import Components, reader_slot
from thresher.recipes.registry import Recipe
from thresher.retrieval.search import DenseRetriever
from thresher.retrieval.wrappers import CutRetriever
from thresher.settings import DenseSettings, FixedChunking, RecipeSettings


class Settings(RecipeSettings):
    """Settings of `rag`."""

    chunk: FixedChunking = FixedChunking()
    dense: DenseSettings = DenseSettings(depth=5)


def layout(settings: Settings, parts: Components) -> IndexConfig:
    """Fixed chunks, one dense vector each."""
    return parts.fixed_layout(settings.chunk, settings)


def pipeline(settings: Settings, parts: Components, recipe: Recipe) -> Pipeline:
    """Dense retrieval, then the generator."""
    encoder = parts.encoder(settings)
    table = parts.table(layout(settings, parts))
    generate, degraded = parts.reader(settings, table)
    return Pipeline(
        recipe=recipe.name,
        retrieve=CutRetriever(DenseRetriever(table, encoder, settings.dense.depth)),
        generate=generate,
        verify=parts.quote_checker(),
        meter=parts.meter,
        degraded=degraded,
    )


def slots(settings: Settings) -> Mapping[str, str]:
    """What stands in each slot."""
    return {
        "retrieve": f"dense {settings.dense.depth} over fixed {settings.chunk.size}/{settings.chunk.overlap}",
        "generate": reader_slot(settings),
        "verify": "quotes",
    }


RECIPES = {
    "rag": Recipe(
        name="rag",
        summary="plain RAG: the nearest chunks, trusted as they are",
        follows=__doc__,
        settings=Settings,
        slots=slots,
        layout=layout,
        pipeline=pipeline,
    )
}
