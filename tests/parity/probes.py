"""Views that record what they get, and authentication and permission classes for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView


class Probe(APIView):
    """Calls ``looks[0]`` with the request, and keeps the result in ``seen``.

    ``Probe.looking(look)`` makes a probe class with its own lists. What an element of a list does
    cannot be read, so the tools of a probe take any body.
    """

    permission_classes = [AllowAny]
    looks: list[Callable[[Any], Any]] = [lambda request: None]
    seen: list[Any] = []

    @classmethod
    def looking(cls, look: Callable[[Any], Any] = lambda request: None, **attributes: Any) -> Any:
        """Return a probe class with an empty list."""
        members = {"looks": [look], "seen": [], **attributes}
        return type("OneProbe", (cls,), members)

    def answer(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Look at the request."""
        self.seen.append(self.looks[0](request))
        return Response({"user": str(request.user)})

    get = post = put = patch = delete = answer


def identity(request: Any) -> tuple[Any, ...]:
    """Return all attributes by which a view knows the caller."""
    return (
        type(request.successful_authenticator),
        request.user,
        request.auth,
        request._request.user,
        getattr(request._request, "auth", None),
    )


class ScopedKey:
    """The ``request.auth`` of `KeyAuthentication`."""

    def __init__(self, scopes: str) -> None:
        self.scopes = scopes.split()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScopedKey) and self.scopes == other.scopes


class KeyAuthentication(BaseAuthentication):
    """Authenticates by ``X-Key``: ``alice read write`` is alice with two scopes."""

    calls: list[str] = []

    def authenticate(self, request: Any) -> tuple[Any, ScopedKey] | None:
        key = request.headers.get("X-Key")
        if key is None:
            return None
        self.calls.append(key)
        username, _, scopes = key.partition(" ")
        if username == "machine":
            return AnonymousUser(), ScopedKey(scopes)
        if username == "banned":
            raise PermissionDenied("This key is banned.")
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise AuthenticationFailed("No such key.")
        return user, ScopedKey(scopes)

    def authenticate_header(self, request: Any) -> str:
        return 'Key realm="shop"'


class HasReadScope(BasePermission):
    """Reads the authenticator and the scopes of the request."""

    def has_permission(self, request: Any, view: Any) -> bool:
        authenticated_by_key = type(request.successful_authenticator) is KeyAuthentication
        return authenticated_by_key and "read" in request.auth.scopes
