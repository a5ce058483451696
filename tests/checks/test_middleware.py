"""The check of middleware that depends on the path and does not run around calls."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import generics, serializers

from drf_mcp.views import MCPView

HERE = "tests.checks.path_middleware"
READING = [
    "ReadsPath",
    "InheritsReading",
    "LooksAtTheView",
    "resolving",
]


OTHERS = [
    f"{HERE}.ReadsOnTheWayOut",
    f"{HERE}.LogsAndMeasures",
    f"{HERE}.MindsTheAdmin",
    f"{HERE}.read_header",
    f"{HERE}.MarksTheRequest",
    "nowhere.Middleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]


@pytest.mark.slow
@pytest.mark.usefixtures("bare_project")
def test_middleware_that_reads_the_path_is_reported_unless_it_runs_around_calls(settings, found):
    """Other middleware is not named."""
    installed, mcp_settings = settings.MIDDLEWARE, settings.DRF_MCP
    for name in READING:
        settings.MIDDLEWARE = [*installed, f"{HERE}.{name}"]
        settings.DRF_MCP = mcp_settings
        (warning,) = found("drf_mcp.W013")
        assert warning.msg.startswith(f"{HERE}.{name} reads the path of a request.")
        assert "CALL_MIDDLEWARE" in warning.hint
        settings.DRF_MCP = {**mcp_settings, "CALL_MIDDLEWARE": [f"{HERE}.{name}"]}
        assert found("drf_mcp.W013") == []
    settings.DRF_MCP = mcp_settings
    for name in OTHERS:
        settings.MIDDLEWARE = [*installed, name]
        assert found("drf_mcp.W013") == []


class Profiles(generics.ListAPIView):
    permission_classes = []
    serializer_class = serializers.Serializer


ROUTES = (path("api/profiles/", Profiles.as_view()), path("mcp", MCPView.as_view()))


def test_middleware_that_compares_the_paths_of_tools_and_endpoint_differently_is_reported(
    settings, found, expose
):
    expose(*ROUTES)
    settings.MIDDLEWARE = [f"{HERE}.MindsTheAdmin", f"{HERE}.MindsTheAPI"]
    (warning,) = found("drf_mcp.W013")
    assert warning.msg.startswith(f"{HERE}.MindsTheAPI reads the path of a request.")
