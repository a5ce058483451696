"""Settings of django-oauth-toolkit for agents, to be unpacked into ``OAUTH2_PROVIDER``.

Nothing of Django is imported here, so that a settings module can.
"""

from __future__ import annotations

from typing import Any

# What must hold whatever else is set: checks refuse anything else.
REQUIRED: dict[str, Any] = {
    "OAUTH2_BACKEND_CLASS": "drf_mcp.contrib.oauth.backends.EndpointCore",
    "OAUTH2_VALIDATOR_CLASS": "drf_mcp.contrib.oauth.backends.AgentValidator",
    "PKCE_REQUIRED": True,
    "ALLOW_URI_WILDCARDS": False,
    # Documents of clients are read for people who are signed in.
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["drf_mcp.contrib.oauth.documents.SignedInPermission"],
    # No token in a fragment, no password sent by a client, no "plain" challenge, no token in a
    # URL; "iss" in the answers (RFC 9207).
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
}

AGENTS: dict[str, Any] = {
    **REQUIRED,
    # The database holds hashes of tokens.
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    # A refresh token that comes a second time ends the connection: it was copied.
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    # Clients introduce themselves by a document that they publish; registering is off.
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "drf_mcp.contrib.oauth.documents.AgentFetcher",
    # A document that could not be read is soon read again: there is a limit for each person.
    "CIMD_FAILURE_BACKOFF_SECONDS": 5,
    "DCR_ENABLED": False,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 60 * 60,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 24 * 60 * 60,
    # Programs on the person's own machine listen on any free port.
    "ALLOW_LOCALHOST_LOOPBACK": True,
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OAUTH2_GRANT_TYPES_SUPPORTED": [
        "authorization_code",
        "refresh_token",
        "client_credentials",
    ],
    "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": [
        "none",
        "client_secret_basic",
        "client_secret_post",
    ],
}
