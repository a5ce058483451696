"""The routes for probes: who may ask, and what has to answer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.core.cache import caches
from django.db import connections
from django.test import Client
from django.urls import include, path
from django.utils.connection import ConnectionProxy
from rest_framework.throttling import UserRateThrottle

PAGE = Path(__file__).parents[2] / "docs/many_machines.md"
CLOSED = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": "redis://127.0.0.1:9",
}
LOGIN = "django.contrib.auth.middleware.LoginRequiredMiddleware"


class Counting(UserRateThrottle):
    rate = "9/day"
    cache = ConnectionProxy(caches, "counts")


@pytest.fixture
def probe(expose, settings, monkeypatch) -> Client:
    expose(path("mcp/", include("drf_mcp.urls.health")))
    # Nobody is signed in, and a transaction around the view would ask the database.
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, LOGIN]
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    return Client()


def ask(probe: Client, name: str) -> tuple[int, dict]:
    response = probe.get(f"/mcp/{name}/")
    assert "no-store" in response.headers["Cache-Control"]
    return response.status_code, response.json()


@pytest.mark.django_db
def test_nobody_is_told_that_the_server_and_its_database_answer(probe):
    assert ask(probe, "health") == ask(probe, "ready") == (200, {"status": "ok"})
    assert probe.head("/mcp/ready").status_code == 200
    assert probe.post("/mcp/ready/").status_code == 405


# pytest-django refuses the database to a test that does not ask for it.
def test_a_server_without_its_database_is_healthy_and_not_ready(probe, caplog):
    assert ask(probe, "health") == (200, {"status": "ok"})
    assert ask(probe, "ready") == (503, {"status": "unavailable", "failed": ["database"]})
    assert "database" in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["DRF_MCP", "REST_FRAMEWORK"])
def test_the_cache_counts_where_throttles_count_in_it(probe, settings, name):
    settings.CACHES = {**settings.CACHES, "counts": CLOSED}
    assert ask(probe, "ready")[0] == 200
    member = "THROTTLE_CLASSES" if name == "DRF_MCP" else "DEFAULT_THROTTLE_CLASSES"
    setattr(settings, name, {**getattr(settings, name), member: [f"{__name__}.Counting"]})
    assert ask(probe, "ready") == (503, {"status": "unavailable", "failed": ["cache"]})


@pytest.mark.django_db
def test_a_probe_without_tls_is_answered_where_the_page_exempts_it(probe, settings):
    (page,) = re.findall(r"SECURE_REDIRECT_EXEMPT = (\[.+\])", PAGE.read_text())
    settings.SECURE_SSL_REDIRECT, settings.SECURE_REDIRECT_EXEMPT = True, ast.literal_eval(page)
    assert ask(probe, "health")[0] == ask(probe, "ready")[0] == 200
    assert probe.get("/mcp").status_code == 301
    assert probe.get("/mcp/ready/", headers={"Host": "10.0.0.7"}).status_code == 400
