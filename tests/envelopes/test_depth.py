"""Answers are nested no deeper than clients read, and arguments no deeper than messages may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCResponse
from rest_framework.response import Response

from drf_mcp.json_text import is_nested_deeper, parse_json_text
from drf_mcp.tools.results import MAX_DEPTH
from tests.dispatch.views import answering
from tests.envelopes.conftest import ENVELOPES

NESTED = f"it is nested deeper than {MAX_DEPTH} levels"


def nested(depth: int, kind: str = "list") -> Any:
    value: Any = [] if kind == "list" else {}
    for _ in range(depth - 1):
        value = [value] if kind == "list" else {"inner": value}
    return value


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 400, 900, 5000])
def test_an_answer_that_clients_cannot_read_is_refused(serve, envelope, kind, depth):
    thing = serve(answering(lambda request: Response(nested(depth, kind))))
    result = thing.call(envelope)
    assert result.is_error
    text = result.raw["content"][0]["text"]
    assert f"The answer cannot be written as JSON: {NESTED}." in text
    assert "It was logged under the id req_" in text


@pytest.mark.parametrize("depth", [150, 5000])
def test_an_answer_that_another_renderer_nested_so_deep_is_no_result(serve, depth):
    body = "[" * depth + "]" * depth
    view = answering(lambda request: HttpResponse(body, content_type="application/json"))
    assert serve(view).call().is_error


def test_an_error_body_nested_so_deep_keeps_its_status(serve):
    body = "[" * 5000 + "]" * 5000
    view = answering(
        lambda request: HttpResponse(body, content_type="application/json", status=404)
    )
    assert serve(view).call().code == "NOT_FOUND"


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("kind", ["list", "object"])
def test_the_deepest_answer_is_read_by_clients(serve, envelope, kind):
    """By Python's json, and by the parser of the official Python SDK."""
    value = nested(MAX_DEPTH - 3, kind)
    thing = serve(answering(lambda request: Response(value)))
    agent = thing.agent(envelope)
    response = agent.post(*agent.frame("tools/call", {"name": thing.tool}))
    JSONRPCResponse.model_validate_json(response.content)
    result = json.loads(response.content)["result"]
    assert "isError" not in result
    assert json.loads(result["content"][0]["text"])


def test_brackets_in_texts_are_no_depth(serve):
    value = {"text": '[{"\\' * 500, "more": ["]}" * 500, "\\", '"']}
    assert serve(answering(lambda request: Response(value))).read()["data"] == value


@pytest.mark.parametrize(("depth", "kind"), [(100, list), (101, str), (5000, str)])
def test_a_text_that_stands_for_an_array_is_read_as_deep_as_a_message(depth, kind):
    """What is deeper stays a text, which the view refuses as any text in the place of an array."""
    assert type(parse_json_text("[" * depth + "]" * depth, list)) is kind


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


texts = st.text(alphabet='[]{}"\\a,:ü\n\x00')
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=30,
)


@given(values, st.booleans(), st.integers(0, 8))
def test_the_depth_of_any_json_is_known(value, escaped, most):
    text = json.dumps(value, ensure_ascii=escaped)
    assert is_nested_deeper(text, most) == (depth_of(value) > most)
