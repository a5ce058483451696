"""Signals of tool calls, and of what clients listen for, for a project's own code to connect to.

The first two are sent with ``sender=Tool`` and

- ``tool``: the `drf_mcp.tools.Tool` that was called, with its ``name``
- ``outcome``: what it came to, a `drf_mcp.outcomes.Outcome`
- ``request``: the `HttpRequest` to the endpoint, with the caller's ``user``
- ``duration_ms``: how long it took, from the arguments to the written result

A receiver that raises breaks no call: the error goes to the log ``django.dispatch``.
"""

from __future__ import annotations

from django.dispatch import Signal

tool_called = Signal()
"""Sent after every call that reached a tool, whatever came of it."""

tool_failed = Signal()
"""Sent after `tool_called` for a call whose result has ``isError``."""

subject_changed = Signal()
"""Sent with ``kind`` and ``key`` when something changed that clients may listen for: a task.

``using`` is the database that it is kept in: clients hear of the change after the commit.
"""
