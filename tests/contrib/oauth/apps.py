from drf_mcp.contrib.oauth.apps import OAuthConfig


class UncheckedOAuthConfig(OAuthConfig):
    """The app without its checks, which would fail in tests without an authorization server."""

    mcp_checks = ""
