"""The report of a dry run."""

from __future__ import annotations

import threading

from django.contrib.auth.models import Group, Permission, User
from django.db import connection, transaction
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.writes.changes import Changes, Statement
from tests.contrib.writes.dry_run import views


def make_report(agent, tool, /, **arguments):
    result = agent.call(tool, dry_run=True, **arguments)
    return result.envelope["meta"]["dry_run"]


def test_a_create_returns_the_row_and_creates_none(agent):
    result = agent.call("groups_create", name="writers", dry_run=True)
    assert result.data["name"] == "writers"
    assert result.envelope["meta"]["dry_run"]["created"] == {"group": 1}
    assert not Group.objects.exists()


def test_an_update_shows_the_fields_that_would_change(agent, group, monkeypatch):
    """They are the fields that a GET of the object shows. A long value is cut."""
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown == {
        "note": "Dry run: nothing was changed.",
        "updated": {"group": 1},
        "before": {"name": "readers"},
        "after": {"name": "writers"},
    }
    assert Group.objects.get().name == "readers"
    shown = make_report(agent, "groups_shout", pk=group.pk)
    assert (shown["before"], shown["after"]) == ({"name": "readers"}, {"name": "READERS"})
    monkeypatch.setattr("drf_mcp.contrib.writes.dry_run.MOST_SHOWN", 5)
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown["after"] == {"name": "write…"}


def test_a_caller_who_may_not_read_the_object_sees_no_fields(agent, group, monkeypatch):
    monkeypatch.setattr(views.MayRead, "reads", False)
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown["updated"] == {"group": None}
    assert shown.keys().isdisjoint({"before", "after"})


def test_a_caller_at_an_endpoint_without_the_read_sees_no_fields(configure, group):
    agent = configure(EXCLUDE=["groups_retrieve"])
    shown = make_report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert shown.keys() == {"note", "updated"}


def test_a_caller_who_may_not_list_a_model_sees_no_counts(agent, rehearse, group, monkeypatch):
    def deed(request):
        Group.objects.create(name="a")
        Group.objects.bulk_create([Group(name="b")])
        group.delete()

    monkeypatch.setattr(views.MayRead, "reads", False)
    shown = rehearse(deed)
    assert (shown["created"], shown["deleted"]) == ({"group": None}, {"group": None})
    assert shown["bulk_statements"] == [{"statement": "INSERT", "model": "group"}]


def test_a_model_that_no_tool_lists_has_no_count(configure, do):
    agent = configure(EXCLUDE=["*_list"])
    do(lambda request: Group.objects.create(name="a").name)
    assert make_report(agent, "deed")["created"] == {"group": None}


def test_the_check_of_the_list_does_not_count_for_throttles(agent, rehearse):
    assert rehearse(lambda request: Group.objects.create(name="a").name)["created"] == {"group": 1}
    assert not agent.call("throttled_list").is_error


def test_a_delete_counts_the_rows_that_are_deleted_with_the_object(agent, group):
    group.permissions.add(*Permission.objects.all()[:3])
    User.objects.get(username="alice").groups.add(group)
    shown = make_report(agent, "groups_destroy", pk=group.pk)
    assert shown["deleted"] == {
        "group": 1,
        "group-permission relationship": None,
        "user-group relationship": None,
    }
    assert shown["note"].endswith("no tool is known to show them to you.")
    assert group.permissions.count() == 3


def test_an_object_that_is_saved_twice_counts_once(rehearse, group):
    assert rehearse(lambda request: (group.save(), group.save()))["updated"] == {"group": 1}
    shown = rehearse(lambda request: Group.objects.create(name="a").save())
    assert shown == {"note": "Dry run: nothing was changed.", "created": {"group": 1}}


def test_bulk_statements_are_apart_from_the_counts(rehearse, group):
    def deed(request):
        Group.objects.bulk_create([Group(name="a"), Group(name="b")])
        Group.objects.filter(pk=group.pk).update(name="d")
        with connection.cursor() as cursor:
            cursor.execute("UPDATE auth_group SET name = 'e' WHERE name = 'd'")

    shown = rehearse(deed)
    assert shown.keys() == {"note", "bulk_statements"}
    assert shown["bulk_statements"] == [
        {"statement": "INSERT", "model": "group", "rows": 2},
        {"statement": "UPDATE", "model": "group", "rows": 2},
    ]


def test_a_read_and_a_bulk_statement_that_changed_no_row_are_left_out(rehearse):
    for deed in (lambda: Group.objects.update(name="x"), lambda: list(Group.objects.all())):
        assert rehearse(lambda request, deed=deed: deed() and None).keys() == {"note"}


def test_a_bulk_statement_of_a_signal_is_in_the_report(rehearse, group):
    def touch(instance, **kwargs):
        Group.objects.filter(pk=group.pk).update(name="touched")

    post_save.connect(touch, sender=Group)
    try:
        shown = rehearse(lambda request: Group.objects.create(name="new").name)
    finally:
        post_save.disconnect(touch, sender=Group)
    assert shown["created"] == {"group": 1}
    assert shown["bulk_statements"] == [{"statement": "UPDATE", "model": "group", "rows": 1}]


def test_a_table_without_a_model_is_not_named(rehearse):
    def deed(request):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE hidden_ledger (id integer)")
            cursor.execute("INSERT INTO hidden_ledger VALUES (1)")

    shown = rehearse(deed)
    assert shown["bulk_statements"][1] == {"statement": "INSERT", "model": "another table"}
    assert "hidden" not in str(shown)


def test_a_lazy_response_is_evaluated_before_the_rollback(agent, do):
    def deed(request):
        Group.objects.create(name="a")
        return Group.objects.values("name")

    do(deed)
    assert agent.call("deed", dry_run=True).data == {"results": [{"name": "a"}]}


def test_saves_of_other_threads_are_not_counted(rehearse):
    def save_elsewhere():
        row = Group(pk=1, name="elsewhere")
        pre_save.send(Group, instance=row)
        post_save.send(Group, instance=row, created=True)

    def deed(request):
        thread = threading.Thread(target=save_elsewhere)
        thread.start()
        thread.join()

    assert rehearse(deed).keys() == {"note"}


def test_signals_are_connected_only_during_a_dry_run(agent, do):
    signals = (pre_save, post_save, pre_delete, post_delete)
    seen = [len(signal.receivers) for signal in signals]
    do(lambda request: [len(signal.receivers) for signal in signals])
    during = agent.call("deed", dry_run=True).data["results"]
    assert during == [seen[0] + 1, seen[1] + 1, seen[2], seen[3]]
    assert [len(signal.receivers) for signal in signals] == seen


STATEMENTS = [
    ('INSERT INTO "auth_group" ("name") VALUES (%s)', ("INSERT", "auth_group")),
    ("insert or ignore into auth_group values (1)", ("INSERT", "auth_group")),
    ("REPLACE INTO `auth_group` VALUES (1)", ("INSERT", "auth_group")),
    ('/* hint */ UPDATE ONLY "public"."Orders" SET a = 1', ("UPDATE", "public.orders")),
    ("-- why\nDELETE FROM [dbo].[orders]", ("DELETE", "dbo.orders")),
    ("WITH old AS (SELECT 1) DELETE FROM orders", ("DELETE", "orders")),
    ("WITH old AS (DELETE FROM orders RETURNING *) SELECT * FROM old", ("DELETE", "orders")),
    ("MERGE INTO orders USING x", ("MERGE", "orders")),
    ("TRUNCATE orders", ("TRUNCATE", "")),
    ("SELECT 1", None),
    ("SELECT * FROM orders FOR UPDATE OF orders", None),
    ("WITH a AS (SELECT 1) SELECT * FROM orders FOR UPDATE SKIP LOCKED", None),
    ("SAVEPOINT s1", None),
]


def test_a_writing_statement_is_recognised_by_its_sql():
    found = {sql: Statement.read(sql) for sql, _ in STATEMENTS}
    assert {sql: s and (s.verb, s.table) for sql, s in found.items()} == dict(STATEMENTS)


@given(st.text())
def test_any_text_is_read_as_a_statement(sql):
    found = Statement.read(sql)
    assert found is None or found.verb == found.verb.upper()


@given(st.lists(st.sampled_from(["create", "save", "update", "bulk", "delete"]), max_size=8))
def test_the_counts_are_those_of_the_rows(db, operations):
    """In any order of operations, where each row is created and deleted at most once."""
    changes, made, saved, deleted = Changes(), 0, set(), 0
    with transaction.atomic():
        old = [Group.objects.create(name=f"old {n}") for n in range(3)]
        with changes.watching(), connection.execute_wrapper(watch(changes)):
            for number, operation in enumerate(operations):
                if operation == "create":
                    Group.objects.create(name=f"new {number}")
                    made += 1
                elif operation == "save":
                    old[0].save()
                    saved.add(old[0].pk)
                elif operation == "update":
                    Group.objects.filter(pk=old[1].pk).update(name=f"b {number}")
                elif operation == "bulk":
                    Group.objects.bulk_create([Group(name=f"c {number}")])
                elif old[2].pk is not None:
                    deleted += 1
                    old[2].delete()
        transaction.set_rollback(True)
    every = {Group: changes.created.get(Group, set()) | changes.updated.get(Group, set())}
    shown = changes.report(every, lambda model: True)
    assert shown.get("created", {}) == ({"group": made} if made else {})
    assert shown.get("updated", {}) == ({"group": len(saved)} if saved else {})
    assert shown.get("deleted", {}) == ({"group": deleted} if deleted else {})
    rows = {s["statement"]: s["rows"] for s in shown.get("bulk_statements", [])}
    assert rows.get("INSERT", 0) == operations.count("bulk")
    assert rows.get("UPDATE", 0) == operations.count("update")


def watch(changes):
    def wrapper(execute, sql, params, many, context):
        statement = Statement.read(sql)
        if statement is None:
            return execute(sql, params, many, context)
        return changes.run(
            statement, lambda: execute(sql, params, many, context), context["cursor"]
        )

    return wrapper
