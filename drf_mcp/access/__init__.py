"""Who may call: OAuth, JSON Web Tokens and scopes. See docs/oauth.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.access.jwt import AccessToken, JWTAuthentication
    from drf_mcp.access.resources import ProtectedResource
    from drf_mcp.access.scopes import HasScopes

__all__ = ["AccessToken", "HasScopes", "JWTAuthentication", "ProtectedResource"]
__getattr__ = import_on_use(
    __name__,
    {
        "AccessToken": "jwt",
        "HasScopes": "scopes",
        "JWTAuthentication": "jwt",
        "ProtectedResource": "resources",
    },
)
