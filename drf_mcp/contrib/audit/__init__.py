"""A record of every call in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.audit.auditor import Auditor

__all__ = ["Auditor"]
__getattr__ = import_on_use(__name__, {"Auditor": "auditor"})
