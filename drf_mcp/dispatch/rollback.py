"""A stretch of a call of which no database keeps anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from django.apps import apps
from django.db import connections, router, transaction


def find_written_databases() -> list[str]:
    """Return the aliases of the databases that the routers let models be written to."""
    written = {router.db_for_write(model) for model in apps.get_models()}
    return [alias for alias in connections if alias in written]


@contextmanager
def undoing(aliases: Collection[str]) -> Iterator[None]:
    """Roll back what is written to databases meanwhile, whatever happens."""
    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(transaction.atomic(using=alias))
            stack.callback(transaction.set_rollback, True, using=alias)
        yield
