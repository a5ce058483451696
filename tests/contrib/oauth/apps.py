from drf_mcp.contrib.oauth.apps import OAuthConfig


class UncheckedOAuthConfig(OAuthConfig):
    """Installed in every test, and checked where a test asks for it: few have an own server."""

    mcp_checks = ""
