"""Programs of the project are tools of their own, checked against the tools that they call."""

from __future__ import annotations

from functools import partial

import pytest
from rest_framework import serializers

from drf_mcp import registry
from drf_mcp.checks.project import Project
from drf_mcp.contrib.compose import PROGRAMS, mcp_program
from drf_mcp.contrib.compose.feature import check_compose
from example_project.shop.models import Order, Ticket

pytestmark = pytest.mark.django_db


class Month(serializers.Serializer):
    month = serializers.RegexField(r"^\d{4}-\d\d$", help_text="Such as 2026-10.")
    limit = serializers.DecimalField(8, 2, required=False)


class Totals(serializers.Serializer):
    orders = serializers.IntegerField()
    total = serializers.DecimalField(10, 2)


CLOSE = """
    from decimal import Decimal

    paid = [o for o in orders_list(status=["paid"]) if o["placed_at"].startswith(month)]
    tickets_create(customer=paid[0]["customer"], subject=f"Closed {month}", body=limit or "-")
    {"orders": len(paid), "total": sum(Decimal(o["total"]) for o in paid), "other": 1}
"""


@pytest.fixture
def declare():
    """Declare a program as a module ``mcp.py`` does."""

    def make(name="close_month", program=CLOSE, **options):
        mcp_program(name, program, **options)
        registry.reload()

    yield make
    PROGRAMS.clear()
    registry.reload()


def test_a_program_of_the_project_is_a_tool_with_its_arguments(carol, declare):
    declare(arguments=Month, description="Close a month.")
    tool = carol.tools()["close_month"]
    schema = tool["inputSchema"]
    assert tool["description"] == "Close a month."
    assert schema["required"] == ["month"]
    assert schema["properties"]["month"]["description"] == "Such as 2026-10."
    assert tool["annotations"]["readOnlyHint"] is False


def test_its_result_is_as_it_is_declared_and_names_what_was_changed(carol, declare):
    declare(arguments=Month, result=Totals)
    paid = Order.objects.filter(placed_at__year=2026, placed_at__month=10, status="paid").count()
    data = carol.call("close_month", month="2026-10", limit="5.5").data
    ticket = Ticket.objects.latest("pk")
    assert data["result"].keys() == {"orders", "total"}
    assert data["result"]["orders"] == paid
    assert data["changed"] == [{"tool": "tickets_create", "object": {"id": ticket.pk}}]
    assert (ticket.subject, ticket.body) == ("Closed 2026-10", "5.50")


def test_a_wrong_argument_is_refused_before_anything_is_called(carol, declare):
    declare(arguments=Month)
    before = Ticket.objects.count()
    refused = carol.call("close_month", month="October")
    assert [each["pointer"] for each in refused.problems] == ["/month"]
    assert carol.call("close_month").code == "MISSING_REQUIRED"
    assert Ticket.objects.count() == before


def test_a_result_that_is_not_as_declared_goes_on_by_resume_without_a_second_write(carol, declare):
    made = 'tickets_create(customer=1, subject="a", body="b")'
    declare(program=f"{made}\n{{'orders': 1}}", result=Totals)
    before = Ticket.objects.count()
    failed = carol.call("close_month")
    assert "not as it is declared" in failed.envelope["error"]
    assert failed.data["changed"]
    assert carol.call("close_month", resume=failed.data["resume"]).code == "PROGRAM_FAILED"
    assert Ticket.objects.count() == before + 1


def test_a_program_of_an_agent_goes_on_by_no_tool_of_the_project(staff, declare):
    declare(program="tickets_create(customer=1, subject='a', body='b')")
    failed = staff.run("tickets_create(customer=1, subject='a', body='b')\n1 / 0")
    assert staff.call("close_month", resume=failed.data["resume"]).code == "NOT_FOUND"


def test_a_program_that_only_reads_says_so_and_may_give_rows(carol, declare):
    program = "[{'orders': 1, 'total': 2, 'more': len(orders_list())}]"
    declare(program=program, result=partial(Totals, many=True))
    assert carol.tools()["close_month"]["annotations"]["readOnlyHint"] is True
    assert carol.call("close_month").data == {"result": [{"orders": 1, "total": "2.00"}]}


def test_a_caller_sees_a_program_who_sees_all_tools_that_it_calls(agent_of, declare):
    declare(program="products_partial_update(items=[])")
    assert "close_month" in agent_of("carol").tools()
    assert "close_month" not in agent_of("alice").tools()


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("x = 1\norder_list()", "Line 3: There is no function or tool order_list."),
        ("tickets_list(state='open')", "Line 2: tickets_list /state: Unknown argument."),
        ("x = ", "Line 2: SyntaxError"),
    ],
)
def test_a_program_that_would_fail_is_no_tool_and_an_error_of_the_checks(
    carol, declare, program, problem
):
    declare(program=program)
    assert "close_month" not in carol.tools()
    (error,) = check_compose(Project())
    assert error.id == "drf_mcp.E021"
    assert problem in error.msg
