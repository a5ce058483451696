"""The tests' settings without drf_mcp: neither installed nor in the URLs."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as ALL_APPS

INSTALLED_APPS = [app for app in ALL_APPS if app != "drf_mcp"]
ROOT_URLCONF = "tests.parity.urls_without"
del DRF_MCP  # noqa: F821
