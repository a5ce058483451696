from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connections
from django.test import Client
from django.urls import path
from rest_framework.routers import SimpleRouter

from tests.agents import Agent
from tests.contrib.writes.dry_run import views

router = SimpleRouter()
router.register("groups", views.GroupViewSet, basename="groups")
router.register("throttled", views.ThrottledGroups, basename="throttled")
PATTERNS = [
    *router.urls,
    path("deed/", views.Deed.as_view()),
    path("asynchronous/", views.AsyncDeed.as_view()),
    path("unbound/", views.non_atomic_deed),
    path("wrapped/", views.wrapped_deed),
    path("final/", views.Final.as_view()),
]


@pytest.fixture
def configure(expose, db) -> Callable[..., Agent]:
    def configure(**mcp_settings: Any) -> Agent:
        settings = {"AUTHENTICATION_CLASSES": [], **mcp_settings}
        expose(*PATTERNS, **settings)
        return Agent(Client(raise_request_exception=False))

    return configure


@pytest.fixture
def agent(configure) -> Agent:
    return configure()


@pytest.fixture
def group(db) -> Group:
    return Group.objects.create(name="readers")


@pytest.fixture
def do(monkeypatch) -> Callable[[Callable[[Any], Any]], None]:
    """Set the function that the deeds run: ``do(lambda request: …)``."""

    def set_function(deed: Callable[[Any], Any]) -> None:
        monkeypatch.setattr(views.Deed, "do", staticmethod(deed))

    return set_function


@pytest.fixture
def rehearse(agent, do) -> Callable[..., dict[str, Any]]:
    """Make a dry run of a deed, and return its report."""

    def rehearse(deed: Callable[[Any], Any], tool: str = "deed") -> dict[str, Any]:
        do(deed)
        result = agent.call(tool, dry_run=True)
        assert not result.is_error, result.envelope
        return result.envelope["meta"]["dry_run"]

    return rehearse


@pytest.fixture(params=[True, False], ids=["atomic", "not_atomic"])
def second(request, db, settings, monkeypatch) -> Any:
    """A second database, outside the transaction of the test, that stores the groups."""
    own = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "ATOMIC_REQUESTS": request.param,
    }
    aliases = {"default": {}, "second": own}
    connections.settings["second"] = connections.configure_settings(aliases)["second"]
    connection = connections["second"]
    connection.connect()
    with connection.schema_editor() as editor:
        editor.create_model(Group)
    settings.DATABASE_ROUTERS = ["tests.contrib.writes.dry_run.conftest.GroupRouter"]
    yield connection
    connection.connection.close()
    del connections["second"], connections.settings["second"]


class GroupRouter:
    """Sends groups to the second database."""

    def db_for_write(self, model, **hints) -> str | None:
        return "second" if model is Group else None

    db_for_read = db_for_write

    def allow_migrate(self, db, app_label, model_name=None, **hints) -> bool:
        return (db == "second") is (model_name == "group")
