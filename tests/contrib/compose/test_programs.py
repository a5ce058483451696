"""The functions of a program, its errors and its result."""

from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import call_command
from django.urls import path
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.exceptions import SoftFailure
from drf_mcp.exposure import registry
from drf_mcp.truncation import count_tokens
from example_project.shop.models import Customer
from example_project.shop.serializers import CustomerSerializer
from tests.documentation.pages import ROOT

pytestmark = pytest.mark.django_db


def test_a_tool_returns_the_data_of_the_same_request(composer, http_of):
    pk = Customer.objects.filter(owner__username="alice").first().pk
    api = http_of("alice")
    assert composer.value(f"customers_retrieve(id={pk})") == api.get(f"/api/customers/{pk}/").json()


def test_a_program_combines_several_calls(staff, calls):
    program = """
best = {}
for order in orders_list(status=["pending"]):
    best[order["customer"]] = best.get(order["customer"], 0) + 1
top = max(best, key=lambda name: best[name])
{"name": customers_retrieve(id=top)["name"], "orders": best[top]}
"""
    value = staff.value(program)
    found = Customer.objects.get(name=value["name"])
    assert value["orders"] == found.orders.filter(status="pending").count()
    assert {"orders_list", "customers_retrieve", "tools_compose"} == set(calls)


def test_the_text_of_an_error_has_its_code_and_pointer(composer):
    program = """
try:
    orders_create(customer=1, lines=[{"product": "ball", "quantity": "many"}])
except ToolError as error:
    text = str(error)
text
"""
    assert composer.value(program).startswith("VALIDATION_ERROR /lines/0/")


def test_an_uncaught_error_is_the_error_of_the_program(composer):
    result = composer.run("1\ncustomers_retrieve(id=0)")
    assert (result.is_error, result.code, result.data["line"]) == (True, "NOT_FOUND", 2)
    assert "customers_list" in result.data["remediation"]


@pytest.fixture
def broken_customers(monkeypatch):
    """Customers whose answers cannot be encoded. Tools described meanwhile are not kept."""
    answer = {"id": 1, "rating": float("nan")}
    with monkeypatch.context() as patched:
        patched.setattr(CustomerSerializer, "to_representation", lambda self, instance: answer)
        yield
    registry.reload()


@pytest.mark.usefixtures("broken_customers")
def test_a_change_whose_result_cannot_be_encoded_is_named(staff):
    result = staff.run('customers_create(name="Ann", email="a@mail.example", country="DE")')
    assert Customer.objects.filter(name="Ann").count() == 1
    assert result.code == "INTERNAL_ERROR"
    assert [each["tool"] for each in result.data["changed"]] == ["customers_create"]
    assert "Do not repeat the call" in result.envelope["error"]


def test_arguments_by_position_are_those_that_the_call_needs(composer):
    pk = Customer.objects.filter(owner__username="alice").first().pk
    assert composer.value(f"[customers_retrieve({pk})['id'], *map(customers_retrieve, [])]") == [pk]
    result = composer.run("customers_list(1)")
    assert "customers_list takes arguments by name: " in result.envelope["error"]


def test_a_tool_can_be_assigned_to_a_variable(composer):
    assert composer.value("f = customers_list\nlen(f(page_size=2, page=1))") == 2


def test_signatures_can_be_printed(composer):
    result = composer.run("print(signatures('customers_retr*'))")
    assert result.data["output"].startswith("customers_retrieve(id: int) -> {id: int, ")


def test_signatures_leave_out_tools_that_the_caller_may_not_call(composer, staff):
    program = "signatures('products_*')"
    assert "products_partial_update" in staff.value(program)
    assert "products_partial_update" not in composer.value(program)


def test_a_program_without_a_result_gets_a_suggestion(composer):
    result = composer.run("if True:\n    print")
    assert result.data == {"result": None}
    assert "end the program with the expression" in result.envelope["meta"]["suggestions"][0]


@pytest.mark.parametrize("program", ["float('nan')", "type(1)", "[...]"])
def test_a_result_that_is_not_json_is_refused(composer, program):
    assert composer.run(program).code == "PROGRAM_FAILED"


def test_a_result_that_is_too_long_is_kept_for_the_next_program(composer, composer_of, configure):
    configure(MAX_RESULT_TOKENS=1000)
    result = composer.run("[str(n) * 20 for n in range(400)]")
    name = result.data["kept"]
    assert composer.value(f"len(kept({name!r}))") == 400
    other = composer_of("bob").run(f"len(kept({name!r}))")
    assert "NOT_FOUND" in other.envelope["error"]


@pytest.mark.parametrize("username", [None, "alice"])
def test_what_a_failed_call_says_at_length_is_kept_and_named(expose, agent_of, username):
    rows = [{"id": number, "text": "word " * 60} for number in range(300)]

    class Soft(APIView):
        permission_classes = ()

        def get(self, request):
            raise SoftFailure("Not all sources answered.", data=rows)

    kept = {"ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    expose(path("soft/", Soft.as_view()), COMPOSE=True, **kept)
    agent = agent_of(username)
    result = agent.call("tools_compose", program="soft()")
    assert result.is_error
    found = re.search(r"archive_id='([\w-]+)'", result.data["remediation"])
    text, offset = "", 0
    while offset is not None:
        part = agent.call("content_retrieve", archive_id=found[1], offset=offset).data
        text, offset = text + part["text"], part["next_offset"]
    assert json.loads(text) == rows


def test_warnings_of_calls_are_shown(composer):
    result = composer.run("customers_list(name='no such name')")
    assert any("No rows fit 'name'" in text for text in result.envelope["meta"]["warnings"])


def test_the_grouped_layout_holds_for_the_tool_and_for_programs(composer_of, configure):
    configure(ARGUMENTS="grouped", COMPOSE="writes")
    registry.reload()
    agent = composer_of("alice")
    program = "len(customers_list(query={'page': 1, 'page_size': 3}))"
    assert agent.call("tools_compose", body={"program": program}).data == {"result": 3}
    (problem,) = agent.call("tools_compose", body={"resume": "nothing"}).problems
    assert problem["pointer"] == "/body/resume"


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({}, "/program"),
        ({"program": ["1"]}, "/program"),
        ({"program": "1", "answers": 1}, "/answers"),
        ({"program": " " * 20_001 + "1"}, "/program"),
        ({"resume": 1}, "/resume"),
    ],
)
def test_malformed_arguments_are_refused(composer, arguments, pointer):
    result = composer.call_with("tools_compose", arguments)
    assert [problem["pointer"] for problem in result.problems] == [pointer]


def test_with_compose_true_programs_only_read(composer_of, configure):
    configure(COMPOSE=True)
    reader = composer_of("carol", "/mcp")
    assert reader.tools()["tools_compose"]["annotations"]["readOnlyHint"] is True
    before = Customer.objects.count()
    result = reader.run("customers_create(name='Zoe', email='zoe@example.com', country='DE')")
    assert (result.code, Customer.objects.count()) == ("FORBIDDEN", before)
    assert "customers_create" not in reader.value("signatures()")


def test_a_tool_that_its_caller_does_not_see_is_no_function(composer_of, configure):
    configure(COMPOSE=True)
    result = composer_of("alice", "/mcp").run("products_partial_update(items=[])")
    assert "There is no function or tool products_partial_update." in result.envelope["error"]


def test_without_the_setting_there_is_no_tool_for_programs(alice):
    assert "tools_compose" not in alice.tools()
    assert "Unknown tool" in alice.error("tools/call", name="tools_compose")["message"]


def make_number_view(name):
    @mcp_tool(name=name)
    @api_view(["GET"])
    def show_number(request):
        return Response({"number": 7})

    return show_number


@pytest.fixture
def reserved(composer_of, expose):
    """An agent whose tools have names that Python or the sandbox reserves."""
    names = ("import", "print", "kept", "import_")
    expose(*(path(f"{name}/", make_number_view(name)) for name in names), COMPOSE=True)
    return composer_of("alice", "/mcp")


@pytest.mark.parametrize("name", ["import__", "print_", "kept_", "import_"])
def test_a_tool_with_a_reserved_name_is_a_function_with_an_underscore(reserved, name):
    assert reserved.value(f"{name}()") == {"number": 7}


def test_signatures_and_errors_have_the_names_of_functions(reserved):
    assert reserved.value("signatures('pri*')").startswith("print_(")
    assert "Did you mean kept_" in reserved.run("keptt()").envelope["error"]


class Since(APIView):
    permission_classes = []

    def get(self, request):
        return Response({"since": request.query_params.get("from")})


def test_an_argument_with_a_name_that_python_reserves_can_be_called_as_its_signature_says(
    composer_of, expose
):
    expose(path("since/", Since.as_view()), COMPOSE=True, TOOL_SEARCH=True)
    composer = composer_of("alice", "/mcp")
    assert composer.value("signatures('since')").startswith("since(from_: str = None")
    assert composer.value("since(from_='May')") == {"since": "May"}
    assert composer.call("since", from_="May").data == {"since": "May"}
    assert composer.call("since", **{"from": "May"}).data == {"since": "May"}
    hit = composer.call("tools_search", query="since").data["tools"][0]
    assert "from_: str" in hit["signature"]


TASKS = json.loads((ROOT / "benchmarks/agents/data/programs.json").read_text())["shop"]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["task"])
def test_a_task_of_several_calls_costs_few_tokens(staff, task):
    """The tasks of the benchmark of agents."""
    result = staff.run(task["program"])
    answer = result.raw["content"][0]["text"]
    assert not result.is_error, answer
    assert result.data["result"] == task["result"]
    assert count_tokens(task["program"]) + count_tokens(answer) < 270


def test_the_command_runs_a_program(configure):
    configure(COMPOSE=True)
    out = io.StringIO()
    call_command("mcp_call", "tools_compose", "program=1 + 1", "--as", "alice", stdout=out)
    assert json.loads(out.getvalue())["data"] == {"result": 2}
