"""HTTP = MCP: the same request both ways gives the same verdict, data and writes.

Each request runs in a savepoint that is rolled back. The HTTP request is sent before the
tool call and once more after it: what differs between these two, such as a time, is not
compared.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from unittest import TestCase, mock

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from drf_mcp.content import Content, read_response
from drf_mcp.encoding import encode_data
from drf_mcp.envelopes import Envelope
from drf_mcp.equivalents import equivalent_request
from drf_mcp.exceptions import UnknownTool
from drf_mcp.fidelity import select
from drf_mcp.outcomes import Outcome
from drf_mcp.results import make_envelope
from drf_mcp.server import Server
from drf_mcp.test.client import MCPClient, MCPRefused
from drf_mcp.test.comparing import Observed, compare, differs, stable
from drf_mcp.test.samples import sample_arguments
from drf_mcp.tools import ArgumentsRefused, Tool, registry

REFUSALS = (401, 403)
FAILED = 400
WRITE = re.compile(r'\s*(INSERT INTO|UPDATE|DELETE FROM)\s+["`\[]?(\w+)', re.IGNORECASE)


class Undone(Exception):
    """Ends a savepoint."""


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
    data: Any = body if isinstance(body, bytes) or body is None else json.dumps(body)
    fields = fields_of(tool, arguments)

    def over_http() -> Observed:
        response: Any = client.generic(
            method, path, data or "", content_type=content_type, headers=headers
        )
        return http_observation(response, fields)

    with mock.patch.object(client, "raise_request_exception", False):
        first = undone(over_http)
        called = undone(lambda: over_mcp(client, tool, arguments, first))
        again = undone(over_http)
    compare(f"{tool} {json.dumps(dict(arguments), default=str)}", called, stable(first, again))


def undone(send: Callable[[], Observed]) -> Observed:
    """Return what a request came to, and undo it; its writes are told from its SQL."""
    with CaptureQueriesContext(connection) as queries:
        try:
            with transaction.atomic():
                observed = send()
                raise Undone
        except Undone:
            pass
    matches = [WRITE.match(query["sql"]) for query in queries]
    writes = [f"{match[1].upper()} {match[2]}" for match in matches if match]
    return Observed(**{**vars(observed), "writes": writes})


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
    data = select(plain(content.data), fields)
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
        with (
            mock.patch.object(Server, "envelope_of", capturing),
            mock.patch.object(client, "envelope_class", None),
        ):
            client.call_tool(tool, arguments)
    except MCPRefused as exc:
        status = exc.response.status_code
        if status not in REFUSALS:
            raise AssertionError(f"{tool}: the endpoint answers {exc}.") from exc
        if http.status not in REFUSALS:
            differs(tool, "status", status, f"{http.status}; see PERMISSION_CLASSES")
        return Observed(http.status, None, [], http.writes)
    return CapturingEnvelope.seen[-1]


class CapturingEnvelope(Envelope):
    """Keeps what an outcome says, whole: an empty envelope fits every budget.

    Attributes:
        seen: what was kept, oldest first.
        chosen: the envelope that the project chose for the tool.
    """

    seen: ClassVar[list[Observed]] = []
    chosen: ClassVar[type[Envelope]]

    def render(self, outcome: Outcome) -> Any:
        """Keep the outcome; raise where its data cannot be written as JSON."""
        body = outcome.data if outcome.body is None else outcome.body
        # Over HTTP an envelope tells no measurements of the call.
        enveloped = make_envelope(self.chosen).render(replace(outcome, telemetry={}))
        observed = Observed(
            outcome.status,
            plain(body) if outcome.status < FAILED else None,
            plain(outcome.content),
            [],
            plain(enveloped),
        )
        self.seen.append(observed)
        return {}


CAPTURING: dict[type[Envelope], type[Envelope]] = {}
real_envelope_of = Server.envelope_of


def capturing(server: Server, tool: Tool) -> type[Envelope]:
    """Return a capturing envelope in the place of the one that was chosen for a tool."""
    chosen = real_envelope_of(server, tool)
    if chosen not in CAPTURING:
        CAPTURING[chosen] = type("Capturing", (CapturingEnvelope,), {"chosen": chosen})
    return CAPTURING[chosen]


def plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    return json.loads(encode_data(value))


def assert_tool_parity(
    client: MCPClient, tool: str, arguments: Mapping[str, Any] | None = None, user: Any = None
) -> None:
    """Assert parity of a tool with the HTTP request that it stands for.

    Args:
        client: who asks, both ways.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
    """
    chosen = registry.tool(tool)
    if arguments is None:
        arguments = sample_arguments(chosen, user)
    request = equivalent_request(chosen, arguments)
    if request is None:
        raise AssertionError(f"{tool}: no path can be written for {arguments!r}.")
    assert_parity(
        client,
        tool,
        arguments,
        request.method,
        request.path,
        request.body,
        content_type=request.content_type or "application/json",
        headers={"Content-Disposition": request.disposition} if request.disposition else None,
    )


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
    """

    users: Sequence[str | None] = (None,)
    arguments: Mapping[str, Mapping[str, Any]] = {}
    exclude: Sequence[str] = ()

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
        assert_tool_parity(self.client_of(user), parity_tool, given, user)

    def answers_as_http_does(self: Any) -> None:
        """Try every tool for every user, each in a subtest that is named by them."""
        for name, user in itertools.product(self.names(), self.users):
            with self.subTest(tool=name, user=user):
                ToolParity.test_tool_answers_as_http_does(self, None, name, user)
