from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error
from django.db import router

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.writes.guards import IDEMPOTENCY_KEY, find_guards
from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.contrib.writes.versions import find_precondition
from drf_mcp.introspection.inspection import find_declared_model
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.tools.tool import Tool

REMEDY = (
    "A change and its record are committed together or not at all. Leave the option out: "
    "idempotency_key=False. See docs/writes.md."
)


@register_check()
def check_versions(project: Project) -> Iterator[CheckMessage]:
    # One option may be about all tools of a view, and counts for those that write one object.
    for name, tool in project.tools.items():
        if fault := find_version_fault(tool):
            yield Error(
                f"if_match= of {name} at {tool.endpoint.place}: {fault}",
                hint="Name a field of the model that each save changes, or write if_match=True"
                " where the view has ETags. See docs/writes.md.",
                id="drf_mcp.E009",
            )


@register_check()
def check_undo(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        undo = tool.options.undo
        if undo and undo not in project.tools and not tool.reads:
            nearest = find_nearest(undo, project.tools)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            yield Error(
                f"undo= of {name} at {tool.endpoint.place} names {undo!r}, which is no tool.{hint}",
                hint="Name the tool that takes a call back. See docs/writes.md.",
                id="drf_mcp.E010",
            )


def find_version_fault(tool: Tool) -> str:
    precondition = find_precondition(tool)
    writes = not tool.reads and tool.endpoint.key_kwarg is not None
    if precondition is None or precondition.is_etag or not writes or precondition.guards_tool:
        return ""
    if precondition.model is None or not hasattr(tool.endpoint.view_class, "get_object"):
        return "the view has no get_object(), or no model is known of it."
    names = [field.name for field in precondition.model._meta.concrete_fields]
    nearest = find_nearest(precondition.name, names)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"{precondition.model.__name__} has no field {precondition.name!r}.{hint}"


@register_check()
def check_idempotency(project: Project) -> Iterator[CheckMessage]:
    tools = dict(project.tools)
    for endpoint in project.endpoints:
        if endpoint.view.tool_options:
            tools.update(endpoint.view.registry.tools(None, endpoint.view.tool_options))
    for name, tool in tools.items():
        if IDEMPOTENCY_KEY in find_guards(tool) and (fault := find_recording_fault(tool)):
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
