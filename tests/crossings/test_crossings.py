"""What holds of each feature holds where two meet: parity, nothing lost, nothing done twice."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from drf_mcp.contrib.aggregates import SHARED
from drf_mcp.tools import registry
from example_project.shop.models import Ticket
from tests.crossings.crossing import (
    ARCHIVED,
    MARK,
    Counted,
    Crossing,
    Shut,
    get_notes,
    observed,
)
from tests.crossings.drawing import draw, name_case

pytestmark = pytest.mark.django_db
# Pairs at a desk, triples in the night.
STRENGTH = 3 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2
NOTE = {"subject": "note<0>", "body": "It drips.", "priority": 2}
REFUSED = {**NOTE, "priority": 99}


@pytest.fixture(params=list(draw(STRENGTH)), ids=name_case)
def crossing(request, monkeypatch, settings) -> Crossing:
    return Crossing(request.param, monkeypatch, settings)


def marks(text: str) -> set[str]:
    return set(MARK.findall(text))


def find_note(crossing: Crossing, *, own: bool) -> int:
    rows = Ticket.objects.order_by("pk")
    rows = rows.filter(opened_by=crossing.user) if own else rows.exclude(opened_by=crossing.user)
    return rows[0].pk


def fetch(crossing: Crossing, archive_id: str) -> str:
    """Return all that the archive gives, slice by slice."""
    texts, offset = [], 0
    while offset is not None:
        asked = {"archive_id": archive_id, "offset": offset}
        reply = crossing.call_tool("content_retrieve", asked, reads=True)
        assert not reply.is_error, reply.raw
        texts.append(reply.text)
        offset = reply.data["next_offset"]
    return "".join(texts)


@pytest.mark.slow
def test_the_features_keep_their_promises_together(crossing):
    check_stranger(crossing)
    check_read(crossing)
    check_figures(crossing)
    check_refused_write(crossing)
    check_write(crossing)
    check_change(crossing)
    check_delete(crossing)
    if crossing.is_on("throttle"):
        # Whether a tool that a token does not open is counted depends on what asks for it first.
        unopened = crossing.case["caller"] == "narrowed"
        # Of a program, what is refused before a call of it.
        least = crossing.sent // 2 if crossing.is_on("program") else crossing.sent
        assert least - unopened <= Counted.calls <= crossing.sent
    assert {"note<0>"} - marks(json.dumps(get_notes())) == {"note<0>"}


def check_stranger(crossing: Crossing) -> None:
    """401 comes before anything is said, whatever the arguments are."""
    before = get_notes()
    crossing_header, crossing.__dict__["header"] = crossing.header, None
    try:
        for method, sent in (("GET", {}), ("POST", NOTE), ("POST", {"subjekt": 1})):
            with pytest.raises(Shut) as refused:
                crossing.call(method, **sent)
            status, text = refused.value.args
            assert status == 401
            assert not [name for name in ("subject", "priority", "subjekt") if name in text], text
    finally:
        crossing.__dict__["header"] = crossing_header
        crossing.sent = Counted.calls
    assert get_notes() == before


def check_read(crossing: Crossing) -> None:
    """A read gives what HTTP gives, at once or by what it names."""
    response, reply = crossing.over_http("GET"), crossing.call("GET")
    expected = marks(response.content.decode())
    assert expected
    assert not reply.is_error, reply.raw
    if not crossing.is_on("over budget"):
        if crossing.case["answer"] == "rows":
            reply.answers_as(response)
        assert marks(reply.text) == expected
        return
    given = reply.text
    assert marks(given) < expected
    named = set(ARCHIVED.findall(given))
    assert named, given
    if crossing.case["meanwhile"] == "rights changed":
        check_other_rights(crossing, named)
        return
    gone = change_meanwhile(crossing, expected - marks(given))
    rest = "".join(fetch(crossing, archive_id) for archive_id in named)
    # Whether a row that is gone is withheld depends on what is known of it.
    assert expected - gone <= marks(given + rest) <= expected


def check_other_rights(crossing: Crossing, named: set[str]) -> None:
    """What was kept for a caller is not given under other rights."""
    crossing.user.is_staff = not crossing.user.is_staff
    crossing.user.save()
    for archive_id in named:
        reply = crossing.call_tool("content_retrieve", {"archive_id": archive_id}, reads=True)
        assert reply.is_error, reply.raw
        assert not marks(reply.text)
    crossing.user.is_staff = not crossing.user.is_staff
    crossing.user.save()


def change_meanwhile(crossing: Crossing, left_out: set[str]) -> set[str]:
    """Add or delete notes, and return the marks of those that are gone."""
    if crossing.case["meanwhile"] == "rows added":
        for note in Ticket.objects.filter(opened_by=crossing.user)[:12]:
            note.pk = None
            note.save(force_insert=True)
    if crossing.case["meanwhile"] != "rows deleted":
        return set()
    gone = sorted(left_out)[:2]
    Ticket.objects.filter(subject__in=gone).delete()
    return set(gone)


def check_figures(crossing: Crossing) -> None:
    """As many rows are counted as the caller would page through."""
    if SHARED not in registry.tools():
        # The list has code of its own.
        assert not crossing.is_on("figures") or crossing.case["view"] != "viewset"
        return
    name = crossing.find_tool("GET").name
    reply = crossing.call_tool(SHARED, {"tool": name}, reads=True)
    assert not reply.is_error, reply.raw
    assert reply.data["total"]["count"] == len(crossing.over_http("GET").data)
    refused = crossing.call_tool(SHARED, {"tool": name, "group_by": ["subject"]}, reads=True)
    assert refused.is_error


def check_refused_write(crossing: Crossing) -> None:
    """A write that HTTP refuses is refused in the same words, and nothing is written."""
    before = get_notes()
    response, _ = observed(lambda: crossing.over_http("POST", body=REFUSED))
    reply, after = observed(lambda: crossing.call("POST", **REFUSED))
    reply.answers_as(response)
    assert after == before
    other = find_note(crossing, own=False)
    if crossing.case["caller"] != "staff":
        response, _ = observed(lambda: crossing.over_http("PATCH", other, {"priority": 1}))
        reply, after = observed(lambda: crossing.call("PATCH", other, priority=1))
        assert response.status_code == 404
        reply.answers_as(response)
        assert after == before


def check_write(crossing: Crossing) -> None:
    """A write is made as over HTTP, once by a key, and not at all by a dry run."""
    before = get_notes()
    response, written = observed(lambda: crossing.over_http("POST", body=NOTE))
    assert response.status_code == 201
    if crossing.has("dry run"):
        reply, after = observed(lambda: crossing.call("POST", **NOTE, dry_run=True))
        assert not reply.is_error, reply.raw
        assert after == before
    if crossing.has("idempotency"):

        def twice():
            refused = crossing.call("POST", **REFUSED, idempotency_key="a")
            first = crossing.call("POST", **NOTE, idempotency_key="a")
            return refused, first, crossing.call("POST", **NOTE, idempotency_key="a")

        (refused, first, second), after = observed(twice)
        assert refused.is_error
        first.answers_as(response)
        second.answers_as(response)
        assert after == written
    reply, after = observed(lambda: crossing.call("POST", **NOTE))
    reply.answers_as(response)
    assert after == written
    if "items" in crossing.describe(crossing.find_tool("POST")):
        check_several(crossing, before, written)


def check_several(crossing: Crossing, before: Any, written: Any) -> None:
    """Of several notes all are written or none, once by a key, and not at all by a dry run."""
    reply, after = observed(lambda: crossing.call("POST", items=[NOTE]))
    assert not reply.is_error, reply.raw
    assert after == written
    refused, after = observed(lambda: crossing.call("POST", items=[NOTE, REFUSED]))
    assert refused.is_error
    assert after == before
    if crossing.has("dry run"):
        reply, after = observed(lambda: crossing.call("POST", items=[NOTE], dry_run=True))
        assert not reply.is_error, reply.raw
        assert after == before
    if crossing.has("idempotency"):
        keyed = {"items": [NOTE], "idempotency_key": "b"}
        twice = lambda: [crossing.call("POST", **keyed), crossing.call("POST", **keyed)]  # noqa: E731
        replies, after = observed(twice)
        assert not any(reply.is_error for reply in replies)
        assert after == written


def check_change(crossing: Crossing) -> None:
    """A change is that of HTTP; one of another version is refused."""
    own, before = find_note(crossing, own=True), get_notes()
    response, written = observed(lambda: crossing.over_http("PATCH", own, {"priority": 4}))
    tool = crossing.find_tool("PATCH", one=True)
    guarded = crossing.has("if_match") and "if_match" in str(crossing.describe(tool))
    sent = {"priority": 4, **({"if_match": f"note<{own}>"} if guarded else {})}
    reply, after = observed(lambda: crossing.call("PATCH", own, **sent))
    reply.answers_as(response)
    assert after == written
    if guarded:
        stale = {"priority": 4, "if_match": "note<1234567>"}
        reply, after = observed(lambda: crossing.call("PATCH", own, **stale))
        assert reply.is_error
        assert reply.code in (None, "CONFLICT")
        assert after == before


def check_delete(crossing: Crossing) -> None:
    """A deletion is that of HTTP, once it is confirmed where that is asked for."""
    own, before = find_note(crossing, own=True), get_notes()
    response, written = observed(lambda: crossing.over_http("DELETE", own))
    assert response.status_code == 204
    if crossing.case["caller"] == "narrowed":
        reply, after = observed(lambda: crossing.call("DELETE", own))
        assert reply.is_error
        assert reply.code in (None, "FORBIDDEN")
        assert after == before
        return
    if crossing.has("dry run"):
        reply, after = observed(lambda: crossing.call("DELETE", own, dry_run=True))
        assert not reply.is_error, reply.raw
        assert after == before
    if not crossing.has("confirmation"):
        reply, after = observed(lambda: crossing.call("DELETE", own))
        reply.answers_as(response)
        assert after == written
        return

    def confirm():
        asked = crossing.call("DELETE", own)
        if crossing.case["door"] == "host with forms":
            # The user agreed in the response of the call.
            assert crossing.asked == 1
            return asked
        assert get_notes() == before
        told = asked.data["data"] if crossing.case["envelope"] == "plain" else asked.data
        if crossing.is_on("program"):
            first = crossing.compose({"resume": told["resume"]})
            assert crossing.compose({"resume": told["resume"]}).is_error
            return first
        first = crossing.call("DELETE", own, confirmation=told["confirmation"])
        # Once only: the second finds nothing to delete, or has to be confirmed anew.
        crossing.call("DELETE", own, confirmation=told["confirmation"])
        return first

    reply, after = observed(confirm)
    reply.answers_as(response)
    assert after == written
