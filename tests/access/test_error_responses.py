"""The responses to callers without a valid credential: status, challenge and message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import path
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access.jwt import AccessToken
from tests.access.conftest import OAUTH
from tests.access.views import Orders, ShopLogin
from tests.agents import Agent

METADATA = 'resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"'


class DescriptiveAuthentication(BaseAuthentication):
    """Sends a challenge with its own parameters, like django-oauth-toolkit's."""

    def authenticate(self, request: Any) -> None:
        if "HTTP_AUTHORIZATION" in request.META:
            raise AuthenticationFailed('The "token" has been withdrawn.')

    def authenticate_header(self, request: Any) -> str:
        return 'Bearer realm="api",resource_metadata="https://elsewhere.example"'


@pytest.fixture
def send_refused(expose, db):
    """Send a message with a bad credential or none, and return the response."""

    def send_refused(*classes: type, authorization: str = "", **settings: Any) -> Any:
        usual = {**OAUTH, "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}
        expose(
            path("orders/", Orders.as_view()),
            **{**usual, "AUTHENTICATION_CLASSES": list(classes), **settings},
        )
        headers = {"authorization": authorization} if authorization else {}
        agent = Agent(Client(headers=headers), "2025-11-25")
        message, more = agent.frame("tools/list", {})
        return agent.post(message, more)

    return send_refused


def get_challenge(response: Any) -> str:
    return response.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    ("classes", "others"),
    [
        ([ShopLogin], ""),
        ([SessionAuthentication], ""),
        ([TokenAuthentication], ", Token"),
        ([BasicAuthentication], ', Basic realm="api"'),
        ([TokenAuthentication, ShopLogin], ", Token"),
        ([ShopLogin, TokenAuthentication], ""),
    ],
)
def test_the_oauth_challenge_precedes_the_projects_challenge(send_refused, classes, others):
    response = send_refused(*classes, SCOPES=["shop", "profile"])
    assert response.status_code == 401
    text = get_challenge(response)
    realm = 'realm="api", ' if ShopLogin in classes else ""
    assert text == f'Bearer {realm}{METADATA}, scope="shop profile"{others}'


def test_a_bad_token_is_answered_with_invalid_token(send_refused, issuer):
    response = send_refused(ShopLogin, authorization="Bearer abc")
    assert response.status_code == 401
    assert get_challenge(response).startswith('Bearer error="invalid_token"')
    assert METADATA in get_challenge(response)


def test_the_challenge_says_that_a_token_has_expired(send_refused, issuer):
    response = send_refused(ShopLogin, authorization=f"Bearer {issuer.sign(exp=1)}")
    assert 'error="invalid_token"' in get_challenge(response)
    assert 'error_description="The access token has expired."' in get_challenge(response)
    assert json.loads(response.content)["error"]["message"] == "The access token has expired."


@pytest.mark.parametrize("sent", ["Bearer", "Bearer ", "bearer a b", "Bearer ä", 'Bearer "abc"'])
def test_a_malformed_header_is_a_bad_request(send_refused, sent):
    response = send_refused(ShopLogin, authorization=sent)
    assert response.status_code == 400
    assert 'error="invalid_request"' in get_challenge(response)


def test_the_parameters_of_an_authentication_class_stay_in_the_challenge(send_refused):
    text = get_challenge(send_refused(DescriptiveAuthentication, authorization="Bearer abc"))
    assert text == (
        'Bearer error="invalid_token", error_description="The \'token\' has been withdrawn.", '
        f'realm="api", {METADATA}'
    )


class WithAudience(BaseAuthentication):
    """A token with an audience."""

    audience = "https://shop.example/api"

    def authenticate(self, request: Any) -> Any:
        audiences = [self.audience] if isinstance(self.audience, str) else self.audience
        return User.objects.get(username="alice"), AccessToken({}, (), audiences)

    def authenticate_header(self, request: Any) -> str:
        return "Bearer"


@pytest.mark.slow
def test_a_token_for_another_audience_is_invalid(subtests, expose, db):
    for oauth in [True, False]:
        for audience, status in [
            ("https://shop.example/api", 401),
            ("https://shop.example/mcpx", 401),
            ("https://shop.example/mcp/more", 401),
            ("https://shop.example/mcp", 200),
            ("https://shop.example/mcp/", 200),
            ("https://shop.example/", 200),
            ("https://shop.example", 200),
            (["https://shop.example/api", "https://shop.example/mcp"], 200),
            (["https://shop.example/api", "https://shop.example/staff"], 401),
            # A name that the authentication class accepts.
            ("api://shop", 200),
            ("shop", 200),
        ]:
            for method in ["tools/list", "tools/call"]:
                with subtests.test(oauth=oauth, audience=audience, status=status, method=method):

                    class Taken(WithAudience):
                        pass

                    Taken.audience = audience
                    view = type("Orders", (Orders,), {"authentication_classes": [Taken]})
                    servers = OAUTH["AUTHORIZATION_SERVERS"] if oauth else []
                    expose(
                        path("orders/", view.as_view()),
                        AUTHORIZATION_SERVERS=servers,
                        RESOURCE=OAUTH["RESOURCE"],
                        AUTHENTICATION_CLASSES=[Taken],
                    )
                    agent = Agent(Client(headers={"authorization": "Bearer abc"}), "2025-11-25")
                    params = (
                        {"name": "orders_get", "arguments": {}} if method == "tools/call" else {}
                    )
                    message, headers = agent.frame(method, params)
                    response = agent.post(message, headers)
                    assert response.status_code == status
                    if status == 401 and oauth:
                        assert 'error="invalid_token"' in get_challenge(response)
                        assert "another resource" in get_challenge(response)
