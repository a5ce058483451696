from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class UploadsConfig(AppConfig):
    """Takes files over HTTP, so that arguments need not hold them as base64."""

    name = "drf_mcp.contrib.uploads"
    label = "drf_mcp_uploads"
    verbose_name = _("MCP uploads")
    mcp_features = ("drf_mcp.contrib.uploads.feature.UploadsFeature",)
