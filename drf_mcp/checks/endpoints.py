from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Warning
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.module_loading import import_string
from rest_framework.request import Request
from rest_framework.settings import api_settings

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.access.resources import WELL_KNOWN, BearerChallenge, ProtectedResourceView
from drf_mcp.checks.project import MountedEndpoint, Project, register_check
from drf_mcp.exceptions import contain
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
        throttle_classes = endpoint.view.choose("throttle_classes")
        if not (throttle_classes or api_settings.DEFAULT_THROTTLE_CLASSES):
            yield Warning(
                f"Nothing limits how often a caller of the MCP endpoint {endpoint.path} calls "
                "tools.",
                hint="Set DRF_MCP['THROTTLE_CLASSES'], or REST framework's "
                "DEFAULT_THROTTLE_CLASSES; or silence this warning where a proxy counts. See "
                "docs/limits.md.",
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
    if any(one.__module__.partition(".")[0] == "oauth2_provider" for one in classes):
        from oauth2_provider.settings import oauth2_settings

        resource = endpoint.view.get_resource()
        path = urlsplit(resource).path if resource else endpoint.path
        # For the view of a tool, django-oauth-toolkit checks the address of the view.
        backend = oauth2_settings.OAUTH2_BACKEND_CLASS
        if path.strip("/") and not getattr(backend, "checks_endpoints", False):
            yield Warning(
                f"Clients of {endpoint.path} ask for tokens for {path} alone, and views at other "
                "paths refuse such tokens of django-oauth-toolkit: tools are listed and cannot "
                "be called.",
                hint="Unpack drf_mcp.contrib.oauth.defaults.AGENTS into OAUTH2_PROVIDER, or set "
                "DRF_MCP['RESOURCE'] to the address of the host, such as 'https://shop.example'. "
                "See docs/sign_in_own.md.",
                id="drf_mcp.W019",
            )


def _takes_tokens(authentication_class: Any) -> bool:
    def ask() -> bool:
        header = authentication_class().authenticate_header(Request(HttpRequest()))
        return bool(header and BearerChallenge.parse(header))

    # There is no warning about a class that fails.
    return contain(ask, lambda exc: True)


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


# Names of middleware that sends people to a page: a login, a new password, terms to accept.
REDIRECTING = re.compile(
    r"(log_?in|sign_?in|authenticat\w*|auth|password|otp|mfa|2fa|two_?factor|terms|consent)"
    r"_?(is_?)?(required|enforce\w*|expir\w*|change\w*|redirect\w*|wall)"
    r"|(require[sd]?|enforce[sd]?|force[sd]?|redirect\w*)_?(to_?)?"
    r"(log_?in|sign_?in|auth|password|otp|mfa|2fa|two_?factor|terms|consent)",
    re.IGNORECASE,
)
# Code that reads the path of a request.
READING = re.compile(
    r"\b(?:request|req|_request)\.(?:path|path_info|get_full_path|get_full_path_info|resolver_match)"
    r"\b|\bview_(?:func|args|kwargs)[.\[(]"
)
# Packages whose middleware decides nothing about the answers of an API by its path.
INDIFFERENT = (
    *("django", "drf_mcp", "corsheaders", "whitenoise", "debug_toolbar", "silk", "csp"),
    *("django_prometheus", "allauth", "django_structlog", "opentelemetry"),
)


@register_check()
def check_middleware(project: Project) -> Iterator[CheckMessage]:
    paths = ", ".join(endpoint.path for endpoint in project.endpoints)
    for name in settings.MIDDLEWARE if paths else ():
        try:
            middleware: Any = import_string(name)
        except ImportError:  # Django reports it.
            continue
        # Django's own middleware exempts views with login_required = False, as endpoints have.
        process_view = getattr(middleware, "process_view", None)
        is_exempting = process_view is LoginRequiredMiddleware.process_view
        if REDIRECTING.search(name.rpartition(".")[2]) and not is_exempting:
            yield Warning(
                f"{name} seems to redirect requests to a page for people. An MCP "
                "client that sends a token would not reach the endpoint.",
                hint=f"Exempt {paths} in that middleware, or include drf_mcp.urls below a path "
                "that the middleware exempts; then silence this warning.",
                id="drf_mcp.W002",
            )
        if middleware not in mcp_settings.CALL_MIDDLEWARE and _reads_path(middleware):
            yield Warning(
                f"{name} reads the path of a request. During the call of a tool "
                "the middleware sees only the path of the MCP endpoint.",
                hint="Add the middleware to DRF_MCP['CALL_MIDDLEWARE'], which runs around each "
                "call with the path of the API, or silence this warning if the path does not "
                "matter. See docs/middleware.md.",
                id="drf_mcp.W013",
            )


def _reads_path(middleware: Any) -> bool:
    for part in inspect.getmro(middleware) if isinstance(middleware, type) else (middleware,):
        if part.__module__.partition(".")[0] not in INDIFFERENT:
            try:
                if READING.search(inspect.getsource(part)):
                    return True
            except (OSError, TypeError):
                continue
    return False
