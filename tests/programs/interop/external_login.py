"""The shop's authentication class for tokens of the external authorization server."""

from __future__ import annotations

import os

from drf_mcp.access.jwt import JWTAuthentication


class ExternalLogin(JWTAuthentication):
    """Access tokens of oidc-provider, whose users have the names of the shop's users."""

    issuer = os.environ["SHOP_ISSUER"]
    jwks_url = f"{issuer}/jwks"
