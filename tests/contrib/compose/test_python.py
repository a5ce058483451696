"""Programs as models write them: what the interpreter lacks is rewritten, or told at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from example_project.shop.models import Customer, Ticket

pytestmark = pytest.mark.django_db


@dataclass
class Probe:
    program: str
    # What Python gives, or the error that comes before the first call.
    data: dict[str, Any]
    error: str


def read_probes() -> dict[str, Probe]:
    """Return the programs of the file, each with the result that Python gave for it."""
    probes = {}
    for text in (Path(__file__).parent / "probes.txt").read_text().split("\n### "):
        name, _, rest = text.removeprefix("### ").rstrip("\n").partition("\n")
        program, _, end = rest.rpartition("\n")
        data, error = ({}, end[4:]) if end[:3] == "!!!" else (json.loads(end[4:]), "")
        probes[name] = Probe(program, data, error)
    return probes


def test_programs_as_models_write_them_give_what_python_gives_or_are_told(staff):
    wrong = {}
    for name, probe in read_probes().items():
        answer = staff.run(probe.program)
        got = answer.envelope["error"] if answer.is_error else answer.data
        got = got if probe.error else {each: got[each] for each in probe.data if each in got}
        if got != (probe.error or probe.data):
            wrong[name] = got
    assert wrong == {}


@pytest.mark.parametrize(
    "program",
    [
        "sorted(IDS, key=lambda i: customers_retrieve(id=i)['name'])",
        "[c['id'] for c in sorted(map(customers_retrieve, IDS), key=lambda c: c['name'])]",
        "rows = list(IDS)\nrows.sort(key=lambda i: customers_retrieve(id=i)['name'])\nrows",
        "import asyncio\nrows = await asyncio.gather(*[customers_retrieve(id=i) for i in IDS])\n"
        "[c['id'] for c in sorted(rows, key=lambda c: c['name'])]",
    ],
)
def test_tools_are_called_in_callbacks(staff, program):
    found = Customer.objects.order_by("name")[:3]
    ids = sorted(customer.pk for customer in found)
    assert staff.value(program.replace("IDS", str(ids))) == [customer.pk for customer in found]


# Each with texts of the one error that tells of all of it.
WRONG = {
    "names": ("x = 1\nif x > 5:\n    print(yy)\nzz", ["Line 3: NameError: name 'yy'", "Line 4"]),
    "tools": ("x = 1\nif x > 5:\n    customer_list()", ["Line 3", "Did you mean customers_list"]),
    "arguments": (
        "x = 1\nif x > 5:\n    orders_list(stats='paid')\n    customers_retrieve()",
        ["Line 3: orders_list /stats", "Did you mean 'status'", "Line 4: customers_retrieve /id"],
    ),
    "modules": ("import requests", ["No module named 'requests'", "statistics"]),
    "inheritance": ("class E(Exception):\n    pass\n1", ["Line 1: E cannot inherit"]),
    "comparison": ("class A:\n    def __lt__(self, o):\n        return 1\n1", ["__lt__"]),
    "writes in next(map())": (
        "next(map(lambda i: tickets_create(customer=i), [1]))",
        ["call it in a loop"],
    ),
    "writes in any()": ("any(tickets_create(customer=i) for i in [1])", ["call it in a loop"]),
    "a function at the end": ("def f():\n    return 1\nf", ["Line 3", "call f()"]),
    "a tool at the end": ("customers_list", ["call customers_list()"]),
    "names of modules": (
        "import statistics as s\nfrom textwrap import wrap, nothing\ns.nothing",
        ["Line 2: textwrap has no nothing here. It has wrap,", "Line 3: statistics has no"],
    ),
    "a newer syntax": ("x = 1\nf'{", ["Line 2: SyntaxError"]),
    "generators without end": ("def g():\n    while True:\n        yield 1\ng()", ["never ends"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_would_fail_is_told_at_once_and_before_the_first_call(staff, calls, name):
    program, texts = WRONG[name]
    before = Ticket.objects.count()
    made = 'tickets_create(customer=1, subject="Refund?", body="When?")'
    result = staff.run(program.replace("x = 1", f"x = 1; {made}"))
    assert result.code == "PROGRAM_FAILED"
    assert [text for text in texts if text not in result.envelope["error"]] == []
    assert Ticket.objects.count() == before
    assert calls == ["tools_compose"]


@pytest.mark.parametrize(
    "program",
    ["(x for x in [1, 2])", "map(int, '12')", "range(1, 3)", "{1: 0, 2: 0}.keys()", "iter([1, 2])"],
)
def test_rows_at_the_end_are_a_list(composer, program):
    assert composer.value(program) == [1, 2]


@pytest.mark.parametrize("program", ["items=ROWS", "ROWS", "items=[{**row} for row in ROWS]"])
def test_a_tool_that_takes_several_objects_is_called(staff, program):
    rows = "[{'slug': 'pencil-set', 'price': '3.00'}]"
    value = staff.value(f"products_partial_update({program.replace('ROWS', rows)})")
    assert [row["slug"] for row in value] == ["pencil-set"]


def test_a_tool_is_called_until_it_gives_the_end(staff):
    pages = "pages = [1, 2, 2, 1]\n"
    program = "[*iter(lambda: customers_list(page=pages.pop(), page_size=2)[0]['id'] % 7 and 1, 0)]"
    assert set(staff.value(pages + program.replace("% 7 and 1", "and len(pages)"))) == {3, 2, 1}


def test_a_program_that_is_resumed_with_a_mistake_can_be_resumed_again(staff):
    made = 'tickets_create(customer=1, subject="Refund?", body="When?")\n'
    failed = staff.run(f"{made}1 / 0")
    mistaken = staff.resume(failed, program=f"{made}nothing")
    assert "with the same 'resume'" in mistaken.data["remediation"]
    assert staff.resume(failed, program=f"{made}1").data["result"] == 1


def test_lines_of_errors_are_those_of_the_program(composer):
    program = "# a comment\n\nx = [\n    1,\n]\n\ndel x[0]\nx[5]"
    assert composer.run(program).envelope["error"].startswith("Line 8: IndexError")


def test_arguments_of_a_tool_that_its_caller_may_not_call_are_not_told(composer):
    result = composer.run("products_partial_update(nothing=1)")
    assert "nothing" not in result.envelope["error"]
