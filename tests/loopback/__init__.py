"""On the path of every process that a test starts: Python imports the `sitecustomize` in here before anything else."""
