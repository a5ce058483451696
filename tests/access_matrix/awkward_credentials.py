"""Twelve credentials for the awkward views: the user, the header, and the tools they may call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import Group, User
from oauth2_provider.models import AccessToken
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from drf_mcp.contrib.tokens.models import AgentToken
from tests.access_matrix.awkward_views import sign

EXPIRES = datetime(2099, 1, 1, tzinfo=UTC)


def opens_nothing(name: str, reads: bool) -> bool:
    return False


@dataclass(frozen=True)
class Credential:
    """One row of the matrix.

    Attributes:
        name: its heading.
        user: the user with its permissions, None for an anonymous caller.
        header: the Authorization header, None for a session.
        is_user: whether a command can name the user without a credential.
        opens: whether it may call a tool, by the tool's name and whether the tool reads.
        is_first: whether no earlier credential gives the same permissions.
    """

    name: str
    user: Any
    header: str | None = None
    is_user: bool = False
    opens: Callable[[str, bool], bool] = lambda name, reads: True
    is_first: bool = True

    @property
    def is_unknown(self) -> bool:
        """Whether the endpoint refuses every call."""
        return self.opens is opens_nothing

    @functools.cached_property
    def client(self) -> APIClient:
        """A client that sends the credential."""
        if self.header is not None:
            return APIClient(headers={"authorization": self.header})
        return self.http

    @functools.cached_property
    def http(self) -> APIClient:
        """A client with the permissions of the user over HTTP."""
        client = APIClient()
        if self.user is not None:
            client.force_login(self.user)
        return client


def token_of(user: User) -> str:
    return f"Token {Token.objects.get_or_create(user=user)[0].key}"


def agent_token_of(user: User, **narrowing: Any) -> str:
    token = AgentToken(user=user, name="Agent", **narrowing)
    key = token.issue()
    token.save()
    return f"Bearer {key}"


def granted(user: User) -> str:
    AccessToken.objects.create(user=user, token="granted-shop", scope="shop", expires=EXPIRES)
    return "Bearer granted-shop"


def make_credentials() -> list[Credential]:
    """Return the credentials. Call it once, because it stores tokens."""
    alice, bob, carol, admin = (
        User.objects.get(username=name) for name in ("alice", "bob", "carol", "admin")
    )
    gone = User.objects.create(username="gone", is_active=False, is_staff=True)
    alice.groups.add(Group.objects.get_or_create(name="DE")[0])
    bob.groups.add(Group.objects.get_or_create(name="FR")[0])

    return [
        Credential("anonymous", None, is_user=True, opens=opens_nothing),
        Credential("bad token", None, "Token 0123456789abcdef", opens=opens_nothing),
        Credential("inactive", gone, token_of(gone), is_user=True, opens=opens_nothing),
        Credential("plain", bob, token_of(bob), is_user=True),
        Credential("owner", alice, token_of(alice), is_user=True),
        Credential("session", alice, is_first=False),
        Credential("staff", carol, token_of(carol), is_user=True),
        Credential("superuser", admin, token_of(admin), is_user=True),
        Credential(
            "narrowed",
            alice,
            agent_token_of(alice, tools=["notes_*"]),
            opens=lambda name, reads: name.startswith("notes_"),
        ),
        Credential(
            "read-only",
            alice,
            agent_token_of(alice, read_only=True),
            opens=lambda name, reads: reads,
        ),
        Credential("OAuth", alice, granted(alice), is_first=False),
        Credential("JWT", bob, f"Bearer {sign(sub='bob', scope='shop')}", is_first=False),
    ]
