"""The promises of each feature hold in combination with any other feature."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from drf_mcp.contrib.rules.models import Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.option_types.installed import features
from example_project.shop.models import Ticket
from tests.crossings.crossing import (
    ARCHIVED,
    MARK,
    Counted,
    Reply,
    ServedCase,
    find_texts,
    get_notes,
    rolled_back,
)
from tests.crossings.doors import CallerRefused, MessageRefused
from tests.crossings.drawing import draw, name_case

pytestmark = pytest.mark.django_db
# Pairs of values, at night triples.
STRENGTH = 3 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2
NOTE = {"subject": "note<0>", "note_text": "It drips.", "priority": 2}
REFUSED = {**NOTE, "priority": 99}


@pytest.fixture(params=list(draw(STRENGTH)), ids=name_case)
def crossing(request, monkeypatch, settings) -> Iterator[ServedCase]:
    yield ServedCase(request.param, monkeypatch, settings)
    monkeypatch.undo()
    features.forget()


def marks(text: str) -> set[str]:
    return set(MARK.findall(text))


def find_note(crossing: ServedCase, *, own: bool) -> int:
    rows = Ticket.objects.order_by("pk")
    rows = rows.filter(opened_by=crossing.user) if own else rows.exclude(opened_by=crossing.user)
    return rows[0].pk


def find_visible(crossing: ServedCase) -> set[str]:
    """Return the marks of all notes that the caller may see."""
    rows = Ticket.objects.all()
    rows = rows if crossing.user.is_staff else rows.filter(opened_by=crossing.user)
    return set(rows.values_list("subject", flat=True))


def fetch(crossing: ServedCase, archive_id: str) -> str:
    """Return all of the archived content, slice by slice."""
    texts, offset = [], 0
    while offset is not None:
        asked = {"archive_id": archive_id, "offset": offset}
        reply = crossing.call_tool("content_retrieve", asked, reads=True)
        assert not reply.is_error, reply.raw
        texts.append(reply.text)
        offset = reply.data["next_offset"]
    return "".join(texts)


@pytest.mark.slow
def test_features_keep_their_promises_in_combination(crossing):
    check_unknown_caller(crossing)
    check_read(crossing)
    check_read_of_one(crossing)
    check_resources(crossing)
    check_refused_write(crossing)
    check_write(crossing)
    check_change(crossing)
    check_proposals(crossing)
    check_bounds(crossing)
    check_delete(crossing)
    if crossing.is_on("throttle"):
        # A narrowed token counts once less, depending on where a closed tool is refused.
        unopened = {"narrowed": 1, "blind": 4}.get(crossing.case["caller"], 0)
        # In a program, a refusal before its call is not counted.
        least = crossing.sent // 2 if crossing.is_on("program") else crossing.sent
        # A call that asked the user is made again with the answer.
        most = crossing.sent + crossing.doors.others + crossing.doors.asked
        assert least - unopened <= Counted.calls <= most
    assert "note<0>" not in marks(json.dumps(get_notes()))


def check_unknown_caller(crossing: ServedCase) -> None:
    """An unknown caller gets 401 and nothing else, whatever the arguments."""
    before = get_notes()
    crossing_header, crossing.__dict__["header"] = crossing.header, None
    try:
        for method, sent in (("GET", {}), ("POST", NOTE), ("POST", {"subjekt": 1})):
            with pytest.raises(CallerRefused) as refused:
                crossing.call(method, **sent)
            status, text = refused.value.args
            assert status == 401
            assert not [name for name in ("subject", "priority", "subjekt") if name in text], text
    finally:
        crossing.__dict__["header"] = crossing_header
        crossing.sent = Counted.calls = crossing.doors.others = 0
    assert get_notes() == before


def check_read(crossing: ServedCase) -> None:
    """A read gives the same as HTTP, at once or through the archive ids in its answer."""
    response, reply = crossing.over_http("GET"), crossing.call("GET")
    expected = marks(response.content.decode())
    assert expected
    assert not reply.is_error, reply.raw
    if not crossing.is_on("over budget"):
        check_pages(crossing, response, reply)
        return
    given = reply.text
    assert marks(given) < expected
    named = set(ARCHIVED.findall(given))
    assert named, given
    if crossing.case["meanwhile"] == "rights changed":
        check_other_rights(crossing, named)
        return
    change_meanwhile(crossing, expected - marks(given))
    rest = "".join(fetch(crossing, archive_id) for archive_id in named)
    # Within its time, an answer is what its caller was entitled to when it was made.
    assert marks(given + rest) == expected


def check_pages(crossing: ServedCase, response: Any, reply: Reply) -> None:
    """Each page equals that of HTTP, and its `next` gives the next page."""
    if not crossing.is_on("pages"):
        if crossing.case["answer"] == "rows":
            reply.assert_equals_response(response)
        assert marks(reply.text) == marks(response.content.decode())
        return
    if crossing.is_on("program"):
        visible = find_visible(crossing)
        assert marks(reply.text) == visible
        # The program called the tool once for each page.
        crossing.doors.others += len(visible) // 9
        return
    reply.assert_equals_response(response, pages=True)
    found = marks(reply.text)
    while reply.meta is not None and (page := reply.meta["pagination"])["has_more"]:
        # `next` has the arguments of the tool that runs other tools.
        name = "tools_read" if crossing.is_on("search") else crossing.find_tool("GET").name
        reply = crossing.make_reply(crossing.send_call(name, page["next"]))
        response = crossing.http.get(response.json()["next"])
        reply.assert_equals_response(response, pages=True)
        assert not found & marks(reply.text)
        found |= marks(reply.text)
    if reply.meta is not None:
        assert found == find_visible(crossing)
        assert response.json()["next"] is None


def check_read_of_one(crossing: ServedCase) -> None:
    """One note equals that of HTTP, and another user's note is not found."""
    for own in (True, False):
        pk = find_note(crossing, own=own)
        if crossing.case["caller"] == "blind":
            refused = crossing.call("GET", pk)
            assert refused.is_error
            assert not marks(refused.text)
            continue
        crossing.call("GET", pk).assert_equals_response(crossing.over_http("GET", pk))


def check_resources(crossing: ServedCase) -> None:
    """A resource is the body of the HTTP response."""
    own, other = find_note(crossing, own=True), find_note(crossing, own=False)
    if not crossing.is_on("resources"):
        if crossing.case["view"] not in ("viewset", "overridden list"):
            with pytest.raises(MessageRefused):
                crossing.read_resource(own)
            crossing.sent -= 1
        return
    response, text = crossing.over_http("GET"), crossing.read_resource()
    if crossing.is_on("over budget"):
        assert marks(text) < marks(response.content.decode())
    else:
        assert json.loads(text) == crossing.omit(response.json())
    if crossing.case["caller"] == "blind":
        with pytest.raises(MessageRefused):
            crossing.read_resource(own)
    else:
        body = crossing.over_http("GET", own).json()
        assert json.loads(crossing.read_resource(own)) == crossing.omit(body)
    if crossing.case["caller"] != "staff":
        with pytest.raises(MessageRefused):
            crossing.read_resource(other)


def check_other_rights(crossing: ServedCase, named: set[str]) -> None:
    """Archived content is not given after the caller's permissions changed."""
    crossing.user.is_staff = not crossing.user.is_staff
    crossing.user.save()
    for archive_id in named:
        reply = crossing.call_tool("content_retrieve", {"archive_id": archive_id}, reads=True)
        assert reply.is_error, reply.raw
        assert not marks(reply.text)
    crossing.user.is_staff = not crossing.user.is_staff
    crossing.user.save()


def change_meanwhile(crossing: ServedCase, left_out: set[str]) -> set[str]:
    """Add or delete notes, and return the marks of those that are gone."""
    if crossing.case["meanwhile"] == "rows added":
        for note in Ticket.objects.filter(opened_by=crossing.user)[:12]:
            note.pk = None
            note.save(force_insert=True)
    gone = set(sorted(left_out)[:2])
    if crossing.case["meanwhile"] == "rows deleted":
        Ticket.objects.filter(subject__in=gone).delete()
        return gone
    if crossing.case["meanwhile"] == "rows taken away":
        other = User.objects.exclude(pk=crossing.user.pk)[0]
        Ticket.objects.filter(subject__in=gone).update(opened_by=other)
        return set() if crossing.user.is_staff else gone
    return set()


def check_refused_write(crossing: ServedCase) -> None:
    """A write that HTTP refuses is refused with the same messages, and writes nothing."""
    before = get_notes()
    response, _ = rolled_back(lambda: crossing.over_http("POST", body=REFUSED))
    reply, after = rolled_back(lambda: crossing.call("POST", **REFUSED))
    reply.assert_equals_response(response)
    assert after == before
    body = response.json()
    for text in find_texts(body["error"]["errors"] if crossing.is_on("own errors") else body):
        assert text in reply.words
    other = find_note(crossing, own=False)
    if crossing.case["caller"] != "staff":
        response, _ = rolled_back(lambda: crossing.over_http("PATCH", other, {"priority": 1}))
        change = lambda: crossing.call("PATCH", other, priority=1)  # noqa: E731
        # Where only the handler looks for the note, nobody knows before the call is approved.
        reply, after = rolled_back(lambda: make(crossing, change))
        assert response.status_code == 404
        reply.assert_equals_response(response)
        assert after == before


def check_write(crossing: ServedCase) -> None:
    """A write equals that of HTTP; a key writes once, and a dry run writes nothing."""
    before = get_notes()
    response, written = rolled_back(lambda: crossing.over_http("POST", body=NOTE))
    assert response.status_code == 201
    check_dry_run(crossing, lambda: crossing.call("POST", **NOTE, dry_run=True))
    if crossing.is_on("idempotency"):

        def twice():
            refused = crossing.call("POST", **REFUSED, idempotency_key="a")
            first = crossing.call("POST", **NOTE, idempotency_key="a")
            return refused, first, crossing.call("POST", **NOTE, idempotency_key="a")

        (refused, first, second), after = rolled_back(twice)
        assert refused.is_error
        first.assert_equals_response(response)
        second.assert_equals_response(response)
        assert after == written
    reply, after = rolled_back(lambda: crossing.call("POST", **NOTE))
    reply.assert_equals_response(response)
    assert after == written
    if "items" in crossing.describe(crossing.find_tool("POST")):
        check_several(crossing, before, written)


def check_dry_run(crossing: ServedCase, call: Callable[[], Reply]) -> None:
    if crossing.is_on("dry run"):
        before = get_notes()
        reply, after = rolled_back(call)
        assert not reply.is_error, reply.raw
        assert after == before


def check_several(crossing: ServedCase, before: Any, written: Any) -> None:
    """Of several notes all or none are written, or those without an error.

    A key writes once, and a dry run writes nothing.
    """
    reply, after = rolled_back(lambda: crossing.call("POST", items=[NOTE]))
    assert not reply.is_error, reply.raw
    assert after == written
    refused, after = rolled_back(lambda: crossing.call("POST", items=[NOTE, REFUSED]))
    keeps_some = crossing.case["several"] == "partial"
    assert refused.is_error is not keeps_some
    assert after == (written if keeps_some else before)
    check_dry_run(crossing, lambda: crossing.call("POST", items=[NOTE], dry_run=True))
    if crossing.is_on("idempotency"):
        keyed = {"items": [NOTE], "idempotency_key": "b"}
        twice = lambda: [crossing.call("POST", **keyed), crossing.call("POST", **keyed)]  # noqa: E731
        replies, after = rolled_back(twice)
        assert not any(reply.is_error for reply in replies)
        assert after == written


def check_change(crossing: ServedCase) -> None:
    """A change equals that of HTTP; a change with another version is refused."""
    own, before = find_note(crossing, own=True), get_notes()
    response, written = rolled_back(lambda: crossing.over_http("PATCH", own, {"priority": 4}))
    tool = crossing.find_tool("PATCH", one=True)
    guarded = crossing.is_on("if_match") and "if_match" in str(crossing.describe(tool))
    sent = {"priority": 4, **({"if_match": f"note<{own}>"} if guarded else {})}
    check_dry_run(crossing, lambda: crossing.call("PATCH", own, **sent, dry_run=True))
    reply, after = rolled_back(lambda: make(crossing, lambda: crossing.call("PATCH", own, **sent)))
    reply.assert_equals_response(response)
    assert after == written
    if guarded:
        stale = {"priority": 4, "if_match": "note<1234567>"}
        reply, after = rolled_back(lambda: crossing.call("PATCH", own, **stale))
        assert reply.is_error
        assert reply.code in (None, "CONFLICT")
        assert after == before

    if "items" in crossing.describe(tool):
        check_several_changes(crossing, own, before, written)


def check_several_changes(crossing: ServedCase, own: int, before: Any, written: Any) -> None:
    """Of several changes all or none are made, or those without an error, after one approval."""
    tool = crossing.find_tool("PATCH", one=True)
    fields = crossing.describe(tool)["items"]["items"]["properties"]
    if "priority" not in fields:
        return
    key = "id" if "id" in fields else "pk"
    where = crossing.where

    def change(*keys: int) -> Reply:
        sent = {**where, "items": [{key: pk, "priority": 4} for pk in keys]}
        return crossing.call_tool(tool.name, sent, reads=False)

    reply, after = rolled_back(lambda: make(crossing, lambda: change(own)))
    assert not reply.is_error, reply.raw
    assert after == written
    missing = 10**6
    if crossing.case["several"] == "partial":
        reply, after = rolled_back(lambda: make(crossing, lambda: change(missing, own)))
        assert not reply.is_error, reply.raw
        assert after == written
    reply, after = rolled_back(lambda: make(crossing, lambda: change(missing, missing)))
    assert reply.is_error
    assert after == before


def make(crossing: ServedCase, call: Callable[[], Reply]) -> Reply:
    """Make a call, after its approval if it needs one."""
    return crossing.approve(call) if crossing.is_on("approval") else call()


def check_proposals(crossing: ServedCase) -> None:
    """A call that was declined, has expired, or whose note has changed is not made."""
    if not crossing.is_on("approval"):
        return
    own, store, before = find_note(crossing, own=True), ProposalStore(), get_notes()
    admin = User.objects.get(username="admin")

    def decline(row: Proposal) -> None:
        store.decline(row, admin, "No.")

    def expire(row: Proposal) -> None:
        store.approve(row, admin, row.fingerprint)
        Proposal.objects.update(expires=timezone.now() - timedelta(days=1))

    def change(row: Proposal) -> None:
        store.approve(row, admin, row.fingerprint)
        Ticket.objects.filter(pk=own).update(body="It is another.")

    for act, status in ((decline, "declined"), (expire, "expired"), (change, "failed")):

        def propose(act=act, status=status):
            crossing.call("PATCH", own, priority=4)
            row = Proposal.objects.get()
            act(row)
            if run_proposal(row.pk) is None:
                # Calling again does not make it either.
                crossing.call("PATCH", own, priority=4)
            assert not Ticket.objects.filter(pk=own, priority=4)
            asked = crossing.send_call("proposals_retrieve", {"id": row.pk})
            assert Reply(asked, crossing.case["envelope"]).data["status"] == status

        if not crossing.is_on("throttle"):
            rolled_back(propose)
    assert get_notes() == before


def check_bounds(crossing: ServedCase) -> None:
    """A caller holds two keys and two proposals, in whatever programs."""
    if not crossing.is_on("bounds"):
        return
    own, before = find_note(crossing, own=True), get_notes()

    def use_three_keys() -> list[bool]:
        made = [crossing.call("POST", **NOTE, idempotency_key=key) for key in "abc"]
        return [reply.is_error for reply in made]

    if crossing.is_on("idempotency"):
        refused, after = rolled_back(use_three_keys)
        assert refused == [False, False, True]
        assert len(after) == len(before) + 2

    def propose_three() -> int:
        replies = [crossing.call("PATCH", own, priority=priority) for priority in (1, 2, 3)]
        assert replies[2].is_error
        return Proposal.objects.filter(status="waiting").count()

    if crossing.is_on("approval"):
        assert rolled_back(propose_three) == (2, before)


def check_delete(crossing: ServedCase) -> None:
    """A deletion equals that of HTTP, after a confirmation if it needs one."""
    own, before = find_note(crossing, own=True), get_notes()
    response, written = rolled_back(lambda: crossing.over_http("DELETE", own))
    assert response.status_code == 204
    if crossing.case["caller"] == "narrowed":
        reply, after = rolled_back(lambda: crossing.call("DELETE", own))
        assert reply.is_error
        assert reply.code in (None, "FORBIDDEN")
        assert after == before
        return
    check_dry_run(crossing, lambda: crossing.call("DELETE", own, dry_run=True))
    delete = lambda more: crossing.call("DELETE", own, **more)  # noqa: E731
    reply, after = rolled_back(lambda: remove(crossing, delete, {}))
    reply.assert_equals_response(response)
    assert after == written


def remove(crossing: ServedCase, delete: Callable[[Any], Reply], sent: Any) -> Reply:
    """Delete a note, and confirm the deletion if it needs that."""
    if crossing.is_on("approval"):
        # An approval replaces the confirmation.
        return crossing.approve(lambda: delete(sent))
    before, asked_before = get_notes(), crossing.doors.asked
    asked = delete(sent)
    if not crossing.is_on("confirmation"):
        assert not asked.is_error, asked.raw
        return asked
    if crossing.case["door"] == "host with forms":
        # The user agreed in the form.
        assert crossing.doors.asked == asked_before + 1
        check_shown(crossing, crossing.doors.form)
        return asked
    assert get_notes() == before
    check_shown(crossing, asked.text)
    if crossing.is_on("program"):
        first = crossing.compose({"resume": asked.soft_failure_data["resume"]})
        assert crossing.compose({"resume": asked.soft_failure_data["resume"]}).is_error
        return first
    confirmed = {**sent, "confirmation": asked.soft_failure_data["confirmation"]}
    first = delete(confirmed)
    # A confirmation is valid once: the second call finds no note, or asks again.
    delete(confirmed)
    return first


def check_shown(crossing: ServedCase, text: str) -> None:
    """A confirmation shows the note as the caller may read it, and else its key alone."""
    # An action is no retrieve tool.
    is_shown = crossing.case["caller"] != "blind" and crossing.case["view"] != "action"
    assert bool(marks(text)) is is_shown, text
