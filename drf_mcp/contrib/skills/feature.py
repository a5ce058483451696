from __future__ import annotations

from drf_mcp.features import Feature


class SkillsFeature(Feature):
    capability_classes = ("drf_mcp.contrib.skills.capability.SkillsCapability",)
