"""``manage.py mcp_inspector`` without the Inspector: tests/programs/interop runs the real one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.management.commands import mcp_inspector


def test_without_npx_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match=r"needs Node\.js 22\.19 or newer") as caught:
        call_command("mcp_inspector")
    assert caught.value.returncode == 2


@pytest.mark.django_db
def test_a_token_that_a_killed_inspector_leaves_ends_on_the_same_day(monkeypatch):
    monkeypatch.setattr(mcp_inspector.shutil, "which", lambda name: name)
    monkeypatch.setattr(mcp_inspector.Command, "_run", lambda self, words: 0)
    # SIGKILL leaves no time to revoke it.
    monkeypatch.setattr(mcp_inspector, "revoke_authorization", lambda *args: None)
    with pytest.raises(SystemExit):
        call_command("mcp_inspector", "--as", "alice")
    token = AgentToken.objects.latest("pk")
    assert token.expires < timezone.now() + timedelta(hours=9)
