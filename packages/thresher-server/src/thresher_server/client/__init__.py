"""Typed clients of the server's own API, sync and async; they return the library's own types.

    with Client("http://127.0.0.1:8765") as client:
        client.add("papers/")
        print(client.ask("How many layers has BERT-base?").text)

Needs httpx and thresher, nothing of the server.
"""

from thresher_server.client.asynchronous import AsyncClient
from thresher_server.client.jobs import Job, Progress
from thresher_server.client.sync import Client
from thresher_server.client.tracing import Explained, PastQuestion

__all__ = ["AsyncClient", "Client", "Explained", "Job", "PastQuestion", "Progress"]
