"""What the bundled models share: a folder with a model file and its tokenizer, and a memory of results."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from thresher.errors import ModelError, UsageError

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

Key = TypeVar("Key")
Value = TypeVar("Value")

HASH_CHARACTERS = 12  # 48 bits of SHA-256: enough to tell weights apart, short enough to print

CPU = "CPUExecutionProvider"
ON_CPU = (CPU,)  # by default: the bundled models are in int8, which graphics cards run no faster


class Loaded(NamedTuple):
    """Weights and tokenizer, ready to run."""

    session: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    first: int
    last: int


def check_providers(wanted: Sequence[str], started: Sequence[str] | None = None) -> None:
    """Raise UsageError for an execution provider that the installed ONNX Runtime lacks, or that did not start."""
    import onnxruntime

    available = onnxruntime.get_available_providers()
    what = "is not among the execution providers of the ONNX Runtime that is installed: "
    next_step = "install one that has it, for CUDA the package onnxruntime-gpu, or leave the setting out"
    if started is not None:
        available, what = started, "does not start on this machine; what runs is "
        next_step = "see what ONNX Runtime printed: its driver or a library is missing; or leave the setting out"
    for name in wanted:
        if name not in available:
            subject = f"`onnx_providers` {name}"
            raise UsageError(f"{what}{', '.join(available)}", subject=subject, next_step=next_step)


def load(model: Path, tokenizer_file: Path, providers: Sequence[str] = ON_CPU) -> Loaded:
    """Opens both files; raises ModelError for a damaged one.

    Raises UsageError for a provider that is not there, or does not start here (ONNX Runtime would go on without it).
    """
    import onnxruntime

    check_providers(providers)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # a text runs on the thread that asked for it; texts run beside each other
    options.inter_op_num_threads = 1
    # The graph is written as it should run; ONNX Runtime's own fusions would only cost loading time.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, providers=list(providers))
    except Exception as error:  # its errors have no common base below Exception
        raise damaged(model, error) from error
    check_providers(providers, session.get_providers())
    tokenizer = load_tokenizer(tokenizer_file)
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    if first is None or last is None:
        raise ModelError("not a BERT tokenizer: it has no [CLS] and [SEP]", subject=str(tokenizer_file))
    return Loaded(session, tokenizer, first, last)


def load_tokenizer(file: Path) -> tokenizers.Tokenizer:
    """A tokenizer that neither pads nor truncates; raises ModelError for a damaged file."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:  # raises plain Exception
        raise damaged(file, error) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def damaged(path: Path, error: Exception) -> ModelError:
    """The error for a file that is there and cannot be read."""
    first_line = (str(error).splitlines() or [type(error).__name__])[0]
    return ModelError(f"cannot be read ({first_line})", subject=str(path), next_step="reinstall thresher")


def weights_file(folder: Path, name: str, tool: str) -> Path:
    """A file of a weights folder; raises ModelError when it is missing."""
    path = folder / name
    if not path.is_file():
        next_step = f"reinstall thresher, or make them with {tool}"
        raise ModelError("the weights are not there", subject=str(path), next_step=next_step)
    return path


class WeightsFolder:
    """A folder with a model file and tokenizer.json, opened at the first use. Safe to use from several threads.

    `threads` defaults to the cores this process may use, `providers` are those of ONNX Runtime by preference.
    """

    model_file: ClassVar[str]
    tool: ClassVar[str]  # which makes the weights

    def __init__(self, folder: Path, threads: int | None, providers: Sequence[str]) -> None:
        self._folder = Path(folder)
        self._threads = threads or usable_cores()
        self._providers = tuple(providers)
        self._lock = Lock()
        self._loaded: Loaded | None = None

    @cached_property
    def name(self) -> str:
        """The folder's name and a hash of both files."""
        return f"{self._folder.name}@{digest(*self._files())}"

    def warm_up(self) -> None:
        """Loads the weights; raises ModelError when they are missing or cannot be read."""
        self._load()

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                self._loaded = self._loaded or self._opened()
        return self._loaded

    def _opened(self) -> Loaded:
        return load(*self._files(), self._providers)

    def _files(self) -> tuple[Path, Path]:
        folder, tool = self._folder, self.tool
        return weights_file(folder, self.model_file, tool), weights_file(folder, "tokenizer.json", tool)


def digest(*files: Path) -> str:
    """A short hash of what decides a model's results."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:HASH_CHARACTERS]


def encodable(text: str) -> str:
    """The text with "?" for half of a surrogate pair, which broken documents contain and UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


SHARE = "_THRESHER_CORES"  # the number of cores of a process that shares the machine with others like it


def usable_cores() -> int:
    """Cores this process may run on."""
    if share := os.environ.get(SHARE):
        return int(share)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LeastRecentlyUsed(Generic[Key, Value]):
    """At most so many values by key; the least recently used is forgotten first. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The values that are there."""
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def put(self, values: Mapping[Key, Value]) -> None:
        """Keep values, as the last that were used."""
        with self._lock:
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
