"""What a view has to say beside its answer: warnings, suggestions, measurements, a version.

A view writes to the notes of its request, whether or not MCP is what calls it::

    from drf_mcp import call_context

    def list(self, request):
        call_context(request).warn("Prices are from yesterday.", code="STALE_CACHE")
        return super().list(request)

Over plain HTTP nobody reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.codes import WARNING_SEVERITIES
from drf_mcp.outcomes import Severity, Warning

ATTRIBUTE = "mcp_notes"


class CallContext:
    """The notes of one call.

    Attributes:
        warnings: what the caller should know, in the order written.
        suggestions: what the caller could do next.
        telemetry: measurements by name.
        content_version: the canonical version of what was read, "" if not said.
        content_hash: the hash of that version, "" if not said.

    Args:
        request: the request, Django's own; None for notes that nobody reads.
    """

    def __init__(self, request: Any = None) -> None:
        self.request = request
        self.warnings: list[Warning] = []
        self.suggestions: list[str] = []
        self.telemetry: dict[str, Any] = {}
        self.content_version = ""
        self.content_hash = ""

    def warn(
        self,
        message: str,
        *,
        code: str = "WARNING",
        severity: Severity | str | None = None,
        context: Mapping[str, Any] | None = None,
        remediation: str = "",
    ) -> None:
        """Tell of something that is not as it should be, in a call that works.

        Args:
            message: one sentence.
            code: machine-readable, such as ``STALE_CACHE`` or ``PARTIAL_FAILURE``.
            severity: ``info``, ``warning`` or ``error``; by default that of the code.
            context: further JSON members.
            remediation: what the caller can do about it.
        """
        known = WARNING_SEVERITIES.get(code, Severity.WARNING)
        level = known if severity is None else Severity(severity)
        self.warnings.append(Warning(code, message, level, dict(context or {}), remediation))

    def suggest(self, suggestion: str) -> None:
        """Suggest what the caller could do next, in one sentence."""
        self.suggestions.append(suggestion)

    def measure(self, **measurements: Any) -> None:
        """Add measurements to the telemetry, such as ``downstream_calls=3``."""
        self.telemetry.update(measurements)

    def rows_changed(self, count: int) -> None:
        """Tell how many rows the call changed, for its audit and its telemetry; calls add up."""
        self.telemetry["rows_changed"] = self.telemetry.get("rows_changed", 0) + count

    def version(self, version: str, *, content_hash: str = "") -> None:
        """Say which version of a document, a schema or a data set was read.

        A view that always reads the same one has an attribute ``mcp_version`` instead, and
        ``mcp_content_hash`` beside it.

        Args:
            version: the canonical version.
            content_hash: ``sha256-`` and hexadecimal digits, the same for every read of that
                version, whichever part was read.
        """
        self.content_version = version
        self.content_hash = content_hash


def call_context(request: Any) -> CallContext:
    """Return the notes of a request, either REST framework's or Django's.

    They reach the caller of a tool; over plain HTTP they go nowhere, unless the view
    renders with `drf_mcp.renderers.EnvelopeJSONRenderer`.
    """
    http_request = getattr(request, "_request", request)
    notes: CallContext | None = getattr(http_request, ATTRIBUTE, None)
    if notes is None:
        notes = CallContext(http_request)
        setattr(http_request, ATTRIBUTE, notes)
    return notes


def notes_of(request: Any) -> CallContext | None:
    return getattr(getattr(request, "_request", request), ATTRIBUTE, None)
