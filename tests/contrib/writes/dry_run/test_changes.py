"""What the answer of a dry run says."""

from __future__ import annotations

import threading

from django.contrib.auth.models import Group, Permission, User
from django.db import connection, transaction
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.writes.changes import Changes, Statement
from tests.contrib.writes.dry_run import views


def report(agent, tool, /, **arguments):
    result = agent.call(tool, dry_run=True, **arguments)
    return result.envelope["meta"]["dry_run"]


def test_a_create_answers_the_row_and_makes_none(agent):
    result = agent.call("groups_create", name="writers", dry_run=True)
    assert result.data["name"] == "writers"
    assert result.envelope["meta"]["dry_run"]["created"] == {"group": 1}
    assert not Group.objects.exists()


def test_an_update_shows_the_fields_that_would_change(agent, group, monkeypatch):
    """As the GET of the object shows them, for an action too. A long value is cut."""
    told = report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert told == {
        "note": "Dry run: nothing was changed.",
        "updated": {"group": 1},
        "before": {"name": "readers"},
        "after": {"name": "writers"},
    }
    assert Group.objects.get().name == "readers"
    told = report(agent, "groups_shout", pk=group.pk)
    assert (told["before"], told["after"]) == ({"name": "readers"}, {"name": "READERS"})
    monkeypatch.setattr("drf_mcp.contrib.writes.dry_run.MOST_SHOWN", 5)
    told = report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert told["after"] == {"name": "write…"}


def test_who_may_not_read_the_object_sees_no_fields(agent, group, monkeypatch):
    monkeypatch.setattr(views.MayRead, "reads", False)
    told = report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert told["updated"] == {"group": None}
    assert told.keys().isdisjoint({"before", "after"})


def test_who_is_not_offered_the_read_sees_no_fields(configure, group):
    agent = configure(EXCLUDE=["groups_retrieve"])
    told = report(agent, "groups_partial_update", pk=group.pk, name="writers")
    assert told.keys() == {"note", "updated"}


def test_who_may_not_list_a_model_knows_that_rows_change_and_not_how_many(
    agent, rehearse, group, monkeypatch
):
    def deed(request):
        Group.objects.create(name="a")
        Group.objects.bulk_create([Group(name="b")])
        group.delete()

    monkeypatch.setattr(views.MayRead, "reads", False)
    told = rehearse(deed)
    assert (told["created"], told["deleted"]) == ({"group": None}, {"group": None})
    assert told["bulk_statements"] == [{"statement": "INSERT", "model": "group"}]


def test_a_model_that_no_tool_lists_is_only_named(configure, do):
    agent = configure(EXCLUDE=["*_list"])
    do(lambda request: Group.objects.create(name="a").name)
    assert report(agent, "deed")["created"] == {"group": None}


def test_asking_the_list_changes_neither_the_caller_nor_a_throttle(agent, rehearse):
    assert rehearse(lambda request: Group.objects.create(name="a").name)["created"] == {"group": 1}
    assert not agent.call("throttled_list").is_error


def test_a_deletion_counts_the_rows_that_go_along(agent, group):
    group.permissions.add(*Permission.objects.all()[:3])
    User.objects.get(username="alice").groups.add(group)
    told = report(agent, "groups_destroy", pk=group.pk)
    assert told["deleted"] == {
        "group": 1,
        "group-permission relationship": None,
        "user-group relationship": None,
    }
    assert told["note"].endswith("no tool is known to show them to you.")
    assert group.permissions.count() == 3


def test_an_object_that_is_saved_twice_counts_once(rehearse, group):
    assert rehearse(lambda request: (group.save(), group.save()))["updated"] == {"group": 1}
    told = rehearse(lambda request: Group.objects.create(name="a").save())
    assert told == {"note": "Dry run: nothing was changed.", "created": {"group": 1}}


def test_bulk_statements_are_told_beside_the_counts(rehearse, group):
    def deed(request):
        Group.objects.bulk_create([Group(name="a"), Group(name="b")])
        Group.objects.filter(pk=group.pk).update(name="d")
        with connection.cursor() as cursor:
            cursor.execute("UPDATE auth_group SET name = 'e' WHERE name = 'd'")

    told = rehearse(deed)
    assert told.keys() == {"note", "bulk_statements"}
    assert told["bulk_statements"] == [
        {"statement": "INSERT", "model": "group", "rows": 2},
        {"statement": "UPDATE", "model": "group", "rows": 2},
    ]


def test_a_read_and_a_bulk_statement_that_changed_no_row_are_left_out(rehearse):
    for deed in (lambda: Group.objects.update(name="x"), lambda: list(Group.objects.all())):
        assert rehearse(lambda request, deed=deed: deed() and None).keys() == {"note"}


def test_a_bulk_statement_of_a_signal_is_no_part_of_the_save(rehearse, group):
    def touch(instance, **kwargs):
        Group.objects.filter(pk=group.pk).update(name="touched")

    post_save.connect(touch, sender=Group)
    try:
        told = rehearse(lambda request: Group.objects.create(name="new").name)
    finally:
        post_save.disconnect(touch, sender=Group)
    assert told["created"] == {"group": 1}
    assert told["bulk_statements"] == [{"statement": "UPDATE", "model": "group", "rows": 1}]


def test_a_table_without_a_model_is_not_named(rehearse):
    def deed(request):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE hidden_ledger (id integer)")
            cursor.execute("INSERT INTO hidden_ledger VALUES (1)")

    told = rehearse(deed)
    assert told["bulk_statements"][1] == {"statement": "INSERT", "model": "another table"}
    assert "hidden" not in str(told)


def test_an_answer_that_is_lazy_is_read_before_the_rollback(agent, do):
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


def test_signals_are_heard_while_a_dry_run_runs_and_no_longer(agent, do):
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


def test_a_statement_that_writes_is_known_by_its_words():
    found = {sql: Statement.read(sql) for sql, _ in STATEMENTS}
    assert {sql: s and (s.verb, s.table) for sql, s in found.items()} == dict(STATEMENTS)


@given(st.text())
def test_any_text_is_read(sql):
    found = Statement.read(sql)
    assert found is None or found.verb == found.verb.upper()


@given(st.lists(st.sampled_from(["create", "save", "update", "bulk", "delete"]), max_size=8))
def test_the_counts_are_those_of_the_rows(db, orders):
    """Whatever is done in whatever order, as long as each row is made and deleted once."""
    changes, made, saved, deleted = Changes(), 0, set(), 0
    with transaction.atomic():
        old = [Group.objects.create(name=f"old {n}") for n in range(3)]
        with changes.watching(), connection.execute_wrapper(watch(changes)):
            for number, order in enumerate(orders):
                if order == "create":
                    Group.objects.create(name=f"new {number}")
                    made += 1
                elif order == "save":
                    old[0].save()
                    saved.add(old[0].pk)
                elif order == "update":
                    Group.objects.filter(pk=old[1].pk).update(name=f"b {number}")
                elif order == "bulk":
                    Group.objects.bulk_create([Group(name=f"c {number}")])
                elif old[2].pk is not None:
                    deleted += 1
                    old[2].delete()
        transaction.set_rollback(True)
    every = {Group: changes.created.get(Group, set()) | changes.updated.get(Group, set())}
    told = changes.report(every, lambda model: True)
    assert told.get("created", {}) == ({"group": made} if made else {})
    assert told.get("updated", {}) == ({"group": len(saved)} if saved else {})
    assert told.get("deleted", {}) == ({"group": deleted} if deleted else {})
    rows = {s["statement"]: s["rows"] for s in told.get("bulk_statements", [])}
    assert rows.get("INSERT", 0) == orders.count("bulk")
    assert rows.get("UPDATE", 0) == orders.count("update")


def watch(changes):
    def wrapper(execute, sql, params, many, context):
        statement = Statement.read(sql)
        if statement is None:
            return execute(sql, params, many, context)
        return changes.run(
            statement, lambda: execute(sql, params, many, context), context["cursor"]
        )

    return wrapper
