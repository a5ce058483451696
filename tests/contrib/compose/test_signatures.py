"""What `signatures()` gives can be followed as it stands, and is whole."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.django_db


def test_all_tools_are_a_line_each_and_a_shape_of_several_answers_is_said_once(staff):
    text = staff.value("signatures()")
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if re.match(r"\w+ = ", line))
    assert lines["Ticket"].startswith("{id: int, customer: int")
    assert re.search(r"^customers_retrieve\(id: int\) -> Customer$", text, re.M)
    assert re.search(r"^tickets_list\(.*\) -> \[Ticket\]$", text, re.M)
    assert len(re.findall(r"^orders_\w+\(", text, re.M)) == len(
        [name for name in staff.tools() if name.startswith("orders_")]
    )


def test_a_signature_of_a_pattern_says_where_values_come_from_and_what_they_have_to_be(staff):
    text = staff.value("signatures('orders_create', 'customers_*')")
    assert "joined_after: date = None" in text
    assert 'ordering: ["name" | "joined" | "country"] = None' in text
    assert "The slug of a product, from products_list; quantity: >= 1; <= 100" in text
    assert "customers_destroy(id: int, dry_run: bool = None) -> None" in text
    # A program gets whole lists.
    assert "page" not in text


def test_a_pattern_that_fits_no_tool_is_said_with_what_there_is(staff):
    text = staff.value("signatures('invoices_*')")
    assert text.startswith("# No tool fits 'invoices_*'. There are customers, products, orders")


def test_what_is_printed_beyond_the_room_ends_with_a_whole_line(staff):
    output = staff.run("print(signatures())\n1").data["output"]
    lines = staff.value("signatures()").splitlines()
    assert 10 < len(output.splitlines()) < len(lines)
    assert output.removesuffix("…").splitlines() == lines[: len(output.splitlines()) - 1]


@pytest.mark.parametrize("search", [True, False])
def test_an_endpoint_can_list_programs_and_search_alone(composer_of, configure, search):
    configure(COMPOSE="writes", COMPOSE_ALONE=True, TOOL_SEARCH=search)
    agent = composer_of("carol", "/mcp")
    own = {"content_retrieve", "proposals_retrieve", "proposals_withdraw"}
    assert agent.tools().keys() - own == {"tools_compose", *(["tools_search"] if search else [])}
    assert (
        agent.value("len(customers_list())")
        == agent.call("customers_list").envelope["meta"]["pagination"]["total_count"]
    )
