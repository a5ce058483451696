"""``manage.py mcp_config``: configuration that each client's own format can be read from."""

from __future__ import annotations

import io
import json
import shlex

import pytest
from django.core.management import CommandError, call_command

from drf_mcp.operators.client_configs import CLIENTS, find_authorization_scheme


def run(*args: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp_config", *args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("client", ["codex"])
def test_toml_is_toml(client):
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    remote = tomllib.loads(run(client, "--name", "my.shop", "--token", 'a"b')[0])
    assert remote["mcp_servers"]["my.shop"]["http_headers"] == {"Authorization": 'Token a"b'}
    local = tomllib.loads(run(client, "--stdio", "--user", "alice")[0])["mcp_servers"]["shop"]
    assert local["args"][-3:] == ["mcp_stdio", "--user", "alice"]


def test_the_url_the_token_and_the_name_are_those_given():
    text, _ = run("cursor", "--url", "https://x.example/mcp", "--token", "0123", "--name", "x")
    assert json.loads(text)["mcpServers"]["x"] == {
        "url": "https://x.example/mcp",
        "headers": {"Authorization": "Token 0123"},
    }


def test_the_command_line_can_be_pasted_into_a_shell():
    words = shlex.split(run("claude-code", "--token", "a b$c")[0])
    assert words[-1] == "Authorization: Token a b$c"


def test_stdio_has_the_token_in_the_environment_unless_a_user_is_named():
    server = json.loads(run("cursor", "--stdio", "--token", "0123")[0])["mcpServers"]["shop"]
    assert server["env"]["MCP_TOKEN"] == "0123"
    assert "--user" not in server["args"]
    server = json.loads(run("cursor", "--stdio", "--user", "alice")[0])["mcpServers"]["shop"]
    assert "MCP_TOKEN" not in server["env"]


def test_all_of_them_at_once():
    text, places = run("all")
    assert "http://127.0.0.1:8000/mcp" in text
    titles = [line.removeprefix("# ").partition(":")[0] for line in places.splitlines()]
    assert titles == [config_class.title for config_class in CLIENTS.values()]


def test_an_unknown_client_is_refused():
    with pytest.raises(CommandError, match="invalid choice"):
        run("netscape")


def test_an_open_endpoint_needs_no_header():
    for config_class in CLIENTS.values():
        assert "uthorization" not in config_class("x", url="https://x.example/mcp").text


@pytest.mark.parametrize(
    ("classes", "scheme"),
    [
        (["rest_framework.authentication.SessionAuthentication"], "Bearer"),
        (["rest_framework.authentication.BasicAuthentication"], "Basic"),
        (
            [
                "rest_framework.authentication.SessionAuthentication",
                "rest_framework.authentication.TokenAuthentication",
            ],
            "Token",
        ),
    ],
)
def test_the_scheme_is_the_one_that_the_endpoint_asks_for(settings, classes, scheme):
    settings.DRF_MCP = {"AUTHENTICATION_CLASSES": classes}
    assert find_authorization_scheme() == scheme
