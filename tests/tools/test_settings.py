"""The settings: they are read, imported and reloaded, and a wrong value is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import include, path
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope
from drf_mcp.settings import MCPSettings, mcp_settings
from tests.agents import Agent
from tests.contrib import collect_wrong_values

# Each with a part of the message besides the name of the setting.
WRONG: list[tuple[str, Any, str]] = [
    ("EXPOSE", "everything", "'explicit' or 'urlconf'"),
    ("EXPOSE", None, "'explicit' or 'urlconf'"),
    ("INCLUDE", "/public/*", "a list"),
    ("INCLUDE", ["/public/*", 5], "holds 5"),
    ("INCLUDE", ["FETCH /public/*"], "'FETCH /public/*'"),
    ("EXCLUDE", "/secret/*", "a list"),
    ("EXCLUDE", ["secret/*"], "'secret/*'"),
    ("EXCLUDE", ["GET:/secret/*"], "'GET:/secret/*'"),
    ("AUTHENTICATION_CLASSES", "rest_framework.authentication.TokenAuthentication", "a list"),
    ("AUTHENTICATION_CLASSES", [IsAuthenticated], "IsAuthenticated"),
    ("AUTHENTICATION_CLASSES", [TokenAuthentication()], "TokenAuthentication"),
    ("PERMISSION_CLASSES", None, "a list"),
    ("PERMISSION_CLASSES", "rest_framework.permissions.IsAuthenticated", "a list"),
    ("PERMISSION_CLASSES", [IsAuthenticated()], "a permission class"),
    ("PERMISSION_CLASSES", ["nowhere.Nothing"], "nowhere.Nothing"),
    ("THROTTLE_CLASSES", "rest_framework.throttling.UserRateThrottle", "a list"),
    ("THROTTLE_CLASSES", [IsAuthenticated], "IsAuthenticated"),
    ("TIME_LIMIT", 0, "whole number of 1 or more"),
    ("TIME_LIMIT", "30", "whole number of 1 or more"),
    ("READ_ONLY", "no", "'no', which cannot be imported"),
    ("READ_ONLY", None, "True, False, or a function"),
    ("TOOLSETS", ["orders"], "a dict"),
    ("TOOLSETS", {"orders": "orders_*"}, "a dict"),
    ("TOOLSETS", {"orders": ["api/*"]}, "a dict"),
    ("TOOLSETS", {"a, b": ["/api/*"]}, "a dict"),
    ("TOOL_SCOPES", {"billing": "orders_*"}, "a dict"),
    ("ALLOWED_ORIGINS", "https://app.example.com", "a list"),
    ("ALLOWED_ORIGINS", ["app.example.com"], "'app.example.com'"),
    ("ALLOWED_ORIGINS", ["https://app.example.com/"], "'https://app.example.com/'"),
    ("ALLOWED_ORIGINS", ["https://*.example.com"], "'https://*.example.com'"),
    ("ALLOWED_ORIGINS", ["*"], "'*'"),
    ("ALLOWED_ORIGINS", None, "a list"),
    ("AUTHORIZATION_SERVERS", "https://login.example", "a list"),
    ("AUTHORIZATION_SERVERS", ["login.example"], "'login.example'"),
    ("AUTHORIZATION_SERVERS", ["//login.example"], "'//login.example'"),
    ("AUTHORIZATION_SERVERS", ["https://login.example?tenant=1"], "the URL"),
    ("AUTHORIZATION_SERVERS", ['https://login.example/"'], "the URL"),
    ("SCOPES", "shop", "a list"),
    ("SCOPES", ["shop read"], "'shop read'"),
    ("SCOPES", ['shop"'], "without spaces and quotes"),
    ("SCOPES", [""], "a scope"),
    ("RESOURCE", "/mcp", "the public URL"),
    ("RESOURCE", "shop.example", "or None"),
    ("RESOURCE", "https://shop.example/mcp#x", "the public URL"),
    ("RESOURCE", "https://user@shop.example/mcp", "the public URL"),
    ("CALL_MIDDLEWARE", ["nowhere.Middleware"], "nowhere.Middleware"),
    ("CALL_MIDDLEWARE", ["drf_mcp.settings.SETTINGS"], "middleware"),
    ("MAX_BODY_BYTES", -1, "1 or more"),
    ("MAX_BODY_BYTES", True, "a whole number"),
    ("BROWSABLE_PAGE", "no", "True or False, or None"),
    ("SERVER_NAME", "", "a text, or None"),
    ("SERVER_TITLE", {"en": "Shop"}, "a text, or None"),
    ("SERVER_VERSION", 1.0, "a text, or None"),
    ("SERVER_INFO", {"name": "shop"}, "a dict with description"),
    ("SERVER_INFO", {"websiteUrl": "ftp://shop.example"}, "a dict with description"),
    ("INSTRUCTIONS", ["Ask first."], "a text, or None"),
    ("ARGUMENTS", "nested", "'flat' or 'grouped'"),
    ("EXTRA_QUERY", "no", "True or False"),
    ("PORTABLE", None, "True or False"),
    ("MAX_UPLOAD_BYTES", "1 MB", "a whole number"),
    ("UPLOAD_MAX_BYTES", "100 MB", "a whole number"),
    ("UPLOAD_SECONDS", 0, "1 or more"),
    ("UPLOAD_STORAGE", "nowhere", "an alias in STORAGES"),
    ("TOOLS_PAGE_SIZE", 0, "1 or more, or None"),
    ("LIST_TTL", -1, "0 or more"),
    ("STRUCTURE_CLIENTS", "copilot", "a list"),
    ("ENVELOPE_CLASS", None, "drf_mcp.envelopes.Envelope"),
    ("ENVELOPE_CLASS", "nowhere.Nothing", "nowhere.Nothing"),
    ("ENVELOPE_CLASS", OkEnvelope(), "drf_mcp.envelopes.Envelope"),
    ("EXPOSURE_CLASS", "drf_mcp.naming.Naming", "a subclass of drf_mcp.exposure.Exposure"),
    ("ERROR_MAPPER_CLASS", "drf_mcp.naming.Naming", "drf_mcp.errors.ErrorMapper"),
    ("DESCRIBER_CLASS", "drf_mcp.naming.Naming", "drf_mcp.describers.Describer"),
    ("NAMING_CLASS", None, "a subclass of drf_mcp.naming.Naming"),
    ("OUTPUT_SCHEMA", "rows", "'envelope' or 'full' or 'data', or None"),
    ("FIELDS_ARGUMENT", "yes", "True or False"),
    ("TELEMETRY", None, "True or False"),
    ("LOG_ARGUMENTS", "False", "True or False"),
    ("MAX_CONTENT_BYTES", 0, "1 or more"),
    ("MAX_RESULT_TOKENS", 500, "1000 or more, or None"),
    ("MAX_ERROR_TOKENS", 0, "1000 or more, or None"),
    ("BUDGET_CLASS", OkEnvelope, "drf_mcp.budgets.ToolBudget"),
    ("DIGESTER_CLASS", OkEnvelope, "drf_mcp.digests.Digester, or None"),
    ("ARCHIVE_CLASS", "drf_mcp.digests.LeadDigester", "drf_mcp.archives.Archive"),
    ("ARCHIVE_CACHE", "nope", "an alias in CACHES"),
    ("ARCHIVE_TTL", 0, "1 or more"),
    ("MAX_FIELDS", 0, "1 or more"),
    ("MAX_IDS", None, "1 or more"),
    ("MAX_KEPT_RESULTS", 0, "1 or more"),
    ("MAX_KEPT_CHARACTERS", 0, "1 or more"),
    *collect_wrong_values("WRONG_SETTINGS"),
]


class Word(APIView):
    """Return a word."""

    permission_classes: list[type] = []

    def get(self, request) -> Response:
        return Response({"word": "hello"})


def errors() -> list[str]:
    found = [e for e in run_checks(tags=["drf_mcp"]) if e.level >= ERROR]
    assert {e.id for e in found} <= {"drf_mcp.E001"}
    return [e.msg for e in found]


def refusal(name: str) -> list[str]:
    """Return the messages of the errors that reading a setting raises."""
    try:
        getattr(MCPSettings(), name)
    except ImproperlyConfigured as exc:
        return [str(exc)]
    return []


@pytest.mark.slow
def test_a_wrong_setting_is_an_error_of_the_check_and_of_reading_it(settings):
    incomplete = []
    for name, value, message in WRONG:
        settings.DRF_MCP = {name: value}
        for found in (errors(), refusal(name)):
            if not (
                len(found) == 1
                and found[0].startswith(f"DRF_MCP[{name!r}] ")
                and message in found[0]
            ):
                incomplete.append((name, value, found))
    assert incomplete == []


@pytest.fixture
def listed(settings, db):
    urlpatterns = [
        path("", include("drf_mcp.urls")),
        path("public/", Word.as_view()),
        path("secret/", Word.as_view()),
        path("public/secret/", Word.as_view()),
    ]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urlpatterns})
    settings.REST_FRAMEWORK = {
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"]
    }
    key = Token.objects.create(user=User.objects.create_user("zoe")).key
    agent = Agent(Client(raise_request_exception=False))

    def tools(headers: dict[str, str], **wrong) -> set[str] | None:
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "INCLUDE": ["/public/*"],
            "EXCLUDE": ["*/secret/*"],
            "ALLOWED_ORIGINS": ["https://app.example.com"],
            "ARCHIVE_CLASS": None,
            **wrong,
        }
        if headers.pop("as", None):
            headers["authorization"] = f"Token {key}"
        message, sent = agent.frame("tools/list", {})
        response = agent.post(message, {**sent, **headers})
        if response.status_code != 200 or "error" in json.loads(response.content):
            return None
        return {tool["name"] for tool in json.loads(response.content)["result"]["tools"]}

    return tools


def test_right_settings_list_tools_to_callers_with_permission_only(listed):
    """If this fails, the test of wrong settings proves nothing."""
    assert listed({"as": "zoe", "origin": "https://app.example.com"}) == {"public"}
    assert listed({"as": "zoe"}, INCLUDE=[]) == {"public"}
    assert listed({}) is None
    assert listed({"as": "zoe", "origin": "https://app.example"}) is None
    assert listed({}, PERMISSION_CLASSES=[]) == {"public"}
    assert listed({"as": "zoe"}, INCLUDE=["*"], EXCLUDE=[]) == {"public", "secret", "public_secret"}


@pytest.mark.slow
def test_a_wrong_setting_gives_no_access(listed):
    opened = []
    for name, value, _ in WRONG:
        wrong = {name: value}
        strangers = [listed({}, **wrong)]
        strangers += [listed({"as": "zoe", "origin": "https://app.example"}, **wrong)]
        seen = listed({"as": "zoe"}, **wrong)
        if strangers != [None, None] or seen not in (None, {"public"}):
            opened.append((wrong, strangers, seen))
    assert opened == []


def test_settings_that_are_no_dict_are_an_error(settings):
    for given in (None, [], "EXPOSE", [("EXPOSE", "urlconf")], 5):
        settings.DRF_MCP = given
        assert errors() == [f"DRF_MCP must be a dict, not {given!r}."]
        with pytest.raises(ImproperlyConfigured, match="must be a dict"):
            _ = MCPSettings().EXPOSE


def test_a_class_that_cannot_be_imported_is_an_error_of_the_check(settings, tmp_path, monkeypatch):
    (tmp_path / "broken_envelopes.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    settings.DRF_MCP = {"ENVELOPE_CLASS": "broken_envelopes.Own", "EXCLUDE": 5}
    (first, second) = sorted(errors())
    assert first == "DRF_MCP['ENVELOPE_CLASS'] cannot be read: ZeroDivisionError: division by zero"
    assert "EXCLUDE" in second


RIGHT: list[tuple[str, Any]] = [
    ("INCLUDE", ("/api/*", "orders_*", "tag:billing", "GET /api/*", "*", "PUT *")),
    ("AUTHENTICATION_CLASSES", []),
    ("PERMISSION_CLASSES", [IsAdminUser | IsAuthenticated, ~IsAdminUser]),
    ("PERMISSION_CLASSES", []),
    (
        "ALLOWED_ORIGINS",
        ["https://app.example.com:8443", "http://[::1]:3000", "vscode-file://a", "null"],
    ),
    ("OUTPUT_SCHEMA", "envelope"),
    ("MAX_RESULT_TOKENS", None),
    ("SERVER_VERSION", "2026.1"),
    ("SERVER_INFO", {"description": "Orders.", "websiteUrl": "https://shop.example/"}),
    ("READ_ONLY", "tests.tools.test_settings.errors"),
    ("TOOLSETS", {"orders": ["orders_*"], "all-2": ("*",)}),
]


def test_every_setting_has_a_wrong_value_in_the_table():
    assert {name for name, _, _ in WRONG} == mcp_settings.table.keys()


# --- Reading ------------------------------------------------------------------------------


def test_the_default_server_name_is_that_of_the_project(settings):
    names = {}
    for urlconf, folder, name in (
        ("shop.urls", "/srv/www", "shop"),
        ("config.urls", Path("/srv/web shop"), "web-shop"),
        ("config.urls", "/srv/blog/src", "blog"),
        ("backend.urls", "/srv/proshop", "proshop"),
        ("config.urls", "", "config"),
        (type("URLConf", (), {}), "/srv/www", "www"),
        (None, None, "drf-mcp-server"),
    ):
        settings.DRF_MCP, settings.BASE_DIR, settings.ROOT_URLCONF = {}, folder, urlconf
        names[name] = mcp_settings.SERVER_NAME
    assert names == {name: name for name in names}
    settings.DRF_MCP = {"SERVER_NAME": "mine"}
    assert mcp_settings.SERVER_NAME == "mine"


def test_an_unknown_setting_is_answered_with_the_similar_name(settings):
    settings.DRF_MCP = {"SERVER_NAM": "shop"}
    with pytest.raises(ImproperlyConfigured, match=r"'SERVER_NAM'. Did you mean 'SERVER_NAME'\?"):
        _ = mcp_settings.SERVER_TITLE


def test_an_unknown_attribute_is_answered_with_the_similar_name():
    with pytest.raises(AttributeError, match=r"Did you mean 'ARGUMENTS'\?"):
        _ = mcp_settings.ARGUMENT
