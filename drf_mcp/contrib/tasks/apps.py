from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TasksConfig(AppConfig):
    """Leaves calls to workers, for clients that take a task instead of a result."""

    name = "drf_mcp.contrib.tasks"
    label = "drf_mcp_tasks"
    verbose_name = _("MCP tasks")
    default_auto_field = "django.db.models.BigAutoField"
    mcp_features = ("drf_mcp.contrib.tasks.feature.TasksFeature",)
    mcp_checks = "drf_mcp.contrib.tasks.feature"
