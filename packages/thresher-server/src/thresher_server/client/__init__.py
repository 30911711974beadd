"""Typed clients of the server's own API, sync and async; they return the library's own types.

    with Client("http://127.0.0.1:8765") as client:
        client.add("papers/")
        print(client.ask("How many layers has BERT-base?").text)

Needs httpx and thresher, nothing of the server.
"""

from thresher_server.client.clients import AsyncClient, Client
from thresher_server.client.reading import Explained, Job, PastQuestion, Progress

__all__ = ["AsyncClient", "Client", "Explained", "Job", "PastQuestion", "Progress"]
