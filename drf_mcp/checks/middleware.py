"""Middleware that decides by the path of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Warning
from django.utils.module_loading import import_string

from drf_mcp.checks.project import Project, register_check
from drf_mcp.introspection.source.middleware import MiddlewareCode
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
        # Django's own middleware exempts views with login_required = False, as endpoints have.
        process_view = getattr(middleware, "process_view", None)
        is_exempting = process_view is LoginRequiredMiddleware.process_view
        if REDIRECTING.search(name.rpartition(".")[2]) and not is_exempting:
            yield Warning(
                f"{name} seems to redirect requests to a page for people. An MCP "
                "client that sends a token would not reach the endpoint.",
                hint=f"Exempt {', '.join(paths)} in that middleware, or include drf_mcp.urls below "
                "a path that the middleware exempts; then silence this warning.",
                id="drf_mcp.W002",
            )
        elif middleware not in mcp_settings.CALL_MIDDLEWARE:
            served = [tool.endpoint.route.path for tool in project.tools.values()]
            if MiddlewareCode(middleware).decides_by_path([*served, *paths]):
                yield Warning(
                    f"{name} reads the path of a request. During the call of a tool "
                    "the middleware sees only the path of the MCP endpoint.",
                    hint=f'Add "{name}" to DRF_MCP["CALL_MIDDLEWARE"], which runs around each call '
                    "with the path of the API, or silence this warning if the path does not "
                    "matter. See docs/middleware.md.",
                    id="drf_mcp.W013",
                )
