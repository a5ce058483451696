from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.core.checks import CheckMessage, Error
from django.db import router

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.writes.guards import IDEMPOTENCY_KEY, find_guards
from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.contrib.writes.versions import find_precondition
from drf_mcp.introspection.inspection import find_declared_model
from drf_mcp.option_types.spelling import find_nearest

REMEDY = (
    "A change and its record are committed together or not at all. Leave the option out: "
    "idempotency_key=False. See docs/writes.md."
)


@register_check()
def check_versions(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        precondition = find_precondition(tool)
        # One option may be about all tools of a view, and counts for those that write one object.
        writes = not tool.reads and tool.endpoint.key_kwarg is not None
        if precondition is None or precondition.is_etag or not writes or precondition.guards_tool:
            continue
        fault = "the view has no get_object(), or no model is known of it."
        if precondition.model is not None and hasattr(tool.endpoint.view_class, "get_object"):
            names = [field.name for field in precondition.model._meta.concrete_fields]
            fault = f"{precondition.model.__name__} has no field {precondition.name!r}."
            fault += say_nearest(precondition.name, names)
        yield Error(
            f"if_match= of {name} at {tool.endpoint.place}: {fault}",
            hint="Name a field of the model that each save changes, or write if_match=True"
            " where the view has ETags. See docs/writes.md.",
            id="drf_mcp.E009",
        )


def say_nearest(name: str, known: Iterable[str]) -> str:
    nearest = find_nearest(name, known)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


@register_check()
def check_undo(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        undo = tool.options.undo
        if undo and undo not in project.tools and not tool.reads:
            fault = f"names {undo!r}, which is no tool.{say_nearest(undo, project.tools)}"
            yield Error(
                f"undo= of {name} at {tool.endpoint.place} {fault}",
                hint="Name the tool that takes a call back. See docs/writes.md.",
                id="drf_mcp.E010",
            )


@register_check()
def check_idempotency(project: Project) -> Iterator[CheckMessage]:
    tools = dict(project.tools)
    for endpoint in project.endpoints:
        if endpoint.view.tool_options:
            tools.update(endpoint.view.registry.tools(None, endpoint.view.tool_options))
    kept = router.db_for_write(IdempotencyRecord)
    for name, tool in tools.items():
        if IDEMPOTENCY_KEY not in find_guards(tool):
            continue
        # A change that cannot be recorded in its own transaction.
        view, fault = f"its view {tool.endpoint.place}", ""
        model = find_declared_model(tool.endpoint.view_class)
        written = kept if model is None else router.db_for_write(model)
        if kept in getattr(tool.endpoint.route.callback, "_non_atomic_requests", ()):
            fault = f"{view} runs outside transactions (non_atomic_requests)"
        elif written != kept:
            fault = f"{view} writes to '{written}', while records are in '{kept}'"
        if fault:
            yield Error(f"{name} takes an idempotency_key, and {fault}.", REMEDY, id="drf_mcp.E014")
