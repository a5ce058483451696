from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.checks import CheckMessage, Warning
from rest_framework.settings import api_settings

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.features import Bound, Feature, Setting

PLACE = "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication"


class TokensFeature(Feature):
    settings = {
        # The most tokens of a user, ended ones too, that the page makes.
        "MAX_TOKENS": Setting(
            500, Bound("You have %(most)s tokens, which is as many as there may be.")
        )
    }
    page_parts = ("drf_mcp.contrib.tokens.views.TokensPart",)


@register_check()
def check_tokens_are_taken(project: Project) -> Iterator[CheckMessage]:
    hint = f"Add {PLACE!r} to REST_FRAMEWORK['DEFAULT_AUTHENTICATION_CLASSES']"
    if not _has_token_class(resolve_authentication_classes()):
        yield Warning(
            "drf_mcp.contrib.tokens is installed, but the MCP endpoint takes none of its tokens.",
            hint=f"{hint}, and to DRF_MCP['AUTHENTICATION_CLASSES'] if you have that setting.",
            id="drf_mcp_tokens.W001",
        )
    elif name := _find_refusing_tool(project):
        yield Warning(
            "The MCP endpoint takes tokens of drf_mcp.contrib.tokens, but views with REST "
            f"framework's default authentication classes take none, such as the view of {name}.",
            hint=f"{hint}.",
            id="drf_mcp_tokens.W001",
        )


def _has_token_class(classes: Iterable[type]) -> bool:
    return any(issubclass(c, AgentTokenAuthentication) for c in classes)


def _find_refusing_tool(project: Project) -> str | None:
    # Views with authentication classes of their own are left alone.
    usual: Any = tuple(api_settings.DEFAULT_AUTHENTICATION_CLASSES)
    for tool in () if _has_token_class(usual) else project.tools.values():
        classes = tool.endpoint.find_classes("authentication_classes")
        if classes == usual and not tool.endpoint.is_built_in:
            return tool.name
    return None
