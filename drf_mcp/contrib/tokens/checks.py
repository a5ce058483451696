"""Whether the endpoint takes tokens at all."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Warning, register

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication

PLACE = "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication"


@register("drf_mcp")
def check_tokens_are_taken(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if any(issubclass(c, AgentTokenAuthentication) for c in resolve_authentication_classes()):
        return []
    message = "drf_mcp.contrib.tokens is installed, but the MCP endpoint takes none of its tokens."
    hint = (
        f"Add {PLACE!r} to REST_FRAMEWORK['DEFAULT_AUTHENTICATION_CLASSES'], and to "
        "DRF_MCP['AUTHENTICATION_CLASSES'] if you have that setting."
    )
    return [Warning(message, hint=hint, id="drf_mcp_tokens.W001")]
