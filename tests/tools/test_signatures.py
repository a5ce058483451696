"""The signature of a tool: its arguments and its answer in one line."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from drf_mcp.calls.summaries import Signature, write_type
from drf_mcp.exposure import registry

pytestmark = pytest.mark.django_db


def test_required_arguments_come_first_and_the_others_have_a_default():
    text = Signature(registry.tool("orders_refund")).write()
    assert text.startswith(
        'orders_refund(id: int, reason: "damaged" | "late" | "changed_mind" | "other", amount: str'
        " = None, "
    )


def test_the_answer_of_a_page_is_the_list_of_its_rows():
    text = Signature(registry.tool("orders_list")).write()
    assert text.startswith("orders_list(number: str = None, ")
    assert " -> [{id: int, url: str, number: str, " in text
    assert "lines: [{product: str, " in text


def test_the_arguments_of_every_example_tool_are_valid_python():
    for tool in registry.tools().values():
        arguments = Signature(tool).get_arguments()
        ast.parse(f"def tool({arguments}): pass")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, "str | None"),
        ({"const": 3}, "3"),
        ({"enum": ["a", None]}, '"a" | None'),
        ({"enum": list(range(50)), "type": "integer"}, "int"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int | None"),
        ({"type": "array", "items": {"type": "number"}}, "[float]"),
        ({"type": "array"}, "list"),
        ({"properties": {"a": {"type": "boolean"}}}, "{a: bool}"),
        ({"type": "file"}, "Any"),
        (True, "Any"),
    ],
)
def test_a_schema_is_written_as_a_type(schema: Any, expected: str):
    assert write_type(schema) == expected
