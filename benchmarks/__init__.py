"""The cost of a tool call compared with the same plain HTTP request: ``python -m benchmarks``."""
