"""The "response-v2" contract: ``{success, data, error, meta}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_mcp.codes import CODES, HANDLING, category_of_code, screaming_code, standard_code
from drf_mcp.envelopes.base import ContractEnvelope, add_members, drop_empty
from drf_mcp.envelopes.metadata import (
    COMMON_META,
    OBJECT,
    SOURCE,
    STRING,
    leave_out,
    parse_meta,
    take,
    take_objects,
)
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, UNVERSIONED, Category, Failure, Outcome, Problem

VERSION = "response-v2"

META: dict[str, Any] = {
    "type": "object",
    "properties": {"version": {"type": "string", "enum": [VERSION]}, **COMMON_META, **SOURCE},
    "required": ["version"],
}

ERROR_DATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "error_code": STRING,
        "error_type": {"type": "string", "enum": [category.value for category in Category]},
        "remediation": STRING,
        "details": {
            "type": "object",
            "properties": {
                "field": STRING,
                "constraint": STRING,
                "problems": {"type": "array", "items": OBJECT},
            },
        },
    },
    "required": ["error_code", "error_type", "remediation"],
}

STANDARD_DATA = frozenset(ERROR_DATA["properties"])
# ``soft`` is `Failure.soft`.
STANDARD_META = frozenset({"version", "soft"})
# Members of a problem; ``details`` may have others.
PROBLEM_MEMBERS = frozenset(
    {
        "field",
        "pointer",
        "constraint",
        "code",
        "message",
        "received",
        "accepted",
        "remediation",
        "context",
        "problems",
    }
)
TEXTS = frozenset({"field", "constraint"})
# The end of the message of several problems.
MORE_PROBLEMS = re.compile(r" \(\d+ [^()]+\)\Z")
# The default of `error_response`.
DEFAULT_CODE = "INTERNAL_ERROR"


class ResponseV2Envelope(ContractEnvelope):
    """``success``, ``error``, ``meta`` and ``data``, always all four."""

    contract: ClassVar[str] = VERSION
    meta_member: ClassVar[str] = "meta"

    def render(self, outcome: Outcome) -> dict[str, Any]:
        failure = outcome.failure
        meta = {"version": VERSION, **self._get_common_meta(outcome, has_details=True)}
        if outcome.meta:
            further = self._get_further_meta(outcome, META["properties"])
            meta = {**drop_empty(further), **meta}
        if outcome.source is not UNVERSIONED:
            meta |= self._describe_source(outcome)
        data = {} if failure is not None and not failure.soft else self._get_payload(outcome)
        answer = data if type(data) is dict else self._get_object(data)
        if failure is not None:
            details = self._render_details(failure)
            standard = {
                "error_code": failure.code,
                "error_type": failure.category.value,
                "remediation": self._get_remediation(failure),
                **({"details": details} if details else {}),
            }
            context = failure.context
            if isinstance(own := context.get("details"), Mapping) and not details:
                standard["details"] = own
                context = {name: context[name] for name in context if name != "details"}
            answer = add_members(standard, {**answer, **context}, STANDARD_DATA)
        # ``data`` comes last, since some clients cut the middle out of a long result.
        return {
            "success": failure is None,
            "error": None if failure is None else self._get_message(failure),
            "meta": meta,
            "data": answer,
        }

    def _render_details(self, failure: Failure) -> Mapping[str, Any]:
        if failure.details:
            # As the view wrote them.
            details = leave_out(failure.details, ("problems",))
            others = failure.problems[1:] if details else failure.problems
            listed = {"problems": [self._render_problem(each) for each in others]}
            return {**details, **drop_empty(listed)}
        if not failure.problems:
            return {}
        first, *rest = failure.problems
        path = first.path
        # The message of several problems goes on with their number.
        message = failure.message.removeprefix(f"{path}: ")
        remediations = ("", self._get_remediation(failure))
        is_described = message.startswith(first.message) and first.remediation in remediations
        if not is_described:
            problems = [self._render_problem(problem) for problem in failure.problems]
            return {"problems": problems}
        details = {"field": path} if path else {}
        details["constraint"] = first.code
        details.update(self._describe_value(first))
        # The pointer of a name with a dot differs from the pointer of its path.
        if not path.isidentifier() and JSONPointer.from_dotted(path) != first.pointer:
            details["pointer"] = first.pointer
        if rest:
            details["problems"] = [self._render_problem(each, first) for each in rest]
        return add_members(details, first.context, details)

    def _render_problem(self, problem: Problem, first: Problem | None = None) -> dict[str, Any]:
        # The value is described with the first problem of an argument.
        is_known = first is not None and first.pointer == problem.pointer
        return {
            "pointer": problem.pointer,
            "code": problem.code,
            "message": problem.message,
            **({} if is_known else self._describe_value(problem)),
            **drop_empty({"remediation": problem.remediation, "context": problem.context}),
        }

    def _describe_value(self, problem: Problem) -> dict[str, Any]:
        # The received and the accepted value, unless the sentences have them.
        members = self._describe_received(problem)
        value = members.get("received")
        item = value[0] if isinstance(value, list) and len(value) == 1 else value
        # Booleans and empty texts are not looked for in the sentence.
        if type(item) in (str, int) and item != "":
            before, text, after = problem.message.partition(str(item))
            if text and not (before[-1:].isalnum() or after[:1].isalnum()):
                members = {}
        if problem.accepted and problem.accepted not in problem.remediation:
            members = {**members, "accepted": problem.accepted}
        return members

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        success = {
            "success": {"enum": [True]},
            "error": {"type": "null"},
            "data": self._get_object_schema(data_schema),
        }
        failure = {"success": {"enum": [False]}, "error": STRING, "data": ERROR_DATA}
        return {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "error": {"type": ["string", "null"]},
                "meta": META,
                "data": OBJECT,
            },
            "required": ["success", "error", "meta", "data"],
            "anyOf": [{"properties": success}, {"properties": failure}],
        }

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        meta = body.get("meta") if isinstance(body, dict) and "success" in body else None
        if not isinstance(meta, Mapping) or meta.get("version") != VERSION:
            return None
        data, failure = body.get("data"), None
        if not body.get("success"):
            failure = self._parse_failure(body, status, soft=meta.get("soft") is True)
            # The context of a soft failure is its answer.
            data = dict(failure.context) if failure.soft and failure.context else None
        return Outcome(
            tool="",
            status=status,
            data={} if data is None and failure is None else data,
            failure=failure,
            **parse_meta(meta, STANDARD_META),
        )

    def _parse_failure(self, body: dict[str, Any], status: int, *, soft: bool) -> Failure:
        data = take(body, "data", dict)
        code = screaming_code(take(data, "error_code", str) or DEFAULT_CODE)
        category, remediation = data.get("error_type"), take(data, "remediation", str)
        # The HTTP status is more precise than the defaults of `error_response`.
        if 400 <= status < 500 and category in (None, CODES[DEFAULT_CODE]):
            code, category = standard_code(status) if code == DEFAULT_CODE else code, None
            default = HANDLING[CODES[DEFAULT_CODE]]
            if remediation == default.remediation:
                remediation = ""
        if category not in list(Category):
            category = category_of_code(code, status if status >= 400 else 500)
        details, message = take(data, "details", dict), take(body, "error", str) or code
        entries = take_objects(details, "problems")
        place, others = _find_pointer(details), leave_out(details, ("problems",))
        if others:
            # ``details`` describe the first problem, which ``problems`` may list as well.
            said = message.removeprefix(f"{take(details, 'field', str)}: ")
            said = MORE_PROBLEMS.sub("", said) if entries else said
            first: dict[str, Any] = {"message": said, "remediation": remediation}
            same = [each for each in entries if place and _find_pointer(each) == place][:1]
            entries = [first | others | dict(*same), *(e for e in entries if e not in same)]
        return Failure(
            code=code,
            category=Category(category),
            message=message,
            remediation=remediation,
            problems=tuple(map(_parse_problem, entries)),
            context=leave_out(data, STANDARD_DATA),
            soft=soft,
            details={n: v for n, v in details.items() if n not in TEXTS or isinstance(v, str)},
        )


def _find_pointer(entry: Mapping[str, Any]) -> str:
    path = take(entry, "field", str)
    return take(entry, "pointer", str) or (JSONPointer.from_dotted(path) if path else "")


def _parse_problem(entry: dict[str, Any]) -> Problem:
    return Problem(
        code=take(entry, "code", str) or take(entry, "constraint", str) or "invalid",
        message=take(entry, "message", str),
        pointer=_find_pointer(entry),
        received=entry.get("received", MISSING),
        accepted=take(entry, "accepted", str) or None,
        remediation=take(entry, "remediation", str),
        context={**leave_out(entry, PROBLEM_MEMBERS), **take(entry, "context", dict)},
    )
