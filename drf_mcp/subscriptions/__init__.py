"""News for clients that listen: lists that changed, resources that were updated."""

from __future__ import annotations

from drf_mcp.subscriptions.bus import Bus as Bus
from drf_mcp.subscriptions.bus import LocalBus as LocalBus
from drf_mcp.subscriptions.news import announce_list_change as announce_list_change
from drf_mcp.subscriptions.news import announce_update as announce_update
