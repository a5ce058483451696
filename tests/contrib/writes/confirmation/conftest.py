from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import path
from rest_framework.authtoken.models import Token
from rest_framework.routers import SimpleRouter

from tests.agents import Agent
from tests.contrib.writes.confirmation import presses

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
FORMS = {"_meta": {CAPABILITIES: {"elicitation": {"form": {}}}}}

router = SimpleRouter()
router.register("presses", presses.PressViewSet)
router.register("closing", presses.ClosingViewSet, basename="closing")
router.register("volumes", presses.VolumeViewSet)
PATTERNS = [
    *router.urls,
    path("detail/<int:pk>/", presses.PressDetail.as_view()),
    path("purge/", presses.PurgeView.as_view()),
]


@pytest.fixture(scope="session")
def press_tables(django_db_setup, django_db_blocker) -> Iterator[None]:
    """The tables of the presses."""
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        for model in presses.MODELS:
            editor.create_model(model)
    yield
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        for model in reversed(presses.MODELS):
            editor.delete_model(model)


@pytest.fixture
def serve(press_tables, db, expose) -> Callable[..., Callable[..., Agent]]:
    """Serve the presses, and return what makes agents: ``serve(CONFIRM=True)("alice")``."""

    def serve(*patterns: Any, **mcp_settings: Any) -> Callable[..., Agent]:
        expose(*patterns, *PATTERNS, **{"CONFIRM": True, **mcp_settings})

        def agent(username: str | None = "alice", **options: Any) -> Agent:
            headers = {}
            if username is not None:
                token = Token.objects.get(user__username=username)
                headers = {"authorization": f"Token {token.key}"}
            return Agent(Client(raise_request_exception=False, headers=headers), **options)

        return agent

    return serve


@pytest.fixture
def agent(serve) -> Agent:
    """An agent of alice, who owns the presses, where CONFIRM is on."""
    return serve()()


@pytest.fixture
def press(press_tables, db) -> presses.Press:
    """A press with three volumes, one of them secret, two notes and a visit."""
    press = presses.Press.objects.create(name="Hogarth")
    volumes = [press.volumes.create(is_secret=number == 2) for number in range(3)]
    for volume in volumes[:2]:
        presses.Note.objects.create(volume=volume)
    presses.Visit.objects.create(press=press)
    return press
