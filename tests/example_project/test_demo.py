"""``manage.py demo`` prints all that a newcomer needs, or the reason why it cannot start."""

from __future__ import annotations

import json
import socket
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from rest_framework.authtoken.models import Token

from example_project.shop.management.commands import demo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.slow
def test_prints_how_to_reach_the_shop():
    """The endpoint, a valid token for each user, a configuration, and commands for two clients."""
    out = StringIO()
    call_command("demo", "--port", "8123", no_serve=True, stdout=out)
    printed = out.getvalue()
    assert "http://127.0.0.1:8123/mcp" in printed
    for token in Token.objects.select_related("user"):
        assert f"{token.user.username:<6} {token.key}" in printed
    start = printed.index('{"mcpServers"')
    configuration, _ = json.JSONDecoder().raw_decode(printed[start:])
    token = Token.objects.get(user__username="alice").key
    assert configuration["mcpServers"]["shop"] == {
        "type": "http",
        "url": "http://127.0.0.1:8123/mcp",
        "headers": {"Authorization": f"Token {token}"},
    }
    starts = [line.split(" ", 2)[:2] for line in printed.splitlines()]
    assert ["claude", "mcp"] in starts
    assert ["curl", "-s"] in starts


def test_a_port_in_use_is_one_line_with_a_remedy(taken_port):
    with pytest.raises(CommandError) as raised:
        call_command("demo", "--port", str(taken_port))
    assert str(raised.value).startswith(f"Port {taken_port} is taken. Try: PORT=")
    assert "\n" not in str(raised.value)


def test_a_failing_database_is_one_line_with_a_remedy(monkeypatch):
    def refuse(*args, **kwargs):
        raise OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(demo, "call_command", refuse)
    with pytest.raises(CommandError, match=r"readonly database\. Try: SHOP_DB=\S+ make demo"):
        call_command("demo", no_serve=True)
