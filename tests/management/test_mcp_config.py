"""``manage.py mcp_config``: valid configuration for each client."""

from __future__ import annotations

import base64
import io
import json
import shlex
import tomllib
from pathlib import Path

import jsonschema
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import path
from rest_framework.authentication import (
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.authtoken.models import Token
from rest_framework_simplejwt.authentication import JWTAuthentication as SimpleJWTAuthentication
from rest_framework_simplejwt.views import TokenObtainPairView

from drf_mcp.access.jwt import JWTAuthentication
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.transports.client_configs import CLIENTS, find_challenge
from drf_mcp.views import MCPView

PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


def run(*args: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp_config", *args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_toml_is_toml(subtests):
    for client in ["codex"]:
        with subtests.test(client=client):
            remote = tomllib.loads(run(client, "--name", "my.shop", "--token", 'a"b')[0])
            assert remote["mcp_servers"]["my.shop"]["http_headers"] == {
                "Authorization": 'Token a"b'
            }
            local = tomllib.loads(run(client, "--stdio", "--as", "alice")[0])["mcp_servers"]["shop"]
            assert local["args"][-3:] == ["mcp_stdio", "--as", "alice"]


def test_url_token_and_name_are_used():
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
    assert "--as" not in server["args"]
    server = json.loads(run("cursor", "--stdio", "--as", "alice")[0])["mcpServers"]["shop"]
    assert "MCP_TOKEN" not in server["env"]


def test_the_configurations_of_all_clients_at_once():
    text, places = run("all")
    assert "http://127.0.0.1:8000/mcp" in text
    titles = [line.removeprefix("# ").partition(":")[0] for line in places.splitlines()]
    assert titles == [config_class.title for config_class in CLIENTS.values()]


def test_an_unknown_client_is_refused_with_the_nearest_name_or_all_names(subtests):
    for name, hint in [
        ("claude", "Did you mean claude-code or"),
        ("netscape", "Choose from claude-code, "),
    ]:
        with subtests.test(name=name, hint=hint):
            with pytest.raises(CommandError, match=hint) as caught:
                run(name)
            assert caught.value.returncode == 2


def test_a_user_is_refused_for_http_because_a_token_is_needed():
    with pytest.raises(CommandError, match="--as goes with --stdio"):
        run("cursor", "--as", "alice")


@pytest.fixture
def basic(settings) -> None:
    classes = ["rest_framework.authentication.BasicAuthentication"]
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHENTICATION_CLASSES": classes}


@pytest.mark.django_db
@pytest.mark.usefixtures("basic")
def test_the_endpoint_accepts_the_header_for_basic_authentication(client):
    User.objects.create_user("dora", password="p:w")
    text, notes = run("cursor", "--token", "dora:p:w")
    headers = json.loads(text)["mcpServers"]["shop"]["headers"]
    response = client.post("/mcp", PING, "application/json", headers=headers)
    assert response.status_code == 200
    assert "base64" not in notes
    refused = {"Authorization": headers["Authorization"].swapcase()}
    assert client.post("/mcp", PING, "application/json", headers=refused).status_code == 401


@pytest.mark.usefixtures("basic")
@pytest.mark.parametrize("args", [(), ("--stdio",)])
def test_without_a_password_basic_authentication_is_explained(args):
    text, notes = run("cursor", *args)
    assert "BASE64_OF_USERNAME:PASSWORD" in text
    assert "--token USERNAME:PASSWORD" in notes


@pytest.mark.usefixtures("basic")
def test_a_stdio_server_gets_the_credential_for_basic_authentication():
    server = json.loads(run("cursor", "--stdio", "--token", "dora:pw")[0])["mcpServers"]["shop"]
    assert server["env"]["MCP_TOKEN"] == base64.b64encode(b"dora:pw").decode()


def test_an_endpoint_without_authentication_by_header_is_reported(settings):
    classes = ["rest_framework.authentication.SessionAuthentication"]
    settings.DRF_MCP = {"AUTHENTICATION_CLASSES": classes}
    assert "No authentication class of the endpoint reads" in run("cursor")[1]


def test_a_client_that_signs_in_by_oauth_needs_no_header(settings):
    settings.DRF_MCP = {"AUTHORIZATION_SERVERS": ["https://login.shop.example"]}
    text, notes = run("cursor")
    (server,) = json.loads(text)["mcpServers"].values()
    assert "headers" not in server
    assert "opens a browser to sign in at https://login.shop.example (OAuth)" in notes
    text, notes = run("cursor", "--token", "0123")
    assert "0123" in text
    assert "browser" not in notes


def test_the_issuer_of_json_web_tokens_is_named(settings):
    login = type("Login", (JWTAuthentication,), {"issuer": "https://login.example/shop/"})
    settings.DRF_MCP = {"AUTHENTICATION_CLASSES": [login]}
    text, notes = run("cursor")
    assert "Bearer YOUR_TOKEN" in text
    assert "takes access tokens of https://login.example/shop." in notes
    assert "https://login.example/shop/.well-known/openid-configuration" in notes
    assert "login.example" not in run("cursor", "--token", "0123")[1]


def test_the_path_that_makes_tokens_of_simplejwt_is_named(expose, settings):
    expose(path("api/token/", TokenObtainPairView.as_view()))
    settings.DRF_MCP = {"AUTHENTICATION_CLASSES": [SimpleJWTAuthentication]}
    notes = run("cursor")[1]
    assert "tokens of simplejwt, which POST /api/token/ makes" in notes
    assert "simplejwt" not in run("cursor", "--token", "0123")[1]


def test_an_open_endpoint_needs_no_header():
    for config_class in CLIENTS.values():
        assert "uthorization" not in config_class("x", url="https://x.example/mcp").text


def test_the_scheme_is_that_of_the_endpoints_challenge(subtests, settings):
    for classes, scheme in [
        (["rest_framework.authentication.SessionAuthentication"], None),
        (["rest_framework.authentication.BasicAuthentication"], "Basic"),
        (
            [
                "rest_framework.authentication.SessionAuthentication",
                "rest_framework.authentication.TokenAuthentication",
            ],
            "Token",
        ),
    ]:
        with subtests.test(classes=classes, scheme=scheme):
            settings.DRF_MCP = {"AUTHENTICATION_CLASSES": classes}
            assert find_challenge() == scheme


def test_an_endpoint_with_its_own_classes_has_its_own_scheme(settings):
    own = MCPView.as_view(authentication_classes=[BasicAuthentication])
    urls = [path("own", own), path("mcp", MCPView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    text, _ = run("cursor", "--endpoint", "/own", "--token", "ada:secret")
    headers = json.loads(text)["mcpServers"]["shop"]["headers"]
    assert headers["Authorization"] == f"Basic {base64.b64encode(b'ada:secret').decode()}"


def test_an_endpoint_has_its_own_name_in_the_client(settings):
    own = path("own/mcp", MCPView.as_view(server_name="reports"))
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [own]})
    for arguments, name in (((), "reports"), (("--name", "mine"), "mine")):
        text, _ = run("cursor", "--endpoint", "/own/mcp", "--token", "0123", *arguments)
        assert list(json.loads(text)["mcpServers"]) == [name]


def test_a_client_signs_in_if_only_the_endpoint_names_a_server(settings):
    own = MCPView.as_view(authorization_servers=["https://login.example"])
    urls = [path("own", own), path("mcp", MCPView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    for endpoint, has_header in (("/own", False), ("/mcp", True)):
        text, _ = run("cursor", "--endpoint", endpoint)
        assert ("headers" in json.loads(text)["mcpServers"]["shop"]) is has_header


@pytest.mark.django_db
def test_a_token_is_made_for_a_user_and_accepted_by_the_endpoint(client):
    text, _ = run("cursor", "--create-token", "--as", "alice")
    headers = json.loads(text)["mcpServers"]["shop"]["headers"]
    answer = client.post("/mcp", PING, content_type="application/json", headers=headers)
    assert answer.json()["result"] == {}
    (token,) = AgentToken.objects.filter(user__username="alice")
    assert (token.name, token.state) == ("Cursor", "open")
    assert token.expires is not None


@pytest.mark.django_db
def test_the_users_token_of_rest_framework_is_used(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHENTICATION_CLASSES": [TokenAuthentication]}
    user = User.objects.get(username="alice")
    key = Token.objects.get_or_create(user=user)[0].key
    assert f"Token {key}" in run("cursor", "--create-token", "--as", "alice")[0]


@pytest.mark.django_db
def test_no_token_is_made_without_a_user_or_a_class_that_makes_tokens(settings, subtests):
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHENTICATION_CLASSES": [SessionAuthentication]}
    for args, message in [
        ((), "Name who calls with --as."),
        (("--as", "alice"), "No authentication class of the endpoint makes tokens."),
        (("--as", "zoe"), "There is no user 'zoe'"),
    ]:
        with subtests.test(args=args), pytest.raises(CommandError, match=message):
            run("cursor", "--create-token", *args)


# --- Files of a project -------------------------------------------------------------------------


def write(client: str, *args: str) -> dict:
    run(client, "--write", "--token", "0123", *args)
    return json.loads(Path(CLIENTS[client].file).read_text())


def test_the_server_is_added_to_what_a_file_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}, "more": [1]}')
    for _ in range(2):
        known = write("project")
        assert known["more"] == [1]
        assert known["mcpServers"].keys() == {"other", "shop"}
        assert known["mcpServers"]["shop"]["url"] == "http://127.0.0.1:8000/mcp"
    assert write("vscode")["servers"]["shop"]["type"] == "http"
    assert write("opencode")["mcp"]["shop"]["type"] == "remote"


def test_nothing_is_written_over_what_is_not_known(tmp_path, monkeypatch, subtests):
    monkeypatch.chdir(tmp_path)
    for client, text, fault in (
        ("project", '{"mcpServers": {"shop": {"url": "http://else"}}}', "another server 'shop'"),
        ("project", "// a comment\n{}", "no plain JSON"),
        ("project", "[]", "no plain JSON"),
        ("codex", "", "has no JSON file"),
    ):
        with subtests.test(client=client, text=text):
            Path(".mcp.json").write_text(text)
            with pytest.raises(CommandError, match=fault):
                run(client, "--write")
            assert Path(".mcp.json").read_text() == text


# --- The MCP Registry ---------------------------------------------------------------------------

# Of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, what ours has.
TEXT = {"type": "string", "minLength": 1, "maxLength": 100}
HEADER = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
    },
    "additionalProperties": False,
}
REMOTE = {
    "type": "object",
    "required": ["type", "url"],
    "properties": {
        "type": {"enum": ["streamable-http"]},
        "url": {"pattern": r"^https?://[^\s]+$"},
        "headers": {"type": "array", "items": HEADER},
    },
    "additionalProperties": False,
}
SERVER = {
    "type": "object",
    "required": ["name", "description", "version"],
    "properties": {
        "$schema": {"pattern": r"/schemas/2025-12-11/server\.schema\.json$"},
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": TEXT,
        "description": TEXT,
        "version": {"type": "string", "maxLength": 255, "not": {"const": "latest"}},
        "websiteUrl": {"type": "string"},
        "remotes": {"type": "array", "items": REMOTE},
    },
    "additionalProperties": False,
}


def test_the_file_for_the_registry_describes_the_endpoint(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    info = {"description": "Orders. " * 30, "websiteUrl": "https://shop.example/"}
    settings.DRF_MCP = {**settings.DRF_MCP, "SERVER_INFO": info}
    words = ["registry", "--url", "https://shop.example/mcp"]
    printed = json.loads(run(*words)[0])
    jsonschema.validate(printed, SERVER)
    assert printed["name"] == "example.shop/shop"
    (remote,) = printed["remotes"]
    assert remote["url"] == "https://shop.example/mcp"
    assert remote["headers"][0]["isSecret"]
    run(*words, "--write")
    assert json.loads(Path("server.json").read_text()) == printed
    for refused, fault in ((["--write"], "exists"), (["--url", "http://x.example/mcp"], "--url")):
        with pytest.raises(CommandError, match=fault):
            run(*words, *refused)


def test_the_registry_is_told_of_no_header_where_clients_sign_in(settings):
    settings.DRF_MCP = {"AUTHORIZATION_SERVERS": ["https://login.shop.example"]}
    printed = json.loads(run("registry", "--url", "https://shop.example/mcp")[0])
    assert "headers" not in printed["remotes"][0]
