"""Print the answers of the shop over HTTP and the members of its classes, as JSON.

Run as ``python -m tests.parity.host`` with DJANGO_SETTINGS_MODULE set. If drf_mcp is installed,
every tool is listed and called first.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import django

CALLERS = (None, "alice", "carol")
NOW = datetime(2026, 11, 2, 12, 30, 15, tzinfo=UTC)
CLASSES = [
    *(f"rest_framework.{name}" for name in ("views", "viewsets", "generics", "mixins")),
    *(f"rest_framework.{name}" for name in ("request", "response", "serializers", "fields")),
    *(f"rest_framework.{name}" for name in ("permissions", "authentication", "throttling")),
    *(f"rest_framework.{name}" for name in ("pagination", "renderers", "parsers", "filters")),
    *(f"rest_framework.{name}" for name in ("versioning", "negotiation", "schemas.openapi")),
    *(f"django.{name}" for name in ("http.request", "http.response", "views.generic.base")),
    *(f"django.{name}" for name in ("urls.resolvers", "core.handlers.base", "db.transaction")),
    *(f"example_project.shop.{name}" for name in ("views", "serializers", "filters")),
    "django_filters.rest_framework.backends",
]
# Counters of instances, and a cache of the copy module.
RECORDS = {"_creation_counter", "creation_counter", "auto_creation_counter", "__slotnames__"}
# Functions whose results differ each time.
STEADY = {
    "django.utils.timezone.now": lambda: NOW,
    "uuid.uuid4": lambda: uuid.UUID(int=7),
    "django.middleware.csrf._get_new_csrf_string": lambda: "c" * 32,
    "django.middleware.csrf._mask_cipher_secret": lambda secret: secret,
}


def prepare() -> None:
    """Make the same shop each time, and stop its clocks."""
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import setup_test_environment
    from rest_framework.authtoken.models import Token

    from example_project.library.indexes import current_index
    from example_project.shop.models import Order, Ticket

    setup_test_environment()
    connection.creation.create_test_db(verbosity=0)
    call_command("seed", verbosity=0)
    current_index()
    for token in Token.objects.select_related("user"):
        Token.objects.filter(pk=token.pk).update(key=token.user.username)
    for field in (Order._meta.get_field("placed_at"), Ticket._meta.get_field("created")):
        field._get_default = lambda: NOW


def headers_of(username: str | None) -> dict[str, str]:
    return {"authorization": f"Token {username}"} if username else {}


def answers() -> Iterator[list[Any]]:
    from rest_framework.test import APIClient

    from tests.parity.answers import observed, over_http
    from tests.parity.shop_requests import REQUESTS, rows_of_alice

    rows = rows_of_alice()
    requests = [request.about(rows) for request in REQUESTS]
    plain = [(request.method, request.path, request.body) for request in requests]
    plain += [("OPTIONS", path, None) for path in sorted({request.path for request in requests})]
    plain += [("GET", "/api/", None), ("GET", "/", None)]
    pages = [("GET", path, None) for method, path, _ in plain if method == "GET"]
    for accept, requests in (("application/json", plain), ("text/html", pages)):
        for username in CALLERS:
            http = APIClient(headers={"accept": accept, **headers_of(username)})
            for method, path, body in requests:
                response, effect = observed(
                    lambda http=http, request=(method, path, body): over_http(http, *request),
                    models=(),
                )
                content = response.content.decode()
                sent = [response.status_code, sorted(response.items()), content]
                yield [username, accept, method, path, *sent, len(effect.sql)]


def use_tools() -> int:
    from django.core.cache import cache
    from django.test import Client

    from tests.agents import Agent
    from tests.parity.answers import observed
    from tests.parity.shop_requests import REQUESTS, rows_of_alice

    rows, calls = rows_of_alice(), 0
    for username in CALLERS[1:]:
        agent = Agent(Client(headers=headers_of(username)))
        agent.result("tools/list")
        for request in REQUESTS:
            sent = request.about(rows)
            params = {"name": sent.tool, "arguments": sent.arguments}
            observed(lambda agent=agent, params=params: agent.result("tools/call", **params), ())
            calls += 1
    # The library counts the hits of its cache.
    cache.clear()
    return calls


def classes() -> dict[str, dict[str, str]]:
    found = {}
    for name in CLASSES:
        module = importlib.import_module(name)
        for _, member in inspect.getmembers(module, inspect.isclass):
            place = f"{member.__module__}.{member.__qualname__}"
            if place.startswith(("django", "rest_framework", "example_project")):
                members = vars(member).items()
                found[place] = {k: described(v) for k, v in members if k not in RECORDS}
    return found


def described(value: Any) -> str:
    place = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    plain = value if isinstance(value, (str, int, float, bool, type(None))) else ""
    return f"{type(value).__qualname__} {place} {plain}"


def main() -> None:
    django.setup()
    from django.conf import settings

    with mock.patch.multiple("django.conf.settings", DEBUG=False):
        prepare()
        for target, replacement in STEADY.items():
            mock.patch(target, replacement).start()
        calls = use_tools() if "drf_mcp" in settings.INSTALLED_APPS else 0
        report = {"calls": calls, "answers": list(answers()), "classes": classes()}
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
