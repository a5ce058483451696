"""The example project with sessions, tokens, narrowed tokens and OAuth."""

import os

os.environ["SHOP_OAUTH"] = "1"

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS, REST_FRAMEWORK

# The example project and the tests both install these.
UNCHECKED = "tests.contrib.oauth.apps.UncheckedOAuthConfig"
INSTALLED_APPS = [app for app in dict.fromkeys(INSTALLED_APPS) if app != UNCHECKED]

REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication",
        *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
    ],
}
