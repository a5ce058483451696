"""What a tool call costs beside the same plain HTTP request: ``python -m benchmarks``."""
