from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error
from django.db import router

from drf_mcp.introspection.locations import find_declared_model
from drf_mcp.models import IdempotencyRecord
from drf_mcp.operators.checks.project import Project, register_check
from drf_mcp.tools.tool import Tool

GUARD = "idempotency"
REMEDY = (
    "A change and its record are committed together or not at all. Leave the option out: "
    "idempotency_key=False. See docs/idempotency.md."
)


@register_check()
def check_idempotency(project: Project) -> Iterator[CheckMessage]:
    tools = dict(project.tools)
    for endpoint in project.endpoints:
        if endpoint.view.tool_options:
            tools.update(endpoint.view.registry.tools(None, endpoint.view.tool_options))
    for name, tool in tools.items():
        if GUARD in tool.guarded_by and (fault := find_recording_fault(tool)):
            yield Error(f"{name} takes an idempotency_key, and {fault}.", REMEDY, id="drf_mcp.E014")


def find_recording_fault(tool: Tool) -> str:
    """Return why a tool cannot be recorded in its own transaction, "" if it can."""
    endpoint, kept = tool.endpoint, router.db_for_write(IdempotencyRecord)
    view_class = endpoint.view_class
    outside = getattr(endpoint.route.callback, "_non_atomic_requests", ())
    if kept in outside:
        return f"its view {endpoint.place} runs outside transactions (non_atomic_requests)"
    model = find_declared_model(view_class)
    written = kept if model is None else router.db_for_write(model)
    if written != kept:
        return f"its view {endpoint.place} writes to '{written}', while records are in '{kept}'"
    return ""
