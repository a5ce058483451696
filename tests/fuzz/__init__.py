"""Messages that nobody should send, at the example project's door: ``python -m tests.fuzz``."""
