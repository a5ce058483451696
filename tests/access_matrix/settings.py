"""The example project with every way to sign in: sessions, tokens, narrowed tokens and OAuth."""

import os

os.environ["SHOP_OAUTH"] = "1"

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS, REST_FRAMEWORK

INSTALLED_APPS = list(dict.fromkeys(INSTALLED_APPS))

REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication",
        *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
    ],
}
