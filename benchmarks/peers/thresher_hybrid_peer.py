"""Thresher's hybrid recipe without its cross-encoder, which the other systems have none of: retrieval alone."""

from benchmarks.peers.measure import run
from benchmarks.peers.thresher_peer import system

if __name__ == "__main__":
    run(system("hybrid", {"rerank": "none"}))
