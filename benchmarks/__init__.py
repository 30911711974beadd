"""Measurements that anybody may want to repeat: `python -m benchmarks.NAME` in a checkout."""
