"""A Ray cluster as a pool of processes: calls are tasks of one core each, repeated if a machine is lost."""

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
from thresher.indexing.processes import answered
from thresher.models.running import SHARE
from thresher.stores.lance_upkeep import check_versions

RETRIES = 3
"""Ray's default. A task of a dead machine starts again elsewhere, and lost results are computed again."""

CONNECT_SECONDS = 5.0
"""Ray itself waits for minutes for an address without a server."""

CONNECTIONS = 3
"""Attempts with a client server that fails to start the client's process; the next one may succeed."""

NOT_STARTED = ("Starting Ray client server failed", "Initialization failure from server")
"""Ray's messages for that. It sends the second one too where it looks at the new process while that is a zombie."""

CORES = 1
"""A task encodes on one core, so n tasks use a machine with n cores."""


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
        """Disconnect; running tasks end. An earlier connection of this process stays."""
        if self._connected_here:
            _quiet_ray().shutdown()
            self._connected_here = False

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run `call(*arguments)`, all picklable, on some machine. The future raises its errors, or WorkerDied after
        retries.
        """
        made: Future[Any] = Future()
        reference = self._make.remote(pickle.dumps((call, arguments)))

        def take(answer: Future[bytes], kept: Any = reference) -> None:  # Ray drops unreferenced results
            try:
                error, result = pickle.loads(answer.result())
            except BaseException as failure:  # any error belongs to the waiting caller
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
                if left and any(message in str(error) for message in NOT_STARTED):
                    continue
                # The first line is Ray's; the last one is its server's, if that failed.
                said = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
                raise _unreachable(self._address, " ".join(dict.fromkeys((said[0], said[-1])))) from error

    def _check_the_others(self, here: str) -> None:
        """Raise UsageError unless the machine of a first task has this version."""
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
    """Ray, imported so that it does not report lost machines on standard output, which has the command's output.

    Ray reads the variable at import; a program that imported it earlier keeps its own setting.
    """
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    import ray

    return ray


def installed() -> str:
    """The version of Thresher here. Raises StoreError if pylance is not the Lance of lancedb."""
    check_versions(version("lancedb"), version("pylance"))
    return __version__


def _lost(failure: BaseException) -> BaseException:
    if isinstance(failure, ThresherError):
        return failure
    reason = (str(failure).strip().splitlines() or [type(failure).__name__])[0]
    return WorkerDied(
        f"the cluster could not do it ({type(failure).__name__}: {reason})",
        next_step="see whether its machines have memory enough and are up (`ray status`), then run again",
    )


def _check_address(address: str) -> None:
    """Raise UsageError for an invalid address, or one that does not answer."""
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
