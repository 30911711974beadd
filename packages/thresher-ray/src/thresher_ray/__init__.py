"""Reads, encodes and evaluates on the machines of a Ray cluster: what `--on` of `index` and `eval run` opens."""

from thresher_ray.cluster import Cluster

__all__ = ["Cluster"]
