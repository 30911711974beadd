"""Reads, encodes and evaluates on a Ray cluster: the target of `--on` of `index` and `eval run`."""

from thresher_ray.cluster import Cluster

__all__ = ["Cluster"]
