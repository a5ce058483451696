"""The checks of settings and modules of projects as they come."""

from __future__ import annotations

import sys

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.introspection.inspection import make_sample_request
from drf_mcp.test import MCPClient


class Thing(APIView):
    permission_classes = []

    def get(self, request):
        return Response({"host": request.get_host()})


@pytest.mark.parametrize("hosts", [[None], [""], [None, "shop.example"]])
def test_a_host_that_is_none_is_reported_and_breaks_nothing(settings, found, expose, hosts):
    expose(path("thing/", Thing.as_view()))
    settings.ALLOWED_HOSTS = hosts
    (warning,) = found("drf_mcp.W037")
    assert warning.msg == f"ALLOWED_HOSTS is {hosts!r}: it has a value that is no host."
    assert make_sample_request("GET", "/").META["SERVER_NAME"] in ("localhost", "shop.example")
    settings.ALLOWED_HOSTS = [*hosts, "testserver"]
    assert list(MCPClient().list_tools())


def test_a_setting_whose_place_another_took_is_reported(settings, found, expose):
    expose(path("thing/", Thing.as_view()))
    # Without an effect.
    settings.USE_L10N = True
    assert found("drf_mcp.W039") == []
    settings.DEFAULT_FILE_STORAGE = "storages.backends.s3boto3.S3Boto3Storage"
    (warning,) = found("drf_mcp.W039")
    assert "does not read the settings DEFAULT_FILE_STORAGE." in warning.msg
    assert warning.hint == "Set STORAGES instead of DEFAULT_FILE_STORAGE."


@pytest.fixture
def quickstart(tmp_path, monkeypatch):
    """REST framework's quickstart: an app that is not in INSTALLED_APPS, with an ``mcp.py``."""
    app = tmp_path / "tutorial" / "quickstart"
    app.mkdir(parents=True)
    for folder in (app.parent, app):
        (folder / "__init__.py").touch()
    (app / "mcp.py").write_text("raise RuntimeError")
    (app / "views.py").write_text(
        "from django.contrib.auth.models import Group\n"
        "from rest_framework import viewsets\n"
        "class GroupViewSet(viewsets.ModelViewSet):\n"
        "    queryset = Group.objects.all()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "tutorial"]:
        del sys.modules[name]


@pytest.mark.usefixtures("quickstart")
def test_a_module_of_tools_that_is_not_imported_is_reported(found, expose):
    from tutorial.quickstart.views import GroupViewSet

    expose(path("groups/", GroupViewSet.as_view({"get": "list"})))
    (warning,) = found("drf_mcp.W038")
    assert warning.msg == (
        "tutorial.quickstart.mcp is not imported, because tutorial.quickstart is not in "
        "INSTALLED_APPS."
    )
    assert '"tutorial.quickstart"' in warning.hint
    sys.modules["tutorial.quickstart.mcp"] = sys
    assert found("drf_mcp.W038") == []
