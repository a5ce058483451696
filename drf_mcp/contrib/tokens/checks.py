"""Whether a token would be taken by the endpoint, and by the views behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from rest_framework.settings import api_settings

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication

PLACE = "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication"
REMEDY = f"Add {PLACE!r} to REST_FRAMEWORK['DEFAULT_AUTHENTICATION_CLASSES']"


def takes_tokens(classes: Iterable[Any]) -> bool:
    return any(issubclass(found, AgentTokenAuthentication) for found in classes)


@register(Tags.security)
def check_authentication(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return list(find_faults())


def find_faults() -> Iterator[CheckMessage]:
    views: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    if not takes_tokens(resolve_authentication_classes()):
        yield Warning(
            "drf_mcp.contrib.tokens is installed, but the MCP endpoint takes none of its tokens.",
            hint=f"{REMEDY}, and to DRF_MCP['AUTHENTICATION_CLASSES'] if you have that setting.",
            id="drf_mcp_tokens.W001",
        )
    elif not takes_tokens(views):
        yield Warning(
            "The MCP endpoint takes tokens of drf_mcp.contrib.tokens, but REST framework's "
            "default authentication classes do not, so most views would refuse every call.",
            hint=f"{REMEDY}. Over plain HTTP, the class takes no token.",
            id="drf_mcp_tokens.W002",
        )
