"""REST framework's tokens under the scheme that agents send."""

from __future__ import annotations

from rest_framework.authentication import TokenAuthentication


class BearerAuthentication(TokenAuthentication):
    """``Authorization: Bearer TOKEN``."""

    keyword = "Bearer"
