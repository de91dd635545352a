"""Compare novikoff with its peers on the same data, in one process tree: `python -m benchmarks [names]`."""
