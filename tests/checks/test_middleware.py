"""The check of middleware that depends on the path and does not run around calls."""

from __future__ import annotations

import pytest

HERE = "tests.checks.path_middleware"
READING = [
    "ReadsPath",
    "InheritsReading",
    "ReadsOnTheWayOut",
    "LooksAtTheView",
    "resolving",
]


OTHERS = [
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
