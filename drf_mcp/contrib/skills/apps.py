from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SkillsConfig(AppConfig):
    """Serves skills, whose files are resources."""

    name = "drf_mcp.contrib.skills"
    label = "drf_mcp_skills"
    verbose_name = _("MCP skills")
    mcp_features = ("drf_mcp.contrib.skills.capability.SkillsFeature",)
    mcp_requires = ("drf_mcp.contrib.resources",)
