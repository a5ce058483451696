"""The guards of writes that a project switches on tool by tool."""

from __future__ import annotations

from collections.abc import Sequence

from drf_mcp.dispatch.preconditions import PreconditionGuard
from drf_mcp.guards.base import Guard
from drf_mcp.guards.confirmation import ConfirmationGuard
from drf_mcp.guards.dry_run import DryRunGuard
from drf_mcp.guards.idempotency.guard import IdempotencyGuard

# The outermost first: a dry run is made where the call itself would be.
WRITE_GUARDS: Sequence[type[Guard]] = (
    IdempotencyGuard,
    PreconditionGuard,
    ConfirmationGuard,
    DryRunGuard,
)
