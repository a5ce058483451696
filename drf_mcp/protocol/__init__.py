"""The wire: bytes to messages and back, in every served revision of MCP.

`jsonrpc` reads and writes, `eras` knows what the revisions ask and allow, `headers`
holds HTTP headers against the body. Nothing here knows REST framework or tools.
"""

from __future__ import annotations

from drf_mcp.protocol.capability import Capability
from drf_mcp.protocol.constants import REVISIONS
from drf_mcp.protocol.eras import (
    Era,
    HandshakeEra,
    StatelessEra,
    error_response,
    select,
    select_by_headers,
)
from drf_mcp.protocol.jsonrpc import ClientResponse, Encoded, Message

__all__ = [
    "REVISIONS",
    "Capability",
    "ClientResponse",
    "Encoded",
    "Era",
    "HandshakeEra",
    "Message",
    "StatelessEra",
    "error_response",
    "select",
    "select_by_headers",
]
