"""The shop's class for the tokens of the authorization server of the tests."""

from __future__ import annotations

import os

from drf_mcp.access.jwt import JWTAuthentication


class ExternalLogin(JWTAuthentication):
    """Access tokens of oidc-provider; its users are called as those of the shop."""

    issuer = os.environ["SHOP_ISSUER"]
    jwks_url = f"{issuer}/jwks"
