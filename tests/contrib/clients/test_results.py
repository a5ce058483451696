"""How a generated client reads results of each envelope: data, errors, truncated results."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from mcp_types import CallToolResult

from drf_mcp.contrib.clients.writers import PythonWriter
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.test import MCPClient
from tests.contrib.clients.writing import run_client, write_client

pytestmark = pytest.mark.django_db

ENVELOPES = [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]
every_envelope = pytest.mark.parametrize(
    "envelope", ENVELOPES, ids=lambda envelope: envelope.__name__
)
REFUSED = {"customer": 10**9, "lines": [{"product": "card-deck", "quantity": 0}]}


@pytest.fixture(scope="module")
def module():
    return run_client(write_client(PythonWriter, {}))


@pytest.fixture
def call(module):
    """Call a tool as alice through a generated client."""

    def call(envelope, name, **arguments):
        http = MCPClient(envelope_class=envelope)
        http.force_authenticate(User.objects.get(username="alice"))

        async def call_tool(name, arguments):
            return CallToolResult.model_validate(raw)

        raw = http.call_tool(name, arguments).raw
        tools = module.Tools(SimpleNamespace(call_tool=call_tool))
        return asyncio.run(tools._call(name, arguments, envelope.contract))

    return call


@every_envelope
def test_data_is_what_the_envelope_holds(call, envelope):
    answer = call(envelope, "customers_list", page_size=1)
    rows = answer.data if envelope is OkEnvelope else answer.data["results"]
    assert [row["owned_by"] for row in rows] == ["alice"]
    if envelope is not PlainEnvelope:
        assert answer.next == {"page_size": 1, "page": 2}


@every_envelope
def test_a_refusal_is_a_typed_error(call, module, envelope):
    with pytest.raises(module.ToolError) as caught:
        call(envelope, "orders_create", **REFUSED)
    error = caught.value
    assert "quantity" in error.message or "does not exist" in error.message
    if envelope is PlainEnvelope:
        assert (error.code, error.pointers) == ("", [])
        return
    assert error.pointers == ["/customer", "/lines/0/quantity"]
    assert [problem.code for problem in error.problems] == ["does_not_exist", "min_value"]
    assert all(problem.remediation for problem in error.problems)
    v2 = envelope is ResponseV2Envelope
    assert error.code == ("VALIDATION_ERROR" if v2 else "does_not_exist")


@every_envelope
def test_a_truncated_result_is_an_error(call, module, settings, envelope):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RESULT_TOKENS": 1000}
    with pytest.raises(module.ResultTooLong, match="content_retrieve") as caught:
        call(envelope, "orders_list", page_size=50)
    data = caught.value.answer.data
    rows = data if envelope is OkEnvelope else data["results"]
    assert 0 < len(rows) < 50
    assert caught.value.code == "CONTENT_TRUNCATED"


@pytest.mark.parametrize("envelope", ENVELOPES[:3], ids=lambda envelope: envelope.__name__)
def test_a_confirmation_question_is_an_error_with_its_token(call, module, settings, envelope):
    settings.DRF_MCP = {**settings.DRF_MCP, "CONFIRM": True}
    rows = call(ResponseV2Envelope, "orders_list", page_size=1, status=["pending"]).data
    with pytest.raises(module.ToolError) as caught:
        call(envelope, "orders_destroy", id=rows["results"][0]["id"])
    assert caught.value.code.upper() == "CONFIRMATION_REQUIRED"
    assert caught.value.data["confirmation"]
