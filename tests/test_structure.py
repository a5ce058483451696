"""Rules for the package's own code: lengths, and what a call must not do."""

from __future__ import annotations

import ast
import functools
import statistics
from pathlib import Path

import pytest
from django.test import Client
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import Agent
from tests.sources import ROOT, SOURCES, nodes_of

MAX_FUNCTION, MAX_MODULE, MAX_PARAMETERS, MAX_BROAD_EXCEPTS = 60, 500, 8, 2
MEDIAN_FUNCTION, LONG_FUNCTION = 8, 26


@functools.cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return every function of the package, with its module."""
    return [
        (source, node)
        for source in SOURCES
        for node in nodes_of(source)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def describe_place(source: Path, node: ast.AST) -> str:
    """Return the file, line and name of a node."""
    return f"{source.relative_to(ROOT)}:{node.lineno} {getattr(node, 'name', '')}"


def length(node: ast.AST) -> int:
    """Return the number of lines of a function, with its docstring."""
    return node.end_lineno - node.lineno + 1


def test_no_module_is_too_long():
    lengths = {source: len(source.read_text().splitlines()) for source in SOURCES}
    assert not [source for source in lengths if lengths[source] > MAX_MODULE]


@pytest.mark.slow
def test_no_function_is_too_long():
    assert not [describe_place(s, node) for s, node in functions() if length(node) > MAX_FUNCTION]


@pytest.mark.slow
def test_most_functions_are_short():
    lengths = sorted(length(node) for _, node in functions())
    assert statistics.median(lengths) <= MEDIAN_FUNCTION
    assert lengths[int(len(lengths) * 0.9) - 1] <= LONG_FUNCTION


@pytest.mark.slow
def test_no_function_has_too_many_parameters():
    def parameters(node) -> int:
        return sum(map(len, (node.args.posonlyargs, node.args.args, node.args.kwonlyargs)))

    found = [(source, node) for source, node in functions() if parameters(node) > MAX_PARAMETERS]
    assert not [describe_place(*each) for each in found]


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches every exception."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(t is None or ast.unparse(t) in ("Exception", "BaseException") for t in types)


@pytest.mark.slow
def test_few_handlers_catch_every_exception():
    broad = [
        describe_place(source, node)
        for source in SOURCES
        for node in nodes_of(source)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    assert len(broad) <= MAX_BROAD_EXCEPTS, broad


# --- What a call must not do ------------------------------------------------------------------


class Word(APIView):
    """Repeat a word."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response({"word": "hello"})


def test_a_call_starts_no_event_loop(expose, monkeypatch):
    expose(path("word/", Word.as_view()))
    agent = Agent(Client())
    message, headers = agent.frame("tools/call", {"name": "word"})

    def refuse(*args) -> None:
        raise AssertionError("an event loop was made")

    monkeypatch.setattr("asyncio.new_event_loop", refuse)
    monkeypatch.setattr("asyncio.events.new_event_loop", refuse)
    assert agent.post(message, headers).status_code == 200
