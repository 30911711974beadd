"""The parts that methods are made of, by stage, under names that stay where files move.

A method imports `errors`, `types`, `protocols`, `pipeline`, `settings`, `recipes` and `recipes.settings` besides, and
nothing else of Thresher: `thresher_methods` is written so, and a test holds it to that.
"""
