"""perform_create with and without ATOMIC_REQUESTS: the same rows and SQL as over HTTP."""

from __future__ import annotations

import pytest
from django.db import connections, transaction
from django.urls import path
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated

from example_project.shop.models import Ticket
from example_project.shop.serializers import TicketSerializer
from tests.parity.answers import assert_same_answer, observed, over_http
from tests.parity.shop_requests import TICKET, fill_in, rows_of_alice

SENT: list[str] = []


class Tickets(generics.ListCreateAPIView):
    """Has a perform_create that writes, registers an on_commit function and sometimes refuses."""

    queryset = Ticket.objects.all()
    serializer_class = TicketSerializer
    permission_classes = [IsAuthenticated]

    def perform_create(self, serializer) -> None:
        ticket = serializer.save(opened_by=self.request.user)
        transaction.on_commit(lambda: SENT.append(ticket.subject))
        Ticket.objects.select_for_update().filter(pk=ticket.pk).update(status="waiting")
        if "forbidden" in ticket.body:
            raise ValidationError({"body": "A word that is not allowed."})


@pytest.fixture(params=[True, False], ids=["atomic", "not_atomic"])
def atomic(request, monkeypatch, expose, stopped_clock) -> bool:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", request.param)
    SENT.clear()
    expose(path("tickets/", Tickets.as_view()))
    return request.param


@pytest.fixture
def ticket(db) -> dict:
    return fill_in(TICKET, rows_of_alice())


@pytest.mark.parametrize("body", ["fine", "forbidden"])
def test_perform_create_writes_the_same_rows_with_the_same_sql(
    atomic, ticket, http_of, agent_of, body
):
    ticket = {**ticket, "body": body}
    http, agent = http_of("alice"), agent_of("alice")
    response, expected = observed(lambda: over_http(http, "POST", "/tickets/", ticket))
    result, effect = observed(lambda: agent.call_with("tickets_create", ticket))
    assert_same_answer(response, result)
    assert effect == expected


@pytest.mark.parametrize(("body", "sent"), [("fine", ["Ünwell"]), ("forbidden", [])])
def test_on_commit_functions_run_if_the_call_commits(
    atomic, ticket, agent_of, django_capture_on_commit_callbacks, body, sent
):
    if body == "forbidden" and not atomic:
        sent = ["Ünwell"]
    agent = agent_of("alice")
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        agent.call_with("tickets_create", {**ticket, "body": body})
    assert sent == SENT
