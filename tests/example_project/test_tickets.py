"""Tickets: generic views, whose owner is set on creation and whose creation is throttled."""

from __future__ import annotations

import pytest

from example_project.shop.models import Customer, Ticket

URL = "/api/tickets/"


@pytest.fixture
def question() -> dict:
    customer = Customer.objects.filter(owner__username="alice").first()
    return {"customer": customer.pk, "subject": "Where is it?", "body": "Nothing came."}


def ticket_of(username: str) -> Ticket:
    return Ticket.objects.filter(opened_by__username=username).first()


def test_a_user_lists_only_their_own(alice):
    rows = alice.get(URL, {"page_size": 100}).data["results"]
    assert {row["opened_by"] for row in rows} == {"alice"}


def test_a_ticket_is_opened_by_who_asks(alice, question):
    response = alice.post(URL, {**question, "opened_by": "bob"})
    assert response.status_code == 201
    assert response.data["opened_by"] == "alice"


def test_a_priority_is_a_number(alice, question):
    assert alice.post(URL, {**question, "priority": 4}).data["priority"] == 4
    assert alice.post(URL, {**question, "priority": "urgent"}).status_code == 400


def test_only_the_opener_and_staff_see_a_ticket(alice, bob, carol):
    url = f"{URL}{ticket_of('bob').pk}/"
    assert alice.get(url).status_code == 403
    assert bob.get(url).status_code == 200
    assert carol.get(url).status_code == 200


def test_only_the_opener_and_staff_change_a_ticket(alice, carol):
    url = f"{URL}{ticket_of('bob').pk}/"
    assert alice.patch(url, {"status": "closed"}).status_code == 403
    assert carol.patch(url, {"status": "closed"}).data["status"] == "closed"


def test_only_the_opener_and_staff_delete_a_ticket(alice, bob):
    url = f"{URL}{ticket_of('bob').pk}/"
    assert alice.delete(url).status_code == 403
    assert bob.delete(url).status_code == 204


def test_the_twenty_first_ticket_of_an_hour_is_throttled(alice, question):
    statuses = [alice.post(URL, question).status_code for _ in range(21)]
    assert statuses == [201] * 20 + [429]


def test_one_users_throttle_is_not_anothers(alice, carol, question):
    for _ in range(21):
        alice.post(URL, question)
    assert carol.post(URL, question).status_code == 201


def test_reading_is_not_throttled(alice, question):
    for _ in range(21):
        alice.post(URL, question)
    assert alice.get(URL).status_code == 200


def test_filters(carol):
    rows = carol.get(URL, {"status": "open", "priority__gte": 3}).data["results"]
    assert rows
    assert {row["status"] for row in rows} == {"open"}
    assert {row["priority"] for row in rows} <= {3, 4}


def test_an_agent_reads_several_tickets_of_its_own_in_one_call(agent_of):
    """Those of others are refused, and named; the answer keeps the order."""
    mine = list(Ticket.objects.filter(opened_by__username="alice").values_list("pk", flat=True)[:2])
    other = ticket_of("bob").pk
    envelope = agent_of("alice").call("tickets_retrieve", ids=[*mine, other]).envelope
    assert [row and row["id"] for row in envelope["data"]["results"]] == [*mine, None]
    (detail,) = envelope["meta"]["warning_details"]
    assert detail["context"]["failed_ids"] == {"FORBIDDEN": [other]}
