"""Middleware that decides by the path of a request, or sets what views read."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Warning
from django.utils.module_loading import import_string

from drf_mcp.checks.project import Project, register_check
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.source.middleware import (
    INDIFFERENT,
    MiddlewareCode,
    find_named_attribute,
    is_request,
)
from drf_mcp.settings import mcp_settings

# Names of middleware that sends people to a page: a login, a new password, terms to accept.
REDIRECTING = re.compile(
    r"(log_?in|sign_?in|authenticat\w*|auth|password|otp|mfa|2fa|two_?factor|terms|consent)"
    r"_?(is_?)?(required|enforce\w*|expir\w*|change\w*|redirect\w*|wall)"
    r"|(require[sd]?|enforce[sd]?|force[sd]?|redirect\w*)_?(to_?)?"
    r"(log_?in|sign_?in|auth|password|otp|mfa|2fa|two_?factor|terms|consent)",
    re.IGNORECASE,
)


@register_check()
def check_middleware(project: Project) -> Iterator[CheckMessage]:
    paths = [endpoint.path for endpoint in project.endpoints]
    for name in settings.MIDDLEWARE if paths else ():
        try:
            middleware: Any = import_string(name)
        except ImportError:  # Django reports it.
            continue
        if _redirects(name, middleware):
            yield Warning(
                f"{name} seems to redirect requests to a page for people. An MCP "
                "client that sends a token would not reach the endpoint.",
                hint=f"Exempt {', '.join(paths)} in that middleware, or include drf_mcp.urls below "
                "a path that the middleware exempts; then silence this warning.",
                id="drf_mcp.W002",
            )
    yield from (warning for _name, warning in find_call_middleware(project))


def find_call_middleware(project: Project) -> Iterator[tuple[str, CheckMessage]]:
    """Yield the middleware that belongs into CALL_MIDDLEWARE, each with the reason."""
    for name in settings.MIDDLEWARE if [*project.endpoints] else ():
        with suppress(ImportError):
            middleware: Any = import_string(name)
            if not _redirects(name, middleware) and middleware not in mcp_settings.CALL_MIDDLEWARE:
                for warning in _describe_middleware(name, MiddlewareCode(middleware), project):
                    yield name, warning


def _redirects(name: str, middleware: Any) -> bool:
    # Django's own middleware exempts views with login_required = False, as endpoints have.
    process_view = getattr(middleware, "process_view", None)
    is_exempting = process_view is LoginRequiredMiddleware.process_view
    return bool(REDIRECTING.search(name.rpartition(".")[2])) and not is_exempting


def _describe_middleware(
    name: str, code: MiddlewareCode, project: Project
) -> Iterator[CheckMessage]:
    hint = (
        f'Add "{name}" to DRF_MCP["CALL_MIDDLEWARE"], which runs around each call with the path of '
        "the API, or silence this warning if {reason}. See docs/middleware.md."
    )
    every = [tool.endpoint.route.path for tool in project.tools.values()]
    if code.decides_by_path([*every, *(endpoint.path for endpoint in project.endpoints)]):
        yield Warning(
            f"{name} reads the path of a request. During the call of a tool "
            "the middleware sees only the path of the MCP endpoint.",
            hint=hint.format(reason="the path does not matter"),
            id="drf_mcp.W013",
        )
    elif found := next(_find_reads(project, code), None):
        attribute, place = found
        yield Warning(
            f"{name} sets request.{attribute}, which {place} reads. Tools are described, and "
            "called by mcp_stdio and mcp_call, without the middleware.",
            hint=hint.format(reason="the code takes a request without the attribute"),
            id="drf_mcp.W013",
        )


def _find_reads(project: Project, code: MiddlewareCode) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a middleware that code of exposed views reads, and where."""
    wanted = set(code.attributes)
    for module in _find_view_modules(project) if wanted else ():
        source = attempt(lambda of=module: inspect.getsource(of), "")  # type: ignore[misc]
        for node in ast.walk(ast.parse(source)):
            name = find_named_attribute(node, "getattr")
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                name = node.attr if is_request(node.value) else ""
            if name in wanted:
                yield name, f"{module.__name__}:{node.lineno}"  # type: ignore[attr-defined]


def _find_view_modules(project: Project) -> Iterator[Any]:
    # The modules of the exposed views, and the modules of the same packages that they import.
    seen: set[str] = set()
    for tool in project.tools.values():
        for base in tool.endpoint.view_class.__mro__:
            package = base.__module__.partition(".")[0]
            if package in INDIFFERENT or package in ("rest_framework", "builtins"):
                continue
            module = sys.modules.get(base.__module__)
            values = list(vars(module).values()) if module is not None else []
            names = (getattr(each, "__module__", None) or "" for each in values)
            near = (name for name in names if str(name).partition(".")[0] == package)
            for name in dict.fromkeys([base.__module__, *map(str, near)]):
                if name not in seen and name in sys.modules:
                    seen.add(name)
                    yield sys.modules[name]
