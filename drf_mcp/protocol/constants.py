"""The revisions of the protocol that are served, and what each of them defines.

Members are named as in the official ``schema.ts`` of each revision. Its objects are open,
so a newer member would be legal in an older revision, but nothing is sent that the
revision does not define.
"""

from __future__ import annotations

from collections.abc import Mapping

STATELESS_REVISION = "2026-07-28"
LATEST_HANDSHAKE_REVISION = "2025-11-25"

# Serves requests that name no revision (2025-11-25, basic/transports, "Protocol Version Header"),
# and clients of an older one, without its batches.
DEFAULT_REVISION = "2025-06-18"
OLDER_REVISION = "2025-03-26"

# Newest first, as they are advertised.
HANDSHAKE_REVISIONS = (LATEST_HANDSHAKE_REVISION, DEFAULT_REVISION)
REVISIONS = (STATELESS_REVISION, *HANDSHAKE_REVISIONS)

# Since this revision an error whose request has no readable id has none; before, it is null.
FIRST_REVISION_WITHOUT_NULL = "2025-11-25"

PROTOCOL_VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"

PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

# The members of every cacheable result since 2026-07-28.
CACHE_MEMBERS = frozenset({"ttlMs", "cacheScope"})

_TOOL = frozenset({"name", "description", "inputSchema", "annotations"})
_STRUCTURED_TOOL = _TOOL | {"title", "outputSchema", "_meta"}

# Revision -> members of a Tool object.
TOOL_MEMBERS: Mapping[str, frozenset[str]] = {
    "2025-06-18": _STRUCTURED_TOOL,
    "2025-11-25": _STRUCTURED_TOOL | {"icons", "execution"},
    "2026-07-28": _STRUCTURED_TOOL | {"icons"},
}

_IMPLEMENTATION = frozenset({"name", "version"})
_DESCRIBED_IMPLEMENTATION = _IMPLEMENTATION | {"title", "description", "icons", "websiteUrl"}

# Revision -> members of an Implementation object (serverInfo).
IMPLEMENTATION_MEMBERS: Mapping[str, frozenset[str]] = {
    "2025-06-18": _IMPLEMENTATION | {"title"},
    "2025-11-25": _DESCRIBED_IMPLEMENTATION,
    "2026-07-28": _DESCRIBED_IMPLEMENTATION,
}

_CONTENT = frozenset({"text", "image", "audio", "resource"})

# Revision -> types of the content blocks of a tool result.
CONTENT_TYPES: Mapping[str, frozenset[str]] = {
    "2025-06-18": _CONTENT | {"resource_link"},
    "2025-11-25": _CONTENT | {"resource_link"},
    "2026-07-28": _CONTENT | {"resource_link"},
}

_HANDSHAKE = {
    "initialize": frozenset(
        {"protocolVersion", "capabilities", "serverInfo", "instructions", "_meta"}
    ),
    "ping": frozenset({"_meta"}),
}

# Revision -> method -> members of its result, of the methods that every server has.
RESULT_MEMBERS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": _HANDSHAKE,
    "2026-07-28": {
        "server/discover": CACHE_MEMBERS
        | {"resultType", "supportedVersions", "capabilities", "instructions", "_meta"}
    },
}
