"""Strict mode: no call without its row."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError

from tests.contrib.audit import views

TOOL = "make_group"


@pytest.fixture
def strict(configure, agent_of):
    configure(
        AUDIT_STRICT=True,
        AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"],
    )
    return agent_of("alice")


def test_the_row_is_there_before_the_call_and_completed_after_it(strict, auditor, monkeypatch, row):
    seen = []
    save = auditor.save

    def watch(row):
        seen.append((row.verdict, row.user_label, row.arguments, list(views.made)))
        save(row)

    monkeypatch.setattr(auditor, "save", watch)
    result = strict.call(TOOL, name="a")
    arguments = '{"name": "a"}'
    assert seen == [("unanswered", "alice", arguments, []), ("success", "alice", arguments, ["a"])]
    assert (row().verdict, row().request_id) == ("success", result.envelope["meta"]["request_id"])
    assert row().credential == "TokenAuthentication"


def test_without_a_row_there_is_no_call(strict, auditor, monkeypatch, caplog):
    def fail(row):
        raise DatabaseError("full")

    monkeypatch.setattr(auditor, "save", fail)
    result = strict.call(TOOL, name="a")
    assert (result.is_error, result.code) == (True, "UNAVAILABLE")
    assert "could not be recorded" in result.envelope["error"]
    assert views.made == []
    assert "A call was refused" in caplog.text


def test_a_row_that_cannot_be_completed_stays_unanswered(strict, auditor, monkeypatch, caplog, row):
    save = auditor.save

    def fail_later(row):
        if row.pk is not None:
            raise DatabaseError("full")
        save(row)

    monkeypatch.setattr(auditor, "save", fail_later)
    assert strict.call(TOOL, name="a").data == {"name": "a"}
    assert (row().verdict, row().tool) == ("unanswered", TOOL)
    assert "could not be written" in caplog.text


def test_an_interrupted_call_leaves_an_unanswered_row(strict, monkeypatch, row):
    def end(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(views.MakeGroup, "post", end)
    with pytest.raises(KeyboardInterrupt):
        strict.call(TOOL, name="a")
    assert row().verdict == "unanswered"


@pytest.mark.parametrize("name", ["crash", "missing"])
def test_the_row_of_a_failed_call_is_completed(strict, row, name):
    strict.call(TOOL, name=name)
    assert row().verdict == "failed"
    assert Group.objects.filter(name=name).exists() is (name in views.made)
