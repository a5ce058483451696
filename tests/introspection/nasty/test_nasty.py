"""Endpoints that are hard to describe are all tools, and answer as over HTTP."""

from __future__ import annotations

import json
import re

import pytest
from django.utils.http import urlencode
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from tests.introspection.nasty.endpoints import ENDPOINTS
from tests.introspection.nasty.samples import NOTHING
from tests.parity.answers import body_of

SAMPLES = [(nasty, sample) for nasty in ENDPOINTS for sample in nasty.samples]
CALLERS = [None, "alice", "carol", "admin"]


def url_of(endpoint):
    return f"/{endpoint.path or endpoint.name.replace('_', '-') + '/'}"


def over_http(nasty, sample):
    url = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(sample.kwargs[match[1]]), url_of(nasty))
    url = f"{url}?{urlencode(sample.query)}" if sample.query else url
    client = APIClient()
    if sample.body is NOTHING:
        return client.generic(nasty.method, url)
    if sample.multipart:
        rewind(sample.body)
        return getattr(client, nasty.method.lower())(url, sample.body, format="multipart")
    return client.generic(nasty.method, url, json.dumps(sample.body), "application/json")


def rewind(body):
    for value in body.values():
        for item in value if isinstance(value, list) else [value]:
            if hasattr(item, "seek"):
                item.seek(0)


def test_every_endpoint_is_a_tool(nasty):
    assert all(map(tool_of, ENDPOINTS))


def tool_of(endpoint):
    url = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", url_of(endpoint))
    tools = registry.tools().values()
    at = {tool.endpoint.method: tool for tool in tools if tool.endpoint.route.path == url}
    return at[endpoint.method]


@pytest.mark.slow
def test_every_caller_gets_the_list(nasty, agent_of):
    """The agent validates every schema, and asserts that it is portable."""
    nasty(OUTPUT_SCHEMA="full")
    names = set(registry.tools())
    assert {user: set(agent_of(user).tools()) for user in CALLERS} == dict.fromkeys(CALLERS, names)


@pytest.mark.slow
def test_a_tool_call_accepts_what_http_accepts(nasty, agent_of):
    """Both give the same answer, and the agent validates it by the tool's outputSchema."""
    nasty(OUTPUT_SCHEMA="full")
    agent = agent_of(None)
    for endpoint, sample in SAMPLES:
        response = over_http(endpoint, sample)
        assert response.status_code < 300, (endpoint.name, response.content)
        result = agent.call_with(tool_of(endpoint).name, sample.sent)
        assert not result.is_error, (endpoint.name, result.envelope)
        if response.headers.get("Content-Type") == "application/json":
            assert result.data == as_data(body_of(response)), endpoint.name


def as_data(body):
    if isinstance(body, dict):
        page = {"count", "next", "previous"} if "results" in body else set()
        return {name: value for name, value in body.items() if name not in page}
    return {"results" if isinstance(body, list) else "result": body}
