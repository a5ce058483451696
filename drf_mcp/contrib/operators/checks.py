from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from django.contrib.auth import get_user_model
from django.core.checks import CheckMessage, Warning
from django.db import connections, transaction

from drf_mcp.access.authentication import Caller
from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.checks.project import Project, register_check
from drf_mcp.dispatch.visibility import Visibility, classify, find_leaves, get_question
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.in_process import LocalEndpoint


# Only with --deploy, since nothing is described at startup otherwise.
@register_check(deploy=True)
def check_descriptions(project: Project) -> Iterator[CheckMessage]:
    count = sum(len(tool.findings) for tool in project.tools.values())
    if count:
        yield Warning(
            f"{count} part{'s' if count > 1 else ''} of the tools could not be described.",
            hint="python manage.py mcp_tools findings shows each place and its remedy.",
            id="drf_mcp.W010",
        )


# Only with --deploy, since no database is queried at startup otherwise.
@register_check(deploy=True)
def check_list_costs(project: Project) -> Iterator[CheckMessage]:
    nothing: list[tuple[str, int, int]] = []
    # A database that cannot be reached is found out by others.
    for names, queries, count in contain(lambda: find_list_costs(project), lambda exc: nothing):
        yield Warning(
            f"{names} makes {queries} {'query' if queries == 1 else 'queries'} for each of "
            f"{count} tool{'' if count == 1 else 's'}, at every list.",
            hint="If the answer depends on nothing but the user, the credential, the view and the "
            "method, set list_cache = True on the class. See docs/many_tools.md.",
            id="drf_mcp.W031",
        )


def find_list_costs(project: Project) -> list[tuple[str, int, int]]:
    """Return permissions that are asked at each list, with the queries of a tool, and the tools.

    They are asked on behalf of the first user.
    """
    groups: dict[str, list[Tool]] = {}
    for tool in project.tools.values():
        if not get_question(tool).is_kept:
            own = find_view_classes(tool.endpoint.route.callback, "permission_classes")
            leaves = [leaf for leaf in find_leaves(own or ()) if not classify(leaf)[0]]
            names = " and ".join(map(locate_view, leaves))
            view = f"What {locate_view(tool.endpoint.view_class)} asks"
            groups.setdefault(names or view, []).append(tool)
    user = get_user_model()._default_manager.filter(is_active=True).first()
    if user is None or not groups:
        return []
    found = []
    with transaction.atomic():
        caller = Caller(LocalEndpoint().make_request(user), None, [], [])
        for names, tools in groups.items():
            # What the user's object remembers is asked once for all tools.
            Visibility(caller).allows(tools[0])
            counted: list[str] = []

            def note(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
                counted.append(sql)  # noqa: B023 - called before the next group
                return execute(sql, *arguments)

            with ExitStack() as stack:
                for connection in connections.all():
                    stack.enter_context(connection.execute_wrapper(note))
                Visibility(caller).allows(tools[0])
            found.append((names, len(counted), len(tools)))
        transaction.set_rollback(True)
    return [each for each in found if each[1]]
