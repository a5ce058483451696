"""HTTP = MCP: the same request both ways gives the same verdict, data and writes.

Each request runs in a savepoint that is rolled back. The HTTP request is sent before the
tool call and once more after it: what differs between these two, such as a time, is not
compared.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import TestCase

from django.contrib.auth import get_user_model

from drf_mcp.dispatch.content import Content, read_response
from drf_mcp.dispatch.request import ACCEPT
from drf_mcp.exceptions import UnknownTool
from drf_mcp.introspection.field_selection import FieldSelection
from drf_mcp.operators.http_equivalent import EquivalentRequest
from drf_mcp.test.capture import FAILED, CapturingEnvelope, capture, plain
from drf_mcp.test.client import MCPClient, MCPRefused
from drf_mcp.test.comparison import Observed, compare, differs, stable
from drf_mcp.test.rollback import undone
from drf_mcp.test.samples import sample_arguments
from drf_mcp.tools import ArgumentsRefused, registry

REFUSALS = (401, 403)


def assert_parity(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any],
    method: str,
    path: str,
    body: Any = None,
    *,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> None:
    """Assert that a tool call answers and does what an HTTP request does.

    Args:
        client: who asks, both ways.
        tool: the tool.
        arguments: its arguments.
        method: the HTTP method.
        path: the path and the query.
        body: the body: bytes as they are, anything else as JSON; None for none.
        content_type: the body's media type.
        headers: further headers of the HTTP request.

    Raises:
        AssertionError: naming what differs.
    """
    send = sender(client, method, path, body, content_type, headers or {})
    assert_same(client, tool, arguments, send)


def sender(
    client: MCPClient,
    method: str,
    path: str,
    body: Any,
    content_type: str,
    headers: Mapping[str, str],
) -> Callable[[], Any]:
    """Return what sends a request over HTTP, with the ``Accept`` that a call has."""
    data: Any = body if isinstance(body, bytes) or body is None else json.dumps(body)
    headers = {"Accept": ACCEPT, **headers}
    return lambda: client.generic(
        method, path, data or "", content_type=content_type, headers=headers
    )


def assert_same(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any],
    send: Callable[[], Any],
    ignored_writes: Collection[str] = (),
) -> None:
    """Assert that a tool call comes to what an HTTP request comes to.

    Args:
        client: who asks, both ways.
        tool: the tool.
        arguments: its arguments.
        send: sends the HTTP request and returns its response.
        ignored_writes: tables whose writes are not compared.
    """
    fields = fields_of(tool, arguments)

    def over_http() -> Observed:
        return http_observation(send(), fields)

    with replaced(client, "raise_request_exception", False):
        first = undone(client, over_http, ignored_writes)
        called = undone(client, lambda: over_mcp(client, tool, arguments, first), ignored_writes)
        again = undone(client, over_http, ignored_writes)
    compare(f"{tool} {json.dumps(dict(arguments), default=str)}", called, stable(first, again))


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Give an attribute of a client another value for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def fields_of(tool: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of the answer that arguments ask for; none where there is no such call."""
    try:
        return registry.tool(tool).bind(arguments).fields
    except (ArgumentsRefused, UnknownTool):
        return ()


def http_observation(response: Any, fields: Sequence[str] = ()) -> Observed:
    """Return what an HTTP response says, of its data only some fields."""
    failed = response.status_code >= FAILED
    uri = response.wsgi_request.build_absolute_uri()
    content = Content() if failed else read_response(response, uri)
    data = FieldSelection(fields).select(plain(content.data))
    return Observed(response.status_code, data, plain(content.blocks), [])


def over_mcp(
    client: MCPClient, tool: str, arguments: Mapping[str, Any], http: Observed
) -> Observed:
    """Call the tool and return what its outcome says.

    Raises:
        AssertionError: if the endpoint turns away a caller whom the view does not.
    """
    CapturingEnvelope.seen.clear()
    try:
        with replaced(client.handler, "choose", capture):
            client.call_tool(tool, arguments)
    except MCPRefused as exc:
        status = exc.response.status_code
        if status not in REFUSALS:
            raise AssertionError(f"{tool}: the endpoint answers {exc}.") from exc
        if http.status not in REFUSALS:
            differs(tool, "status", status, f"{http.status}; see PERMISSION_CLASSES")
        return Observed(http.status, None, [], http.writes)
    return CapturingEnvelope.seen[-1]


def assert_tool_parity(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    user: Any = None,
    *,
    ignored_writes: Collection[str] = (),
) -> None:
    """Assert parity of a tool with the HTTP request that it stands for.

    Args:
        client: who asks, both ways.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
        ignored_writes: tables whose writes are not compared, such as those of middleware
            that takes every call for a write.

    Raises:
        AssertionError: naming what differs.
        UnknownTool: if there is no such tool.
    """
    chosen = registry.tool(tool)
    if arguments is None:
        arguments = sample_arguments(chosen, user)
    try:
        request = EquivalentRequest.of_call(chosen, arguments)
    except ArgumentsRefused as exc:
        told = "; ".join(f"{problem.path}: {problem.message}" for problem in exc.problems)
        raise AssertionError(f"{tool}: no request stands for {arguments!r}. {told}") from exc
    if request is None:
        raise AssertionError(f"{tool}: no path can be written for {arguments!r}.")
    send = sender(
        client,
        request.method,
        request.path,
        request.body,
        request.content_type or "application/json",
        {"Content-Disposition": request.disposition} if request.disposition else {},
    )
    assert_same(client, tool, arguments, send, ignored_writes)


class ToolParity:
    """A ready test: parity of every tool of the project, for every user named.

    Subclass it under a name that pytest collects::

        class TestParity(ToolParity):
            users = ["alice", "admin"]

    For Django's own test runner make a `TestCase` of it: ``class Parity(ToolParity, TestCase)``.

    Attributes:
        users: natural keys of users, None for an anonymous caller.
        arguments: arguments by tool, for tools whose made-up ones say little.
        exclude: tools to leave out.
        ignored_writes: tables whose writes are not compared.
    """

    users: Sequence[str | None] = (None,)
    arguments: Mapping[str, Mapping[str, Any]] = {}
    exclude: Sequence[str] = ()
    ignored_writes: Collection[str] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a `TestCase`, which knows no parameters, one test of every tool and user."""
        super().__init_subclass__(**kwargs)
        if issubclass(cls, TestCase):
            each: Any = cls.answers_as_http_does
            cls.test_tool_answers_as_http_does = each  # type: ignore[method-assign]

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make a test of each tool and user."""
        if "parity_tool" in metafunc.fixturenames:
            metafunc.parametrize("parity_tool", self.names())
            metafunc.parametrize("parity_user", self.users, ids=str)

    def names(self) -> list[str]:
        """Return the names of the tools that are tested."""
        return [name for name in registry.tools() if name not in self.exclude]

    def user_named(self, name: str | None) -> Any:
        """Return the user of that natural key; None for None."""
        users: Any = get_user_model()._default_manager
        return None if name is None else users.get_by_natural_key(name)

    def client_of(self, user: Any) -> MCPClient:
        """Return the client of a user; override it to sign in another way."""
        client = MCPClient()
        if user is not None:
            client.force_authenticate(user)
        return client

    def test_tool_answers_as_http_does(
        self, db: Any, parity_tool: str, parity_user: str | None
    ) -> None:
        """The same request by HTTP and by MCP: the same verdict, data and writes."""
        user = self.user_named(parity_user)
        given = self.arguments.get(parity_tool)
        client, ignored = self.client_of(user), self.ignored_writes
        assert_tool_parity(client, parity_tool, given, user, ignored_writes=ignored)

    def answers_as_http_does(self: Any) -> None:
        """Try every tool for every user, each in a subtest that is named by them."""
        for name, user in itertools.product(self.names(), self.users):
            with self.subTest(tool=name, user=user):
                ToolParity.test_tool_answers_as_http_does(self, None, name, user)
