"""Installed middleware that decides by path: named unless it runs around calls."""

from __future__ import annotations

import pytest

HERE = "tests.operators.path_middleware"
READING = [
    "ReadsPath",
    "InheritsReading",
    "ReadsOnTheWayOut",
    "LooksAtTheView",
    "resolving",
]


@pytest.mark.parametrize("name", READING)
def test_middleware_that_reads_the_path_is_named_unless_it_runs_around_calls(settings, found, name):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{HERE}.{name}"]
    (warning,) = found("drf_mcp.W013")
    assert warning.msg.startswith(f"{HERE}.{name} reads the path of a request.")
    assert "CALL_MIDDLEWARE" in warning.hint
    settings.DRF_MCP = {**settings.DRF_MCP, "CALL_MIDDLEWARE": [f"{HERE}.{name}"]}
    assert found("drf_mcp.W013") == []


@pytest.mark.parametrize(
    "name",
    [
        f"{HERE}.ByHeader",
        f"{HERE}.MarksTheRequest",
        "nowhere.Middleware",
        "django.middleware.locale.LocaleMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
    ],
)
def test_other_middleware_is_let_be(settings, found, name):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, name]
    assert found("drf_mcp.W013") == []
