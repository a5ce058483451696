"""What a project imports goes on working from release to release."""

from __future__ import annotations

import pytest

from tests.programs.packaging.public_api import compare, find_breaks, read_api, read_released


def test_nothing_breaks_code_that_was_written_for_the_last_release():
    """A deliberate break is told in the changelog, and comes with a release of its own."""
    assert [*find_breaks(read_released(), read_api())] == []


def test_the_page_lists_classes_functions_and_their_members():
    names = read_api()
    assert names["drf_mcp.mcp_tool"] is not None
    assert "drf_mcp.test.MCPClient.call_tool" in names
    assert len(names) > 100


def left_out(*names: str, kind: str = "positional") -> dict[str, tuple[str, bool]]:
    return dict.fromkeys(names, (kind, True))


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (left_out("a"), {}, "the parameter a is gone."),
        (left_out("a"), left_out("a", kind="keyword"), "a can be given by its name alone."),
        (left_out("a"), {"a": ("positional", False)}, "a has become required."),
        ({}, {"a": ("keyword", False)}, "the new parameter a is required."),
        (left_out("a", "b"), left_out("b", "a"), "the order of a, b is another."),
    ],
)
def test_a_signature_that_breaks_callers_is_found(before, now, told):
    assert [*compare(before, now)] == [told]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, left_out("a")),
        (left_out("a"), left_out("a", "b")),
        (left_out("a", kind="keyword"), left_out("a")),
        ({"a": ("positional", False)}, left_out("a")),
        (left_out("a"), {"*kwargs": ("keyword", True)}),
    ],
)
def test_a_signature_that_takes_more_breaks_nobody(before, now):
    assert [*compare(before, now)] == []


def test_a_name_that_is_gone_is_found():
    assert [*find_breaks({"drf_mcp.gone": None}, {})] == ["drf_mcp.gone is gone."]
