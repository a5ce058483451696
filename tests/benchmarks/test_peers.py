"""The comparison with other packages. None is installed here, and nothing is measured."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest
from django.test import override_settings

from benchmarks.peers import environments, report
from benchmarks.peers.checking import Checker, NothingDone, walk_rows
from benchmarks.peers.doors.base import Door, make_environment
from benchmarks.peers.project import find_endpoints, make_urlpatterns
from benchmarks.peers.worker import Operation, count_calls

LACK = "its view is given the message"
CHECK = {
    "version": "1.0",
    "lacks": {},
    "tools": 42,
    "list": "[]",
    "strangers": True,
    "denied_holds": True,
    "keeps_api": True,
    "page": 20,
    "matching": 7,
    "filtered": 7,
    "unknown": True,
    "page_text": "rows",
    "refused_is_error": True,
    "refused_text": "email: Enter a valid | address.",
    "denied_is_error": True,
    "denied_text": "No.",
}


def make_cost(calls=110, sql=2, seconds=(0.003, 0.0024, 0.0012)):
    plain = {"calls": 100, "sql": 2, "bytes": 1}
    cost = report.Cost({"plain": plain, "measured": {"calls": calls, "sql": sql, "bytes": 1}})
    cost.add({"plain": [0.002, 0.001, 0.009], "measured": list(seconds)})
    return cost


def test_a_cost_is_a_multiple_of_the_plain_requests():
    assert (make_cost().calls, make_cost().time) == (1.1, 1.2)
    assert (make_cost().statements, make_cost(sql=3).statements) == ("2", "3 of 2")


@pytest.fixture
def results(monkeypatch):
    monkeypatch.setattr(report.Tokens, "has_node", lambda self: False)
    monkeypatch.setattr(report.Tokens, "has_tiktoken", lambda self: False)
    found = report.Results(["ours", "theirs"])
    for tools in (0, 1002):
        for peer in found.peers:
            found.checks[tools, peer] = CHECK
            found.starts[tools, peer] = report.Start([1.0, 2.0, 9.0], [3.0, 1.0, 8.0])
            for name in (*report.ROWS, "tools/list"):
                found.costs[tools, name, peer] = make_cost()
    return found


def test_tables_name_what_a_package_lacks_and_why(results):
    lacking = {**CHECK, "lacks": {"create": LACK}, "denied_is_error": False, "strangers": False}
    results.checks[0, "theirs"] = lacking
    rows = {line.split(" | ")[0][2:]: line for line in results.write() if line.startswith("| ")}
    assert rows["read one row"] == "| read one row | 1.10 / 1.20; 2 | 1.10 / 1.20; 2 |"
    assert rows["a create"].endswith("| 1.10 / 1.20; 2 | cannot |")
    assert rows["a create, refused"].endswith("| cannot |")
    assert rows["the answer to a refused create"].endswith(f"| cannot: {LACK} |")
    assert "`email: Enter a valid \\| address.`" in rows["the answer to a refused create"]
    assert rows["strangers are refused with 401"].endswith("| yes | **no** |")
    assert rows["the answer to a caller without permission"].endswith(
        "| **no error**, 0 tokens: `No.` |"
    )
    assert rows["1002 tools: tools"] == "| 1002 tools: tools | 42 | 42 |"
    assert [
        line for name, line in rows.items() if "until its first list" in name and "1.50" in line
    ]


def test_rows_are_found_wherever_a_package_puts_them():
    row = {"id": 1, "email": "a@b.example"}
    for answer in (row, [row], {"results": [row]}, {"data": {"results": [row]}, "success": True}):
        assert list(walk_rows(answer)) == [row]
    assert list(walk_rows({"id": 1})) == []


class FakeWorker:
    """Answers each call with one result."""

    operations = {"read": Operation(("GET", "/", None), "retrieve", {})}

    def __init__(self, result):
        self.result = result

    def make_measured(self, operation):
        return lambda: (200, json.dumps({"result": self.result}).encode())


def test_an_operation_that_failed_gives_no_figures():
    failed = {"isError": True, "content": [{"type": "text", "text": "Unknown tool"}]}
    checker = Checker(FakeWorker(failed))
    with pytest.raises(NothingDone):
        checker.find_rows(FakeWorker.operations["read"])
    assert checker.find_rows(FakeWorker.operations["read"], strict=False) == []
    assert checker.is_error(FakeWorker.operations["read"])


def test_an_environment_is_made_once_per_version(tmp_path, monkeypatch):
    runs = []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build/peers/fastmcp").mkdir(parents=True)
    monkeypatch.setattr(environments.subprocess, "run", lambda command, check: runs.append(command))
    assert environments.find_python("drf_mcp") == sys.executable
    first = environments.find_python("fastmcp")
    assert environments.find_python("fastmcp") == first
    assert len(runs) == 2
    monkeypatch.setitem(environments.REQUIREMENTS, "fastmcp", ("fastmcp==99",))
    environments.find_python("fastmcp")
    assert runs[-1][-1] == "fastmcp==99"


def test_messages_follow_the_protocol_revision_of_the_package():
    now = Door().write("key", "tools/call", {"name": "customers_list", "arguments": {}})
    assert now["HTTP_MCP_NAME"] == "customers_list"
    assert now["HTTP_AUTHORIZATION"] == "Bearer key"
    assert b"_meta" in now["wsgi.input"].read()
    earlier = Door()
    earlier.revision = "2025-06-18"
    assert b"_meta" not in earlier.write(None, "tools/list")["wsgi.input"].read()
    assert "HTTP_AUTHORIZATION" not in make_environment(None, "GET", "/")


@pytest.mark.parametrize(("tools", "count"), [(6, 6), (1002, 1002)])
def test_a_generated_project_has_the_number_of_endpoints_in_its_setting(tools, count):
    with override_settings(TOOLS=tools):
        urls = ModuleType("urls")
        urls.urlpatterns = make_urlpatterns()
        with override_settings(ROOT_URLCONF=urls):
            found = list(find_endpoints())
    assert len({each.name for each in found}) == len(found) == count


def test_endpoints_of_the_example_are_named_as_its_tools():
    urls = ModuleType("urls")
    with override_settings(TOOLS=0):
        urls.urlpatterns = make_urlpatterns()
    with override_settings(ROOT_URLCONF=urls):
        found = {each.name: each for each in find_endpoints()}
    assert {"customers_retrieve", "customers_list", "customers_deactivate"} <= found.keys()
    assert replace(found["tickets_destroy"], view=object).keys == ("pk",)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the benchmark needs Python 3.12")
def test_calls_of_all_threads_are_counted():
    from concurrent.futures import ThreadPoolExecutor

    def work():
        for _ in range(100):
            len("")

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
        alone = count_calls(work)
        assert count_calls(lambda: pool.submit(work).result()) > alone >= 100
