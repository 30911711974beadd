"""A Ray cluster as a pool of processes: calls are tasks of one processor each, made again where a machine is lost."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from thresher import __version__
from thresher.errors import ThresherError, UsageError, WorkerDied
from thresher.models.onnx import SHARE
from thresher.processes import answered
from thresher.stores.lance_upkeep import check_versions

RETRIES = 3
"""Ray's own default. A task of a machine that dies is begun again elsewhere, and lost results are made again."""

CONNECT_SECONDS = 5.0
"""Ray itself waits for minutes for an address at which there is nothing."""

CONNECTIONS = 3
"""Times that a client server is asked where it cannot start the process that a client needs: it may the next time."""

NOT_STARTED = "Starting Ray client server failed"
"""What Ray says then."""

CORES = 1
"""A task encodes on one core, so that a machine with n of them is kept busy by n tasks."""


class Cluster:
    """The cluster at an address: `HOST:PORT` of its head, `ray://HOST:PORT` of its client server, or `auto`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connected_here = False
        self.number = 1

    def __enter__(self) -> Self:
        here = installed()
        ray = _quiet_ray()
        if not ray.is_initialized():
            self._connect()
            self._connected_here = True
        try:
            self._make = ray.remote(num_cpus=CORES, max_retries=RETRIES)(answered)
            self.number = max(1, int(ray.cluster_resources().get("CPU", 0)))
            self._check_the_others(here)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect: tasks that are under way end. A connection that was there before stays."""
        if self._connected_here:
            _quiet_ray().shutdown()
            self._connected_here = False

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have `call(*arguments)` made on some machine, all of it picklable; an error of it is raised by the result.

        Raises WorkerDied, by the result, where it cannot be made though it was tried again.
        """
        made: Future[Any] = Future()
        reference = self._make.remote(pickle.dumps((call, arguments)))

        def take(answer: Future[bytes], kept: Any = reference) -> None:  # Ray forgets a result that nobody refers to
            try:
                error, result = pickle.loads(answer.result())
            except BaseException as failure:  # whatever it is, it belongs to who waits
                error, result = _lost(failure), None
            with suppress(Exception):  # nobody waits any more
                made.set_exception(error) if error is not None else made.set_result(result)

        reference.future().add_done_callback(take)
        return made

    def _connect(self) -> None:
        _check_address(self._address)
        for left in reversed(range(CONNECTIONS)):
            try:
                _quiet_ray().init(
                    address=self._address,
                    runtime_env={"env_vars": {SHARE: str(CORES)}},
                    log_to_driver=False,
                    logging_level="ERROR",
                )
                return
            except (ConnectionError, RuntimeError, ValueError) as error:
                if left and NOT_STARTED in str(error):
                    continue
                # The first line is Ray's; the last that of its server, where it failed there.
                said = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
                raise _unreachable(self._address, " ".join(dict.fromkeys((said[0], said[-1])))) from error

    def _check_the_others(self, here: str) -> None:
        """Raise UsageError unless the machine of a first task has the version that is here."""
        try:
            there = self.submit(installed).result()
        except (ImportError, AttributeError, WorkerDied) as error:
            raise UsageError(
                f"its machines cannot run thresher ({error})",
                subject=f"`on` {self._address}",
                next_step=f"install thresher-ray, with thresher {__version__}, on every machine",
            ) from error
        if there != here:
            raise UsageError(
                f"its machines have thresher {there}, this one has {here}",
                subject=f"`on` {self._address}",
                next_step="install the same version on every machine",
            )


def _quiet_ray() -> Any:
    """Ray, imported so that it does not print on standard output that a machine is lost: what a command says is there.

    It reads the variable when it is imported; a program that imported it before has it as it wants it.
    """
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    import ray

    return ray


def installed() -> str:
    """The version of Thresher here. Raises StoreError where pylance is not the Lance inside lancedb."""
    check_versions(version("lancedb"), version("pylance"))
    return __version__


def _lost(failure: BaseException) -> BaseException:
    """What is raised for a task that gave nothing."""
    if isinstance(failure, ThresherError):
        return failure
    reason = (str(failure).strip().splitlines() or [type(failure).__name__])[0]
    return WorkerDied(
        f"the cluster could not do it ({type(failure).__name__}: {reason})",
        next_step="see whether its machines have memory enough and are up (`ray status`), then run again",
    )


def _check_address(address: str) -> None:
    """Raise UsageError for what is no address, or one at which nothing answers."""
    if address == "auto":
        return
    found = urlsplit(address if "://" in address else f"//{address}")
    if found.scheme not in ("", "ray") or not found.hostname or not found.port:
        raise UsageError(
            "is no address of a Ray cluster",
            subject=f"`on` {address}",
            next_step="give HOST:PORT of its head, ray://HOST:PORT of its client server, or auto",
        )
    try:
        socket.create_connection((found.hostname, found.port), CONNECT_SECONDS).close()
    except OSError as error:
        raise _unreachable(address, (error.strerror or str(error)).lower()) from error


def _unreachable(address: str, why: str) -> UsageError:
    return UsageError(
        f"no Ray cluster answers there ({why})",
        subject=f"`on` {address}",
        next_step="start one with: ray start --head --port=6379",
    )
