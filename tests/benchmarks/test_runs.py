"""The benchmarks run, and what they count stays under its bar."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from django.test import override_settings

from benchmarks import cases, report, stages
from benchmarks.comparing import Figures
from benchmarks.requests import Client, Server
from drf_mcp.dispatch.request import PARSED_ACCEPT

# Function calls beside those of the same plain request. Some forty of each are hooks that a project
# can override.
BARS = {
    "customers_retrieve": 346,
    "customers_list, 20 rows": 424,
    "orders_list, 20 rows, nested": 424,
    "customers_create": 334,
    "customers_create, refused": 445,
}
# Parsing the Accept header, which REST framework keeps for a request since 3.18.
PARSING = 0 if PARSED_ACCEPT else 120
WITHIN = "within the budget"
# Statements that the plain request does not make; every other case makes none.
STATEMENTS = {
    # An insert; in strict mode an update too, and the endpoint authenticates before the view does.
    "customers_list audited, against not": 1,
    "customers_list audited in strict mode, against not": 3,
    # A transaction, in which are asked: the same content, what has expired, the quota; then the
    # entry and its chunks, in several inserts where they are megabytes. Of a view with permissions
    # and rows the caller's groups and permissions, and which of the rows may be seen.
    "documents_texts, 20 long documents, over the budget": 12,
    "nulls, megabytes, over the budget": 10,
    "floats, megabytes, over the budget": 12,
    "rows, megabytes, over the budget": 12,
    "text, megabytes, over the budget": 11,
}

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def untraced() -> Iterator[None]:
    """As in a process that has not imported OpenTelemetry, whatever other tests imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "opentelemetry.trace", raising=False)
        yield


@pytest.fixture(scope="module")
def measured(untraced, django_db_setup, django_db_blocker, watch) -> dict[str, Figures]:
    """Every benchmark, run once, by name."""
    server = Server()
    with (
        watch.paused(),
        django_db_blocker.unblock(),
        override_settings(ROOT_URLCONF="benchmarks.urls"),
    ):
        found = (comparison.run(server, rounds=1) for comparison in cases.cases(server, [20]))
        return {figures.name: figures for figures in found}


@pytest.fixture(scope="module")
def profiles(measured, django_db_blocker, watch) -> dict[str, Counter[str]]:
    """The function calls of everyday requests, by stage."""
    server = Server()
    with (
        watch.paused(),
        django_db_blocker.unblock(),
        override_settings(ROOT_URLCONF="benchmarks.urls"),
    ):
        everyday = cases.everyday(Client.of("alice"))
        return {each.name: stages.extra_calls_by_stage(server, each) for each in everyday}


def test_every_benchmark_gives_figures_and_costs_no_statement_more(measured):
    for figures in measured.values():
        assert min(figures.calls, figures.fastest, figures.median) > 0, figures.name
        extra = figures.measured.statements - figures.plain.statements
        assert extra <= STATEMENTS.get(figures.name, 0), figures.name
        assert report.line(figures).startswith(f"| {figures.name}")


def test_a_tool_call_makes_few_function_calls_more_than_plain_http(measured):
    extra = {name: measured[name].extra_calls for name in BARS}
    assert {name: calls for name, calls in extra.items() if calls > BARS[name] + PARSING} == {}


def test_the_profile_finds_a_stage_for_every_function_call(profiles, measured):
    for name, counts in profiles.items():
        assert counts.keys() <= set(stages.ROWS)
        # The two profilers differ in what they count of themselves.
        assert abs(sum(counts.values()) - measured[name].extra_calls) < 15, name
    assert all(profiles["customers_retrieve"][stage] for stage in stages.ROWS)
    lines = [*report.profile(profiles, stages.ROWS)]
    assert len(lines) == len(stages.ROWS) + 2
    assert len({len(line) for line in lines}) == 1


def test_a_budget_costs_next_to_nothing_where_it_is_kept(measured):
    within = [figures for name, figures in measured.items() if WITHIN in name]
    assert within
    for figures in within:
        assert figures.extra_calls <= 5, figures.name


def test_an_audit_costs_less_than_a_tenth_of_a_page(measured):
    assert measured["customers_list audited, against not"].calls < 1.1
    assert measured["customers_list audited in strict mode, against not"].calls < 1.3


def test_a_list_of_tools_is_cheaper_the_second_time(measured):
    first = measured["tools/list, 20 tools, first time"]
    assert measured["tools/list, 20 tools, again"].calls < first.calls / 20


def test_the_table_says_on_what_it_was_measured():
    machine, names, _ = report.heading()
    assert "Python" in machine
    assert names.count("|") == report.row(("-",) * len(report.HEADINGS)).count("|")
