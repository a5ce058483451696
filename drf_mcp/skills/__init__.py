"""Skills: folders of instructions for agents, served as resources."""

from drf_mcp.skills.skill import Skill

__all__ = ["Skill"]
