"""What Prometheus reads: include it at ``metrics``."""

from django.urls import path

from drf_mcp.contrib.metrics.views import MetricsView

app_name = "drf_mcp_metrics"
urlpatterns = [path("", MetricsView.as_view(), name="metrics")]
