"""Views that require scopes, in all common ways."""

from __future__ import annotations

from typing import Any

from oauth2_provider.contrib.rest_framework import permissions as toolkit
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission, IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.access.jwt import JWTAuthentication
from drf_mcp.access.scopes import HasScopes

ISSUER = "https://login.shop.example/realms/shop"


class ShopLogin(JWTAuthentication):
    """Accepts tokens of the tests' own server; a fixture sets the URL of its keys."""

    issuer = ISSUER
    algorithms = ("RS256", "ES256")


class HasTheViewsScopes(BasePermission):
    """As projects write it themselves."""

    def has_permission(self, request: Any, view: Any) -> bool:
        scopes = getattr(request.auth, "scopes", ())
        return set(view.required_scopes) <= set(scopes)


class IsBob(BasePermission):
    """A permission without scopes."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return request.user.username == "bob"


class Refunder(HasScopes):
    """Names its scopes in the permission class."""

    required_scopes = ("refunds:write",)


class ReaderOrWriter(HasScopes):
    """Names scopes by HTTP method."""

    required_scopes = {"GET": ["orders:read"], "POST": ["orders:write"]}


class Orders(APIView):
    """Reads or writes an order."""

    authentication_classes = [ShopLogin]
    permission_classes: Any = [IsAuthenticated]
    required_scopes: Any = ["orders"]

    def get(self, request: Any) -> Response:
        return Response({"by": request.user.username})

    def post(self, request: Any) -> Response:
        return Response({"by": request.user.username}, status=201)


class Withheld(Orders):
    """Refuses in the handler, whatever the token."""

    permission_classes = [toolkit.TokenHasScope]

    def get(self, request: Any) -> Response:
        raise PermissionDenied("Not on Sundays.")


def view_with(*permissions: Any, **attributes: Any) -> type[Orders]:
    """Return a view class with these permissions."""
    return type("Orders", (Orders,), {"permission_classes": list(permissions), **attributes})


# The attributes of a view, and the scopes that GET and POST need in a token: None where no scope
# would allow alice.
WAYS: dict[str, tuple[Any, list[str] | None, list[str] | None]] = {
    "TokenHasScope": (view_with(toolkit.TokenHasScope), ["orders"], ["orders"]),
    "TokenHasReadWriteScope": (
        view_with(toolkit.TokenHasReadWriteScope),
        ["orders", "read"],
        ["orders", "write"],
    ),
    "TokenHasResourceScope": (
        view_with(toolkit.TokenHasResourceScope),
        ["orders:read"],
        ["orders:write"],
    ),
    "TokenMatchesOASRequirements": (
        view_with(
            toolkit.TokenMatchesOASRequirements,
            required_alternate_scopes={"GET": [["a", "b"], ["c"]], "POST": [["create"]]},
        ),
        ["c"],
        ["create"],
    ),
    "HasScopes of the view": (view_with(HasScopes), ["orders"], ["orders"]),
    "HasScopes of its own": (view_with(Refunder), ["refunds:write"], ["refunds:write"]),
    "HasScopes by method": (view_with(ReaderOrWriter), ["orders:read"], ["orders:write"]),
    "of the project": (view_with(HasTheViewsScopes), ["orders"], ["orders"]),
    "two of them": (
        view_with(Refunder, toolkit.TokenHasScope),
        ["refunds:write", "orders"],
        ["refunds:write", "orders"],
    ),
    "both by &": (
        view_with(Refunder & HasScopes),
        ["refunds:write", "orders"],
        ["refunds:write", "orders"],
    ),
    "one by |": (view_with(IsBob | Refunder), ["refunds:write"], ["refunds:write"]),
    "staff with a scope": (view_with(IsAdminUser, HasScopes), None, None),
    "a scope and staff": (view_with(HasScopes & IsAdminUser), None, None),
    "bob with a scope": (view_with(HasScopes, IsBob), None, None),
    "without the scope": (view_with(IsAuthenticated & ~HasScopes), [], []),
    "no scope": (view_with(IsBob, required_scopes=None), None, None),
}
