"""News for clients that listen: lists that changed, resources that were updated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.subscriptions.bus import announce_list_change, announce_update

__all__ = ["announce_list_change", "announce_update"]
__getattr__ = import_on_use(__name__, dict.fromkeys(__all__, "bus"))
