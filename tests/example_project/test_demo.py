"""``manage.py demo`` tells a newcomer everything, or what stands in the way."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from rest_framework.authtoken.models import Token

from example_project.shop.management.commands import demo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def printed() -> str:
    out = StringIO()
    call_command("demo", "--port", "8123", no_serve=True, stdout=out)
    return out.getvalue()


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_prints_the_endpoint(printed):
    assert "http://127.0.0.1:8123/mcp" in printed


def test_prints_a_working_token_for_every_user(printed):
    for token in Token.objects.select_related("user"):
        assert f"{token.user.username:<6} {token.key}" in printed


def test_prints_a_configuration_that_is_json(printed):
    start = printed.index("{\n")
    configuration, _ = json.JSONDecoder().raw_decode(printed[start:])
    token = Token.objects.get(user__username="alice").key
    assert configuration["mcpServers"]["shop"] == {
        "type": "http",
        "url": "http://127.0.0.1:8123/mcp",
        "headers": {"Authorization": f"Token {token}"},
    }


def test_prints_one_line_for_claude_code_and_one_for_curl(printed):
    starts = [line.split(" ", 2)[:2] for line in printed.splitlines()]
    assert ["claude", "mcp"] in starts
    assert ["curl", "-s"] in starts


def test_a_taken_port_is_one_line_that_names_the_way_out(taken_port):
    with pytest.raises(CommandError) as raised:
        call_command("demo", "--port", str(taken_port))
    assert str(raised.value).startswith(f"Port {taken_port} is taken. Try: PORT=")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_what_is_no_port_is_refused(port):
    with pytest.raises(CommandError, match="PORT=8001 make demo"):
        call_command("demo", f"--port={port}")


def test_a_database_that_cannot_be_filled_is_one_line_that_names_the_way_out(monkeypatch):
    def refuse(*args, **kwargs):
        raise OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(demo, "call_command", refuse)
    with pytest.raises(CommandError, match=r"readonly database\. Try: SHOP_DB=\S+ make demo"):
        call_command("demo", no_serve=True)


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``manage.py`` of the example project in a process of its own."""
    chosen = {**os.environ, "DJANGO_SETTINGS_MODULE": "example_project.settings", **environment}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=chosen, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("command", [["migrate"], ["demo", "--no-serve"], ["check"]])
def test_any_command_may_be_the_first_one(command, tmp_path):
    """The folder of the database is made before a system check or a migration opens it."""
    database = tmp_path / "a new" / "folder" / "shop.sqlite3"
    process = manage(*command, SHOP_DB=str(database))
    assert process.returncode == 0, process.stderr
    assert database.parent.is_dir()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    process = manage("demo", "--no-serve", SHOP_DB=str(tmp_path / "file" / "shop.sqlite3"))
    assert process.returncode != 0
    last = process.stderr.strip().splitlines()[-1]
    assert str(tmp_path / "file") in last
    assert "SHOP_DB" in last
