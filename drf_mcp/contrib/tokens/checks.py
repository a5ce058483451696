"""Whether the endpoint takes tokens at all."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Warning

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.operators.checks.project import Project, register_check

PLACE = "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication"


@register_check()
def check_tokens_are_taken(project: Project) -> Iterator[CheckMessage]:
    if any(issubclass(c, AgentTokenAuthentication) for c in resolve_authentication_classes()):
        return
    message = "drf_mcp.contrib.tokens is installed, but the MCP endpoint takes none of its tokens."
    hint = (
        f"Add {PLACE!r} to REST_FRAMEWORK['DEFAULT_AUTHENTICATION_CLASSES'], and to "
        "DRF_MCP['AUTHENTICATION_CLASSES'] if you have that setting."
    )
    yield Warning(message, hint=hint, id="drf_mcp_tokens.W001")
