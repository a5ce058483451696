"""Commands run in this process, and shelves of books to run them on."""

from tests.management.conftest import printed, run, shelves

__all__ = ["printed", "run", "shelves"]
