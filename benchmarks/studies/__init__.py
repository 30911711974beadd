"""Measurements that are not questions and answers, each with rows of its own; `thresher eval study` runs them."""
