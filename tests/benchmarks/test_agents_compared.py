"""Another package in the same run: its list and its messages are read as fairly as ours."""

from __future__ import annotations

import json
import os
import re
import threading
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from benchmarks.agents.comparison import Comparison
from benchmarks.agents.generation import Generator
from benchmarks.agents.other_package import names
from benchmarks.agents.other_package.document import drop_empty_lists
from benchmarks.agents.other_package.endpoint import merge
from benchmarks.agents.other_package.live import LiveServer
from benchmarks.agents.other_package.results import PlainResult
from benchmarks.agents.projects import DATA, PROJECTS
from benchmarks.agents.repair import Repair
from benchmarks.agents.report import ROWS
from benchmarks.agents.search import Search
from benchmarks.agents.transcript import Transcript
from benchmarks.agents.ways import CodeModeWay, ProgramWay

FETCHED = sorted((DATA / "fetched").glob("*.json"))
REFUSED = "Error calling tool 'orders_create': HTTP error 400: Bad Request - "


def read(text: str, *, failed: bool = True) -> PlainResult:
    return PlainResult({"isError": failed, "content": [{"type": "text", "text": text}]})


def correct(schema, arguments, text, **knows):
    tools = {"orders_list": {"name": "orders_list", "inputSchema": schema}}
    return Repair(tools, "orders_list", arguments, read(text), knows).find_step().arguments


REFUSALS = [
    (REFUSED + "{'email': ['Enter a valid e-mail address.']}", "validation", ["/email"]),
    (REFUSED + "{'lines': [{}, {'product': ['No.']}]}", "validation", ["/lines/1/product"]),
    (REFUSED + "{'lines': {'non_field_errors': ['A list.']}}", "validation", ["/lines"]),
    (REFUSED + "{'non_field_errors': ['Sold out.']}", "validation", []),
    (REFUSED + "['Sold out.']", "validation", []),
    (
        "HTTP error 422: Unprocessable Entity - "
        "{'detail': [{'loc': ['body', 'question'], 'msg': 'Field required', 'input': {}}]}",
        "validation",
        ["/question"],
    ),
    ("HTTP error 404: Not Found - {'detail': 'No Order matches.'}", "not_found", []),
    ("HTTP error 403: Forbidden - {'detail': 'You may not.'}", "authorization", []),
    ("HTTP error 500: Internal Server Error - <html>\n</html>", "internal", []),
    (
        "Error building request for GET /orders/{id}/: ValueError: "
        "Missing required path parameters: {'id'}",
        "validation",
        ["/id"],
    ),
]


def test_a_refusal_is_read_with_its_kind_and_the_arguments_it_names():
    for text, kind, pointers in REFUSALS:
        result = read(text)
        assert (result.kind, [problem.pointer for problem in result.problems]) == (kind, pointers)
        assert result.text == text


def test_the_wrapper_of_the_protocol_is_removed_from_an_answer():
    assert read('{"result":[{"id":1}]}', failed=False).data == [{"id": 1}]
    assert read('{"id":1}', failed=False).data == {"id": 1}
    assert read("plain", failed=False).data == "plain"


def test_the_arguments_of_the_next_page_come_from_its_url():
    page = {"next": "http://127.0.0.1/api/orders/?page=2&status=paid", "results": []}
    result = read(json.dumps(page), failed=False)
    assert result.envelope["meta"] == {"pagination": {"next": {"page": "2", "status": "paid"}}}
    assert read('{"next":null}', failed=False).meta == {}


def test_references_and_all_of_are_resolved():
    schema = {
        "$defs": {"Priority": {"type": "integer", "enum": [1, 2], "description": "General."}},
        "properties": {
            "priority": {"allOf": [{"$ref": "#/$defs/Priority"}], "description": "Own."},
        },
    }
    merged = {"type": "integer", "enum": [1, 2], "description": "Own."}
    assert merge(schema, schema) == {"properties": {"priority": merged}}


@pytest.fixture
def route_names(monkeypatch):
    """The names of a list that shares routes with our tools."""

    def make(method, path):
        return SimpleNamespace(
            endpoint=SimpleNamespace(method=method, route=SimpleNamespace(path=path))
        )

    known = {
        "books_partial_update": make("patch", "/books/{isbn}/"),
        "orders_list": make("get", "/customers/{customer_pk}/orders/"),
        "status": make("get", "/{version}/status/"),
        "books_list": make("get", "/many/{isbn}/"),
    }
    monkeypatch.setattr(names, "registry", SimpleNamespace(tools=lambda: known))
    own = {
        "books_partial_update": {"isbn_path": {}, "isbn": {}, "pages": {}},
        "orders_list": {"customer_pk": {}, "status": {}, "fields": {}},
        "status": {"version": {}},
        "books_list": {"ids": {}},
    }
    in_books = [
        ("isbn__path", "path", "isbn"),
        ("isbn", "body", "isbn"),
        ("pages", "body", "pages"),
    ]
    in_orders = [("customer_id", "path", "customer_id"), ("status", "query", "status")]
    routes = {
        "books_patch": ("PATCH", "/books/{isbn}/", in_books),
        "books_put": ("PUT", "/books/{isbn}/", []),
        "find_orders": ("GET", "/customers/{customer_id}/orders/", in_orders),
        "v2_status": ("GET", "/v2/status/", []),
        "books_many": ("GET", "/many/{book_isbn}/", [("book_isbn", "path", "book_isbn")]),
    }
    return names.RouteNames(
        {
            name: {
                "method": method,
                "path": path,
                "arguments": {a: {"location": b, "openapi_name": c} for a, b, c in arguments},
            }
            for name, (method, path, arguments) in routes.items()
        },
        {name: {"inputSchema": {"properties": p}} for name, p in own.items()},
    )


def test_a_tool_of_another_list_is_found_by_its_route_and_method(route_names):
    assert route_names.find_tool("orders_list") == "find_orders"
    assert route_names.find_tool("status") == "v2_status"
    assert route_names.find_tool("books_destroy") is None
    assert route_names.find_tool("books_update") == "books_put"
    assert route_names.find_data_name("books_put") == "books_update"


def test_arguments_are_renamed_for_another_list(route_names):
    sent = {"customer_pk": 1, "status": "paid", "state": "new"}
    told = {"customer_id": 1, "status": "paid", "state": "new"}
    assert route_names.translate("orders_list", sent) == told
    sent = {"isbn_path": "1", "isbn": "2"}
    assert route_names.translate("books_partial_update", sent) == {"isbn__path": "1", "isbn": "2"}


def test_the_key_in_the_path_is_kept_where_our_tool_takes_several_keys(route_names):
    assert route_names.translate("books_list", {"isbn": "1"}) == {"book_isbn": "1"}


def test_an_empty_list_of_required_members_is_dropped():
    document = {"a": [{"required": [], "properties": {"required": {"required": ["id"]}}}]}
    assert drop_empty_lists(document) == {"a": [{"properties": {"required": {"required": ["id"]}}}]}


def test_the_list_tool_of_a_subject_is_found_in_any_spelling():
    tools = {
        name: {"name": name, "inputSchema": {}}
        for name in ("orders_retrieve", "orders_list", "apiRecipeList", "apiRecipeRetrieve")
    }
    search = Search(tools)
    assert search.find_lister("/recipe") == "apiRecipeList"
    assert search.find_lister("/order") == "orders_list"


def test_a_list_does_not_cover_tools_and_arguments_that_it_lacks(route_names):
    assert route_names.covers("orders_list", {"status": "paid"})
    assert not route_names.covers("orders_list", {"fields": ["id"]})
    assert not route_names.covers("books_destroy", {})
    assert not route_names.covers("books_partial_update", {"pages": "data:text/plain,1"})


def test_only_paths_of_our_tools_are_common(route_names):
    paths = ["/books/{id}/", "/v2/status/", "/login/"]
    assert route_names.find_common_paths(paths) == ["/books/{id}/", "/v2/status/"]


def test_labels_are_read_as_drf_spectacular_writes_them():
    choices = {"enum": [1, 2], "type": "integer", "description": "* `1` - Low\n* `2` - High"}
    text = REFUSED + "{'priority': ['\"High\" is not a valid choice.']}"
    assert correct({"properties": {"priority": choices}}, {"priority": "High"}, text) == {
        "priority": 2
    }


def test_an_error_about_a_range_applies_to_both_ends():
    schema = {"properties": {"placed_after": {"type": "string", "format": "date"}}}
    text = REFUSED + "{'placed': ['Enter a valid date.']}"
    assert correct(schema, {"placed_after": "1.10.2026"}, text) == {"placed_after": "2026-10-01"}


def test_a_missing_argument_takes_the_value_of_an_unknown_one():
    schema = {"properties": {"customer_pk": {"type": "integer"}}, "required": ["customer_pk"]}
    text = "Missing required path parameters: {'customer_pk'}"
    assert correct(schema, {"customer": 3}, text) == {"customer_pk": 3}


def test_strings_are_made_from_format_with_pattern_and_from_maximum_length_zero():
    generator = Generator("1")
    date = {"type": "string", "format": "date", "pattern": r"^\d{4}-\d\d-\d\d$"}
    assert generator.make(date) == "2026-05-01"
    assert generator.make({"type": "string", "maxLength": 0}) == ""
    decimal = {"type": "string", "pattern": r"^\d{0,2}$"}
    assert any(generator.make(decimal) for _ in range(3))


@pytest.mark.django_db
def test_a_request_is_served_during_the_wait_for_a_line(settings):
    settings.ROOT_URLCONF = "example_project.urls"
    live = LiveServer()
    reading, writing = os.pipe()

    def ask() -> None:
        with open(writing, "w") as lines:
            try:
                urlopen(f"{live.url}/api/orders/")
            except HTTPError as exc:
                lines.write(f"{exc.code}\n")
                exc.close()

    asking = threading.Thread(target=ask)
    asking.start()
    with open(reading) as lines:
        assert live.wait_for_line(lines).strip() == "401"
    asking.join()
    assert live.crash is None
    live.close()


def make_found(package, *tasks):
    named = re.findall(r"{(\w+)}", " ".join(form for _, form in ROWS))
    figures = dict.fromkeys(named, 7)
    told = [{"task": name, "tokens": tokens, "failure": why} for name, tokens, why in tasks]
    return {
        "project": "shop",
        "package": package,
        "left_out": 2,
        "figures": figures,
        "tasks": told,
    }


def test_a_comparison_counts_only_tokens_of_tasks_that_every_list_could_do():
    now = [
        make_found("drf_mcp", ("a", 10, ""), ("b", 20, "")),
        make_found("FastMCP 4", ("a", 30, ""), ("b", 0, "No.")),
    ]
    before = [make_found("drf_mcp", ("a", 40, ""), ("b", 50, "")), *now[1:]]
    lines = list(Comparison("shop", now, before).make_table())
    assert lines[0] == "| shop | drf_mcp, before | drf_mcp | FastMCP 4 |"
    assert "| tokens read in 1 tasks | 40 | 10 | 30 |" in lines
    assert len(lines) == len(ROWS) + 4
    assert lines[-1].endswith("2.")


@pytest.mark.slow
@pytest.mark.django_db
def test_a_transcript_has_each_message_of_a_task():
    project = PROJECTS[0]
    with project.serving():
        text = "\n".join(Transcript(project, "how many orders").write())
    assert text.startswith("## How many orders are paid but not shipped?")
    for method in ("server/discover", "tools/list", "tools/call"):
        assert f"The client sends `{method}`:" in text
    assert '\\"paid\\":29' in text


def test_a_fetched_project_has_enough_questions_faults_and_tasks():
    least = {"questions": 30, "faults": 20, "tasks": 5}
    for path in FETCHED:
        entries = json.loads(path.read_text())
        assert all(len(entries[name]) >= count for name, count in least.items()), path
        for fault in entries["faults"]:
            assert {"right", "then", "stop"} & fault.keys(), fault


STEPS = [
    {"tool": "events_list", "search": "find", "arguments": {"search": "Jazz"}},
    {"tool": "bookings_create", "search": "book", "arguments": {"event": "$0.results.0.id"}},
]


@pytest.mark.parametrize(
    ("way", "program"),
    [
        (
            ProgramWay,
            "a0 = events_list(search='Jazz')\n[bookings_create(event=a0[0]['id']), a0[0]['name']]",
        ),
        (
            CodeModeWay,
            "a0 = await call_tool('events_list', {'search': 'Jazz'})\n"
            "return [await call_tool('bookings_create', {'event': a0['results'][0]['id']}), "
            "a0['results'][0]['name']]",
        ),
    ],
)
def test_programs_of_both_packages_are_written_from_the_same_steps(monkeypatch, way, program):
    written = []
    result = SimpleNamespace(text="")
    monkeypatch.setattr(way, "find", lambda self, step: None)
    monkeypatch.setattr(way, "send", lambda self, text: written.append(text) or result)
    task = {"steps": STEPS, "shown": "$0.results.0.name"}
    way(SimpleNamespace(tools={}, page={"tools": []})).work(task)
    assert written == [program]
