"""The package works without one of its apps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import AppConfig

from tests.sources import ROOT

APPS = sorted(each.parent.name for each in (ROOT / "contrib").glob("*/apps.py"))

PROJECT = """
import sys
import django
from django.conf import settings
settings.configure(
    SECRET_KEY="x", ALLOWED_HOSTS=["localhost"], ROOT_URLCONF="removal_urls", USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "drf_mcp",
        *sys.argv[1:],
    ],
    DRF_MCP={"EXPOSE": "urlconf", "PERMISSION_CLASSES": []},
)
django.setup()
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.urls import include, path
from rest_framework import generics, serializers

class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]

class Groups(generics.ListCreateAPIView):
    permission_classes = []
    serializer_class = GroupSerializer
    queryset = Group.objects.order_by("pk")

urls = type(sys)("removal_urls")
groups = path("groups/", Groups.as_view(), name="groups")
urls.urlpatterns = [path("", include("drf_mcp.urls")), groups]
sys.modules["removal_urls"] = urls
call_command("migrate", verbosity=0)
call_command("check", "--tag", "drf_mcp")
call_command("mcp_tools")
from drf_mcp.transports.in_process import InProcessClient
send = InProcessClient().send
created, listed, refused = (
    send("tools/call", {"name": name, "arguments": arguments})["result"]
    for name, arguments in [
        ("groups_create", {"name": "staff"}), ("groups_list", {}), ("groups_create", {}),
    ]
)
assert "staff" in created["content"][0]["text"], created
assert "staff" in listed["content"][0]["text"], listed
assert refused["isError"], refused
"""


@pytest.mark.parametrize(
    "removed",
    [app if app == "writes" else pytest.param(app, marks=pytest.mark.nightly) for app in APPS],
)
def test_the_package_works_without_an_app(removed: str, tmp_path: Path) -> None:
    """The folder of the app is deleted, and those of the apps that require it."""
    names = {each: f"drf_mcp.contrib.{each}" for each in APPS}
    needing = [
        each
        for each, name in names.items()
        if names[removed] in getattr(AppConfig.create(name), "mcp_requires", ())
    ]
    # Compiled files are copied as well: they stay valid, since a copy keeps the times of files.
    leave_out = shutil.ignore_patterns("locale")
    shutil.copytree(ROOT, tmp_path / "drf_mcp", ignore=leave_out)
    for each in (removed, *needing):
        shutil.rmtree(tmp_path / "drf_mcp" / "contrib" / each)
    kept = [name for each, name in names.items() if each not in (removed, *needing, "oauth")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-W", "error", "-c", PROJECT, *kept]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
