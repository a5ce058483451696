"""A small shop that shows drf_mcp at work: ``make demo``."""
