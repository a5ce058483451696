"""The check of middleware that depends on the path and does not run around calls."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import generics, serializers

from drf_mcp.views import MCPView

HERE = "tests.checks.path_middleware"
READING = ["ReadsPath", "InheritsReading", "LooksAtTheView", "resolving"]


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


class Profile(serializers.Serializer):
    name = serializers.CharField()


class Profiles(generics.ListAPIView):
    permission_classes = []
    serializer_class = Profile

    def get_queryset(self):
        return [self.request.user_profile]


ROUTES = (path("api/profiles/", Profiles.as_view()), path("mcp", MCPView.as_view()))


def test_middleware_that_compares_the_paths_of_tools_and_endpoint_differently_is_reported(
    settings, found, expose
):
    expose(*ROUTES)
    settings.MIDDLEWARE = [f"{HERE}.MindsTheAdmin", f"{HERE}.MindsTheAPI"]
    (warning,) = found("drf_mcp.W013")
    assert warning.msg.startswith(f"{HERE}.MindsTheAPI reads the path of a request.")


class Teams(serializers.Serializer):
    def get_fields(self):
        getattr(self.context["request"], "team", None)
        return {"colour": serializers.CharField(default=self.context["request"].colour)}


@pytest.mark.parametrize(("setting", "attribute"), [("SetsTeam", "team"), ("SetsColour", "colour")])
def test_an_attribute_may_be_read_by_its_name_or_in_a_serializer(
    settings, found, expose, setting, attribute
):
    settings.MIDDLEWARE = [f"{HERE}.{setting}"]
    expose(path("api/teams/", generics.CreateAPIView.as_view(serializer_class=Teams)), *ROUTES)
    (warning,) = found("drf_mcp.W013")
    assert f" sets request.{attribute}, which {__name__}:" in warning.msg


@pytest.mark.parametrize("setting", ["SetsProfile", "set_profile"])
def test_middleware_that_sets_what_a_view_reads_is_reported_with_its_line(
    settings, found, expose, setting
):
    name = f"{HERE}.{setting}"
    settings.MIDDLEWARE = [name, f"{HERE}.MarksTheRequest"]
    expose(ROUTES[1])
    assert found("drf_mcp.W013") == []
    expose(*ROUTES)
    (warning,) = found("drf_mcp.W013")
    assert warning.msg.startswith(f"{name} sets request.user_profile, which {__name__}")
    assert f'"{name}"' in warning.hint
    assert "CALL_MIDDLEWARE" in warning.hint
    expose(*ROUTES, CALL_MIDDLEWARE=[name])
    assert found("drf_mcp.W013") == []
