from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.aggregates.tool import REMEDY, AggregateTool
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.options import ViewOptions


@register_check()
def check_aggregates(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        if isinstance(tool, AggregateTool):
            for fault in tool.declaration.find_faults():
                yield Error(f"{name} at {tool.endpoint.place}: {fault}.", REMEDY, id="drf_mcp.E007")
    for place in find_places_without_list(project):
        yield Error(
            f"aggregate= of {place} has no list that is exposed there.",
            hint="Expose the list, or take aggregate= away.",
            id="drf_mcp.E007",
        )


def find_places_without_list(project: Project) -> Iterator[str]:
    every = project.rest_endpoints
    for view_class in dict.fromkeys(endpoint.view_class for endpoint in every):
        own = [endpoint for endpoint in every if endpoint.view_class is view_class]
        options = vars(view_class).get("mcp_viewset")
        decorated = [e for e in own if any(each.aggregate for each in e.decorations)]
        if (options is not None and lacks_list(options, own)) or (
            decorated and not any(endpoint.standard_action == "list" for endpoint in decorated)
        ):
            yield locate_view(view_class)
    for registration in project.registry.registrations:
        if lacks_list(registration.options, filter(registration.is_for, every)):
            own_class = registration.view_class
            yield locate_view(own_class) if own_class is not None else "a registered router"


def lacks_list(options: ViewOptions, endpoints: Iterable[Endpoint]) -> bool:
    return bool(options.tool.aggregate) and not any(
        endpoint.standard_action == "list" and options.selects("list") for endpoint in endpoints
    )
