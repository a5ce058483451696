"""Batches: several messages in one body, in revision 2025-03-26 only."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import REVISIONS, Agent

BATCHES = "2025-03-26"


class Word(APIView):
    """Repeat a word."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response({"word": request.query_params.get("word", "hello")})


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("word/", Word.as_view()), EXTRA_QUERY=True)
    return Agent(Client(), revision=BATCHES)


def send(agent: Agent, items: list, revision: str | None = BATCHES):
    return agent.post(items, {"MCP-Protocol-Version": revision} if revision else {})


def ping(id=None) -> dict:
    return {"jsonrpc": "2.0", "method": "ping", **({} if id is None else {"id": id})}


def call(id: int, word: str) -> dict:
    params = {"name": "word", "arguments": {"query": {"word": word}}}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def test_every_request_of_a_batch_is_answered_in_order(agent):
    response = send(agent, [call(3, "c"), ping(1), call(2, "b")])
    answers = json.loads(response.content)
    assert [answer["id"] for answer in answers] == [3, 1, 2]
    words = [json.loads(answers[i]["result"]["content"][0]["text"])["data"] for i in (0, 2)]
    assert words == [{"word": "c"}, {"word": "b"}]


def test_a_batch_needs_no_version_header(agent):
    assert len(json.loads(send(agent, [ping(1), ping(2)], revision=None).content)) == 2


def test_notifications_of_a_batch_are_not_answered(agent):
    answers = json.loads(send(agent, [ping(), ping(1), ping()]).content)
    assert [answer["id"] for answer in answers] == [1]


def test_a_batch_without_requests_gets_no_response_body(subtests, agent):
    for item in [ping(), {"jsonrpc": "2.0", "id": 1, "result": {}}]:
        with subtests.test(item=item):
            response = send(agent, [item, item])
            assert (response.status_code, response.content) == (202, b"")


def test_errors_of_malformed_items_keep_the_order_of_the_batch(agent):
    items = [ping(1), 5, {"jsonrpc": "2.0", "id": 2}, call(3, "x"), {"jsonrpc": "2.0", "id": []}]
    response = send(agent, items)
    answers = json.loads(response.content)
    assert response.status_code == 200
    assert [answer["id"] for answer in answers] == [1, None, 2, 3, None]
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes == [None, -32600, -32600, None, -32600]


def test_an_error_of_one_item_does_not_affect_the_others(agent):
    unknown = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nope"}}
    first, second = json.loads(send(agent, [unknown, call(2, "fine")]).content)
    assert first["error"]["code"] == -32602
    assert "fine" in second["result"]["content"][0]["text"]


def test_initialize_is_refused_in_a_batch(agent):
    params = {"protocolVersion": BATCHES, "capabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    refused, pinged = json.loads(send(agent, [message, ping(2)]).content)
    assert (refused["id"], refused["error"]["code"]) == (1, -32600)
    assert pinged == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_other_revisions_refuse_batches(subtests, agent):
    for revision in [r for r in REVISIONS if r != BATCHES]:
        with subtests.test(revision=revision):
            response = send(agent, [ping(1)], revision)
            assert response.status_code == 400
            answer = json.loads(response.content)
            assert (answer.get("id"), answer["error"]["code"]) == (None, -32600)


def test_an_empty_batch_or_one_of_an_unknown_revision_is_refused(subtests, agent):
    for items, revision, code in [([], BATCHES, -32600), ([ping(1)], "1999-01-01", -32022)]:
        with subtests.test(items=items, revision=revision, code=code):
            response = send(agent, items, revision)
            assert response.status_code == 400
            assert json.loads(response.content)["error"]["code"] == code


def test_a_batch_may_have_20_messages_and_no_more(expose, monkeypatch):
    called, limit = [], 20
    monkeypatch.setattr(Word, "initial", lambda *args: called.append(1))
    expose(path("word/", Word.as_view()), EXTRA_QUERY=True)
    agent = Agent(Client())
    assert len(json.loads(send(agent, [call(n, "x") for n in range(limit)]).content)) == limit
    assert len(called) == limit
    response = send(agent, [call(n, "x") for n in range(limit + 1)])
    answer = json.loads(response.content)
    assert (response.status_code, answer["id"]) == (400, None)
    assert answer["error"] == {
        "code": -32600,
        "message": f"A batch may hold at most {limit} messages; this one holds {limit + 1}.",
    }
    assert len(called) == limit


def test_a_batch_without_credentials_is_refused_as_a_whole(settings, client):
    agent = Agent(client)
    response = send(agent, [5, ping(1), call(2, "x")])
    assert response.status_code == 401
    assert "WWW-Authenticate" in response.headers
