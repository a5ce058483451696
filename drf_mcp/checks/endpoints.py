from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Info, Warning
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.module_loading import import_string
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.settings import api_settings

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.access.narrowing import Narrowing
from drf_mcp.access.resources import WELL_KNOWN, BearerChallenge, ProtectedResourceView
from drf_mcp.checks.project import Project, register_check
from drf_mcp.checks.tools import takes_sessions_alone
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool

# Above that, searching costs a model fewer tokens than the list.
MANY_TOOLS = 60
# As many as the strictest of the widely used clients send to a model.
MAX_TOOLS = 128


@register_check(deploy=True)
def check_open_endpoints(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        if all(permission is AllowAny for permission in endpoint.permission_classes):
            yield Warning(
                f"The MCP endpoint {endpoint.path} is open to anonymous callers.",
                hint="The views' own permissions still hold. Ask for a login with "
                "DRF_MCP['PERMISSION_CLASSES'], or silence this warning if the endpoint is "
                "to be open.",
                id="drf_mcp.W006",
            )


@register_check(deploy=True)
def check_time_limits(project: Project) -> Iterator[CheckMessage]:
    # 0 says that a tool has none on purpose.
    own = [tool for tool in project.tools.values() if not tool.endpoint.is_built_in]
    unlimited = [tool.name for tool in own if tool.options.time_limit is None]
    if project.endpoints and unlimited and not mcp_settings.TIME_LIMIT:
        yield Warning(
            f"Calls have no limit of time, such as those of {unlimited[0]}: a slow one holds a "
            "worker.",
            hint="Set DRF_MCP['TIME_LIMIT'] to some seconds, or time_limit of the tools. See "
            "docs/limits.md.",
            id="drf_mcp.W032",
        )


@register_check(deploy=True)
def check_throttles(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        if not (endpoint.throttle_classes or api_settings.DEFAULT_THROTTLE_CLASSES):
            yield Warning(
                f"Nothing limits how often a caller of the MCP endpoint {endpoint.path} calls "
                "tools.",
                hint="Set DRF_MCP['THROTTLE_CLASSES'], or REST framework's "
                "DEFAULT_THROTTLE_CLASSES; or silence this warning where a proxy counts. See "
                "docs/limits.md.",
                id="drf_mcp.W033",
            )


@register_check(deploy=True)
def check_hosts(project: Project) -> Iterator[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS and project.endpoints:
        yield Warning(
            "ALLOWED_HOSTS allows any host, so the MCP endpoint does not know whose pages may call "
            "it, and refuses every call from a browser, also from its own page. Otherwise any web "
            "page could call the endpoint (DNS rebinding).",
            hint="Name the hosts of the project in ALLOWED_HOSTS, and further browser origins "
            "in DRF_MCP['ALLOWED_ORIGINS'].",
            id="drf_mcp.W008",
        )


@register_check()
def check_agents_can_sign_in(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        classes = resolve_authentication_classes(endpoint.view.authentication_classes)
        is_open = all(permission is AllowAny for permission in endpoint.permission_classes)
        is_alone = takes_sessions_alone(classes)
        if is_alone and not is_open and not endpoint.view.get_authorization_servers():
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


@register_check()
def check_metadata_addresses(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        address = f"{WELL_KNOWN}{endpoint.path.rstrip('/')}"
        # An address with arguments cannot be looked up.
        if not endpoint.view.get_authorization_servers() or "{" in address:
            continue
        try:
            found = getattr(resolve(address).func, "view_class", None)
        except Resolver404:
            found = None
        if found is None or not issubclass(found, ProtectedResourceView):
            yield Warning(
                f"The MCP endpoint {endpoint.path} has authorization servers, but clients cannot "
                f"read which: {address} does not lead to the metadata.",
                hint='Add path("", include("drf_mcp.access.urls")) to the URLconf at the root of '
                "the host, before any pattern that takes every path. See docs/oauth.md.",
                id="drf_mcp.W018",
            )


@register_check()
def check_token_audiences(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        classes = resolve_authentication_classes(endpoint.view.authentication_classes)
        own = any(c.__module__.partition(".")[0] == "oauth2_provider" for c in classes)
        resource = endpoint.view.get_resource()
        path = urlsplit(resource).path if resource else endpoint.path
        if not own or not endpoint.view.get_authorization_servers():
            continue
        if path.strip("/") and not checks_tokens_at_endpoints():
            yield Warning(
                f"Clients of {endpoint.path} ask for tokens for {path} alone, and views at other "
                "paths refuse such tokens of django-oauth-toolkit: tools are listed and cannot "
                "be called.",
                hint="Unpack drf_mcp.contrib.oauth.defaults.AGENTS into OAUTH2_PROVIDER, or set "
                "DRF_MCP['RESOURCE'] to the address of the host, such as 'https://shop.example'. "
                "See docs/sign_in_own.md.",
                id="drf_mcp.W019",
            )


@register_check()
def check_tokens_are_read(project: Project) -> Iterator[CheckMessage]:
    for endpoint in project.endpoints:
        classes = resolve_authentication_classes(endpoint.view.authentication_classes)
        if endpoint.view.get_authorization_servers() and not any(map(takes_tokens, classes)):
            yield Warning(
                f"Clients of {endpoint.path} learn where to get a token, and no authentication "
                "class of the endpoint says that it takes one.",
                hint="Add a class that checks the tokens, such as a subclass of "
                "drf_mcp.access.jwt.JWTAuthentication, to REST framework's "
                "DEFAULT_AUTHENTICATION_CLASSES. See docs/oauth.md.",
                id="drf_mcp.W020",
            )


@register_check()
def check_count(project: Project) -> Iterator[CheckMessage]:
    count = max(map(len, find_lists(project)), default=0)
    if MANY_TOOLS < count <= MAX_TOOLS:
        yield Info(
            f"An endpoint lists {count} tools. Clients that do not search tools themselves send "
            "all of them to the model.",
            hint="DRF_MCP['TOOL_SEARCH'] = True lists three tools that find and run the others. "
            "See docs/large_apis.md.",
            id="drf_mcp.I001",
        )
    if count > MAX_TOOLS:
        yield Warning(
            f"An endpoint lists {count} tools. Several clients take at most {MAX_TOOLS} from all "
            f"servers together, and models choose better from few.",
            hint="Leave out what agents do not need with DRF_MCP['EXCLUDE'], serve several "
            "endpoints with fewer tools (docs/toolsets.md), or let agents search the tools with "
            "DRF_MCP['TOOL_SEARCH'] (docs/large_apis.md).",
            id="drf_mcp.W005",
        )


def find_lists(project: Project) -> Iterator[list[Tool]]:
    # What endpoints list at most; those with a toolset in their URL have fewer each.
    if not project.endpoints:
        yield list(project.tools.values())
    for endpoint in project.endpoints:
        view = endpoint.view
        is_own = view.registry is project.registry and "{toolset}" not in endpoint.path
        if is_own and not endpoint.is_shortened:
            patterns = None if view.tools is None else tuple(view.tools)
            narrowing = Narrowing("this endpoint", patterns, view.read_only)
            yield list(filter(narrowing.allows, project.tools.values()))


def checks_tokens_at_endpoints() -> bool:
    # Of a tool's view, django-oauth-toolkit looks at the view's own address.
    from oauth2_provider.settings import oauth2_settings

    return bool(getattr(oauth2_settings.OAUTH2_BACKEND_CLASS, "checks_endpoints", False))


def takes_tokens(authentication_class: Any) -> bool:
    def ask() -> bool:
        header = authentication_class().authenticate_header(Request(HttpRequest()))
        return bool(header and BearerChallenge.parse(header))

    # What cannot be asked is not complained of.
    return contain(ask, lambda exc: True)


# Names of middleware that sends people to a page: a login, a new password, terms to accept.
REDIRECTING = re.compile(
    r"(log_?in|sign_?in|authenticat\w*|auth|password|otp|mfa|2fa|two_?factor|terms|consent)"
    r"_?(is_?)?(required|enforce\w*|expir\w*|change\w*|redirect\w*|wall)"
    r"|(require[sd]?|enforce[sd]?|force[sd]?|redirect\w*)_?(to_?)?"
    r"(log_?in|sign_?in|auth|password|otp|mfa|2fa|two_?factor|terms|consent)",
    re.IGNORECASE,
)
# The attributes of a request that say where it goes.
PLACES = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "resolver_match"})
# Packages whose middleware decides nothing about the answers of an API by its path.
INDIFFERENT = (
    *("django", "drf_mcp", "corsheaders", "whitenoise", "debug_toolbar", "silk", "csp"),
    *("django_prometheus", "allauth", "django_structlog", "opentelemetry"),
)


@register_check()
def check_middleware(project: Project) -> Iterator[CheckMessage]:
    paths = ", ".join(endpoint.path for endpoint in project.endpoints)
    for installed in map(InstalledMiddleware, settings.MIDDLEWARE if paths else ()):
        if installed.redirects():
            yield Warning(
                f"{installed.name} seems to redirect requests to a page for people. An MCP "
                "client that sends a token would not reach the endpoint.",
                hint=f"Exempt {paths} in that middleware, or include drf_mcp.urls below a path "
                "that the middleware exempts; then silence this warning.",
                id="drf_mcp.W002",
            )


@register_check()
def check_call_middleware(project: Project) -> Iterator[CheckMessage]:
    for installed in map(InstalledMiddleware, settings.MIDDLEWARE if project.endpoints else ()):
        if installed.needs_the_path_of_calls():
            yield Warning(
                f"{installed.name} reads the path of a request. During the call of a tool "
                "the middleware sees only the path of the MCP endpoint.",
                hint="Add the middleware to DRF_MCP['CALL_MIDDLEWARE'], which runs around each "
                "call with the path of the API, or silence this warning if the path does not "
                "matter. See docs/middleware.md.",
                id="drf_mcp.W013",
            )


class InstalledMiddleware:
    def __init__(self, name: str) -> None:
        self.name = name
        try:
            self.middleware: Any = import_string(name)
        except ImportError:  # Django reports it.
            self.middleware = None

    def redirects(self) -> bool:
        if self.middleware is None or not REDIRECTING.search(self.name.rpartition(".")[2]):
            return False
        # Django's own exempts views with login_required = False, as endpoints have it.
        exempting = LoginRequiredMiddleware.process_view
        return getattr(self.middleware, "process_view", None) is not exempting

    def needs_the_path_of_calls(self) -> bool:
        if self.middleware is None or self.name.partition(".")[0] in INDIFFERENT:
            return False
        return self.middleware not in mcp_settings.CALL_MIDDLEWARE and self.reads_path()

    def reads_path(self) -> bool:
        middleware = self.middleware
        parts = inspect.getmro(middleware) if isinstance(middleware, type) else (middleware,)
        for part in parts:
            if part.__module__.partition(".")[0] in INDIFFERENT:
                continue
            try:
                tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
            except (OSError, TypeError, SyntaxError):
                continue
            if any(map(self.is_reading, ast.walk(tree))):
                return True
        return False

    def is_reading(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name == "process_view" and self.uses_the_view(node)
        if not isinstance(node, ast.Attribute) or node.attr not in PLACES:
            return False
        owner = node.value
        name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
        return name in ("request", "req", "_request")

    def uses_the_view(self, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        # Django hands it the view that the path leads to, and the kwargs.
        every = [*method.args.posonlyargs, *method.args.args]
        handed = {argument.arg for argument in every[2:]}
        named = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
        return bool(handed & named) or method.args.vararg is not None
