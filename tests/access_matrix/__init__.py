"""Every tool of the example project for every credential: ``python -m tests.access_matrix``."""
