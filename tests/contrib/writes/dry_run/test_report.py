"""What the answer of a dry run shows."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission, User

from tests.contrib.writes.dry_run import views

NOTE = "Dry run: nothing was changed."


def make_report(agent, tool, /, **arguments):
    result = agent.call(tool, dry_run=True, **arguments)
    return result.envelope["meta"]["dry_run"]


def test_a_create_returns_the_row_and_creates_none(agent):
    result = agent.call("groups_create", name="writers", dry_run=True)
    assert result.data["name"] == "writers"
    assert result.envelope["meta"]["dry_run"] == {"note": NOTE}
    assert not Group.objects.exists()


def test_an_update_shows_the_fields_that_would_change(agent, group, monkeypatch):
    """They are the fields that a GET of the object shows. A long value is cut."""
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown == {"note": NOTE, "before": {"name": "readers"}, "after": {"name": "writers"}}
    assert Group.objects.get().name == "readers"
    shown = make_report(agent, "groups_shout", pk=group.pk)
    assert (shown["before"], shown["after"]) == ({"name": "readers"}, {"name": "READERS"})
    monkeypatch.setattr("drf_mcp.contrib.writes.dry_run.MOST_SHOWN", 5)
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown["after"] == {"name": "write…"}


def test_a_caller_who_may_not_read_the_object_sees_no_fields(agent, group, monkeypatch):
    monkeypatch.setattr(views.MayRead, "reads", False)
    assert make_report(agent, "groups_partial_update", pk=group.pk, name="b") == {"note": NOTE}


def test_rows_that_go_with_the_object_are_not_counted(agent, group):
    group.permissions.add(*Permission.objects.all()[:3])
    User.objects.get(username="alice").groups.add(group)
    assert make_report(agent, "groups_destroy", pk=group.pk) == {"note": NOTE}
    assert group.permissions.count() == 3


def test_a_lazy_response_is_evaluated_before_the_rollback(agent, do):
    def deed(request):
        Group.objects.create(name="a")
        return Group.objects.values("name")

    do(deed)
    assert agent.call("deed", dry_run=True).data == {"results": [{"name": "a"}]}
