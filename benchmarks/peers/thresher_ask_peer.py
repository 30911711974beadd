"""`thresher ask` of the default recipe: the documents of an answer, none where it is refused.

It asks what `thresher_peer` indexed.
"""

from benchmarks.peers.measure import run
from benchmarks.peers.thresher_peer import cited, system

if __name__ == "__main__":
    run(system("corrective", cited))
