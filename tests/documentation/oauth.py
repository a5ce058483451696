"""Calls a project with the OAuth settings of the page: ``python -m tests.documentation.oauth``.

Prints as JSON the answers to a client without a token and with one, for two values of RESOURCE:
the page's value and the endpoint alone.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from tests.documentation.pages import DOCS, blocks

HOST = "https://shop.example"
ENDPOINT = f"{HOST}/mcp"
TOKEN = "tested"
SESSION = "django.contrib.sessions.middleware.SessionMiddleware"
LOGGED_IN = "django.contrib.auth.middleware.AuthenticationMiddleware"
# Two permissions of django-oauth-toolkit's scopes, and two without them.
PERMISSIONS = [
    "Whoami",
    "TokenHasScope",
    "TokenMatchesOASRequirements",
    "IsAuthenticatedOrTokenHasScope",
]
MESSAGES = "django.contrib.messages.middleware.MessageMiddleware"
CONTEXT = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]


def shown(file: str) -> dict[str, Any]:
    """Return the content of a file on the page, with the changes of its last section."""
    given: dict[str, Any] = {}
    for block in blocks(DOCS / "sign_in_own.md"):
        if block.file == file:
            exec(block.text, given)
    return given


def is_own(route: Any) -> bool:
    """Whether a route belongs to the app that a project with the plain toolkit does not have."""
    return getattr(route.urlconf_module, "__name__", "") == "drf_mcp.contrib.oauth.urls"


def configure() -> str:
    given = shown("settings.py")
    named = ("REST_FRAMEWORK", "OAUTH2_PROVIDER", "LOGIN_URL")
    settings.configure(
        SECRET_KEY="x" * 50,
        ALLOWED_HOSTS=["shop.example"],
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        ROOT_URLCONF=type("URLConf", (), {"urlpatterns": []}),
        MIDDLEWARE=[SESSION, LOGGED_IN, MESSAGES],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": CONTEXT},
            }
        ],
        INSTALLED_APPS=[app for app in given["INSTALLED_APPS"] if app != "drf_mcp.contrib.oauth"],
        DRF_MCP={**given["DRF_MCP"], "SERVER_NAME": "shop"},
        **{name: given[name] for name in named},
    )
    django.setup()
    return str(given["DRF_MCP"]["RESOURCE"])


def serve() -> None:
    """Serve the routes of the page, and views that require scopes."""
    from django.urls import path
    from oauth2_provider.contrib.rest_framework import permissions
    from rest_framework.permissions import IsAuthenticated
    from rest_framework.response import Response
    from rest_framework.views import APIView

    from drf_mcp import mcp_tool

    class Whoami(APIView):
        """Returns the caller's name."""

        permission_classes = [IsAuthenticated]
        required_scopes = ["refunds"]

        def get(self, request: Any) -> Response:
            return Response({"name": request.user.username})

    routes = shown("urls.py")["urlpatterns"]
    settings.ROOT_URLCONF.urlpatterns = [
        route for route in routes if not hasattr(route, "urlconf_module") or not is_own(route)
    ]
    for name in PERMISSIONS:
        own = {"permission_classes": [getattr(permissions, name, IsAuthenticated)]}
        own["required_alternate_scopes"] = {"GET": [["refunds"], ["many", "more"]]}
        view = mcp_tool(name=name.lower())(type(name, (Whoami,), own))
        settings.ROOT_URLCONF.urlpatterns.append(path(f"api/{name}/", view.as_view()))


def give_token(resource: str) -> None:
    from django.contrib.auth.models import User
    from oauth2_provider.models import AccessToken

    AccessToken.objects.create(
        user=User.objects.create_user("ada"),
        token=TOKEN,
        scope="shop",
        expires=timezone.now() + timedelta(hours=1),
        resource=[resource],
    )


def answers() -> dict[str, Any]:
    from django.core.checks import run_checks
    from django.test import Client

    client = Client(HTTP_HOST="shop.example", HTTP_X_FORWARDED_PROTO="https")

    def ask(method: str, name: str = "whoami", **headers: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": name}}
        return client.post("/mcp", message, "application/json", headers=headers)

    challenge = ask("tools/list").headers["WWW-Authenticate"]
    metadata = challenge.split('resource_metadata="')[1].split('"')[0]
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    call = ask("tools/call", **bearer)
    calls = {name: ask("tools/call", name.lower(), **bearer) for name in PERMISSIONS}
    return {
        "challenge": challenge,
        "metadata": client.get(metadata.removeprefix(HOST)).json(),
        "list": ask("tools/list", **bearer).status_code,
        "call": call.status_code,
        "said": call.json(),
        "wrong": ask("tools/list", Authorization="Bearer wrong").headers["WWW-Authenticate"],
        "refused": {name: c.headers.get("WWW-Authenticate", "") for name, c in calls.items()},
        "checks": [message.id for message in run_checks(tags=["drf_mcp"])],
    }


def answers_of(resource: str) -> dict[str, Any]:
    from oauth2_provider.models import AccessToken

    AccessToken.objects.update(resource=[resource])
    with override_settings(DRF_MCP={**settings.DRF_MCP, "RESOURCE": resource}):
        return answers()


if __name__ == "__main__":
    own = configure()
    call_command("migrate", verbosity=0)
    serve()
    give_token(own)
    print(json.dumps({"own": answers(), "endpoint": answers_of(ENDPOINT)}))  # noqa: T201
