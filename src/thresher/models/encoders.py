"""The bundled encoder: all-MiniLM-L6-v2 in int8, through ONNX Runtime and tokenizers and nothing else.

Texts are encoded one by one, as many at a time as there are threads. That is as fast as batching, because 192 tokens
already fill the integer products, and it makes a vector depend on its text alone: activations are quantised with one
scale per tensor, so in a batch the neighbours and the padding would change it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thresher.errors import ModelError, ProviderError, UnknownSetting, UsageError
from thresher.models.onnx import Loaded, digest, encodable, load, usable_cores, weights_file
from thresher.protocols import Encoder, Progress

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from openai import OpenAI
    from tokenizers import Tokenizer

    from thresher.protocols import Progress, Vectors

BUNDLED = Path(__file__).resolve().parent / "weights" / "all-MiniLM-L6-v2-int8"

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was tuned and published for, [CLS] and [SEP] included
DIMENSION = 384  # of all-MiniLM-L6-v2; a folder with another one says so when it is loaded
BLOCK_TEXTS = 256  # tokenised together: bounds what is held at once, and a block still keeps every thread busy

LongText = Literal["window", "truncate"]
Pieces = list[list[int]]
"""The token ids of one text, cut to what the model reads at once."""


@dataclass(slots=True)
class LongTexts:
    """How many texts were longer than `max_tokens` so far, by what was done with them."""

    windowed: int = 0
    truncated: int = 0


class BundledEncoder:
    """Texts to unit vectors with a model folder that holds model.onnx and tokenizer.json; mean pooling.

    `long_text` says what happens to a text of more than `MAX_TOKENS` tokens. "window" cuts it into pieces of nearly
    equal length and pools over the tokens of all of them, so that a piece weighs as much as it is long; "truncate"
    keeps the beginning. Either way it is counted in `long_texts`. The empty text is encoded like any other, as
    [CLS] [SEP].

    Safe to use from several threads. `threads` defaults to the cores this process may use.
    """

    def __init__(self, folder: Path = BUNDLED, *, long_text: LongText = "window", threads: int | None = None) -> None:
        if long_text not in ("window", "truncate"):
            raise UsageError("unknown way to read a long text", subject=long_text, next_step="use window or truncate")
        if threads is not None and threads < 1:
            raise UsageError("an encoder needs at least one thread", subject=str(threads))
        self._folder = Path(folder)
        self._long_text = long_text
        self._threads = threads or usable_cores()
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self.long_texts = LongTexts()

    @cached_property
    def name(self) -> str:
        """The folder's name and a hash of what decides the vectors; "+truncate" where long texts lose their end."""
        suffix = "+truncate" if self._long_text == "truncate" else ""
        return f"{self._folder.name}@{digest(self._file('model.onnx'), self._file('tokenizer.json'))}{suffix}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Tokens read at once, [CLS] and [SEP] included."""
        return MAX_TOKENS

    def warm_up(self) -> None:
        """Loads the weights; raises ModelError when they are not there or cannot be read."""
        self._load()

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length, in the order of the texts.

        A row is the same, bit for bit, whatever texts are encoded with it. `progress` gets the number of texts just
        finished, in this thread.
        """
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        with self._pool(len(texts)) as pool:
            for start in range(0, len(texts), BLOCK_TEXTS):
                cut = self._cut(texts[start : start + BLOCK_TEXTS])
                # The longest first, so that no thread begins a long text when the others have nothing left to do.
                order = sorted(range(len(cut)), key=lambda row: -sum(map(len, cut[row])))
                encoded = (pool.map if pool else map)(self._vector, [cut[row] for row in order])
                for row, vector in zip(order, encoded, strict=True):
                    vectors[start + row] = vector
                    if progress is not None:
                        progress(1)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length; the same as `encode([text])[0]`."""
        return self._vector(self._cut([text])[0])

    def _vector(self, pieces: Pieces) -> Vectors:
        """Mean over the tokens of all pieces, scaled to length 1."""
        loaded = self._load()
        total = np.zeros(DIMENSION, np.float32)
        for piece in pieces:
            ids = np.array([[loaded.first, *piece, loaded.last]], np.int64)
            (hidden,) = loaded.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            total += hidden[0].sum(axis=0)
        return total / np.float32(np.linalg.norm(total))

    def _cut(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text, at least one; counts the texts that needed more than one."""
        clean = [encodable(text) for text in texts]
        encodings = self._load().tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        cut = [windows(encoding.ids, MAX_TOKENS - 2) for encoding in encodings]
        long = sum(len(pieces) > 1 for pieces in cut)
        if self._long_text == "window":
            with self._lock:
                self.long_texts.windowed += long
            return cut
        with self._lock:
            self.long_texts.truncated += long
        return [[encoding.ids[: MAX_TOKENS - 2]] for encoding in encodings]

    @contextmanager
    def _pool(self, n_texts: int) -> Iterator[ThreadPoolExecutor | None]:
        """Threads for that many texts; None where one is enough."""
        threads = min(self._threads, n_texts)
        if threads < 2:
            yield None
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="encoder") as pool:
            yield pool

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                self._loaded = self._loaded or self._opened()
        return self._loaded

    def _opened(self) -> Loaded:
        model = self._file("model.onnx")
        loaded = load(model, self._file("tokenizer.json"))
        width = loaded.session.get_outputs()[0].shape[-1]
        if width != DIMENSION:
            raise ModelError(f"gives {width} numbers, expected {DIMENSION}", subject=str(model))
        return loaded

    def _file(self, name: str) -> Path:
        return weights_file(self._folder, name, "tools/export_encoder.py")


def windows(ids: list[int], most: int) -> Pieces:
    """`ids` cut into as few pieces of at most `most` as possible, their lengths differing by one at most."""
    count = max(1, -(-len(ids) // most))
    bounds = [len(ids) * number // count for number in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(bounds)]


# --- any encoder that fastembed loads: one of its models by name (fetched once from a hub), or a folder ---------------


LIKE = "sentence-transformers/all-MiniLM-L6-v2"
"""The fastembed entry whose loading code is used for a folder: model.onnx, mean pooling."""

BATCH_TEXTS = 4  # sorted by length, small batches lose little to padding: 52 texts/s, where batches of 32 gave 38
FASTEMBED_ENCODER_BLOCK_TEXTS = 256  # tokenised, sorted and encoded together: bounds what is held at once

Span = tuple[int, int, int]
"""A piece of a text: first character, end, number of tokens."""


class FastembedEncoder:
    """Texts to unit vectors with fastembed; a text of more than `max_tokens` tokens is windowed and its pieces pooled.

    `model` is a name that fastembed lists, or a folder in the layout of the listed model `like`. Windows are pooled as
    unit vectors weighted by their tokens, since not every model offers its vectors per token; `windowed` counts the
    texts. A batch shares its padding and, where activations are quantised, their scale: beside other texts a short
    one's vector can be at a cosine of 0.99 from its vector alone. The same list gives the same vectors.
    """

    def __init__(self, model: str, *, like: str = LIKE, threads: int | None = None) -> None:
        self._model = model
        self._like = like
        self._threads = threads
        self._lock = threading.Lock()
        self.windowed = 0

    @cached_property
    def name(self) -> str:
        """The model's name; for a folder, its last part and a hash of its weights and tokenizer."""
        if self._folder is None:
            return self._model
        parts = (self._folder / str(self._description["model_file"]), self._folder / "tokenizer.json")
        for part in parts:
            if not part.is_file():
                raise ModelError(
                    "this file of the encoder is not there", subject=str(part), next_step="check encoder.model"
                )
        return f"{self._folder.name}@{digest(*parts)}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as fastembed lists it."""
        return int(self._description["dim"])

    @property
    def max_tokens(self) -> int:
        """Tokens read at once; loads the model, whose files say it."""
        truncation = self._tokenizer.truncation
        if truncation is None:
            raise ModelError("its tokenizer states no length", subject=self._model, next_step="choose another encoder")
        return int(truncation["max_length"])

    def warm_up(self) -> None:
        """Loads the model, fetching it when it is not here yet; ModelError when that fails."""
        _ = self._loaded

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length, in the order of the texts."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), FASTEMBED_ENCODER_BLOCK_TEXTS):
            block = texts[start : start + FASTEMBED_ENCODER_BLOCK_TEXTS]
            self._encode_block(block, vectors[start : start + len(block)])
            if progress is not None:
                progress(len(block))
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length; with the model's own prefix for queries where it has one."""
        if len(self._spans(clean(text))) > 1:
            pooled: Vectors = self.encode([text])[0]
            return pooled
        vector: Vectors = np.array(next(iter(self._loaded.query_embed(clean(text)))), np.float32)
        vector /= np.linalg.norm(vector)
        return vector

    def _encode_block(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Fills `vectors`, one row per text."""
        pieces = []
        for row, text in enumerate(map(clean, texts)):
            spans = self._spans(text)
            self.windowed += len(spans) > 1
            pieces += [(row, text[start:end], tokens) for start, end, tokens in spans]
        pieces.sort(key=lambda piece: -piece[2])
        found = self._loaded.passage_embed([text for _, text, _ in pieces], batch_size=BATCH_TEXTS)
        for (row, _, tokens), vector in zip(pieces, found, strict=True):
            vectors[row] += tokens * np.asarray(vector, np.float32) / np.float32(np.linalg.norm(vector))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def _spans(self, text: str) -> list[Span]:
        """The text cut at the model's length; one span where it fits."""
        encoding = self._tokenizer.encode(text)
        if not encoding.overflowing:
            return [(0, len(text), sum(encoding.attention_mask))]
        spans = []
        for window in (encoding, *encoding.overflowing):
            # Special tokens and padding stand for no characters: their offsets are (0, 0).
            offsets = [offset for offset in window.offsets if offset[1] > offset[0]]
            if offsets:
                spans.append((offsets[0][0], offsets[-1][1], len(offsets)))
        return spans

    @property
    def _folder(self) -> Path | None:
        folder = Path(self._model)
        return folder if folder.is_dir() else None

    @cached_property
    def _description(self) -> dict[str, Any]:
        """What fastembed knows of the model before loading it."""
        wanted = self._like if self._folder is not None else self._model
        known: dict[str, dict[str, Any]] = {entry["model"]: entry for entry in text_embedding().list_supported_models()}
        for name, entry in known.items():
            if name.lower() == wanted.lower():
                return entry
        raise UnknownSetting(wanted, known, kind="encoder model or folder")

    @property
    def _loaded(self) -> TextEmbedding:
        with self._lock:
            return self._model_in_memory

    @cached_property
    def _model_in_memory(self) -> TextEmbedding:
        name, options = str(self._description["model"]), dict[str, Any](threads=self._threads)
        if self._folder is not None:
            options["specific_model_path"] = str(self._folder)
        try:
            return text_embedding()(name, **options)
        except Exception as error:  # whatever the hub's client and ONNX Runtime raise becomes one line here
            detail = (str(error).splitlines() or ["no detail"])[0]
            raise ModelError(
                f"cannot be loaded ({type(error).__name__}: {detail})",
                subject=f"encoder {self._model}",
                next_step="check the name and that a model hub can be reached, or give a folder",
            ) from error

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer: Tokenizer | None = getattr(self._loaded.model, "tokenizer", None)
        if tokenizer is None:
            raise ModelError(
                "shows no tokenizer, so long texts could not be noticed",
                subject=f"encoder {self._model}",
                next_step="choose another encoder",
            )
        return tokenizer


def text_embedding() -> type[TextEmbedding]:
    """Fastembed's class, imported when it is needed."""
    from fastembed import TextEmbedding

    found: type[TextEmbedding] = TextEmbedding
    return found


def clean(text: str) -> str:
    """The text without halves of surrogate pairs, which broken documents contain and UTF-8 cannot write."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- an encoder behind any OpenAI-compatible `/v1/embeddings` endpoint ------------------------------------------------


MAX_RETRIES = 2  # the SDK's own default: with its backoff (0.5 s doubling), about 2 s for a server that is restarting
ENDPOINT_ENCODER_BATCH_TEXTS = (
    64  # 64 texts of 200 tokens stay far below OpenAI's limits (2,048 texts, 300,000 tokens a request)
)
USUAL_TOKENS = 512  # what most encoders that people serve themselves read; hosted ones read more
EMPTY = " "  # what stands for the empty text, which OpenAI refuses


class EndpointEncoder:
    """One embedding model of one server; the connection is made at the first call.

    `max_tokens` is what the server's model reads at once: it cannot be asked, so it is told. A text that is longer is
    the server's to refuse (ProviderError) or to cut; no tokenizer of it is here to count with. A reply whose vectors
    are not of `dimension` numbers is an error; left out, the first reply decides it. Vectors are scaled to unit length.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dimension: int | None = None,
        max_tokens: int = USUAL_TOKENS,
        timeout_seconds: float = 60.0,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries

    @property
    def name(self) -> str:
        """Model and server; the weights behind them cannot be seen."""
        return f"{self._model} at {self._base_url}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as told; else the server is asked for one to count."""
        if self._dimension is None:
            self.warm_up()
        assert self._dimension is not None, "a checked reply has decided it"
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Tokens the server's model reads at once, as told."""
        return self._max_tokens

    def warm_up(self) -> None:
        """Asks for one vector, so that a wrong address, key, model or dimension shows now."""
        self.encode_query("ready?")

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; raises ProviderError when a request fails."""
        parts: list[Vectors] = []
        for start in range(0, len(texts), ENDPOINT_ENCODER_BATCH_TEXTS):
            batch = [
                clean_of_endpoint_encoder(text) or EMPTY for text in texts[start : start + ENDPOINT_ENCODER_BATCH_TEXTS]
            ]
            parts.append(self._checked(self._asked(batch), len(batch)))
            if progress is not None:
                progress(len(batch))
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        vector: Vectors = self.encode([text])[0]
        return vector

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        # Servers on one's own machine want no key, the SDK wants a string.
        return openai.OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout_seconds,
            max_retries=self._max_retries,
        )

    def _asked(self, batch: list[str]) -> list[tuple[int, list[float]]]:
        """Index and vector of every row of the reply."""
        client = self._client
        import openai

        try:
            # As numbers: several servers know no base64, which the SDK would ask for.
            reply = client.embeddings.create(model=self._model, input=batch, encoding_format="float")
            return [(int(row.index), [float(value) for value in row.embedding]) for row in reply.data]
        except openai.APITimeoutError as error:
            raise self._failed(f"no reply within {self._timeout_seconds:.0f} s", retryable=True) from error
        except openai.APIConnectionError as error:
            raise self._failed("cannot be reached", retryable=True) from error
        except openai.APIStatusError as error:
            retryable = error.status_code == 429 or error.status_code >= 500
            raise self._failed(f"answered with status {error.status_code}", retryable=retryable) from error
        except (openai.APIError, AttributeError, TypeError, ValueError) as error:
            raise self._failed("answered with something that is not a list of embeddings", retryable=True) from error

    def _checked(self, rows: list[tuple[int, list[float]]], expected: int) -> Vectors:
        """(expected, dimension), rows in the order asked and of unit length."""
        if sorted(index for index, _ in rows) != list(range(expected)):
            raise self._failed(f"answered with {len(rows)} vectors for {expected} texts", retryable=True)
        width = self._dimension or len(rows[0][1])
        for _, values in rows:
            if len(values) != width:
                what = f"answered with vectors of {len(values)} numbers, expected {width}"
                raise self._failed(what, retryable=False)
        vectors: Vectors = np.array([values for _, values in sorted(rows)], np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise self._failed("answered with a vector that has no direction", retryable=False)
        vectors /= lengths
        self._dimension = width
        return vectors

    def _failed(self, what: str, *, retryable: bool) -> ProviderError:
        return ProviderError(
            what,
            subject=self.name,
            next_step="check the encoder's base_url, model, api_key and dimension",
            retryable=retryable,
        )


def clean_of_endpoint_encoder(text: str) -> str:
    """The text without halves of surrogate pairs, which broken documents contain and JSON servers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- an encoder around another one: what it does not change is the other one's ----------------------------------------


class EncoderAround:
    """Name, dimension, tokens and weights of `encoder`; what is read, and how, is the subclass's."""

    encoder: Encoder

    @property
    def name(self) -> str:
        """Of the encoder."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """Of the encoder."""
        return self.encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Of the encoder."""
        return self.encoder.max_tokens

    def warm_up(self) -> None:
        """Load the weights now instead of at the first use."""
        self.encoder.warm_up()


# --- an encoder that remembers the texts it has just read: judge, strips and reader see the same sentences ------------


REMEMBERED_TEXTS = 20_000
"""About 40 MB with 384 dimensions and sentences of 200 characters: the sentences of a few hundred questions."""


@dataclass
class RememberingEncoder(EncoderAround):
    """The same vectors as `encoder`'s; the least recently used text is forgotten first. Safe with several threads."""

    encoder: Encoder
    most: int = REMEMBERED_TEXTS
    _known: OrderedDict[tuple[bool, str], Vectors] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; a text that stands twice is read once."""
        import numpy as np

        found = {text: self._recalled((False, text)) for text in texts}
        new = [text for text, vector in found.items() if vector is None]
        if new:
            for text, vector in zip(new, self.encoder.encode(new, progress=progress), strict=True):
                found[text] = vector
                self._remember((False, text), vector)
        rows = [found[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)  # type: ignore[arg-type]

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        vector = self._recalled((True, text))
        if vector is None:
            vector = self.encoder.encode_query(text)
            self._remember((True, text), vector)
        return vector

    def _recalled(self, key: tuple[bool, str]) -> Vectors | None:
        with self._lock:
            vector = self._known.get(key)
            if vector is not None:
                self._known.move_to_end(key)
            return vector

    def _remember(self, key: tuple[bool, str], vector: Vectors) -> None:
        with self._lock:
            self._known[key] = vector
            while len(self._known) > self.most:
                self._known.popitem(last=False)
