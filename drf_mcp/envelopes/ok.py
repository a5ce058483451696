"""The "ok" contract: ``{ok, data | errors, meta}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from drf_mcp.codes import category_of_code, screaming_code
from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import ContractEnvelope, Encode, drop_empty
from drf_mcp.envelopes.metadata import Members, MetaParser
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.json_text import content_hash
from drf_mcp.outcomes import Failure, Outcome, Pagination, Problem

META: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "content_hash": {"type": "string"},
        "next_cursor": {"type": ["string", "null"]},
        **metadata.COMMON_META,
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


class OkEnvelope(ContractEnvelope):
    """``ok`` and ``meta`` with ``data``, with ``errors``, or, softly failed, with both.

    A page's ``data`` is the list of its rows, unless the view put more beside them.
    ``meta.version`` and ``meta.content_hash`` are those of `CallContext.version`; without a
    version, the hash is that of the answer.
    """

    contract: ClassVar[str] = "ok"
    meta_member: ClassVar[str] = "meta"

    def render(self, outcome: Outcome) -> dict[str, Any]:
        # The short members come first, since some clients cut the end off a long result.
        data = self.data(outcome)
        errors = self.errors(outcome)
        if not errors:
            return {"ok": True, "meta": self.meta(outcome, data), "data": data}
        if outcome.is_error or data is None:
            return {"ok": False, "errors": errors, "meta": self.meta(outcome, errors)}
        return {"ok": False, "errors": errors, "meta": self.meta(outcome, data), "data": data}

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        # Of plain JSON a client can compute the hash as well.
        return outcome.changed(data=json.loads(encode(outcome.data)))

    def data(self, outcome: Outcome) -> Any:
        value = self.get_payload(outcome)
        if outcome.is_page and isinstance(value, dict) and set(value) == {"results"}:
            return value["results"]
        return value

    def errors(self, outcome: Outcome) -> list[dict[str, Any]]:
        # An answer that lacks a part is a soft failure as well.
        problems = [problem for warning in outcome.warnings for problem in warning.problems]
        if outcome.failure is not None:
            problems = [*self.get_problems(outcome.failure), *problems]
        return [
            {
                "code": self.format_code(problem.code),
                "message": problem.message,
                **drop_empty({"path": problem.path, "fix_hint": self.get_advice(problem)}),
            }
            for problem in problems
        ]

    def meta(self, outcome: Outcome, content: Any) -> dict[str, Any]:
        meta: dict[str, Any] = self.get_further_meta(outcome, META["properties"])
        if outcome.version:
            meta["version"] = outcome.version
        if outcome.content_hash:
            meta["content_hash"] = outcome.content_hash
        # The hash of one answer would not be that of another read of the same version.
        elif not outcome.version and not outcome.is_error:
            meta["content_hash"] = content_hash(content, "sha256-")
        if outcome.pagination is not None:
            meta["next_cursor"] = outcome.pagination.cursor
        # The contract's soft failures have warnings even where there are none.
        if outcome.failure is not None and outcome.failure.soft:
            meta["warnings"] = []
        return meta | drop_empty(self.get_common_meta(outcome))

    def get_pagination(self, outcome: Outcome) -> dict[str, Any] | None:
        # ``next_cursor`` has the cursor.
        facts = super().get_pagination(outcome) or {}
        return {name: facts[name] for name in facts if name != "cursor"}

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        success = {"ok": {"enum": [True]}, "data": self.data_schema(data_schema)}
        return {
            "type": "object",
            "properties": {
                "ok": {"type": "boolean"},
                "errors": ERRORS,
                "meta": metadata.translate_schema(META),
            },
            "required": ["ok", "meta"],
            "anyOf": [
                {"properties": success, "required": ["data"]},
                {"properties": {"ok": {"enum": [False]}}, "required": ["errors"]},
            ],
        }

    def data_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        if not data_schema:
            return {}
        value = self.get_payload_schema(data_schema)
        rows = value.get("properties", {}).get("results")
        return {"anyOf": [value, *([rows] if rows else []), {"type": "null"}]}

    def format_code(self, code: str) -> str:
        return code.lower()

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        envelope = Members(self.get_members(body))
        ok, meta = envelope.get("ok"), envelope.get("meta")
        if not isinstance(ok, bool) or not isinstance(meta, Mapping):
            return None
        parser = MetaParser(meta, ("version", "next_cursor"))
        members = parser.get_members()
        members["version"] = parser.get_string("version") or members["version"]
        if "next_cursor" in meta:
            page = members["pagination"] or Pagination(own=True)
            cursor = meta["next_cursor"]
            members["pagination"] = replace(page, has_more=cursor is not None, cursor=cursor)
        data, failure = envelope.get("data"), None
        if not ok:
            failure = self.parse_failure(envelope, status)
        return Outcome(
            tool="",
            status=status,
            data=data,
            failure=failure,
            body=PlainEnvelope().translate_soft(failure, data),
            **members,
        )

    def parse_failure(self, envelope: Members, status: int) -> Failure:
        problems = tuple(
            Problem(
                code=error.get_text("code"),
                message=error.get_text("message"),
                pointer=error.get_pointer("path"),
                remediation=error.get_text("fix_hint"),
            )
            for error in envelope.get_objects("errors")
        )
        main = problems[0] if problems else Problem("", "")
        code = screaming_code(main.code)
        return Failure(
            code=code,
            category=category_of_code(code, status),
            message=main.message,
            remediation=main.remediation,
            problems=problems,
            # A "no" with a good HTTP status is soft.
            soft=status < 400,
        )
