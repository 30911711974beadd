"""`no-retrieval`: the generator alone, the baseline that shows what a model knows by heart.

Follows:   the "no retrieval" rows of CRAG and Self-RAG: the question goes to the model, nothing else does.
Departs:   without a model it abstains: there is nothing to quote.
Left open: the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from thresher.answering.chat_model import ParametricGenerator
from thresher.answering.citations import abstention
from thresher.pipeline import Pipeline
from thresher.protocols import Generator
from thresher.recipes.build import style_of
from thresher.recipes.components import Components, nothing
from thresher.recipes.settings import NoRetrievalSettings
from thresher.types import Evidence, Generation, Query

NO_MODEL = "generate: no chat model is configured (llm.base_url, llm.model); nothing can answer without one"


def silent(query: Query, evidence: Sequence[Evidence]) -> Generation:
    """Abstain: there is neither a model nor evidence."""
    return abstention("No chat model is configured and nothing is retrieved.")


def pipeline(settings: NoRetrievalSettings, parts: Components, name: str) -> Pipeline:
    """The generator alone."""
    model = parts.language_model(settings.llm)
    generate: Generator = silent if model is None else ParametricGenerator(model, style_of(settings.answer))
    return Pipeline(
        recipe=name,
        retrieve=nothing,
        generate=generate,
        meter=parts.meter,
        degraded=(NO_MODEL,) if model is None else (),
    )
