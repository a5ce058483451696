"""Rules about calls: refused, or approved by people first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.rules.ruling import FollowsRules, RuleCall, Ruling, rule

__all__ = ["FollowsRules", "RuleCall", "Ruling", "rule"]
__getattr__ = import_on_use(__name__, dict.fromkeys(__all__, "ruling"))
