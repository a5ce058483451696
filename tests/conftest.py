"""The example shop with its rows, plain HTTP clients and agents of its users."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Generator, Iterator

import pytest
from django.core.cache import cache, caches
from django.core.management import call_command
from django.core.signals import got_request_exception
from django.db import transaction
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils import timezone, translation
from hypothesis import HealthCheck, settings
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from drf_mcp.introspection.serializer_fields import SharedFields
from tests.agents import Agent, make_agent
from tests.division import Division, Programs, mark_variants, put_slow_modules_first
from tests.oracles.watching import Watch
from tests.seeded import SeededShop

# Benchmarks measure speed: a slow machine must not fail a property. No fixture keeps a value of one
# example that the next example would use.
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


# Runs around the hooks of pytest, which applies `-m`, and of pytest-randomly.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items) -> Generator[None]:
    mark_variants(items, config.getoption("randomly_seed", 0))
    yield
    put_slow_modules_first(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item) -> None:
    programs.enter(item)
    shop.enter(item)


def pytest_collection() -> None:
    """Collect no garbage during test collection, which saves a third of its time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the collected tests from every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


@receiver(connection_created)
def close_with_its_wrapper(connection, **kwargs) -> None:
    """Close a thread's connection when the thread ends: Python 3.13 warns of open ones.

    Django ignores every request to close a connection to SQLite in memory.
    """
    if connection.vendor == "sqlite":
        weakref.finalize(connection, connection.connection.close)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> None:
    """Fill the shop once. Each test rolls back its changes, unless it empties the database."""
    with django_db_blocker.unblock():
        # The tables already match the newest migrations.
        call_command("migrate", fake=True, verbosity=0)
        call_command("seed", verbosity=0)


@pytest.fixture(scope="module")
def shared_db(django_db_setup, django_db_blocker) -> Iterator[None]:
    """Let fixtures of a module store rows, which are rolled back after the module."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def watch() -> Iterator[Watch]:
    """The watch over all messages that the servers and renderers of this process send."""
    watch = Watch()
    with watch.watching():
        yield watch


@pytest.fixture(autouse=True)
def check_every_message(watch: Watch) -> Iterator[None]:
    """Check every message of the test with the oracles, after the test."""
    yield
    watch.judge()


@pytest.fixture(autouse=True)
def reset_language() -> Iterator[None]:
    """End every test with the project's language and time zone, whatever middleware activated."""
    yield
    translation.deactivate()
    SharedFields.known.clear()
    timezone.deactivate()


@pytest.fixture(autouse=True)
def reset_throttles() -> None:
    """Start every test with empty throttles and an empty archive."""
    cache.clear()
    caches["shared"].clear()


@pytest.fixture
def reported() -> Iterator[list]:
    """The requests that were sent with the signal `got_request_exception`."""
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
    """An agent with the token of alice, who has customers."""
    return agent_of("alice")


@pytest.fixture
def carol(agent_of) -> Agent:
    """An agent with the token of carol, who is staff."""
    return agent_of("carol")


@pytest.fixture
def expose(settings):
    """Serve a URLconf of these patterns, with every DRF endpoint as a tool.

    ``expose(path("things/", ThingList.as_view()))`` adds them to the URL of the endpoint.
    """
    from django.urls import include, path

    def serve(*patterns, **mcp_settings) -> None:
        module = type("URLConf", (), {})
        module.urlpatterns = [path("", include("drf_mcp.urls")), *patterns]
        settings.ROOT_URLCONF = module
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            # A PUT is a tool only if it is named, where the path also takes PATCH.
            "INCLUDE": ["*", "PUT *"],
            "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
            # Without the archive's tool, the patterns are the only tools.
            "ARCHIVE_CLASS": None,
            "ARCHIVE_CACHE": "shared",
            **mcp_settings,
        }
        registry.reload()

    return serve
