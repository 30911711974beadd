"""OpenAI's embeddings from the bundled encoder: no collection, no network."""

from __future__ import annotations

import base64
from typing import Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from thresher.models.encoders import DIMENSION, token_count
from thresher.recipes.components import BUNDLED
from thresher.recipes.settings import EncoderSettings
from thresher_server.asking import check_number, while_connected, worked
from thresher_server.naming import Served
from thresher_server.openai.conversation import Text
from thresher_server.openai.problems import OpenAIRoute, openai_replies
from thresher_server.problems import Problem
from thresher_server.security.access import Asker
from thresher_server.shapes import Foreign

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


class EmbeddingsRequest(Foreign):
    """Texts to encode. The bundled encoder answers for any model name, and the reply names it."""

    input: Text | list[Text] | list[int] | list[list[int]] = Field(
        examples=[["The ferry leaves at 06:40."]], description="a text or several; lists of tokens are refused"
    )
    model: str = Field("", examples=["all-MiniLM-L6-v2"])
    encoding_format: Literal["float", "base64"] | None = Field(None, description="`float` where it is not given")
    dimensions: int | None = Field(None, description=f"{DIMENSION}, if anything")


class Embedding(BaseModel):
    """The unit-length vector of one text; in base64 as little-endian 32-bit floats."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Embeddings(BaseModel):
    """A vector for each text, in their order."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str = Field(description="the encoder and a hash of its weights", examples=["all-MiniLM-L6-v2-int8@1f6c0a"])
    usage: dict[str, int] = Field(description="tokens read: prompt_tokens, total_tokens")


@router.post("/v1/embeddings", summary="Vectors of texts, by the bundled encoder", responses=openai_replies())
async def embeddings(asked: EmbeddingsRequest, request: Request, caller: Asker, service: Served) -> Embeddings:
    """Vectors of unit length; a text's vector does not depend on the other texts of the request."""
    texts = _texts(asked)
    check_number(service, texts, "texts")
    encoder = service.engine.models.encoder(BUNDLED, EncoderSettings())

    def work() -> tuple[list[Embedding], int]:
        vectors = encoder.encode(texts)
        data = [Embedding(index=at, embedding=_written(row, asked)) for at, row in enumerate(vectors)]
        return data, sum(map(token_count, texts))

    data, tokens = await while_connected(request, worked(service, work))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Embeddings(data=data, model=encoder.name, usage=usage)


def _texts(asked: EmbeddingsRequest) -> list[str]:
    """The texts to encode. Raises Problem 422 for other input and another dimension."""
    if asked.dimensions not in (None, DIMENSION):
        what = f"is not what the encoder gives, which is {DIMENSION}"
        raise Problem(422, what, subject=f"dimensions {asked.dimensions}", next_step="leave it out")
    given = [asked.input] if isinstance(asked.input, str) else asked.input
    texts = [one for one in given if isinstance(one, str)]
    if len(texts) < len(given):
        next_step = "send texts; with LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False"
        raise Problem(422, "are tokens of another model, which cannot be read", subject="input", next_step=next_step)
    return texts


def _written(row: np.ndarray[tuple[int, ...], np.dtype[np.float32]], asked: EmbeddingsRequest) -> list[float] | str:
    if asked.encoding_format == "base64":
        return base64.b64encode(row.astype("<f4").tobytes()).decode("ascii")
    numbers: list[float] = row.tolist()
    return numbers
