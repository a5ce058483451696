"""Tries a way to sign in: ``python -m tests.documentation.sign_in token``.

Creates a project with the settings and URLs of the documentation, signs in, and prints the
answers of the endpoint as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import django
from django.conf import settings
from django.core.management import call_command

from tests.documentation.pages import DOCS, FENCE, blocks

HOST = "https://shop.example"
VERIFIER = "v" * 64
# What `django-admin startproject` writes, and the two apps of every project of this package.
APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_mcp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]


def shown(way: str, file: str) -> list[str]:
    """Return the content of a file in the section of a way."""
    page, heading = SECTIONS[way]
    path = DOCS / f"{page}.md"
    _, section = FENCE.sub(keep_lines, f"\n{path.read_text()}").split(f"\n{heading}\n")
    length = (
        len(section) if heading.startswith("# ") else re.search(r"^##|\Z", section, re.M).start()
    )
    start = path.read_text().splitlines().index(heading)
    lines = range(start, start + section.count("\n", 0, length) + 2)
    return [b.text for b in blocks(path) if b.file == file and b.line in lines]


def keep_lines(fence: re.Match[str]) -> str:
    return "\n" * fence[0].count("\n")


def configure(way: str) -> None:
    given: dict[str, Any] = {"INSTALLED_APPS": [*APPS], "MIDDLEWARE": [*MIDDLEWARE]}
    exec(shown(way, "settings.py")[0], given)
    usual: dict[str, Any] = {
        "SECRET_KEY": "x" * 50,
        "ALLOWED_HOSTS": ["shop.example"],
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
        "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "ROOT_URLCONF": type("URLConf", (), {"urlpatterns": []}),
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
        "STATIC_URL": "static/",
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": PROCESSORS},
            }
        ],
    }
    own = {name: value for name, value in given.items() if name.isupper() and name != "AGENTS"}
    settings.configure(**{**usual, **own})
    django.setup()


def serve(way: str) -> None:
    from django.urls import path
    from rest_framework.response import Response
    from rest_framework.views import APIView

    from drf_mcp import mcp_tool

    @mcp_tool(name="whoami")
    class Whoami(APIView):
        """Returns the caller's name."""

        def get(self, request: Any) -> Response:
            return Response({"name": request.user.username})

    given: dict[str, Any] = {}
    common = [] if way in ("own", "allauth") else shown("any", "urls.py")[:1]
    for text in [*common, *shown(way, "urls.py")[:1]]:
        exec(text, given)
    patterns = [*given["urlpatterns"], path("api/whoami/", Whoami.as_view())]
    settings.ROOT_URLCONF.urlpatterns = patterns


def make_client() -> Any:
    from django.test import Client

    headers = {"host": "shop.example", "x-forwarded-proto": "https", "referer": f"{HOST}/"}
    return Client(enforce_csrf_checks=True, headers=headers)


def log_in(client: Any, address: str) -> Any:
    form = client.get(address)
    filled = {"username": "ada", "password": "ada", "csrfmiddlewaretoken": token_of(form)}
    return client.post(address, filled)


def token_of(page: Any) -> str:
    return page.content.decode().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


def use_token(client: Any) -> dict[str, str]:
    from io import StringIO

    out = StringIO()
    call_command("drf_create_token", "ada", stdout=out)
    return {"Authorization": f"Token {out.getvalue().split()[2]}"}


def use_session(client: Any) -> dict[str, str]:
    assert log_in(client, "/api-auth/login/?next=/mcp").status_code == 302
    return {"X-CSRFToken": client.cookies["csrftoken"].value}


def use_jwt(client: Any) -> dict[str, str]:
    from django.contrib.auth.models import User
    from rest_framework_simplejwt.tokens import AccessToken

    return {"Authorization": f"Bearer {AccessToken.for_user(User.objects.get(username='ada'))}"}


def use_own(client: Any) -> dict[str, str]:
    from oauth2_provider.models import get_application_model

    callback = "http://127.0.0.1:4000/callback"
    get_application_model().objects.create(
        client_id="agent",
        client_type="public",
        authorization_grant_type="authorization-code",
        redirect_uris=callback,
    )
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
    own = {"client_id": "agent", "redirect_uri": callback, "resource": f"{HOST}/mcp"}
    asked = {
        **own,
        "response_type": "code",
        "code_challenge": challenge.decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    login = client.get("/o/authorize/", asked)["Location"]
    page = client.get(log_in(client, login)["Location"])
    filled = {name: value or "" for name, value in page.context_data["form"].initial.items()}
    filled["csrfmiddlewaretoken"] = token_of(page)
    back = client.post(page.wsgi_request.get_full_path(), {**filled, "allow": "true"})["Location"]
    (code,) = parse_qs(urlsplit(back).query)["code"]
    sent = {**own, "grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER}
    return {"Authorization": f"Bearer {client.post('/o/token/', sent).json()['access_token']}"}


WAYS: dict[str, Callable[[Any], dict[str, str]]] = {
    "token": use_token,
    "session": use_session,
    "jwt": use_jwt,
    "own": use_own,
}
# The page and the heading of each way, and the section that all ways share.
SECTIONS = {
    "any": ("authentication", "# Sign in"),
    "token": ("authentication", "## A key"),
    "session": ("authentication", "## In a browser"),
    "jwt": ("authentication", "### JSON Web Tokens"),
    "own": ("sign_in_own", "# Your own OAuth server"),
    # Run by tests/programs/interop/allauth_project.py.
    "allauth": ("sign_in_allauth", "# Google or Entra, by allauth"),
}


def answers(way: str) -> dict[str, Any]:
    from django.core.checks import run_checks

    client = make_client()

    def ask(client: Any, method: str, **headers: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "whoami"}}
        return client.post("/mcp", message, "application/json", headers=headers)

    stranger = ask(make_client(), "tools/list")
    credential = WAYS[way](client)
    called = ask(client, "tools/call", **credential)
    return {
        "stranger": stranger.status_code,
        "challenge": stranger.headers.get("WWW-Authenticate", ""),
        "without_header": ask(client, "tools/list").status_code,
        "list": ask(client, "tools/list", **credential).status_code,
        "said": json.loads(called.json()["result"]["content"][0]["text"])["data"],
        "checks": [m.id for m in run_checks(tags=["drf_mcp"]) if not m.is_silenced()],
    }


if __name__ == "__main__":
    name = sys.argv[1]
    configure(name)
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User

    User.objects.create_user("ada", password="ada")
    serve(name)
    print(json.dumps(answers(name)))  # noqa: T201
