"""Code that imports the package works with the next release."""

from __future__ import annotations

import pytest

from tests.programs.packaging.public_api import compare, find_breaks, read_api, read_released


def test_nothing_breaks_code_for_the_last_release():
    """A deliberate break is in the changelog and has its own release."""
    assert [*find_breaks(read_released(), read_api())] == []


def test_the_page_lists_classes_functions_and_their_members():
    names = read_api()
    assert names["drf_mcp.mcp_tool"] is not None
    assert "drf_mcp.test.MCPClient.call_tool" in names
    assert len(names) > 100


def optional(*names: str, kind: str = "positional") -> dict[str, tuple[str, bool]]:
    return dict.fromkeys(names, (kind, True))


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (optional("a"), {}, "the parameter a is gone."),
        (optional("a"), optional("a", kind="keyword"), "a can be given by its name alone."),
        (optional("a"), {"a": ("positional", False)}, "a has become required."),
        ({}, {"a": ("keyword", False)}, "the new parameter a is required."),
        (optional("a", "b"), optional("b", "a"), "the order of a, b is another."),
    ],
)
def test_a_signature_that_breaks_callers_is_found(before, now, message):
    assert [*compare(before, now)] == [message]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, optional("a")),
        (optional("a"), optional("a", "b")),
        (optional("a", kind="keyword"), optional("a")),
        ({"a": ("positional", False)}, optional("a")),
        (optional("a"), {"*kwargs": ("keyword", True)}),
    ],
)
def test_a_signature_that_accepts_more_breaks_no_caller(before, now):
    assert [*compare(before, now)] == []


def test_a_name_that_was_removed_is_found():
    assert [*find_breaks({"drf_mcp.gone": None}, {})] == ["drf_mcp.gone is gone."]
