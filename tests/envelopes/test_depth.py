"""The depth limits of answers and of arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCResponse

from drf_mcp.calls.results import MAX_DEPTH
from drf_mcp.json_text import is_nested_deeper, parse_json_text
from tests.envelopes.conftest import ENVELOPES

NESTED = f"it is nested deeper than {MAX_DEPTH} levels"


def nested(depth: int, kind: str = "list") -> Any:
    value: Any = [] if kind == "list" else {}
    for _ in range(depth - 1):
        value = [value] if kind == "list" else {"inner": value}
    return value


@pytest.mark.slow
def test_an_answer_too_deep_for_clients_is_an_error(thing):
    for kind in ("list", "object"):
        for depth in (MAX_DEPTH + 1, 400, 900, 5000):
            thing.answer_with(nested(depth, kind))
            for envelope in ENVELOPES:
                result = thing.call(envelope)
                assert result.is_error
                text = result.raw["content"][0]["text"]
                assert f"The answer cannot be written as JSON: {NESTED}." in text
                assert "It was logged under the id req_" in text


def test_a_rendered_body_of_that_depth_is_an_error(thing):
    """An error body of that depth keeps its status."""

    def written(depth: int, status: int = 200) -> Callable[[Any], HttpResponse]:
        body = "[" * depth + "]" * depth
        kind = "application/json"
        return lambda request: HttpResponse(body, content_type=kind, status=status)

    assert thing.answer_with(written(150)).call().is_error
    assert thing.answer_with(written(5000)).call().is_error
    assert thing.answer_with(written(5000, status=404)).call().code == "NOT_FOUND"


def test_clients_can_read_the_deepest_answer(thing):
    """By Python's json, and by the parser of the official Python SDK."""
    for kind in ("list", "object"):
        thing.answer_with(nested(MAX_DEPTH - 3, kind))
        for envelope in ENVELOPES:
            agent = thing.agent(envelope)
            response = agent.post(*agent.frame("tools/call", {"name": thing.tool}))
            JSONRPCResponse.model_validate_json(response.content)
            result = json.loads(response.content)["result"]
            assert "isError" not in result
            assert json.loads(result["content"][0]["text"])


def test_brackets_in_strings_do_not_count_as_depth(thing):
    value = {"text": '[{"\\' * 500, "more": ["]}" * 500, "\\", '"']}
    assert thing.answer_with(value).read()["data"] == value


def test_a_string_in_place_of_an_array_is_parsed_up_to_the_depth_of_a_message():
    """A deeper text stays a string, which the view refuses like any string in place of an array."""
    depths = {100: list, 101: str, 5000: str}
    read = {depth: type(parse_json_text("[" * depth + "]" * depth, list)) for depth in depths}
    assert read == depths


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
def test_the_depth_of_any_json_is_measured(value, escaped, most):
    text = json.dumps(value, ensure_ascii=escaped)
    assert is_nested_deeper(text, most) == (depth_of(value) > most)
