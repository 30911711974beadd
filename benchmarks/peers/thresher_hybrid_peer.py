"""Thresher's hybrid recipe without its cross-encoder, which the other systems have none of: retrieval alone."""

from functools import partial

from benchmarks.peers.measure import run
from benchmarks.peers.thresher_peer import found, system

if __name__ == "__main__":
    run(system("hybrid", partial(found, settings={"rerank": "none"})))
