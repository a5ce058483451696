"""The credentials of the matrix of the example project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import User
from oauth2_provider.models import AccessToken
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from drf_mcp.contrib.tokens.models import AgentToken

EXPIRES = datetime(2099, 1, 1, tzinfo=UTC)
Client = Callable[[], APIClient]


@dataclass(frozen=True)
class Credential:
    """One column of the matrix.

    Attributes:
        name: its heading.
        client: makes a client that sends the credential.
        http: makes the client for HTTP, with the permissions that tool calls may have at most.
        narrows: whether the endpoint may refuse a tool call that HTTP would allow.
    """

    name: str
    client: Client
    http: Client
    narrows: bool = False


def bearing(header: str) -> Client:
    return lambda: APIClient(headers={"authorization": header})


def signed_in(username: str) -> Client:
    def make() -> APIClient:
        client = APIClient()
        client.force_login(User.objects.get(username=username))
        return client

    return make


def narrowed(username: str) -> str:
    token = AgentToken(user=User.objects.get(username=username), name="Reads", read_only=True)
    key = token.issue()
    token.save()
    return f"Bearer {key}"


def granted(username: str, scope: str) -> str:
    key = f"granted-{scope or 'nothing'}-{username}"
    user = User.objects.get(username=username)
    AccessToken.objects.create(user=user, token=key, scope=scope, expires=EXPIRES)
    return f"Bearer {key}"


def make_credentials() -> list[Credential]:
    """Return the credentials. Call it once, because it stores tokens."""
    owner = signed_in("alice")
    key = Token.objects.get(user__username="alice").key
    scoped, scopeless = granted("alice", "shop"), granted("alice", "")
    by_client = {
        "plain": signed_in("bob"),
        "owner": owner,
        "staff": signed_in("carol"),
        "token": bearing(f"Token {key}"),
        "OAuth": bearing(scoped),
    }
    return [
        # The endpoint requires authentication before a view runs.
        Credential("anonymous", APIClient, APIClient, narrows=True),
        *(Credential(name, client, client) for name, client in by_client.items()),
        # Over plain HTTP this token is not accepted.
        Credential("narrowed", bearing(narrowed("alice")), owner, narrows=True),
        Credential("no scope", bearing(scopeless), bearing(scopeless), narrows=True),
    ]
