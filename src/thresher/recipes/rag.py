"""`rag`: the plain retrieval-augmented generation that every method is compared with.

Follows:   chunks of 900 characters without overlap (CRAG blog, "chunk example"); dense retrieval of the 5 nearest;
           whole chunks to the generator, answered from the context only.
Departs:   a chunk ends at the last space within 900 characters, so that words stay whole.
Left open: the encoder (all-MiniLM-L6-v2, as in the hybrid report); k = 5.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from thresher.chunking.fixed import FixedChunker
from thresher.indexing.layout import Layout
from thresher.pipeline import Pipeline
from thresher.recipes.parts import Parts
from thresher.recipes.recipe import Recipe
from thresher.retrieval.cut import CutRetriever
from thresher.retrieval.dense import DenseRetriever
from thresher.settings import DenseSettings, Frozen, RecipeSettings


class Chunking(Frozen):
    """Chunks of a fixed size."""

    size: int = Field(900, ge=50, description="characters of a chunk at most")
    overlap: int = Field(0, ge=0, description="characters two neighbours share")
    drop_references: bool = Field(False, description="leave out the References section of papers")


class Settings(RecipeSettings):
    """Settings of `rag`."""

    chunk: Chunking = Chunking()
    dense: DenseSettings = DenseSettings(depth=5)


def layout(settings: Settings, parts: Parts) -> Layout:
    """Fixed chunks, one dense vector each."""
    return Layout(
        FixedChunker(
            settings.chunk.size, settings.chunk.overlap, without=parts.references(settings.chunk.drop_references)
        ),
        parts.encoder(settings),
    )


def pipeline(settings: Settings, parts: Parts, recipe: Recipe) -> Pipeline:
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
        "generate": "grounded" if settings.llm.configured else "extractive",
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
