from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error, Warning

from drf_mcp.dispatch.visibility import is_open
from drf_mcp.operators.checks.project import Project, register_check
from drf_mcp.spelling import find_nearest
from drf_mcp.tools.tool import Tool

# Names in one message.
SHOWN = 5


@register_check()
def check_versions(project: Project) -> Iterator[CheckMessage]:
    # One option may be about all tools of a view, of which those that write one object are meant.
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


@register_check()
def check_writes_have_permissions(project: Project) -> Iterator[CheckMessage]:
    names = [name for name, tool in project.tools.items() if not tool.reads and is_open(tool)]
    if names:
        more = len(names) - SHOWN
        shown = ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        yield Warning(
            f"Tools that change data and ask for no permission: {shown}.",
            hint="Set permission_classes on the views, or leave the tools out with EXCLUDE. "
            "python manage.py mcp_tools --warnings shows each place. Silence this warning if "
            "everybody may call them.",
            id="drf_mcp.W035",
        )


def find_version_fault(tool: Tool) -> str:
    precondition = tool.precondition
    writes = not tool.reads and tool.endpoint.key_kwarg is not None
    if precondition is None or precondition.is_etag or not writes or precondition.guards_tool:
        return ""
    if precondition.model is None or not hasattr(tool.endpoint.view_class, "get_object"):
        return "the view has no get_object(), or no model is known of it."
    names = [field.name for field in precondition.model._meta.concrete_fields]
    nearest = find_nearest(precondition.name, names)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"{precondition.model.__name__} has no field {precondition.name!r}.{hint}"
