"""The settings of the tests without drf_mcp in the apps and the URLs."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as ALL_APPS
from tests.settings import REST_FRAMEWORK

# With the apps of contrib, and the tests' own configurations of some.
INSTALLED_APPS = [app for app in ALL_APPS if not app.startswith(("drf_mcp", "tests.contrib."))]
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": [
        name
        for name in REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"]
        if not name.startswith("drf_mcp")
    ],
}
ROOT_URLCONF = "tests.parity.urls_without"
del DRF_MCP  # noqa: F821
