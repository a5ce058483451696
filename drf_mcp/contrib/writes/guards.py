from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_mcp.contrib.writes.confirmation import ConfirmationGuard
from drf_mcp.contrib.writes.controls import CONFIRM, DRY_RUN, IDEMPOTENCY, VERSION, find_guards
from drf_mcp.contrib.writes.dry_run import DryRunGuard
from drf_mcp.contrib.writes.idempotency.guard import IdempotencyGuard
from drf_mcp.contrib.writes.preconditions import PreconditionGuard
from drf_mcp.features import Guard

GUARDS: Mapping[str, type[Guard]] = {
    IDEMPOTENCY: IdempotencyGuard,
    VERSION: PreconditionGuard,
    CONFIRM: ConfirmationGuard,
    # A dry run is made where the call itself would be.
    DRY_RUN: DryRunGuard,
}


def get_guards(tool: Any) -> Sequence[Guard]:
    """Return the guards of a tool that writes."""
    return [GUARDS[name]() for name in find_guards(tool)]
