"""The seeded shop, plain HTTP clients and agents for its users."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Generator, Iterator

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.core.signals import got_request_exception
from django.db import transaction
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils import timezone, translation
from hypothesis import HealthCheck, settings
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from drf_mcp.archive.withheld import withheld_cache
from drf_mcp.introspection.shared_fields import SharedFields
from drf_mcp.introspection.text import look_up_text
from drf_mcp.tools import registry
from tests.agents import Agent, make_agent
from tests.division import Division, Programs, mark_variants, put_slow_ones_first
from tests.oracles.watching import Watch
from tests.seeded import SeededShop

# Speed is measured in benchmarks: a machine that is slow at times fails no property. No fixture
# holds anything of one example that the next one would see.
PATIENT = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("desk", max_examples=25, **PATIENT)
settings.register_profile("fast", max_examples=5, **PATIENT)
settings.register_profile("nightly", max_examples=200, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "desk"))


programs = Programs()
shop = SeededShop()


def pytest_configure(config) -> None:
    programs.watch()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log) -> Division:
    return Division(config, log)


# Around pytest's own, which leaves out what `-m` says, and pytest-randomly's.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items) -> Generator[None]:
    mark_variants(items, config.getoption("randomly_seed", 0))
    yield
    put_slow_ones_first(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item) -> None:
    programs.enter(item)
    shop.enter(item)


def pytest_collection() -> None:
    """Collect no garbage while ten thousand tests are made, which is a third of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave the collected tests out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@receiver(connection_created)
def close_with_its_wrapper(connection, **kwargs) -> None:
    """Close a thread's connection once the thread is gone: Python 3.13 warns of those left open.

    Django ignores every request to close a connection to SQLite in memory.
    """
    if connection.vendor == "sqlite":
        weakref.finalize(connection, connection.connection.close)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> None:
    """Seed the shop once; each test rolls its own changes back, but for those that empty it."""
    with django_db_blocker.unblock():
        # The tables are those of the newest migrations already.
        call_command("migrate", fake=True, verbosity=0)
        call_command("seed", verbosity=0)


@pytest.fixture(scope="module")
def shared_db(django_db_setup, django_db_blocker) -> Iterator[None]:
    """Let fixtures of a module store rows, which its tests see and which go with the module."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def watch() -> Iterator[Watch]:
    """What leaves the servers and renderers of this process."""
    watch = Watch()
    with watch.watching():
        yield watch


@pytest.fixture(autouse=True)
def every_message_is_judged(watch: Watch) -> Iterator[None]:
    """Hold every message of the test against the oracles, once it is over."""
    yield
    watch.judge()


@pytest.fixture(autouse=True)
def no_language_left_over() -> Iterator[None]:
    """End every test in the project's own language and time zone, whatever its middleware chose."""
    yield
    translation.deactivate()
    look_up_text.cache_clear()
    SharedFields.known.clear()
    timezone.deactivate()


@pytest.fixture(autouse=True)
def unused_throttles() -> None:
    """Start every test with throttles that have counted nothing."""
    cache.clear()


@pytest.fixture(autouse=True)
def rights_are_asked_anew(monkeypatch) -> None:
    """Ask for every slice of stored content whether it may be read, as if seconds had passed."""
    monkeypatch.setattr(withheld_cache, "seconds", 0.0)


@pytest.fixture
def reported() -> Iterator[list]:
    """The requests of the exceptions that error trackers heard of."""
    requests = []

    def receive(sender, request=None, **kwargs) -> None:
        requests.append(request)

    got_request_exception.connect(receive)
    yield requests
    got_request_exception.disconnect(receive)


@pytest.fixture
def http_of(db) -> Callable[..., APIClient]:
    """Plain HTTP clients: ``http_of("alice")`` sends her token, ``http_of(None)`` none."""

    def client(username: str | None) -> APIClient:
        if username is None:
            return APIClient()
        token = Token.objects.get(user__username=username)
        return APIClient(headers={"authorization": f"Token {token.key}"})

    return client


@pytest.fixture
def agent_of(db) -> Callable[..., Agent]:
    """Agents at the endpoint: ``agent_of("alice")``, ``agent_of(None, revision=...)``."""

    return make_agent


@pytest.fixture
def alice(agent_of) -> Agent:
    """An agent with the token of alice, who looks after customers of her own."""
    return agent_of("alice")


@pytest.fixture
def carol(agent_of) -> Agent:
    """An agent with the token of carol, who is staff."""
    return agent_of("carol")


@pytest.fixture
def expose(settings):
    """Serve a URLconf made of these patterns, every DRF endpoint of it a tool.

    ``expose(path("things/", ThingList.as_view()))`` mounts them beside the endpoint.
    """
    from django.urls import include, path

    def serve(*patterns, **mcp_settings) -> None:
        module = type("URLConf", (), {})
        module.urlpatterns = [path("", include("drf_mcp.urls")), *patterns]
        settings.ROOT_URLCONF = module
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            # PUT beside PATCH is no tool unless named.
            "INCLUDE": ["*", "PUT *"],
            "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
            # So that the patterns are the only tools.
            "ARCHIVE_CLASS": None,
            **mcp_settings,
        }
        registry.reload()

    return serve
