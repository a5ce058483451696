from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from drf_mcp.access.authentication import find_view_classes
from drf_mcp.access.narrowing import Narrowing
from drf_mcp.access.resources import WELL_KNOWN, BearerChallenge, ProtectedResourceView
from drf_mcp.checks.project import MountedEndpoint, Project, register_check, takes_sessions_alone
from drf_mcp.dispatch.visibility import is_open
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_selection import Omission, SelectableFields
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.types import LostFilters, OpenPlace
from drf_mcp.option_types.spelling import join_names
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.exposure import ToolChoice
from drf_mcp.routes.options import ToolOptions, ViewOptions
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings

# The most tools that the strictest of the widely used clients sends to a model.
MAX_TOOLS = 128


@register_check(deploy=True)
def check_deployment(project: Project) -> Iterator[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS and project.endpoints:
        yield Warning(
            "ALLOWED_HOSTS allows any host, so the MCP endpoint does not know whose pages may call "
            "it, and refuses every call from a browser, also from its own page. Otherwise any web "
            "page could call the endpoint (DNS rebinding).",
            hint="Name the hosts of the project in ALLOWED_HOSTS, and further browser origins "
            "in DRF_MCP['ALLOWED_ORIGINS'].",
            id="drf_mcp.W008",
        )
    # A time limit of 0 means no limit on purpose.
    own = [tool for tool in project.tools.values() if not tool.endpoint.is_built_in]
    unlimited = [tool.name for tool in own if tool.options.time_limit is None]
    if project.endpoints and unlimited and not mcp_settings.TIME_LIMIT:
        yield Warning(
            f"Calls have no limit of time, such as calls of {unlimited[0]}: a slow one holds a "
            "worker.",
            hint="Set DRF_MCP['TIME_LIMIT'] to some seconds, or time_limit of the tools. See "
            "docs/limits.md.",
            id="drf_mcp.W032",
        )
    for endpoint in project.endpoints:
        if endpoint.is_open:
            yield Warning(
                f"The MCP endpoint {endpoint.path} is open to anonymous callers.",
                hint="The views' own permissions still hold. Ask for a login with "
                "DRF_MCP['PERMISSION_CLASSES'], or silence this warning if the endpoint is "
                "to be open.",
                id="drf_mcp.W006",
            )
    uncounted = [
        endpoint.path
        for endpoint in project.endpoints
        if not (endpoint.view.choose("throttle_classes") or api_settings.DEFAULT_THROTTLE_CLASSES)
    ]
    if uncounted:
        yield Warning(
            f"Nothing limits how often a caller of {join_names(uncounted)} calls tools.",
            hint="Set DRF_MCP['THROTTLE_CLASSES'], or REST framework's DEFAULT_THROTTLE_CLASSES; "
            "or silence this warning where a proxy counts. See docs/limits.md.",
            id="drf_mcp.W033",
        )


@register_check()
def check_sign_in(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        if endpoint.view.get_authorization_servers():
            yield from _check_authorization(endpoint)
        elif endpoint.takes_sessions_alone and not endpoint.is_open:
            yield Warning(
                f"No authentication class of {endpoint.path} reads an Authorization header, so "
                "that no agent can sign in by HTTP.",
                hint="Add one, such as REST framework's TokenAuthentication, to "
                "REST_FRAMEWORK['DEFAULT_AUTHENTICATION_CLASSES'], so that views take it too; if "
                "views name classes of their own, name those in DRF_MCP['AUTHENTICATION_CLASSES']."
                " Silence this warning if only mcp_stdio and the page in a browser are used. See "
                "docs/authentication.md.",
                id="drf_mcp.W034",
            )


# Packages whose classes take a token at the address alone that it was made for.
REFUSING = {
    "oauth2_provider": "Unpack drf_mcp.contrib.oauth.defaults.AGENTS into OAUTH2_PROVIDER",
    "allauth": "Use drf_mcp.contrib.oauth.authentication.AllauthAuthentication in its place",
}


def _check_authorization(endpoint: MountedEndpoint) -> Iterator[CheckMessage]:
    classes = endpoint.authentication_classes
    address = f"{WELL_KNOWN}{endpoint.path.rstrip('/')}"
    try:
        found = getattr(resolve(address).func, "view_class", None)
    except Resolver404:
        found = None
    is_found = found is not None and issubclass(found, ProtectedResourceView)
    # An address with arguments cannot be looked up.
    if not is_found and "{" not in address:
        yield Warning(
            f"The MCP endpoint {endpoint.path} has authorization servers, but clients cannot "
            f"read which: {address} does not lead to the metadata.",
            hint='Add path("", include("drf_mcp.access.urls")) to the URLconf at the root of '
            "the host, before any pattern that takes every path. See docs/oauth.md.",
            id="drf_mcp.W018",
        )
    if not any(map(_takes_tokens, classes)):
        yield Warning(
            f"Clients of {endpoint.path} learn where to get a token, and no authentication "
            "class of the endpoint says that it takes one.",
            hint="Add a class that checks the tokens, such as a subclass of "
            "drf_mcp.access.jwt.JWTAuthentication, to REST framework's "
            "DEFAULT_AUTHENTICATION_CLASSES. See docs/oauth.md.",
            id="drf_mcp.W020",
        )
    resource = endpoint.view.get_resource()
    path = urlsplit(resource).path if resource else endpoint.path
    for package, hint in REFUSING.items() if path.strip("/") else ():
        own = [one for one in classes if one.__module__.partition(".")[0] == package]
        # For the view of a tool, the package compares the address of the view.
        if own and not _checks_endpoints(package):
            yield Warning(
                f"Clients of {endpoint.path} ask for tokens for {path} alone, and views at other "
                f"paths refuse such tokens of {own[0].__name__}: tools are listed and cannot be "
                "called.",
                hint=f"{hint}, or set DRF_MCP['RESOURCE'] to the address of the host, such as "
                "'https://shop.example'. See docs/sign_in_own.md.",
                id="drf_mcp.W019",
            )


def _checks_endpoints(package: str) -> bool:
    if package != "oauth2_provider":
        return False
    from oauth2_provider.settings import oauth2_settings

    return bool(getattr(oauth2_settings.OAUTH2_BACKEND_CLASS, "checks_endpoints", False))


def _takes_tokens(authentication_class: Any) -> bool:
    if authentication_class.__module__.partition(".")[0] in REFUSING:
        return True

    def ask() -> bool:
        header = authentication_class().authenticate_header(Request(HttpRequest()))
        return bool(header and BearerChallenge.parse(header))

    # There is no warning about a class that fails.
    return attempt(ask, True)


@register_check()
def check_count(project: Project) -> Iterator[CheckMessage]:
    # An endpoint with a toolset in its URL lists fewer tools.
    counts = [] if project.endpoints else [len(project.tools)]
    for endpoint in project.endpoints:
        view = endpoint.view
        is_own = view.registry is project.registry and "{toolset}" not in endpoint.path
        if is_own and not endpoint.is_shortened:
            patterns = None if view.tools is None else tuple(view.tools)
            narrowing = Narrowing("this endpoint", patterns, view.read_only)
            counts.append(sum(map(narrowing.allows, project.tools.values())))
    count = max(counts, default=0)
    if count > MAX_TOOLS:
        yield Warning(
            f"An endpoint lists {count} tools. Several clients take at most {MAX_TOOLS} from "
            "all servers together, and models choose better from few.",
            hint="Leave out what agents do not need with DRF_MCP['EXCLUDE'], serve several "
            "endpoints with fewer tools (docs/toolsets.md), or let agents search the tools with "
            "DRF_MCP['TOOL_SEARCH'] (docs/large_apis.md).",
            id="drf_mcp.W005",
        )


@register_check()
def check_tools(project: Project) -> Iterator[CheckMessage]:
    try:
        project.registry.tools()
    except ImproperlyConfigured as exc:
        yield Error(
            str(exc), hint="Correct the options where the tools are chosen.", id="drf_mcp.E002"
        )


@register_check()
def check_endpoint_is_included(project: Project) -> Iterator[CheckMessage]:
    count = sum(not tool.endpoint.is_built_in for tool in project.tools.values())
    served = any(endpoint.view.registry is project.registry for endpoint in project.endpoints)
    if count and not served:
        yield Warning(
            f"The project has {count} tool{'s' if count > 1 else ''}, but no URL leads to an "
            f"MCP endpoint.",
            hint='Add path("", include("drf_mcp.urls")) to the URLconf. A project that only '
            "uses mcp_stdio can silence this warning.",
            id="drf_mcp.W001",
        )


@register_check()
def check_writes_have_permissions(project: Project) -> Iterator[CheckMessage]:
    names = [name for name, tool in project.tools.items() if not tool.reads and is_open(tool)]
    if names:
        yield Warning(
            f"Tools that change data and ask for no permission: {join_names(names)}.",
            hint="Set permission_classes on the views, or leave the tools out with EXCLUDE. "
            "Silence this warning if everybody may call them.",
            id="drf_mcp.W035",
        )


@register_check()
def check_views_know_the_credential(project: Project) -> Iterator[CheckMessage]:
    # For endpoints that take only sessions there is W034.
    if all(endpoint.takes_sessions_alone for endpoint in project.endpoints):
        return
    names = []
    for name, tool in project.tools.items():
        own = find_view_classes(tool.endpoint.route.callback, "authentication_classes")
        if own and takes_sessions_alone(own) and not is_open(tool):
            names.append(name)
    if names:
        yield Warning(
            f"The views of these tools take sessions alone: {join_names(names)}. An agent that "
            "signed in at the endpoint by an Authorization header is anonymous there.",
            hint="Remove authentication_classes from the views, or add the endpoint's class to "
            "them. See docs/authentication.md.",
            id="drf_mcp.W036",
        )


@register_check()
def check_routes(project: Project) -> Iterator[CheckMessage]:
    endpoints = project.rest_endpoints
    for place in dict.fromkeys((*_find_registrations(project), *_find_decorations(endpoints))):
        yield Warning(
            f"{place}, but no route of the URLconf leads there, so it is not a tool.",
            hint="Add a route in a router or in the urlpatterns, or do not expose the view.",
            id="drf_mcp.W003",
        )


def _find_registrations(project: Project) -> Iterator[str]:
    endpoints = project.rest_endpoints
    for registration in project.registry.registrations:
        selects = registration.options.selects
        if any(registration.is_for(e) and selects(e.action_or_method) for e in endpoints):
            continue
        if registration.view_class is not None:
            yield f"{locate_view(registration.view_class)} is registered"
        elif registration.router is not None:
            prefixes = ", ".join(str(entry[0]) for entry in registration.router.registry)
            yield f"A router is registered ({prefixes or 'it has no viewsets'})"


def _find_decorations(endpoints: Sequence[Endpoint]) -> Iterator[str]:
    routed = {endpoint.view_class for endpoint in endpoints}
    handled = {(endpoint.view_class, endpoint.handler_name) for endpoint in endpoints}
    for view_class in sorted(set(_find_subclasses(APIView)), key=locate_view):
        parts = view_class.__module__.split(".")
        # A view of a test module needs no route.
        if any(p in ("test", "tests", "conftest") or p.startswith("test_") for p in parts):
            continue
        if {"mcp_viewset", "mcp_tool"} & vars(view_class).keys() and view_class not in routed:
            yield f"{locate_view(view_class)} is decorated"
        for name, member in vars(view_class).items():
            if isinstance(getattr(member, "mcp_tool", None), ToolOptions) and not any(
                name == handler and issubclass(other, view_class) for other, handler in handled
            ):
                yield f"{locate_view(view_class)}.{name} is decorated"


def _find_subclasses(view_class: type[Any]) -> Iterator[type[Any]]:
    for subclass in view_class.__subclasses__():
        yield subclass
        yield from _find_subclasses(subclass)


@register_check()
def check_unmatched_names(project: Project) -> Iterator[CheckMessage]:
    # A mistyped pattern or action may leave a tool exposed.
    hint = "Correct the name, or remove it. See docs/exposing.md."
    for message in dict.fromkeys((*_find_unmatched_patterns(project), *find_actions(project))):
        yield Warning(message, hint=hint, id="drf_mcp.W014")


def _find_unmatched_patterns(project: Project) -> Iterator[str]:
    exposure = project.registry.exposure
    choices = [
        exposure.find_choice(endpoint) or ToolChoice(endpoint, ToolOptions())
        for endpoint in project.rest_endpoints
    ]
    named = {f"DRF_MCP[{n!r}]": getattr(mcp_settings, n) for n in ("INCLUDE", "EXCLUDE")}
    sets = {
        f"DRF_MCP[{setting!r}][{name!r}]": own
        for setting in ("TOOLSETS", "TOOL_SCOPES")
        for name, own in getattr(mcp_settings, setting).items()
    }
    mounted = {f"The MCP endpoint {e.path}": e.view.tools or () for e in project.endpoints}
    for place, patterns in {**named, **sets, **mounted}.items():
        for pattern in patterns:
            if not any(choice.matches([pattern]) for choice in choices):
                yield f"{place} has the pattern {pattern!r}, which matches no endpoint."


def find_actions(project: Project) -> Iterator[str]:
    # Several targets of one registration share one options object.
    groups: dict[int, tuple[ViewOptions, set[str]]] = {}
    for endpoint in project.rest_endpoints:
        registered = [r.options for r in project.registry.registrations if r.is_for(endpoint)]
        decorated = vars(endpoint.view_class).get("mcp_viewset")
        for options in (*registered, *filter(None, [decorated])):
            names = groups.setdefault(id(options), (options, set()))[1]
            names.add(endpoint.action_or_method)
    for options, names in groups.values():
        known = ", ".join(sorted(names))
        for name in sorted(options.exclude.union(options.actions or ()) - names):
            yield (
                f"actions= or exclude= names {name!r}, which is no action of these views. "
                f"Their actions: {known}."
            )
        if options.tool.many and not any(map(options.selects, names & {"retrieve"})):
            yield f"many=True lets retrieve read several objects, and the views have: {known}."


# Describing every tool takes seconds in a large project.
@register_check(deploy=True)
def check_findings(project: Project) -> Iterator[CheckMessage]:
    ids = {LostFilters: "drf_mcp.W012", OpenPlace: "drf_mcp.W040"}
    for name, tool in project.tools.items():
        for finding in tool.schema.findings:
            if id := ids.get(type(finding)):
                yield Warning(f"{name}: {finding.message}", hint=finding.remedy, id=id)


# Describes only tools with one of the options.
@register_check()
def check_named_parts(project: Project) -> Iterator[CheckMessage]:
    # Several tools of a view may share an option: one of them has to have the field or argument.
    for option, (what, knows) in NAMED_PARTS.items():
        groups: dict[tuple[type, tuple[str, ...]], list[Tool]] = {}
        for tool in project.tools.values():
            # A tool without an HTTP request of its own may answer with fewer fields than its view.
            names = tuple(getattr(tool.options, option) or ())
            if names and tool.endpoint.has_http_request:
                groups.setdefault((tool.endpoint.view_class, names), []).append(tool)
        for (view_class, names), tools in groups.items():
            place = tools[0].endpoint.place if len(tools) == 1 else locate_view(view_class)
            for name in names:
                if not any(knows(tool, name) for tool in tools):
                    yield Error(
                        f"{option}= of {place} names {name!r}, which is no {what} there.",
                        hint="Correct the name; fields within others have dots, as in lines.note.",
                        id="drf_mcp.E008",
                    )


def _answers_with(tool: Tool, path: str) -> bool:
    fields, omission = SelectableFields(tool.view_schema.output), Omission([path])
    known = fields.find_paths()
    return not fields.names_all() or any(omission.covers(each.split(".")) for each in known)


def _takes_argument(tool: Tool, name: str) -> bool:
    # Code that is not read may take any.
    return name not in tool.arguments.undeclared or bool(tool.arguments.unread)


NAMED_PARTS: Mapping[str, tuple[str, Callable[[Tool, str], bool]]] = {
    "untrusted": ("field of the answers", lambda tool, path: path in tool.hints.untrusted),
    "omit": ("field of the answers", _answers_with),
    "hidden": ("argument", _takes_argument),
}
