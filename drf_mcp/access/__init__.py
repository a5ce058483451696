"""Who may call: OAuth, JSON Web Tokens, scopes and narrowings. See docs/oauth.md.

REST framework imports authentication classes while it is imported itself, so the names here are
imported on their first use, and without its views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.access.jwt import AccessToken, JWTAuthentication
    from drf_mcp.access.narrowing import Narrowing
    from drf_mcp.access.resources import ProtectedResource
    from drf_mcp.access.scopes import HasScopes

__all__ = ["AccessToken", "HasScopes", "JWTAuthentication", "Narrowing", "ProtectedResource"]
__getattr__ = import_on_use(
    __name__,
    {
        "AccessToken": "jwt",
        "HasScopes": "scopes",
        "JWTAuthentication": "jwt",
        "Narrowing": "narrowing",
        "ProtectedResource": "resources",
    },
)
