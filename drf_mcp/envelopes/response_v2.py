"""The "response-v2" contract: ``{success, data, error, meta}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_mcp.codes import CODES, HANDLING, category_of_code, screaming_code, standard_code
from drf_mcp.envelopes.base import ContractEnvelope, add_beside, drop_empty
from drf_mcp.envelopes.metadata import COMMON_META, OBJECT, SOURCE, STRING, Members, parse_meta
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Problem

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
# Members of ``details`` that describe a problem with an argument.
PROBLEM_MEMBERS = frozenset({"field", "pointer", "constraint", "code", "message"})
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
        if outcome.version or outcome.content_hash:
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
            answer = add_beside(standard, {**answer, **context}, STANDARD_DATA)
        # ``data`` comes last, since some clients cut the middle out of a long result.
        return {
            "success": failure is None,
            "error": None if failure is None else self._get_message(failure),
            "meta": meta,
            "data": answer,
        }

    def _render_details(self, failure: Failure) -> Mapping[str, Any]:
        if not failure.problems:
            return failure.details
        first, *others = failure.problems
        path = first.path
        # The message of several problems goes on with their number.
        message = failure.message.removeprefix(f"{path}: ")
        remediations = ("", self._get_remediation(failure))
        is_described = message.startswith(first.message) and first.remediation in remediations
        if not is_described:
            problems = [self._render_problem(problem) for problem in failure.problems]
            return {"problems": problems, **failure.details}
        details: dict[str, Any] = {"field": path} if path else {}
        details["constraint"] = first.code
        details.update(self._describe_value(first))
        # The pointer of a name with a dot differs from the pointer of its path.
        if not path.isidentifier() and JSONPointer.from_dotted(path) != first.pointer:
            details["pointer"] = first.pointer
        if others:
            details["problems"] = [self._render_problem(each, first) for each in others]
        return {**add_beside(details, first.context, details), **failure.details}

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
        envelope = self._get_members(body)
        meta, data, failure = envelope.get("meta"), envelope.get("data"), None
        if "success" not in envelope or not isinstance(meta, Mapping):
            return None
        if meta.get("version") != VERSION:
            return None
        if not envelope.get("success"):
            failure = self._parse_failure(envelope, status, soft=meta.get("soft") is True)
            # The context of a soft failure is its answer.
            data = dict(failure.context) if failure.soft and failure.context else None
        return Outcome(
            tool="",
            status=status,
            data={} if data is None and failure is None else data,
            failure=failure,
            body=PlainEnvelope().translate_soft(failure, data),
            **parse_meta(meta, STANDARD_META),
        )

    def _parse_failure(self, envelope: Members, status: int, *, soft: bool) -> Failure:
        data = envelope.object("data")
        code = screaming_code(data.text("error_code") or DEFAULT_CODE)
        category, remediation = data.get("error_type"), data.text("remediation")
        # The HTTP status is more precise than the defaults of `error_response`.
        if 400 <= status < 500 and category in (None, CODES[DEFAULT_CODE]):
            code, category = standard_code(status) if code == DEFAULT_CODE else code, None
            default = HANDLING[CODES[DEFAULT_CODE]]
            if remediation in (default.advice, default.remediation):
                remediation = ""
        if category not in list(Category):
            category = category_of_code(code, status if status >= 400 else 500)
        details = data.object("details")
        # ``details`` describe the first problem, unless ``problems`` lists it.
        entries = details.objects("problems")
        place = details.text("pointer") or details.pointer("field")
        places = [entry.text("pointer") or entry.pointer("field") for entry in entries]
        if not (place and place in places) and not PROBLEM_MEMBERS.isdisjoint(details):
            message = envelope.text("error").removeprefix(f"{details.text('field')}: ")
            message = MORE_PROBLEMS.sub("", message) if entries else message
            sentences = {"message": message, "remediation": remediation}
            entries = [Members({**sentences, **details}), *entries]
        problems = tuple(
            Problem(
                code=entry.text("code") or entry.text("constraint") or "invalid",
                message=entry.text("message"),
                pointer=entry.text("pointer") or entry.pointer("field"),
                received=entry.get("received", MISSING),
                accepted=entry.text("accepted") or None,
                remediation=entry.text("remediation"),
                context=entry.object("context"),
            )
            for entry in entries
            if not PROBLEM_MEMBERS.isdisjoint(entry)
        )
        return Failure(
            code=code,
            category=Category(category),
            message=envelope.text("error") or code,
            remediation=remediation,
            problems=problems,
            context=data.others(STANDARD_DATA),
            soft=soft,
            details={n: v for n, v in details.items() if is_valid_detail(n, v)},
        )


def is_valid_detail(name: str, value: Any) -> bool:
    if name == "problems":
        return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
    return name not in ("field", "constraint") or isinstance(value, str)
