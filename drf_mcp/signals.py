"""Signals of tool calls, and of changes that clients subscribe to.

The first two are sent with ``sender=Tool`` and

- ``tool``: the `drf_mcp.routes.Tool` that was called, with its ``name``
- ``outcome``: the `drf_mcp.outcomes.Outcome` of the call
- ``request``: the `HttpRequest` to the endpoint, with the caller's ``user``
- ``duration_ms``: the milliseconds from the arguments to the written result

An exception of a receiver does not change the call: it goes to the log ``django.dispatch``.
"""

from __future__ import annotations

from django.dispatch import Signal

tool_called = Signal()
"""Sent after every call of a tool, with any outcome."""

tool_failed = Signal()
"""Sent after `tool_called` for a call whose result has ``isError``."""

subject_changed = Signal()
"""Sent with ``kind`` and ``key`` when something changed that clients may subscribe to: a task.

``using`` is its database: clients are notified after the commit.
"""

records_wanted = Signal()
"""Sent by `drf_mcp.test.MCPClient`, before a test reads what an app writes with a delay."""
