"""One dict of settings: checked keys, imported paths, reloaded when it changes."""

from __future__ import annotations

import pytest
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from django.urls import path
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, ResponseV2Envelope
from drf_mcp.settings import DEFAULTS, MCPSettings, mcp_settings
from drf_mcp.tools import mcp_tool, registry


class Word(APIView):
    def get(self, request) -> Response: ...


@mcp_tool(name="same")
class Same(Word): ...


def errors() -> list[tuple[str, str]]:
    """Return id and message of the errors that our checks find."""
    found = run_checks(tags=["drf_mcp"])
    return [(error.id, error.msg) for error in found if error.level >= ERROR]


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_every_setting_has_a_default_that_can_be_read(settings, name):
    settings.DRF_MCP = {}
    getattr(mcp_settings, name)


def test_a_project_need_not_have_settings(settings):
    del settings.DRF_MCP
    assert MCPSettings().SERVER_NAME == "drf-mcp-server"


def test_dotted_paths_are_imported(settings):
    settings.DRF_MCP = {
        "ENVELOPE_CLASS": "drf_mcp.envelopes.OkEnvelope",
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser", IsAuthenticated],
    }
    assert mcp_settings.ENVELOPE_CLASS is OkEnvelope
    first, second = mcp_settings.PERMISSION_CLASSES
    assert (first, second) == (IsAdminUser, IsAuthenticated)


def test_an_unknown_key_names_the_nearest(settings):
    settings.DRF_MCP = {"SERVER_NAM": "shop"}
    with pytest.raises(ImproperlyConfigured, match=r"'SERVER_NAM'. Did you mean 'SERVER_NAME'\?"):
        _ = mcp_settings.SERVER_TITLE


def test_an_attribute_that_is_no_setting_names_the_nearest():
    with pytest.raises(AttributeError, match=r"Did you mean 'ARGUMENTS'\?"):
        _ = mcp_settings.ARGUMENT


def test_a_changed_dict_is_read_again():
    with override_settings(DRF_MCP={"ENVELOPE_CLASS": OkEnvelope}):
        assert mcp_settings.ENVELOPE_CLASS is OkEnvelope
    assert mcp_settings.ENVELOPE_CLASS is ResponseV2Envelope


def test_tools_follow_a_changed_urlconf_and_a_changed_dict():
    urlconf = type("URLConf", (), {"urlpatterns": [path("word/", Word.as_view())]})
    with override_settings(ROOT_URLCONF=urlconf):
        assert not registry.tools()
        with override_settings(DRF_MCP={"EXPOSE": "urlconf"}):
            assert list(registry.tools()) == ["word"]
        assert not registry.tools()
    assert "customers_list" in registry.tools()


def test_the_example_project_passes_the_checks():
    assert errors() == []


def test_clashing_names_are_found_before_the_first_request(settings):
    views = [path("a/", Same.as_view()), path("b/", Same.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": views})
    ((id, message),) = errors()
    assert id == "drf_mcp.E002"
    assert "'same'" in message
