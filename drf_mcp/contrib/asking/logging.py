"""Messages of a running call in the response of the call, above the level that its client chose."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache

from drf_mcp.codes import LOG_LEVELS
from drf_mcp.contrib.asking.waiting import SECONDS, Session
from drf_mcp.exceptions import InvalidParams
from drf_mcp.features import Capability, RequestContext
from drf_mcp.protocol import REVISIONS
from drf_mcp.protocol.constants import STATELESS_REVISION

KEY = "drf_mcp:log_level:{}"


class LoggingCapability(Capability):
    """Keeps the level of a session (2025-11-25, server/utilities/logging)."""

    name = "logging"
    methods = {"logging/setLevel": "set_level"}
    result_members = {
        revision: {"logging/setLevel": frozenset({"_meta"})}
        for revision in REVISIONS
        if revision != STATELESS_REVISION
    }

    def set_level(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        if (level := context.message.params.get("level")) not in LOG_LEVELS:
            raise InvalidParams(f"The level is one of {', '.join(LOG_LEVELS)}.")
        # Nothing is sent to a client without a session.
        if session := Session.find(context.headers, context.caller):
            cache.set(KEY.format(session.key), level, SECONDS)
        return {}


def is_logged(session: Session, level: str) -> bool:
    """Return whether a client wants messages of a level; until it says, from info on."""
    chosen = cache.get(KEY.format(session.key), "info")
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(chosen)
