"""Signals of a tool call, for a project's own code to connect to.

Both are sent with ``sender=Tool`` and

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
