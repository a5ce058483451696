"""A process of a server starts with the descriptions file that another process wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources import ROOT

SETTINGS = """
import os
SECRET_KEY = "of the project"
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "kiosk.urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "drf_mcp", "kiosk"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": []}
DRF_MCP = {
    "EXPOSE": "urlconf",
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "ARCHIVE_CLASS": None,
    "DESCRIPTIONS_FILE": os.path.join(os.path.dirname(__file__), "descriptions.json"),
}
# Sets have another order in each process.
WORDS = {"one", "two", "three", "four", "five"}
"""

URLS = """
from django.urls import include, path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView


class PaperSerializer(serializers.Serializer):
    title = serializers.CharField(help_text="The name of the newspaper")


class Papers(APIView):
    serializer_class = PaperSerializer

    def post(self, request):
        serializer = PaperSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


urlpatterns = [path("", include("drf_mcp.urls")), path("papers/", Papers.as_view())]
"""

LIST = """
import json
import django
django.setup()
from drf_mcp.introspection import Describer
from drf_mcp.test import MCPClient
described, describe = [], Describer.describe
def note(self):
    described.append(self.inspection.place)
    return describe(self)
Describer.describe = note
tools = MCPClient().list_tools()
listed = list(described)
answer = MCPClient().call_tool("papers", {"title": "Daily"}).data
print(json.dumps([tools["papers"], listed, described, answer]))
"""


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kiosk")
    package = folder / "kiosk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text(SETTINGS)
    (package / "urls.py").write_text(URLS)
    return folder


def run(folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "kiosk.settings",
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_lists_from_the_file_until_the_code_changes(kiosk):
    before, listed, _, _ = json.loads(run(kiosk, "-c", LIST))
    assert listed
    run(kiosk, "-m", "django", "mcp_warm")
    tool, listed, described, answer = json.loads(run(kiosk, "-c", LIST))
    assert tool == before
    assert not listed
    # A call describes its own tool.
    assert described
    assert answer == {"title": "Daily"}
    urls = kiosk / "kiosk" / "urls.py"
    urls.write_text(urls.read_text().replace("newspaper", "magazine"))
    tool, listed, _, _ = json.loads(run(kiosk, "-c", LIST))
    assert listed
    assert "magazine" in json.dumps(tool)
