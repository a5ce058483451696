"""System checks: what is misconfigured, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from drf_mcp.settings import DEFAULTS, mcp_settings
from drf_mcp.tools import registry

CHOICES: dict[str, tuple[Any, ...]] = {
    "EXPOSE": ("explicit", "urlconf"),
    "ARGUMENTS": ("flat", "grouped"),
    "OUTPUT_SCHEMA": ("envelope", None),
}
SIZES = ("TOOLS_PAGE_SIZE", "MAX_BODY_BYTES", "MAX_CONTENT_BYTES")


@register("drf_mcp")
def check_settings(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Read every setting once, so that a bad one shows before the first request."""
    hint = "Correct DRF_MCP in the settings."
    return [Error(message, hint=hint, id="drf_mcp.E001") for message in setting_errors()]


@register("drf_mcp")
def check_tools(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Read the tools off the URLconf, so that clashing names show before the first request."""
    if any(setting_errors()):
        return []
    try:
        registry.tools()
    except ImproperlyConfigured as exc:
        return [Error(str(exc), hint="Give each tool a name of its own.", id="drf_mcp.E002")]
    return []


def setting_errors() -> Iterator[str]:
    """Yield what is wrong with the settings; nothing else is read after one that cannot be."""
    try:
        values = {name: getattr(mcp_settings, name) for name in DEFAULTS}
    except ImproperlyConfigured as exc:
        yield str(exc)
        return
    for name, choices in CHOICES.items():
        if values[name] not in choices:
            yield f"DRF_MCP[{name!r}] must be {' or '.join(map(repr, choices))}."
    for name in SIZES:
        default = values[name] is None and DEFAULTS[name] is None
        if not default and not (isinstance(values[name], int) and values[name] > 0):
            yield f"DRF_MCP[{name!r}] must be a positive number."
