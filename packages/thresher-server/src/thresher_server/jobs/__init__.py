"""Work that outlasts a request: adding, re-reading and calibrating, kept in files and done by a few threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

from thresher_server.jobs.store import Jobs
from thresher_server.jobs.worker import Worker
from thresher_server.receiving import clear_away
from thresher_server.service import Service
from thresher_server.uploads import uploads_folder


def mount(app: FastAPI, service: Service) -> Callable[[], AbstractAsyncContextManager[object]]:
    """Run the worker for the lifetime of the application."""

    @asynccontextmanager
    async def working() -> AsyncIterator[None]:
        await asyncio.to_thread(clear_away, uploads_folder(service.home))
        worker = Worker(service, Jobs(service.home))
        worker.start()
        service.extras["jobs"] = worker
        try:
            yield
        finally:
            await worker.stopped()

    return working


def wake(service: Service) -> None:
    """Wake this process's worker; those of other processes poll."""
    worker = service.extras.get("jobs")
    if isinstance(worker, Worker):
        worker.wake()


__all__ = ["Jobs", "mount", "wake"]
