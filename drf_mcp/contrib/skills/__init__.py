"""Skills: folders of instructions for agents, served as resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.skills.capability import Skill

__all__ = ["Skill"]
__getattr__ = import_on_use(__name__, {"Skill": "capability"})
