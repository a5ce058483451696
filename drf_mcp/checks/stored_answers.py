from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Info

from drf_mcp.archive import can_archive
from drf_mcp.checks.project import Project, register_check
from drf_mcp.dispatch.own_answers import has_own_handler, keeps_answers, shows_fields_by_caller
from drf_mcp.dispatch.stored_answers import HOOKS
from drf_mcp.tools.tool import Tool

MOST_NAMES = 10


@register_check(deploy=True)
def check_stored_answers(project: Project) -> Iterator[CheckMessage]:
    if not can_archive():
        return
    names = sorted(name for name, tool in project.tools.items() if is_unasked(tool))
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield Info(
            "What has no room in a result is kept for 15 minutes of tools whose own code alone "
            f"knows what a caller may read: {', '.join(names[:MOST_NAMES])}{more}.",
            hint="Where rights change that Django's users, groups and permissions do not show, "
            "define get_rights_fingerprint() or may_retrieve() on the view, or set archive=False. "
            "See docs/security.md.",
            id="drf_mcp.I002",
        )


def is_unasked(tool: Tool) -> bool:
    endpoint = tool.endpoint
    if endpoint.is_built_in or not keeps_answers(tool):
        return False
    if any(hasattr(endpoint.view_class, name) for name in HOOKS):
        return False
    return has_own_handler(endpoint) or shows_fields_by_caller(endpoint)
