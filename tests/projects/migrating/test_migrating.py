"""Projects that moved here from other packages: the same tools, by their tables."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from rest_framework.test import APIClient

from drf_mcp.tools import registry
from tests.agents import Agent
from tests.projects.migrating.projects import PROJECTS, SHOWN, Project
from tests.projects.migrating.record import REQUIREMENTS

# Serves what was cut from long answers, and is of no project.
OWN = {"content_retrieve"}


@pytest.fixture(scope="module", params=PROJECTS, ids=lambda project: project.name)
def project(request) -> Project:
    return request.param


@pytest.fixture(scope="module")
def tables(project, django_db_setup, django_db_blocker) -> Iterator[None]:
    module = project.module("models")
    found = [model for model in vars(module).values() if is_model_of(model, module)]
    with django_db_blocker.unblock():
        with connection.schema_editor() as editor:
            for model in found:
                editor.create_model(model)
        yield
        with connection.schema_editor() as editor:
            for model in reversed(found):
                editor.delete_model(model)


def is_model_of(value: Any, module: Any) -> bool:
    return hasattr(value, "_meta") and value.__module__ == module.__name__


@pytest.fixture
def served(project, tables, db, settings, monkeypatch) -> None:
    """The project as it is after the move, with a row of everything."""
    after = project.module("after.settings")
    # What its mcp.py registers is not kept for other tests.
    monkeypatch.setattr(registry, "_registrations", [])
    settings.DRF_MCP = after.DRF_MCP
    settings.ROOT_URLCONF = after.ROOT_URLCONF
    registry.reload()
    name = f"tests.projects.migrating.{project.name}.after.mcp"
    sys.modules.pop(name, None)
    if (project.folder / "after" / "mcp.py").exists():
        project.module("after.mcp")
    project.module("models").make_rows(User.objects.get(username="alice"))
    yield
    registry.reload()


@pytest.fixture
def agent(served, alice) -> Agent:
    return alice


def arguments_of(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The names of arguments, those of a group with the group's before them."""
    for name, member in schema.get("properties", {}).items():
        if member.get("properties"):
            yield from arguments_of(member, f"{path}{name}.")
        elif not member.get("readOnly"):
            yield f"{path}{name}"


def test_every_tool_of_before_has_its_row_and_every_tool_of_now(project, agent):
    moves = project.moves
    assert [move.before for move in moves] == [tool["name"] for tool in project.recorded["tools"]]
    assert {move.after for move in moves if move.after} == {*agent.tools()} - OWN


def test_a_tool_is_the_method_and_route_of_its_row(project, served):
    routes = {
        name: (tool.endpoint.method, tool.endpoint.route.path)
        for name, tool in registry.tools().items()
    }
    moved = [move for move in project.moves if move.after]
    assert {m.after: routes[m.after] for m in moved} == {m.after: (m.method, m.path) for m in moved}


def test_every_argument_of_before_is_taken_by_the_name_that_its_row_says(project, agent):
    tools = agent.tools()
    schemas = {tool["name"]: tool["inputSchema"] for tool in project.recorded["tools"]}
    for move in project.moves:
        if move.after is None:
            continue
        before = {*arguments_of(schemas[move.before])}
        assert {*move.renamed} <= before, move
        expected = {move.renamed.get(name, name) for name in before} - {None}
        assert expected <= {*arguments_of(tools[move.after]["inputSchema"])}, move


def test_every_reading_tool_answers_what_the_view_answers(project, agent, http_of):
    reading = [move for move in project.moves if move.method == "GET"]
    assert reading
    for move in reading:
        grouped = "kwargs" in agent.tools()[move.after]["inputSchema"]["properties"]
        given = {"pk": 1} if "{pk}" in move.path else {}
        answer = agent.call_with(move.after, {"kwargs": given} if grouped else given)
        http: APIClient = http_of("alice")
        told = http.get(move.path.replace("{pk}", "1")).json()
        assert not answer.is_error, answer.raw
        assert rows_of(told)
        assert rows_of(answer.envelope) == rows_of(told)


def test_every_call_of_before_that_writes_works_by_the_names_of_its_row(project, agent):
    moves = {move.before: move for move in project.moves if move.method not in ("", "GET")}
    writes = project.module("models").WRITES
    assert sorted(name for name, _ in writes) == sorted(moves)
    for name, arguments in writes:
        move = moves[name]
        with transaction.atomic():
            answer = agent.call_with(move.after, move.translate(arguments))
            transaction.set_rollback(True)
        assert not answer.is_error, (name, answer.raw)


def rows_of(told: Any) -> Any:
    """What is told, out of its envelope and page."""
    for wrapping in ("data", "results"):
        told = told[wrapping] if isinstance(told, dict) and wrapping in told else told
    return told


def test_the_page_shows_what_was_changed_and_counts_it(project):
    [shown] = re.findall(r"```diff\n(.*?)```", project.section, re.S)
    assert shown.splitlines() == [*project.diff(SHOWN)]
    gone, new = project.counted()
    assert f"**{gone} lines gone, {new} new**" in said(project)


def said(project: Project) -> str:
    """The words of the project's section, wherever its lines end."""
    return " ".join(project.section.split())


def test_the_page_names_the_version_that_was_recorded(project):
    page, recorded = said(project), project.recorded
    assert f"`{recorded['package']}` {recorded['version']}" in page
    assert REQUIREMENTS[project.name][0] == f"{recorded['package']}=={recorded['version']}"
    assert recorded["recorded"] in page


def test_only_what_exposes_the_views_differs(project):
    """Views that both sides import are one file, and neither side imports the other's package."""
    for file in (project.folder / "after").glob("*.py"):
        assert project.recorded["package"].replace("-", "_") not in file.read_text().replace(
            f"migrating.{project.name}", ""
        )
