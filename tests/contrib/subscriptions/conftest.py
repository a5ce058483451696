"""Teams that are resources, and a client that listens for them under ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.urls import include, path

from drf_mcp import registry
from drf_mcp.contrib.subscriptions import bus as bus_module
from drf_mcp.contrib.subscriptions.bus import Bus, Subject
from tests.asgi import begin, read_events
from tests.contrib.subscriptions.teams import connect, router


@pytest.fixture
def served(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(bus_module, "POLL_SECONDS", 0.02)
    # A cache that processes share, as they share Redis.
    file_cache = "django.core.cache.backends.filebased.FileBasedCache"
    news = {"BACKEND": file_cache, "LOCATION": tmp_path / "news"}
    settings.CACHES = {**settings.CACHES, "news": news}
    patterns = [path("", include("drf_mcp.urls")), *router.urls]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DRF_MCP = {
        "SERVER_NAME": "shop",
        "AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
        "SUBSCRIPTION_CACHE": "news",
    }
    registry.reload()


@pytest.fixture
def eve() -> User:
    return User.objects.create_user("eve", password="x")


@pytest.fixture
def listen(eve) -> Callable[..., list[dict[str, Any]]]:
    """Listen as eve, make a change, and return the messages when ``count`` of them came."""

    def listen(
        change: Callable[[], Any] | None = None, count: int = 2, **wanted: Any
    ) -> list[dict[str, Any]]:
        async def talk() -> bytes:
            connection = connect("subscriptions/listen", notifications=wanted)
            start = await begin(connection)
            assert start["status"] == 200, await connection.receive_output(5)
            content: bytes = (await connection.receive_output(5))["body"]
            if change is not None:
                await sync_to_async(change)()
            while content.count(b"data:") < count:
                content += (await connection.receive_output(2))["body"]
            # A further message would come within this time.
            if not await connection.receive_nothing(0.1):
                content += (await connection.receive_output(1)).get("body", b"")
            await connection.send_input({"type": "http.disconnect"})
            await connection.wait(5)
            return content

        return read_events(asyncio.run(asyncio.wait_for(talk(), 10)))

    return listen


@pytest.fixture
def team() -> Group:
    return Group.objects.create(name="support")


@pytest.fixture
def published(monkeypatch) -> list[Subject]:
    """The subjects that the bus publishes, as to a client that listens."""
    subjects: list[Subject] = []
    monkeypatch.setattr(Bus, "has_listeners", lambda self: True)
    monkeypatch.setattr(Bus, "publish", lambda self, found, mark: subjects.extend(found))
    return subjects
