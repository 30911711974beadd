"""Measurements that are not questions and answers: each keeps rows in a folder and becomes a section of the report."""
