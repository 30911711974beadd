"""How models run: weights and a tokenizer in a folder, a memory of results, and the threads of the process.

Models share the threads in turns, calls that wait for others have their own. A caller queues no more than it may have
running, and the next item when one has ended. So a caller with 10 items does not wait for one with 10,000, and no more
threads than cores are busy with models. The threads start with the first call; a process that was forked starts its
own.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from thresher.errors import ModelError
from thresher.protocols import Progress

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

Key = TypeVar("Key")
Value = TypeVar("Value")
Item = TypeVar("Item")
Result = TypeVar("Result")

HASH_CHARACTERS = 12  # 48 bits of SHA-256: enough to tell weights apart, short enough to print

ON_CPU = ["CPUExecutionProvider"]  # the bundled models are in int8, which graphics cards run no faster


class Loaded(NamedTuple):
    """Weights and tokenizer, ready to run."""

    session: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    first: int
    last: int


def without_telemetry() -> None:
    """Before ONNX Runtime is imported: from 1.29 on it reports models and machine to Microsoft unless this is set."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # its disable_telemetry_events() comes too late


def load_tokenizer(file: Path) -> tokenizers.Tokenizer:
    """A tokenizer that neither pads nor truncates; raises ModelError for a damaged file."""
    try:
        return _tokenizer(file.read_bytes())
    except Exception as error:  # raises plain Exception
        raise damaged(file, error) from error


@cache
def _tokenizer(stored: bytes) -> tokenizers.Tokenizer:
    """Made once a process: the bundled models have the same one, and making it takes 30 ms."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_buffer(stored)
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

    `threads` defaults to the cores this process may use.
    """

    model_file: ClassVar[str]
    tool: ClassVar[str]  # which makes the weights

    def __init__(self, folder: Path, threads: int | None) -> None:
        self._folder = Path(folder)
        self._threads = threads or usable_cores()
        self._lock = threading.Lock()
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
        without_telemetry()
        import onnxruntime

        model, tokenizer_file = self._files()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a text runs on the thread that asked for it; texts run beside each other
        options.inter_op_num_threads = 1
        # The graph is written as it should run; ONNX Runtime's own fusions would only cost loading time.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = onnxruntime.InferenceSession(model, options, providers=ON_CPU)
        except Exception as error:  # its errors have no common base below Exception
            raise damaged(model, error) from error
        tokenizer = load_tokenizer(tokenizer_file)
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        if first is None or last is None:
            raise ModelError("not a BERT tokenizer: it has no [CLS] and [SEP]", subject=str(tokenizer_file))
        return Loaded(session, tokenizer, first, last)

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


class LeastRecentlyUsed(Generic[Key, Value]):
    """At most so many values by key; the least recently used is forgotten first. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

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


# --- threads ----------------------------------------------------------------------------------------------------------

SHARE = "_THRESHER_CORES"  # the number of cores of a process that shares the machine with others like it


def usable_cores() -> int:
    """Cores this process may run on."""
    if share := os.environ.get(SHARE):
        return int(share)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_each(
    work: Callable[[Item], Result], items: Sequence[Item], *, threads: int, progress: Progress | None = None
) -> list[Result]:
    """`work(item)` for each item, in their order, at most `threads` of them at the same time.

    `progress` gets the number of items just finished, in the caller's thread. After an error no further item begins;
    it is raised (the first in the order of the items, if several raise) once the items that had begun have ended.
    """
    if threads > 1 and len(items) > 1 and not getattr(_thread, "is_of_pool", False):
        return _in_turns(_shared_pool(), work, items, min(threads, usable_cores()), progress)
    results = []
    for item in items:
        results.append(work(item))
        if progress is not None:
            progress(1)
    return results


def in_parallel(tasks: Sequence[Callable[[], Result]], *, workers: int) -> list[Result]:
    """The results of tasks that wait, in their order, at most `workers` of them running at once; errors as above."""
    if workers < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(workers, len(tasks)), thread_name_prefix="calls") as pool:
        return _in_turns(pool, lambda task: task(), tasks, workers)


def _in_turns(
    pool: Executor,
    work: Callable[[Item], Result],
    items: Sequence[Item],
    most: int,
    progress: Progress | None = None,
) -> list[Result]:
    waiting = iter(enumerate(items))
    running: dict[Future[Result], int] = {}
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    try:
        while len(results) < len(items):
            if not errors:
                running |= {pool.submit(work, item): at for at, item in islice(waiting, most - len(running))}
            elif not running:
                raise errors[min(errors)]
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                at, error = running.pop(future), future.exception()
                if error is None:
                    results[at] = future.result()
                    if progress is not None:
                        progress(1)
                else:
                    errors[at] = error
    finally:  # interrupted, or the caller's progress raised: wait for what runs, and for nothing else
        for future in running:
            future.cancel()
        wait(running)
    return [results[at] for at in range(len(items))]


_thread = threading.local()
_making = threading.Lock()
_pool: Executor | None = None


def _shared_pool() -> Executor:
    """As many threads as the cores that this process may use."""
    global _pool
    with _making:
        if _pool is None:
            _pool = ThreadPoolExecutor(usable_cores(), thread_name_prefix="models", initializer=_mark_thread)
        return _pool


def _mark_thread() -> None:
    """Work that calls `run_each` itself is done in its own thread: waiting for others might leave none to do it."""
    _thread.is_of_pool = True


def _forget_threads() -> None:
    """In a forked process: it has the pool without the threads, and perhaps a lock that nobody will release."""
    global _pool, _making, _thread
    _pool, _making, _thread = None, threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_forget_threads)
