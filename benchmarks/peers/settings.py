"""The example project with one package, or with none.

Environment variables name the package (PEER), the database (DATABASE) and, for a generated project,
the number of its tools (TOOLS).
"""

import os
import sys
from types import ModuleType

from benchmarks.settings import QUIET
from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP, INSTALLED_APPS, REST_FRAMEWORK

PEER = os.environ["PEER"]
TOOLS = int(os.environ.get("TOOLS", "0"))
# One scheme for all packages, because FastMCP accepts no other.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": ["benchmarks.peers.authentication.BearerAuthentication"],
}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["DATABASE"],
        # The threads of the server keep their connection, as with a database server.
        "CONN_MAX_AGE": None,
    }
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "benchmarks.peers.urls"
DEBUG = False


def without(*beginnings: str) -> list[str]:
    return [app for app in INSTALLED_APPS if not app.startswith(beginnings)]


def hide_mcp_modules() -> None:
    """Hide from autodiscovery what the example registers with drf_mcp and its apps."""
    for app in ("shop", "library"):
        sys.modules[f"example_project.{app}.mcp"] = ModuleType("mcp")


if PEER != "drf_mcp":
    INSTALLED_APPS = without("drf_mcp")
elif TOOLS:
    INSTALLED_APPS = without("drf_mcp.")
    DRF_MCP = {"EXPOSE": "urlconf", "INCLUDE": ["/api/*"], "ARCHIVE_CLASS": None}
    hide_mcp_modules()
else:
    INSTALLED_APPS = without(*QUIET)

if PEER == "django-mcp-server":
    INSTALLED_APPS = [*INSTALLED_APPS, "mcp_server"]
    DJANGO_MCP_GLOBAL_SERVER_CONFIG = {"stateless": True}
    DJANGO_MCP_AUTHENTICATION_CLASSES = REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"]
    DJANGO_MCP_GET_SERVER_INSTRUCTIONS_TOOL = False
    # It imports the module `mcp` of each app.
    hide_mcp_modules()
elif PEER == "fastmcp":
    INSTALLED_APPS = [*INSTALLED_APPS, "drf_spectacular"]
    REST_FRAMEWORK["DEFAULT_SCHEMA_CLASS"] = "drf_spectacular.openapi.AutoSchema"
    SPECTACULAR_SETTINGS = {"COMPONENT_SPLIT_REQUEST": True, "SCHEMA_PATH_PREFIX": "/api"}
