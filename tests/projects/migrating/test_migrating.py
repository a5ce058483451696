"""Projects that moved from other packages have the same tools, as their tables say."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.projects.migrating.listing import arguments_of
from tests.projects.migrating.projects import PROJECTS, SHOWN, Project

# A tool of drf_mcp and not of a project.
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
    """Serve the project after the move, with rows of each model."""
    after = project.module("after.settings")
    # The registrations of its mcp.py are removed after the test.
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


def test_every_tool_before_and_after_has_a_row(project, agent):
    moves = project.moves
    assert [move.before for move in moves] == [*project.recorded["tools"]]
    assert {move.after for move in moves if move.after} == {*agent.tools()} - OWN


def test_a_tool_is_the_method_and_route_of_its_row(project, served):
    routes = {
        name: (tool.endpoint.method, tool.endpoint.route.path)
        for name, tool in registry.tools().items()
    }
    moved = [move for move in project.moves if move.after]
    assert {m.after: routes[m.after] for m in moved} == {m.after: (m.method, m.path) for m in moved}


def test_every_argument_is_taken_under_the_name_in_its_row(project, agent):
    tools = agent.tools()
    for move in project.moves:
        if move.after is None:
            continue
        before = {*project.recorded["tools"][move.before]}
        assert {*move.renamed} <= before, move
        expected = {move.renamed.get(name, name) for name in before} - {None}
        assert expected <= {*arguments_of(tools[move.after]["inputSchema"])}, move


def test_every_tool_that_reads_answers_as_the_view(project, agent, http_of):
    reading = [move for move in project.moves if move.method == "GET"]
    assert reading
    for move in reading:
        grouped = "kwargs" in agent.tools()[move.after]["inputSchema"]["properties"]
        given = {"pk": 1} if "{pk}" in move.path else {}
        answer = agent.call_with(move.after, {"kwargs": given} if grouped else given)
        http: APIClient = http_of("alice")
        body = http.get(move.path.replace("{pk}", "1")).json()
        assert not answer.is_error, answer.raw
        assert rows_of(body)
        assert rows_of(answer.envelope) == rows_of(body)


def test_every_write_works_with_the_names_in_its_row(project, agent):
    moves = {move.before: move for move in project.moves if move.method not in ("", "GET")}
    writes = project.module("models").WRITES
    assert sorted(name for name, _ in writes) == sorted(moves)
    for name, arguments in writes:
        move = moves[name]
        with transaction.atomic():
            answer = agent.call_with(move.after, move.translate(arguments))
            transaction.set_rollback(True)
        assert not answer.is_error, (name, answer.raw)


def rows_of(body: Any) -> Any:
    """Return the rows of a body, without envelope and page."""
    for wrapping in ("data", "results"):
        body = body[wrapping] if isinstance(body, dict) and wrapping in body else body
    return body


def test_the_page_shows_the_changed_lines(project):
    [shown] = re.findall(r"```diff\n(.*?)```", project.section, re.S)
    assert shown.splitlines() == [*project.diff(SHOWN)]
