"""Rules about calls: refused, or approved by people first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.rules.proposal_store import proposal_ended, proposal_made
    from drf_mcp.contrib.rules.ruling import RuleCall, Ruling, rule

__all__ = ["RuleCall", "Ruling", "proposal_ended", "proposal_made", "rule"]
MODULES = {"proposal_ended": "proposal_store", "proposal_made": "proposal_store"}
__getattr__ = import_on_use(__name__, {**dict.fromkeys(__all__, "ruling"), **MODULES})
