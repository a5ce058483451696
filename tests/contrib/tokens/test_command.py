"""``mcp_token`` makes, lists and revokes tokens."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from drf_mcp.contrib.tokens.models import AgentToken


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("mcp_token", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.slow
def test_create_prints_only_the_key(db, holder):
    key = run("create", "alice", "desk").strip()
    assert AgentToken.objects.find(key).name == "desk"
    assert holder(key).tools()


def test_create_has_options_that_narrow_a_token(db):
    options = ["--tools", "orders_*", "tag:retrieval", "--read-only", "--expires", "2031-05-06"]
    run("create", "alice", "desk", *options, "--networks", "203.0.113.0/24")
    token = AgentToken.objects.get()
    assert (token.tools, token.read_only) == (["orders_*", "tag:retrieval"], True)
    assert token.networks == ["203.0.113.0/24"]
    assert f"{token.expires:%Y-%m-%d %H:%M}" == "2031-05-06 23:59"


def test_wrong_arguments_are_refused_with_the_reason(subtests, db):
    for arguments, words in [
        (["create", "alcie", "desk"], "There is no user 'alcie'. Did you mean alice?"),
        (["create", "alice", "desk", "--tools", "Orders"], "'Orders' is no pattern"),
        (["create", "alice", "desk", "--networks", "home"], "'home' is no network"),
        (["create", "alice", "desk", "--expires", "soon"], "neither a day like"),
        (["create", "alice", "desk", "--expires", "2020-01-01"], "in the past"),
        (["create", "alice", "desk", "--expires", "99999999d"], "neither a day like"),
        (["create", "alice", "d" * 101], "at most 100 characters"),
        (["revoke", "mcp_ab12cd34"], "There is no token 'ab12cd34'."),
    ]:
        with subtests.test(arguments=arguments, words=words):
            with pytest.raises(CommandError, match=re.escape(words)):
                run(*arguments)
            assert not AgentToken.objects.exists()


def test_list_shows_the_open_tokens_and_no_secret(issue):
    token, key = issue("alice", name="desk", tools=["orders_*"], read_only=True)
    issue("bob", name="phone", revoked=timezone.now())
    lines = run("list").splitlines()
    assert len(lines) == 2
    assert lines[1].split("  ")[0] == token.shown_key
    assert "orders_*, read-only" in lines[1]
    assert key.rpartition("_")[2] not in lines[1]
    assert token.digest not in lines[1]


def test_why_names_a_tool_that_the_token_excludes(issue):
    token, _ = issue("admin", read_only=True)
    first = run("why", token.shown_key, "customers_create").splitlines()[0]
    assert first == ("admin may not call customers_create: this token only has tools that read.")


def test_why_names_the_state_of_the_token_first(subtests, issue):
    for options, words in [
        ({"revoked": timezone.now()}, "No call is taken. The token was revoked."),
        ({"networks": ["203.0.113.0/24"], "tools": ["stats"]}, "may not call orders_list"),
    ]:
        with subtests.test(options=options, words=words):
            token, _ = issue("admin", **options)
            assert words in run("why", token.prefix, "orders_list")


def test_revoke_finds_a_token_by_key_shown_key_or_prefix(subtests, issue):
    for form in ["{key}", "{shown}", "{prefix}"]:
        with subtests.test(form=form):
            token, key = issue()
            text = form.format(key=key, shown=token.shown_key, prefix=token.prefix)
            assert key.rpartition("_")[2] not in run("revoke", text)
            token.refresh_from_db()
            assert token.state == "revoked"


def test_revoke_revokes_all_or_none(issue):
    token, _ = issue()
    with pytest.raises(CommandError):
        run("revoke", token.prefix, "00000000")
    token.refresh_from_db()
    assert token.state == "open"
