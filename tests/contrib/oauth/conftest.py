"""A project that is its own authorization server, with a client and a person who signs in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import include, path
from django.utils import timezone
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from oauth2_provider.models import get_access_token_model, get_application_model, set_token_value
from rest_framework.generics import CreateAPIView
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.views import APIView

from drf_mcp.access.scopes import HasScopes
from drf_mcp.contrib.oauth.defaults import AGENTS
from tests.access.conftest import first_key, issuer  # noqa: F401 - fixtures
from tests.agents import Agent

HOST = "shop.example"
ENDPOINT = f"https://{HOST}/mcp"
REDIRECT = "https://agent.example/callback"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
SCOPES = {"shop": "Work with the shop", "refunds": "Pay money back"}


class Orders(APIView):
    """Shows the user, and takes orders."""

    authentication_classes = [OAuth2Authentication]
    permission_classes: Any = [IsAuthenticated]

    def get(self, request: Any) -> Response:
        return Response({"by": request.user.username})

    def post(self, request: Any) -> Response:
        return Response({"by": request.user.username}, 201)

    def delete(self, request: Any) -> Response:
        return Response(status=204)


class Refunds(Orders):
    """Pays money back."""

    permission_classes = [IsAuthenticated, HasScopes]
    required_scopes = ["refunds"]
    http_method_names = ["post"]


class Staff(Orders):
    """Serves staff."""

    http_method_names = ["get"]

    permission_classes = [IsAdminUser]


class NoteSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Notes(CreateAPIView):
    """Adds a note."""

    authentication_classes = [OAuth2Authentication]
    permission_classes = [IsAuthenticated]
    queryset = Group.objects.all()
    serializer_class = NoteSerializer


class Project:
    """The requests of a client, and of the person who signs in."""

    def __init__(self) -> None:
        self.user = User.objects.create_user("ada", password="ada")
        self.application = get_application_model().objects.create(
            name="Agent of Ada",
            client_id="agent",
            client_type="public",
            authorization_grant_type="authorization-code",
            redirect_uris=REDIRECT,
        )
        self.browser = self.make_browser(self.user)

    def make_browser(self, user: User | None) -> Client:
        browser = Client(headers={"host": HOST, "x-forwarded-proto": "https"})
        if user is not None:
            browser.force_login(user)
        return browser

    def register(self, **fields: Any) -> Any:
        """Change the application; by default into one that registered itself."""
        for name, value in {"registration_source": "dcr", **fields}.items():
            setattr(self.application, name, value)
        self.application.save()
        return self.application

    def authorize(self, browser: Client | None = None, **changed: Any) -> Any:
        """Send an authorization request without the parameters that are None."""
        usual = {
            "response_type": "code",
            "client_id": "agent",
            "redirect_uri": REDIRECT,
            "scope": "shop",
            "state": "s",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": ENDPOINT,
        }
        asked = {name: v for name, v in {**usual, **changed}.items() if v is not None}
        return (browser or self.browser).get("/o/authorize/", asked)

    def consent(self, *, read_only: bool = False, **changed: Any) -> dict[str, str]:
        """Allow the request, and return the parameters of the redirect to the client."""
        page = self.authorize(**changed)
        form = page.context["form"]
        # A browser does not send a box that is not ticked.
        filled = {n: form.initial.get(n) or "" for n in form.fields if n != "read_only"}
        filled |= {"allow": "true", **({"read_only": "on"} if read_only else {})}
        # A browser sends the form to the address that the client gave it.
        answer = self.browser.post(f"/o/authorize/?{page.request['QUERY_STRING']}", filled)
        assert answer.status_code == 302, answer.content
        return parameters_of(answer)

    def exchange(self, code: str, **changed: Any) -> Any:
        """Send a token request for a code without the parameters that are None."""
        usual = {
            "grant_type": "authorization_code",
            "client_id": "agent",
            "code": code,
            "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER,
            "resource": ENDPOINT,
        }
        sent = {name: v for name, v in {**usual, **changed}.items() if v is not None}
        return self.make_browser(None).post("/o/token/", sent)

    def sign_in(self, **changed: Any) -> dict[str, Any]:
        """Consent, and return the tokens of the client."""
        answer = self.exchange(
            self.consent(**changed)["code"], resource=changed.get("resource", ENDPOINT)
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    def refresh(self, token: str, **changed: Any) -> dict[str, Any]:
        """Send a refresh token, and return the body of the response."""
        sent = {"grant_type": "refresh_token", "client_id": "agent", "refresh_token": token}
        response = self.make_browser(None).post("/o/token/", {**sent, **changed})
        assert response["Content-Type"] == "application/json"
        return response.json()

    def create_token(self, resource: str | None = ENDPOINT, scope: str = "shop") -> str:
        """Store an access token, and return its text."""
        token = get_access_token_model()(
            user=self.user,
            application=self.application,
            scope=scope,
            expires=timezone.now() + timedelta(hours=1),
            resource=[resource] if resource else [],
        )
        text = f"token-{get_access_token_model().objects.count()}"
        set_token_value(token, text)
        token.save()
        return text

    def list_tools(self, token: str, address: str = "/mcp") -> int:
        """Return the status of a ``tools/list`` with a token."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"authorization": f"Bearer {token}"}
        browser = self.make_browser(None)
        return browser.post(address, message, "application/json", headers=headers).status_code

    def agent(self, token: str) -> Agent:
        headers = {"host": HOST, "x-forwarded-proto": "https", "authorization": f"Bearer {token}"}
        return Agent(Client(headers=headers), revision="2025-11-25")


def parameters_of(answer: Any) -> dict[str, str]:
    query = urlsplit(answer["Location"]).query
    return {name: values[0] for name, values in parse_qs(query).items()}


@pytest.fixture
def configure(settings, expose) -> Callable[..., None]:
    """Serve the project; the keyword arguments change ``OAUTH2_PROVIDER``."""

    def configure(*patterns: Any, **changed: Any) -> None:
        settings.ALLOWED_HOSTS = [HOST]
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        settings.LOGIN_URL = "rest_framework:login"
        settings.OAUTH2_PROVIDER = {
            **AGENTS,
            "SCOPES": SCOPES,
            "DEFAULT_SCOPES": ["shop"],
            # Otherwise the views keep the server of earlier settings.
            "ALWAYS_RELOAD_OAUTHLIB_CORE": True,
            **changed,
        }
        expose(
            path("", include("drf_mcp.contrib.oauth.urls")),
            path("api-auth/", include("rest_framework.urls")),
            path("orders/", Orders.as_view()),
            path("notes/", Notes.as_view()),
            path("refunds/", Refunds.as_view()),
            path("staff/", Staff.as_view()),
            *patterns,
            AUTHENTICATION_CLASSES=[OAuth2Authentication],
            PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
            AUTHORIZATION_SERVERS=["/o"],
            SCOPES=["shop"],
            EXCLUDE=["/api-auth/*"],
        )

    return configure


@pytest.fixture
def project(configure, db) -> Project:
    configure()
    return Project()
