"""The "ok" contract: ``{ok, data | errors, meta}``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import Envelope
from drf_mcp.envelopes.content_hash import json_value
from drf_mcp.envelopes.data import is_page, payload, payload_schema
from drf_mcp.json_text import content_hash
from drf_mcp.outcomes import Failure, Outcome

META: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "content_hash": {"type": "string"},
        "next_cursor": {"type": ["string", "null"]},
        "request_id": {"type": "string"},
        **metadata.FIDELITY,
        "warnings": metadata.STRINGS,
        "pagination": metadata.PAGINATION,
        "rate_limit": metadata.RATE_LIMIT,
        "telemetry": {"type": "object"},
        "suggestions": metadata.STRINGS,
    },
}

ERRORS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "path": {"type": "string"},
            "fix_hint": {"type": "string"},
        },
        "required": ["code", "message"],
    },
}


class OkEnvelope(Envelope):
    """``ok`` and ``meta`` with ``data``, with ``errors``, or, softly failed, with both.

    A page's ``data`` is the list of its rows, unless the view put more beside them.

    ``meta.version`` and ``meta.content_hash`` are about what was read, so only the view
    knows them: see `CallContext.version`. Where nobody says a version there is
    none, and the hash is that of the answer itself, the one thing whose hash is known. A
    version without a hash has none: the hash of one answer would not be the same for
    another read of that version.
    """

    def render(self, outcome: Outcome) -> dict[str, Any]:
        """Return the envelope, its short members first."""
        failure = outcome.failure
        data = self.data(outcome)
        if failure is None:
            return {"ok": True, "meta": self.meta(outcome, data), "data": data}
        errors = self.errors(failure)
        if not failure.soft or data is None:
            return {"ok": False, "errors": errors, "meta": self.meta(outcome, errors)}
        return {"ok": False, "errors": errors, "meta": self.meta(outcome, data), "data": data}

    def texts(self, outcome: Outcome, encode: Callable[[Any], str]) -> list[str]:
        """Return the text block; the hash in it and the data beside it are of one reading."""
        return super().texts(outcome.changed(data=json.loads(encode(outcome.data))), encode)

    def data(self, outcome: Outcome) -> Any:
        """Return the view's own value, of a page the rows alone, as a JSON reader gets it."""
        value = json_value(payload(outcome))
        if is_page(outcome) and isinstance(value, dict) and set(value) == {"results"}:
            return value["results"]
        return value

    def errors(self, failure: Failure) -> list[dict[str, Any]]:
        """Return one entry per problem, or one for the failure itself."""
        entries = [
            (problem.code, problem.message, problem.path, problem.remediation)
            for problem in failure.problems
        ] or [(failure.code, metadata.sentence(failure), "", metadata.remediation(failure))]
        return [
            {
                "code": code.lower(),
                "message": message,
                **metadata.present({"path": path, "fix_hint": fix_hint}),
            }
            for code, message, path, fix_hint in entries
        ]

    def meta(self, outcome: Outcome, content: Any) -> dict[str, Any]:
        """Return ``meta``; ``content`` is the answer, whose hash stands in for no other."""
        meta: dict[str, Any] = metadata.further(outcome, META["properties"])
        if outcome.version:
            meta["version"] = outcome.version
        if outcome.content_hash:
            meta["content_hash"] = outcome.content_hash
        elif not outcome.version and not outcome.is_error:
            meta["content_hash"] = content_hash(content, "sha256-")
        if outcome.pagination is not None:
            meta["next_cursor"] = outcome.pagination.cursor
        if outcome.failure is not None and outcome.failure.soft:
            meta["warnings"] = metadata.messages(outcome)
        return meta | metadata.present(
            {
                "request_id": outcome.request_id,
                **metadata.fidelity(outcome),
                "warnings": metadata.messages(outcome),
                "pagination": metadata.pagination(outcome),
                "rate_limit": metadata.rate_limit(outcome),
                "telemetry": outcome.telemetry,
                "suggestions": list(outcome.suggestions),
            }
        )

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema: one of two shapes, told apart by ``ok``."""
        success = {"ok": {"enum": [True]}, "data": self.data_schema(data_schema)}
        return {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}, "errors": ERRORS, "meta": META},
            "required": ["ok", "meta"],
            "anyOf": [
                {"properties": success, "required": ["data"]},
                {"properties": {"ok": {"enum": [False]}}, "required": ["errors"]},
            ],
        }

    def data_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of ``data``: the view's value, the rows of a page, or null."""
        if not data_schema:
            return {}
        value = payload_schema(data_schema)
        rows = value.get("properties", {}).get("results")
        return {"anyOf": [value, *([rows] if rows else []), {"type": "null"}]}
