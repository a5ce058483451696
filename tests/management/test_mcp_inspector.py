"""``manage.py mcp_inspector`` without the Inspector: tests/programs/interop runs the real one."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from drf_mcp.contrib.tokens.models import AgentToken


def test_without_npx_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match=r"needs Node\.js 22\.19 or newer") as caught:
        call_command("mcp_inspector")
    assert caught.value.returncode == 2


@pytest.mark.django_db
def test_a_dry_run_prints_the_file_and_the_command_and_makes_no_token():
    out, err = io.StringIO(), io.StringIO()
    words = ["--as", "alice", "--dry-run", "--cli", "--method", "tools/list"]
    call_command("mcp_inspector", *words, stdout=out, stderr=err)
    (server,) = json.loads(out.getvalue())["mcpServers"].values()
    assert server["headers"] == {"Authorization": "Token YOUR_TOKEN"}
    assert "inspector@2 --cli --config mcp.json --method tools/list" in err.getvalue()
    assert not AgentToken.objects.filter(user=User.objects.get(username="alice")).exists()


def test_a_user_and_a_token_do_not_go_together():
    with pytest.raises(CommandError, match="not both"):
        call_command("mcp_inspector", "--as", "alice", "--token", "0123")
