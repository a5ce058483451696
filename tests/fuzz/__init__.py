"""Mutated messages for the example project's endpoint: ``python -m tests.fuzz``."""
