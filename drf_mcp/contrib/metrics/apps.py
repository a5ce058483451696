from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MetricsConfig(AppConfig):
    """Measures calls for Prometheus and OpenTelemetry, where their packages are installed."""

    name = "drf_mcp.contrib.metrics"
    label = "drf_mcp_metrics"
    verbose_name = _("MCP metrics")
    mcp_features = ("drf_mcp.contrib.metrics.feature.MetricsFeature",)
    meters: Sequence[Any] = ()

    def ready(self) -> None:
        from drf_mcp.contrib.metrics.meters import open_meters

        self.meters = open_meters()
