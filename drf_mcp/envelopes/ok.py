"""The "ok" contract: ``{ok, data | errors, meta}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from drf_mcp.codes import category_of_code, screaming_code
from drf_mcp.envelopes.base import ContractEnvelope, Encode, add_members, drop_empty
from drf_mcp.envelopes.metadata import (
    COMMON_META,
    STRING,
    leave_out,
    parse_meta,
    take,
    take_objects,
)
from drf_mcp.json_text import JSONPointer, content_hash
from drf_mcp.outcomes import Failure, Outcome, Pagination, Problem

META: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": STRING,
        "content_hash": STRING,
        "next_cursor": {"type": ["string", "null"]},
        **COMMON_META,
    },
}

OK_ERROR = dict.fromkeys(("code", "message", "path", "fix_hint"), STRING)
ERRORS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object", "properties": OK_ERROR, "required": ["code", "message"]},
}


class OkEnvelope(ContractEnvelope):
    """``ok`` and ``meta`` with ``data``, with ``errors``, or, for a soft failure, with both.

    A page's ``data`` is the list of its rows, unless the page has further members.
    `CallContext.version` gives ``meta.version`` and ``meta.content_hash``; without a
    version, the answer is hashed.
    """

    contract: ClassVar[str] = "ok"
    meta_member: ClassVar[str] = "meta"
    repeats_text: ClassVar[bool] = True

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        # Plain JSON is hashed, as clients can do.
        return outcome.changed(data=json.loads(encode(outcome.data)))

    def render(self, outcome: Outcome) -> dict[str, Any]:
        data = self._get_payload(outcome)
        if outcome.is_page and isinstance(data, dict) and set(data) == {"results"}:
            data = data["results"]
        # An answer that lacks a part has errors, too.
        problems = [problem for warning in outcome.warnings for problem in warning.problems]
        if outcome.failure is not None:
            problems = [*self._get_problems(outcome.failure), *problems]
        errors = [self._render_error(problem) for problem in problems]
        if outcome.failure is not None:
            errors[0] = add_members(errors[0], outcome.failure.context, OK_ERROR)
        # ``data`` comes last, since some clients cut off the end of a long result.
        if not errors:
            return {"ok": True, "meta": self._get_meta(outcome, data), "data": data}
        if outcome.is_error or data is None:
            return {"ok": False, "errors": errors, "meta": self._get_meta(outcome, errors)}
        meta = self._get_meta(outcome, data)
        return {"ok": False, "errors": errors, "meta": meta, "data": data}

    def _render_error(self, problem: Problem) -> dict[str, Any]:
        error = {
            "code": self.format_code(problem.code),
            "message": problem.message,
            **drop_empty({"path": problem.path, "fix_hint": self._get_advice(problem)}),
        }
        return add_members(error, problem.context, OK_ERROR)

    def _get_meta(self, outcome: Outcome, content: Any) -> dict[str, Any]:
        meta = self._get_further_meta(outcome, META["properties"])
        source = outcome.source
        if source.version:
            meta["version"] = source.version
        if source.content_hash:
            meta["content_hash"] = source.content_hash
        # Another read of the same version may answer with other data.
        elif not source.version and not outcome.is_error:
            meta["content_hash"] = content_hash(content)
        if outcome.pagination is not None:
            meta["next_cursor"] = outcome.pagination.cursor
        # The contract has an empty list for soft failures without warnings.
        if outcome.failure is not None and outcome.failure.soft:
            meta["warnings"] = []
        return meta | self._get_common_meta(outcome)

    def _describe_page(self, page: Pagination) -> dict[str, Any]:
        # The cursor is ``next_cursor``.
        facts = super()._describe_page(page)
        facts.pop("cursor", None)
        return facts

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if data_schema:
            value = self._get_payload_schema(data_schema)
            rows = value.get("properties", {}).get("results")
            data = {"anyOf": [value, *([rows] if rows else []), {"type": "null"}]}
        success = {"ok": {"enum": [True]}, "data": data}
        return {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}, "errors": ERRORS, "meta": META},
            "required": ["ok", "meta"],
            "anyOf": [
                {"properties": success, "required": ["data"]},
                {"properties": {"ok": {"enum": [False]}}, "required": ["errors"]},
            ],
        }

    def format_code(self, code: str) -> str:
        return code.lower()

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        ok, meta = (body.get("ok"), body.get("meta")) if isinstance(body, dict) else (None, None)
        if not isinstance(ok, bool) or not isinstance(meta, Mapping):
            return None
        members = parse_meta(meta, ("version", "next_cursor"))
        if version := take(meta, "version", str):
            members["source"] = replace(members["source"], version=version)
        if "next_cursor" in meta:
            page = members["pagination"] or Pagination(own=True)
            cursor = meta["next_cursor"]
            members["pagination"] = replace(page, has_more=cursor is not None, cursor=cursor)
        data, failure = body.get("data"), None
        if not ok:
            problems = tuple(map(self._parse_error, take_objects(body, "errors")))
            main = problems[0] if problems else Problem("", "")
            code = screaming_code(main.code)
            failure = Failure(
                code=code,
                category=category_of_code(code, status),
                message=main.message,
                remediation=main.remediation,
                problems=problems,
                # ``ok: false`` with a good HTTP status.
                soft=status < 400,
            )
        return Outcome("", status, data=data, failure=failure, **members)

    def _parse_error(self, error: dict[str, Any]) -> Problem:
        path = take(error, "path", str)
        return Problem(
            code=take(error, "code", str),
            message=take(error, "message", str),
            pointer=JSONPointer.from_dotted(path) if path else "",
            remediation=take(error, "fix_hint", str),
            context=leave_out(error, OK_ERROR),
        )
