from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Warning
from django.utils.module_loading import import_string

from drf_mcp.checks.project import Project, register_check
from drf_mcp.settings import mcp_settings

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
        own = [part for part in parts if part.__module__.partition(".")[0] not in INDIFFERENT]
        return any(self.is_reading(node) for part in own for node in ast.walk(self.parse(part)))

    def parse(self, part: Any) -> ast.AST:
        try:
            return ast.parse(textwrap.dedent(inspect.getsource(part)))
        except (OSError, TypeError, SyntaxError):
            return ast.Module([], [])

    def is_reading(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name == "process_view" and self.uses_the_view(node)
        return (
            isinstance(node, ast.Attribute) and node.attr in PLACES and self.is_request(node.value)
        )

    def uses_the_view(self, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        # Django hands it the view that the path leads to, and the kwargs.
        every = [*method.args.posonlyargs, *method.args.args]
        handed = {argument.arg for argument in every[2:]}
        named = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
        return bool(handed & named) or method.args.vararg is not None

    def is_request(self, node: ast.expr) -> bool:
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        return name in ("request", "req", "_request")
