"""Tools as ``tools/list`` shows them: definitions kept as bytes, one page of them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import translation
from rest_framework.permissions import AllowAny

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import InvalidParams
from drf_mcp.json_text import to_bytes
from drf_mcp.outcomes import MISSING
from drf_mcp.protocol import Era
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool
from drf_mcp.tools.results import make_envelope
from drf_mcp.tools.visibility import Visibility, is_open
from drf_mcp.truncation import kept_promises


def definition(tool: Tool, envelope_class: type[Envelope], era: Era) -> bytes:
    """Return a tool's definition as JSON, kept from one list to the next."""
    key = (era.revision, envelope_class, mcp_settings.OUTPUT_SCHEMA)
    encoded = tool.definitions.get(key)
    if encoded is None:
        # In the project's own language, whoever happens to ask first.
        with translation.override(settings.LANGUAGE_CODE):
            members = era.tool_members(tool.definition(output_schema(tool, envelope_class)))
            encoded = tool.definitions[key] = to_bytes(encode_data(members))
    return encoded


def output_schema(tool: Tool, envelope_class: type[Envelope]) -> Mapping[str, Any] | None:
    """Return the ``outputSchema`` of a tool in this envelope, None to have none.

    Raises:
        ImproperlyConfigured: on a kind of schema that does not exist.
    """
    said = tool.options.output_schema
    kind = mcp_settings.OUTPUT_SCHEMA if said is MISSING else said
    if kind is None:
        return None
    if not isinstance(kind, Mapping) and kind not in ("envelope", "full"):
        raise ImproperlyConfigured(
            f"OUTPUT_SCHEMA and output_schema are 'envelope', 'full' or None, not {kind!r}."
        )
    data = kept_promises(kind) if isinstance(kind, Mapping) else {}
    if kind == "full":
        data = tool.schema.output
    return make_envelope(envelope_class).schema(data)


def is_public(caller: Caller, tools: Iterable[Tool]) -> bool:
    """Return whether the list is the same for everybody, so that shared caches may keep it."""
    endpoint_open = all(permission is AllowAny for permission in caller.permission_classes)
    return endpoint_open and all(map(is_open, tools))


def page_of(
    tools: list[Tool], cursor: Any, visibility: Visibility
) -> tuple[list[Tool], str | None]:
    """Return a page of the tools that a caller sees, and the cursor of the next.

    Only the permissions of its own tools are asked (server/utilities/pagination).

    Raises:
        InvalidParams: on a cursor that was not given out here.
    """
    start = 0 if cursor is None else position(cursor, tools)
    size = mcp_settings.TOOLS_PAGE_SIZE
    seen = visibility.of(tools[start:], None if size is None else size + 1)
    if size is None or len(seen) <= size:
        return seen, None
    return seen[:size], base64.urlsafe_b64encode(seen[size - 1].name.encode()).decode()


def position(cursor: Any, tools: list[Tool]) -> int:
    """Return where the page after a cursor starts: behind the tool it names."""
    try:
        name = base64.urlsafe_b64decode(cursor).decode()
        return [tool.name for tool in tools].index(name) + 1
    except (TypeError, ValueError, binascii.Error):
        raise InvalidParams("Invalid cursor.") from None
