"""Tickets: generic views that set the owner, and throttle creation."""

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


def test_a_ticket_belongs_to_the_user_and_is_listed(alice, question):
    """A priority is a number."""
    response = alice.post(URL, {**question, "opened_by": "bob"})
    assert response.status_code == 201
    assert response.data["opened_by"] == "alice"
    rows = alice.get(URL, {"page_size": 100}).data["results"]
    assert {row["opened_by"] for row in rows} == {"alice"}
    assert alice.post(URL, {**question, "priority": 4}).data["priority"] == 4
    assert alice.post(URL, {**question, "priority": "urgent"}).status_code == 400


def test_only_its_user_and_staff_may_see_change_and_delete_a_ticket(alice, bob, carol):
    url = f"{URL}{ticket_of('bob').pk}/"
    assert [client.get(url).status_code for client in (alice, bob, carol)] == [403, 200, 200]
    assert alice.patch(url, {"status": "closed"}).status_code == 403
    assert carol.patch(url, {"status": "closed"}).data["status"] == "closed"
    assert alice.delete(url).status_code == 403
    assert bob.delete(url).status_code == 204


def test_the_twenty_first_ticket_of_an_hour_is_throttled(alice, carol, question):
    """Reading is not throttled, and neither are other users."""
    statuses = [alice.post(URL, question).status_code for _ in range(21)]
    assert statuses == [201] * 20 + [429]
    assert carol.post(URL, question).status_code == 201
    assert alice.get(URL).status_code == 200


def test_an_agent_can_read_several_of_its_tickets_in_one_call(agent_of):
    """Tickets of others are refused by id; the answer keeps the order."""
    mine = list(Ticket.objects.filter(opened_by__username="alice").values_list("pk", flat=True)[:2])
    other = ticket_of("bob").pk
    envelope = agent_of("alice").call("tickets_retrieve", ids=[*mine, other]).envelope
    assert [row and row["id"] for row in envelope["data"]["results"]] == [*mine, None]
    (detail,) = envelope["meta"]["warning_details"]
    assert detail["context"]["failed_ids"] == {"FORBIDDEN": [other]}
