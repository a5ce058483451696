from __future__ import annotations

from typing import Any

from django.apps import apps
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.contrib.metrics.meters import Prometheus
from drf_mcp.exposure import mcp_tool
from drf_mcp.features import mcp_settings


# With EXPOSE, every view of the URLconf would be a tool.
@mcp_tool(condition=lambda: False)
class MetricsView(APIView):
    throttle_classes = ()

    def get_permissions(self) -> Any:
        return [made() for made in mcp_settings.METRICS_PERMISSION_CLASSES]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Prometheus accepts none of REST framework's media types.
        return super().perform_content_negotiation(request, force=True)

    def get(self, request: Request) -> HttpResponse:
        from prometheus_client.exposition import choose_encoder

        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        config: Any = apps.get_app_config("drf_mcp_metrics")
        meter = next(each for each in config.meters if isinstance(each, Prometheus))
        return HttpResponse(encode(meter), content_type=content_type)
