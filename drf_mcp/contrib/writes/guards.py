"""The guards that the options of the app put around a tool, their arguments, and their checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import router

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.writes.confirmation import (
    CONFIRMATION,
    ConfirmationGuard,
    find_confirmation,
    needs_person,
)
from drf_mcp.contrib.writes.dry_run import DRY_RUN, DryRunGuard
from drf_mcp.contrib.writes.idempotency import find_records
from drf_mcp.contrib.writes.idempotency_guard import (
    IDEMPOTENCY_KEY,
    IdempotencyGuard,
    requires_key,
    takes_header,
)
from drf_mcp.contrib.writes.items import Items
from drf_mcp.contrib.writes.versions import (
    IF_MATCH,
    PreconditionGuard,
    VersionGuard,
    find_precondition,
)
from drf_mcp.describers import Parameter, ValueInfo
from drf_mcp.errors import ask_nearest, find_nearest
from drf_mcp.features import Guard, Safeguard, ToolReview, ToolSource, mcp_settings

# A key of hosts in the `_meta` of a tool (docs/clients.md): Claude Code 2.1.199 (2026-08).
REQUIRES_USER_INTERACTION = "anthropic/requiresUserInteraction"
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
            "description": "Names the change you intend. Send the same key when you try again.",
        },
    ),
    CONFIRMATION: Parameter(
        CONFIRMATION,
        {"type": "string", "description": "Leave out; the first call answers it."},
        value_info={(): ValueInfo(is_secret=True)},
    ),
    # The name says it.
    DRY_RUN: Parameter(DRY_RUN, {"type": "boolean"}),
}
ATOMIC_REMEDY = (
    "A change and its record are committed together or not at all. Leave the option out: "
    "idempotency_key=False. See docs/writes.md."
)


def _find_guard_names(tool: Any) -> tuple[str, ...]:
    """Return the names of the guards of a tool, mostly the names of their arguments."""
    options, precondition = tool.options, find_precondition(tool)
    switched_on = {
        # A tool takes all that its view takes over HTTP: also the header, as an argument.
        IDEMPOTENCY_KEY: not tool.reads
        and (
            takes_header(tool)
            or options.choose_flag("idempotency_key", mcp_settings.IDEMPOTENCY_KEYS)
        ),
        IF_MATCH: precondition is not None and precondition.guards_tool,
        CONFIRMATION: bool(find_confirmation(tool)),
        DRY_RUN: not tool.reads and bool(options.dry_run),
    }
    return tuple(name for name in GUARDS if switched_on[name])


def get_guards(tool: Any) -> Sequence[Guard]:
    """Return the guards of a tool."""
    versions = [VersionGuard()] if tool.options.if_match else []
    return [*(GUARDS[name]() for name in _find_guard_names(tool)), *versions]


class WritesSource(ToolSource):
    def get_controls(self, tool: Any) -> Sequence[Parameter]:
        found = []
        for name in _find_guard_names(tool):
            if name == IF_MATCH:
                found.append(find_precondition(tool).parameter)  # type: ignore[union-attr]
            elif name != CONFIRMATION or not needs_person(tool):
                required = name == IDEMPOTENCY_KEY and requires_key(tool)
                found.append(replace(PARAMETERS[name], required=required))
        return found

    def finish_arguments(self, arguments: Any, tool: Any) -> None:
        if tool.options.bulk:
            arguments.items = Items.of(arguments, tool)

    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        return {"_meta": {REQUIRES_USER_INTERACTION: True}} if find_confirmation(tool) else {}


# --- Checks ---------------------------------------------------------------------------------


@register_check()
def check_versions(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        precondition = find_precondition(tool)
        # An option may be about all tools of a view, and counts for tools that write one object.
        writes = not tool.reads and tool.endpoint.key_kwarg is not None
        if precondition is None or precondition.is_etag or not writes or precondition.guards_tool:
            continue
        fault = "the view has no get_object(), a decorator around it, or no known model."
        if precondition.model is not None and precondition.finds_row:
            names = [field.name for field in precondition.model._meta.concrete_fields]
            nearest = ask_nearest([repr(each) for each in find_nearest(precondition.name, names)])
            fault = f"{precondition.model.__name__} has no field {precondition.name!r}. {nearest}"
        yield Error(
            f"if_match= of {name} at {tool.endpoint.place}: {fault}".strip(),
            hint="Name a field of the model that each save changes, or write if_match=True"
            " where the view has ETags. See docs/writes.md.",
            id="drf_mcp.E009",
        )


@register_check()
def check_idempotency(project: Project) -> Iterator[CheckMessage]:
    tools = dict(project.tools)
    for endpoint in project.endpoints:
        if endpoint.view.tool_options:
            tools.update(endpoint.view.registry.tools(None, endpoint.view.tool_options))
    kept = find_records().db
    for name, tool in tools.items():
        if IDEMPOTENCY_KEY not in _find_guard_names(tool):
            continue
        # A change and its record cannot be in one transaction.
        view, fault = f"its view {tool.endpoint.place}", ""
        model = tool.endpoint.declared_model
        written = kept if model is None else router.db_for_write(model)
        if kept in getattr(tool.endpoint.route.callback, "_non_atomic_requests", ()):
            fault = f"{view} runs outside transactions (non_atomic_requests)"
        elif written != kept:
            fault = f"{view} writes to '{written}', while records are in '{kept}'"
        if fault:
            yield Error(
                f"{name} takes an idempotency_key, and {fault}.", ATOMIC_REMEDY, id="drf_mcp.E014"
            )


class WritesReview(ToolReview):
    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        names, hints = {parameter.name for parameter in tool.controls}, tool.annotations
        # An update may overwrite something, but does not destroy as CONFIRM means it.
        destroys = tool.options.choose_flag("destructive", tool.endpoint.method == "DELETE")
        asks, writes_one = find_confirmation(tool), tool.endpoint.key_kwarg is not None
        # A call that changes nothing when it is repeated needs no key.
        repeats = not hints["idempotentHint"]
        return [
            Safeguard("confirmation", "confirm", bool(asks), hints["destructiveHint"], destroys),
            Safeguard("dry_run", "dry_run", "dry_run" in names),
            Safeguard("idempotency_key", "key", "idempotency_key" in names, repeats),
            Safeguard("if_match", "match", "if_match" in names, writes_one),
        ]
