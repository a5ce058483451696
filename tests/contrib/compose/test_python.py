"""Programs as models write them: what the interpreter lacks is rewritten, or told at once."""

from __future__ import annotations

import ast
import json

import pytest

from drf_mcp.contrib.compose.sandbox import ProgramEncoder
from example_project.shop.models import Customer, Ticket

pytestmark = pytest.mark.django_db

# Each gives what Python gives.
PROGRAMS = {
    "next with a default": "next((x for x in [1, 2] if x > 5), None)",
    "a generator is read once": "g = (x for x in [1, 2, 3])\n[next(g), list(g), list(g)]",
    "next of an iterator": "[next(zip('a', 'b')), next(map(int, '1')), next(reversed([1, 2]))]",
    "a method as a key": "d = {'a': 1, 'b': 2}\nsorted(d, key=d.get, reverse=True)",
    "a method of a type": "[*map(str.strip, [' a ']), max('bA', key=str.lower), str.upper('c')]",
    "a method in a variable": "found = []\nadd = found.append\nadd(1)\nfound",
    "sorting by a method": "rows = ['b', 'A']\nrows.sort(key=str.lower)\nrows",
    "yield": "def g(n):\n    for i in range(9):\n        if i == n:\n            return\n"
    "        yield i\n    yield from [7]\n[*g(2), *g(10)]",
    "del": "d = {'a': 1, 'b': 2}\nx = [1, 2, 3]\ndel d['a'], x[0], x[1:]\n[d, x]",
    "json of dates": "import json\nfrom datetime import date\n"
    "json.dumps([date(2024, 1, 2)], default=str)",
    "statistics": "import statistics as s\nfrom statistics import mean\n"
    "[mean([1, 3]), s.median([1, 2]), s.stdev([1, 2, 3, 4]), s.mode('aab'), s.quantiles([1, 2])]",
    "operator": "from operator import itemgetter\nsorted([{1: 2}, {1: 1}], key=itemgetter(1))",
    "heapq": "import heapq\nheapq.nlargest(1, [{'a': 1}, {'a': 2}], key=lambda row: row['a'])",
    "textwrap": "import textwrap\n[textwrap.shorten('one two three', 9), textwrap.wrap('a bc', 3)]",
    "string": "import string\n[string.digits, string.punctuation]",
    "calendar": "from calendar import month_name, monthrange\n[month_name[2], monthrange(2024, 2)]",
    "enum": "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\n[C(2).name, C.A.value]",
    "suppress": "from contextlib import suppress\nwith suppress(KeyError):\n    {}[1]\n3",
    "asyncio": "import asyncio\nasync def f(x):\n    return x\nasync def main():\n"
    "    return await asyncio.gather(f(1), f(2))\nasyncio.run(main())",
    "weeks": "from datetime import date\n"
    "[*date(2024, 12, 30).isocalendar(), date(2021, 1, 3).isocalendar()[1]]",
    "rounding": "[round(2.675, 2), round(1.15, 1), round(7.5), round(1250, -2)]",
    "a function in re.sub": "import re\nre.sub('[a-z]', lambda m: m.group().upper(), 'a1b')",
    "annotations": "from typing import Optional\ndef f(x: Optional[int] = None) -> list[int]:\n"
    "    y: list[int] = []\n    return y\nf()",
    "a named tuple": "from typing import NamedTuple\nclass P(NamedTuple):\n    a: int\nP(1).a",
    "iter() with an end": "rows = [1, 2, 3]\nlist(iter(lambda: rows.pop(), 1))",
    "yield as a value": "def g():\n    x = yield 1\n    yield x\nlist(g())",
    "UTC": "from datetime import UTC, datetime\ndatetime(2024, 1, 1, tzinfo=UTC)",
    "types": "from typing import Any, TypedDict\nRow = dict[str, Any]\nclass P(TypedDict):\n"
    "    a: int\nP(a=1)",
    "a named tuple with a default": "from typing import NamedTuple\nclass P(NamedTuple):\n"
    "    a: int\n    b: int = 2\nP(1).b",
    "names of modules": "string = 'a'\ncalendar = {1: 2}\n[string.upper(), calendar.get(1)]",
    "a name of a builtin": "def map(x):\n    return x\nmap(3)",
}


def run_in_python(program):
    tree = ast.parse(program)
    last = tree.body.pop()
    names = {}
    exec(compile(tree, "program", "exec"), names)
    return eval(compile(ast.Expression(last.value), "program", "eval"), names)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_python_gives(composer, name):
    expected = json.loads(ProgramEncoder().encode(run_in_python(PROGRAMS[name])))
    assert composer.value(PROGRAMS[name]) == expected


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


def test_a_tool_is_called_until_it_gives_the_end(staff):
    pages = "pages = [1, 2, 2, 1]\n"
    program = "[*iter(lambda: customers_list(page=pages.pop(), page_size=2)[0]['id'] % 7 and 1, 0)]"
    assert set(staff.value(pages + program.replace("% 7 and 1", "and len(pages)"))) == {3, 2, 1}


def test_an_error_of_the_interpreter_does_not_say_that_python_lacks_a_method(composer):
    error = composer.run("d = {'a': 1}\n[d.get][0]('a')").envelope["error"]
    assert "has no attribute" not in error
    assert "dict.get does not work here" in error


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
