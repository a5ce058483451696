"""Assertions about tools: what a call changes, and that it gives what its HTTP request gives.

For parity, each request runs in a savepoint that is rolled back. The HTTP request is sent before
the tool call and again after it: what differs between the two, such as a time, is not compared.
"""

from __future__ import annotations

import copy
import itertools
import json
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import TestCase

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core import mail
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.contrib.operators.lock import LOCK_FILE, LockFile
from drf_mcp.dispatch.content import Content, ContentReader
from drf_mcp.dispatch.probe import find_written_databases
from drf_mcp.dispatch.request import ACCEPT
from drf_mcp.dispatch.response import is_moved, leads_to_login
from drf_mcp.exceptions import UnknownTool
from drf_mcp.introspection.field_selection import FieldSelection
from drf_mcp.outcomes import MISSING
from drf_mcp.routes.registry import registry
from drf_mcp.test.client import MCPClient, MCPRefused, ToolResult
from drf_mcp.test.requests import (
    CONFIRMATION,
    FAILED,
    WRITE,
    CapturingEnvelope,
    Observed,
    has_control,
    keep_stable_value,
    raise_difference,
    rolled_back,
    sample_arguments,
    to_json_value,
)
from drf_mcp.transports.http_equivalent import EquivalentRequest

REFUSALS = (401, 403)


def find_own_tables() -> set[str]:
    """Return the tables of this package: the audit has a row of every call, and no request."""
    own = [config for config in apps.get_app_configs() if config.name.startswith("drf_mcp")]
    return {model._meta.db_table for config in own for model in config.get_models()}


@dataclass
class ParityCheck:
    """Compares a tool call with its HTTP request."""

    client: MCPClient
    tool: str
    arguments: Mapping[str, Any]
    ignored_writes: Collection[str] = ()

    def check(
        self, method: str, path: str, body: Any, content_type: str, headers: Mapping[str, str]
    ) -> None:
        data: Any = body if isinstance(body, bytes) or body is None else json.dumps(body)
        # Content negotiation is part of parity: a call has this ``Accept``.
        headers = {"Accept": ACCEPT, **headers}

        def over_http() -> Observed:
            return self._observe_response(
                self.client.generic(
                    method, path, data or "", content_type=content_type, headers=headers
                )
            )

        # The exception of a view is a 500 over HTTP, as it is an outcome of the call.
        raises, self.client.raise_request_exception = self.client.raise_request_exception, False
        try:
            before = self.observe(over_http)
            called = self.observe(lambda: self.call(before))
            again = self.observe(over_http)
        finally:
            self.client.raise_request_exception = raises
        what = f"{self.tool} {json.dumps(dict(self.arguments), default=str)}"
        names = ("status", "data", "blocks", "writes")
        pairs = ((getattr(before, name), getattr(again, name)) for name in names)
        called.compare(what, Observed(*(keep_stable_value(one, other) for one, other in pairs)))

    def observe(self, send: Callable[[], Observed]) -> Observed:
        # The rows of a session are rolled back, and so its cookie is.
        cookies = copy.deepcopy(self.client.cookies)
        with CaptureQueriesContext(connection) as queries, rolled_back():
            observed = send()
        self.client.cookies = cookies
        matches = [WRITE.match(query["sql"]) for query in queries]
        ignored = {*self.ignored_writes, *find_own_tables()}
        writes = [(m[1].upper(), m[2]) for m in matches if m and m[2] not in ignored]
        return replace(observed, writes=[f"{verb} {table}" for verb, table in writes])

    def _observe_response(self, response: Any) -> Observed:
        failed = response.status_code >= FAILED or is_failing_redirect(response)
        uri = response.wsgi_request.build_absolute_uri()
        content = Content() if failed else ContentReader(response, uri).read()
        try:
            fields = registry.tool(self.tool).bind(self.arguments).fields
        except (ArgumentsRefused, UnknownTool):
            fields = ()
        data = FieldSelection(fields).select(to_json_value(content.data))
        return Observed(response.status_code, data, to_json_value(content.blocks), [])

    def send(self) -> None:
        # For a tool that has to be confirmed, the confirmed call is compared.
        self.client.call_tool(self.tool, self.arguments)
        known, body = registry.tools().get(self.tool), CapturingEnvelope.seen[-1].data
        asked = body.get("data") if isinstance(body, dict) else None
        if known is None or not has_control(known, CONFIRMATION):
            return
        if isinstance(asked, dict) and CONFIRMATION in asked:
            replace_control = known.arguments.replace_control
            confirmed = replace_control(self.arguments, CONFIRMATION, asked[CONFIRMATION])
            self.client.call_tool(self.tool, confirmed)

    def call(self, http: Observed) -> Observed:
        CapturingEnvelope.seen.clear()
        handler = self.client.handler
        own, handler.choose = handler.choose, CapturingEnvelope.capture
        try:
            self.send()
        except MCPRefused as exc:
            status = exc.response.status_code
            if status not in REFUSALS:
                raise AssertionError(f"{self.tool}: the endpoint answers {exc}.") from exc
            # The endpoint may refuse only callers whom the view refuses.
            if http.status not in REFUSALS:
                expected = f"{http.status}; see PERMISSION_CLASSES"
                raise_difference(self.tool, "status", status, expected)
            return Observed(http.status, None, [], http.writes)
        finally:
            handler.choose = own
        seen = CapturingEnvelope.seen[-1]
        known = registry.tools().get(self.tool)
        # A tool of several objects was called with one, as the HTTP request is.
        is_one = known and known.endpoint.many and isinstance(seen.data, list)
        return replace(seen, data=seen.data[0]) if is_one else seen


def is_failing_redirect(response: Any) -> bool:
    """Return whether a redirect says that a request was not made, which a tool calls a failure."""
    request, location = response.wsgi_request, response.headers.get("Location", "")
    if not 300 <= response.status_code < FAILED or not location:
        return False
    moved = is_moved(response.status_code, request.method)
    return moved or leads_to_login(location, request.path)


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
        body: bytes as they are, anything else as JSON; None for none.
        content_type: the body's media type.
        headers: further headers of the HTTP request.
    """
    check = ParityCheck(client, tool, arguments)
    check.check(method, path, body, content_type, headers or {})


def assert_tool_parity(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    user: Any = None,
    *,
    ignored_writes: Collection[str] = (),
) -> None:
    """Assert parity of a tool with its HTTP request.

    Args:
        client: who asks, both ways.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
        ignored_writes: tables whose writes are not compared.
    """
    known = registry.tool(tool)
    if not known.endpoint.has_http_request:
        raise AssertionError(f"{tool}: no HTTP request is answered as this tool is.")
    if arguments is None:
        arguments = sample_arguments(known, user)
    try:
        request = EquivalentRequest.of_call(known, arguments)
    except ArgumentsRefused as exc:
        problems = "; ".join(f"{problem.path}: {problem.message}" for problem in exc.problems)
        message = f"{tool}: no HTTP request matches {arguments!r}. {problems}"
        raise AssertionError(message) from exc
    if request is None:
        raise AssertionError(f"{tool}: no path can be written for {arguments!r}.")
    ParityCheck(client, tool, arguments, ignored_writes).check(
        request.method,
        request.path,
        request.body,
        request.content_type or "application/json",
        {"Content-Disposition": request.disposition} if request.disposition else {},
    )


class ToolParity:
    """A ready test: parity of every tool of the project, for every user named.

    Subclass it under a name that pytest collects::

        class TestParity(ToolParity):
            users = ["alice", "admin"]

    For Django's own test runner make a `TestCase` of it: ``class Parity(ToolParity, TestCase)``.

    Attributes:
        users: natural keys of users, None for an anonymous caller.
        arguments: arguments by tool, instead of generated ones.
        exclude: tools to leave out.
        ignored_writes: tables whose writes are not compared.
    """

    users: Sequence[str | None] = (None,)
    arguments: Mapping[str, Mapping[str, Any]] = {}
    exclude: Sequence[str] = ()
    ignored_writes: Collection[str] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A `TestCase` has no parameters: one test is about all tools and users.
        if issubclass(cls, TestCase):
            every: Any = cls._answers_as_http_does
            cls.test_tool_answers_as_http_does = every  # type: ignore[method-assign]

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make a test of each tool and user."""
        if "parity_tool" in metafunc.fixturenames:
            metafunc.parametrize("parity_tool", self.names())
            metafunc.parametrize("parity_user", self.users, ids=str)

    def names(self) -> list[str]:
        """Return the names of the tools that are tested."""
        # Some tools, such as figures of a list, have no HTTP request.
        tools = registry.tools().items()
        compared = [name for name, tool in tools if tool.endpoint.has_http_request]
        return [name for name in compared if name not in self.exclude]

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
        arguments, ignored = self.arguments.get(parity_tool), self.ignored_writes
        client = self.client_of(user)
        assert_tool_parity(client, parity_tool, arguments, user, ignored_writes=ignored)

    def _answers_as_http_does(self: Any) -> None:
        for name, user in itertools.product(self.names(), self.users):
            with self.subTest(tool=name, user=user):
                ToolParity.test_tool_answers_as_http_does(self, None, name, user)


CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
DRY_RUN = "dry_run"
IDEMPOTENCY_KEY = "idempotency_key"


def assert_confirms(
    client: MCPClient, tool: str, arguments: Mapping[str, Any] | None = None, user: Any = None
) -> None:
    """Assert that a tool has to be confirmed, and that a confirmation can be used once.

    What the calls write is rolled back.

    Args:
        client: who calls; one that cannot be asked, as it is by default.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
    """
    known = registry.tool(tool)
    if not has_control(known, CONFIRMATION):
        raise AssertionError(f"{tool} does not ask first: see CONFIRM and @mcp_tool(confirm=True).")
    sent = sample_arguments(known, user) if arguments is None else arguments
    sent = known.arguments.replace_control(sent, CONFIRMATION, MISSING)
    with rolled_back():
        asked = client.call_tool(tool, sent)
        _require_code(asked, "the first call has to ask", CONFIRMATION_REQUIRED)
        confirmed = known.arguments.replace_control(sent, CONFIRMATION, asked.data[CONFIRMATION])
        _require_code(client.call_tool(tool, confirmed), "the confirmed call has to be made", "")
        if client.call_tool(tool, confirmed).ok:
            raise AssertionError(f"{tool}: a confirmation counted twice.")


def _require_code(result: ToolResult, expected: str, code: str) -> None:
    found = "" if result.error is None else result.error.code
    if found.upper() != code:
        answer = result.error.message if result.error else result.text
        raise AssertionError(f"{expected}, but the answer is {found or 'a success'}: {answer}")


def assert_idempotent(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    user: Any = None,
    *,
    ignored_writes: Collection[str] = (),
) -> None:
    """Assert that a call with a key, sent again, has the first answer and writes nothing.

    Everything is rolled back.

    Args:
        client: who calls.
        tool: a tool that takes ``idempotency_key``.
        arguments: the arguments of a call that succeeds; None makes some, about a row that the
            user sees.
        user: whose rows to choose from; None for anybody's.
        ignored_writes: tables whose writes do not count.
    """
    known = registry.tool(tool)
    if not has_control(known, IDEMPOTENCY_KEY):
        raise AssertionError(f"{tool}: the tool takes no {IDEMPOTENCY_KEY}.")
    if arguments is None:
        arguments = sample_arguments(known, user)
    sent = known.arguments.replace_control(arguments, IDEMPOTENCY_KEY, f"test-{uuid.uuid4()}")
    with rolled_back():
        first = client.call_tool(tool, sent)
        if has_control(known, CONFIRMATION) and CONFIRMATION in (first.data or {}):
            confirmation = first.data[CONFIRMATION]
            sent = known.arguments.replace_control(sent, CONFIRMATION, confirmation)
            first = client.call_tool(tool, sent)
        with CaptureQueriesContext(connection) as queries:
            again = client.call_tool(tool, sent)
    if first.error is not None:
        raise AssertionError(f"{tool}: the first call fails: {first.error.message}")
    if (again.data, again.content[1:]) != (first.data, first.content[1:]):
        raise AssertionError(
            f"{tool}: the answers differ.\n  First: {first.data!r}\n  Again: {again.data!r}"
        )
    matches = filter(None, (WRITE.match(query["sql"]) for query in queries))
    if written := {match[2] for match in matches} - {*ignored_writes, *find_own_tables()}:
        raise AssertionError(f"{tool}: the second call writes {', '.join(sorted(written))}.")


def observe_effects(ignored: Collection[str] = ()) -> Counter[str]:
    """Return the rows of every table that the project's models may be written to, and the mails."""
    effects = Counter({"a mail": len(getattr(mail, "outbox", ()))})
    for alias in find_written_databases():
        connection = connections[alias]
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                if table not in ignored:
                    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # nosec B608
                    effects.update(f"{table} of {alias}: {row!r}" for row in cursor.fetchall())
    return effects


def assert_dry_run_changes_nothing(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    client: MCPClient | None = None,
    user: Any = None,
    ignored_tables: Collection[str] = (),
) -> ToolResult:
    """Call a tool with ``dry_run``, and assert that it works, changes no row and sends no mail.

    Args:
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        client: who calls; None for a new client of the user.
        user: who calls; None for an anonymous caller.
        ignored_tables: tables that are not compared. Tables of this
            package's own records never are.
    """
    known = registry.tool(tool)
    if not has_control(known, DRY_RUN):
        raise AssertionError(f"{tool} has no dry run: see @mcp_tool(dry_run=True).")
    if client is None:
        client = MCPClient()
        client.force_authenticate(user)
    given = sample_arguments(known, user) if arguments is None else arguments
    ignored = {*ignored_tables, *find_own_tables()}
    before = observe_effects(ignored)
    result = client.call_tool(tool, known.arguments.replace_control(given, DRY_RUN, True))
    if result.error is not None:
        raise AssertionError(f"{tool}: {result.error.code}: {result.error.message}")
    after = observe_effects(ignored)
    changes = [f"gone: {each}" for each in before - after]
    changes += [f"new: {each}" for each in after - before]
    if changes:
        raise AssertionError(f"The dry run of {tool} changed something: {'; '.join(changes)}.")
    return result


def assert_tool_surface(lock: str | Path = LOCK_FILE) -> None:
    """Assert that the tools have no breaking change from a lock file."""
    # Messages of tests are English.
    with override(None):
        breaking = [str(change) for change in LockFile(lock).find_changes() if change.breaking]
    if breaking:
        changes = "\n  ".join(breaking)
        raise AssertionError(
            f"The tools differ from {lock}:\n  {changes}\n"
            f"If that is intended: python manage.py mcp_tools lock {lock}"
        )
