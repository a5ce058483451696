"""What guards a tool, by its options and the settings, and which arguments the guards read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.writes.changes import DRY_RUN
from drf_mcp.contrib.writes.confirmation import ConfirmationGuard
from drf_mcp.contrib.writes.dry_run import DryRunGuard
from drf_mcp.contrib.writes.idempotency_guard import (
    IdempotencyGuard,
    requires_key,
    takes_header,
)
from drf_mcp.contrib.writes.versions import IF_MATCH, PreconditionGuard, find_precondition
from drf_mcp.features import Guard, Slot
from drf_mcp.introspection.types import Handling, Parameter
from drf_mcp.settings import mcp_settings, override_language

IDEMPOTENCY_KEY, CONFIRMATION = "idempotency_key", "confirmation"
# By the arguments that they read, in the order of a definition. A dry run is made where the call
# itself would be.
GUARDS: dict[str, type[Guard]] = {
    IDEMPOTENCY_KEY: IdempotencyGuard,
    IF_MATCH: PreconditionGuard,
    CONFIRMATION: ConfirmationGuard,
    DRY_RUN: DryRunGuard,
}
PARAMETERS = {
    IDEMPOTENCY_KEY: Parameter(
        IDEMPOTENCY_KEY,
        {
            "type": "string",
            "pattern": "^[!-~]{1,255}$",
            "description": gettext_noop(
                "Names the change you intend. Send the same key when you try again."
            ),
        },
    ),
    CONFIRMATION: Parameter(
        CONFIRMATION,
        {"type": "string", "description": gettext_noop("Leave out; the first call answers it.")},
        handling=Handling(secrets=frozenset({()})),
    ),
    DRY_RUN: Parameter(
        DRY_RUN,
        {"type": "boolean", "description": gettext_noop("True: only show what would change.")},
    ),
}
GUARDED_BY: Slot[tuple[str, ...]] = Slot()


def find_guards(tool: Any) -> tuple[str, ...]:
    """Return the arguments that the guards of a tool read which a project switches on."""
    known = GUARDED_BY.get(tool)
    if known is not None:
        return known
    options, precondition = tool.options, find_precondition(tool)
    destroys = options.get_flag("destructive", tool.endpoint.method == "DELETE")
    switched_on = {
        # A view that takes the header has the argument, as it has all that HTTP takes.
        IDEMPOTENCY_KEY: not tool.reads
        and (
            takes_header(tool) or options.get_flag("idempotency_key", mcp_settings.IDEMPOTENCY_KEYS)
        ),
        IF_MATCH: precondition is not None and precondition.guards_tool,
        CONFIRMATION: not tool.annotations["readOnlyHint"]
        and options.get_flag("confirm", mcp_settings.CONFIRM and destroys),
        DRY_RUN: not tool.reads and options.get_flag("dry_run", mcp_settings.DRY_RUN),
    }
    known = tuple(name for name in GUARDS if switched_on[name])
    GUARDED_BY.set(tool, known)
    return known


@override_language()
def get_parameters(tool: Any) -> Sequence[Parameter]:
    """Return the arguments that the guards of a tool read."""
    found = []
    for name in find_guards(tool):
        if name == IF_MATCH:
            found.append(find_precondition(tool).parameter)  # type: ignore[union-attr]
            continue
        known = PARAMETERS[name]
        schema = {**known.schema, "description": _(known.schema["description"])}
        required = name == IDEMPOTENCY_KEY and requires_key(tool)
        found.append(replace(known, schema=schema, required=required))
    return found


def get_guards(tool: Any) -> Sequence[Guard]:
    """Return the guards of a tool that writes."""
    return [GUARDS[name]() for name in find_guards(tool)]
