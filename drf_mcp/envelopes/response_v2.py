"""The "response-v2" contract: ``{success, data, error, meta}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_mcp.codes import CODES, HANDLING, category_of_code, screaming_code, standard_code
from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import ContractEnvelope, drop_empty
from drf_mcp.envelopes.metadata import Members, MetaParser
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Problem

VERSION = "response-v2"

META: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "enum": [VERSION]},
        **metadata.COMMON_META,
        **metadata.SOURCE,
    },
    "required": ["version"],
}

ERROR_DATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "error_code": {"type": "string"},
        "error_type": {"type": "string", "enum": [category.value for category in Category]},
        "remediation": {"type": "string"},
        "details": {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "constraint": {"type": "string"},
                "problems": {"type": "array", "items": {"type": "object"}},
            },
        },
    },
    "required": ["error_code", "error_type", "remediation"],
}


STANDARD_DATA = frozenset(ERROR_DATA["properties"])
# ``soft`` marks the failure of a call that worked: `Failure.soft` from there on.
STANDARD_META = frozenset({"version", "soft"})
# Members by which ``details`` describe a problem with an argument.
PROBLEM_MEMBERS = frozenset({"field", "pointer", "constraint", "code", "message"})
# How the message of several problems ends.
OTHERS = re.compile(r" \(\d+ [^()]+\)\Z")
# What `error_response` fills in where no code is passed.
DEFAULT_CODE = "INTERNAL_ERROR"


class ResponseV2Envelope(ContractEnvelope):
    """``success``, ``error``, ``meta`` and ``data``, always all four."""

    contract: ClassVar[str] = VERSION
    self_describing: ClassVar[bool] = True
    meta_member: ClassVar[str] = "meta"

    def render(self, outcome: Outcome) -> dict[str, Any]:
        failure = outcome.failure
        # The short members come first, since some clients cut the middle out of a long result.
        return {
            "success": failure is None,
            "error": None if failure is None else self.get_message(failure),
            "meta": self.meta(outcome),
            "data": self.get_object(self.get_payload(outcome))
            if failure is None
            else self.error_data(failure, outcome),
        }

    def meta(self, outcome: Outcome) -> dict[str, Any]:
        return drop_empty(
            {
                **self.get_further_meta(outcome, META["properties"]),
                "version": VERSION,
                **self.get_common_meta(
                    outcome,
                    warning_details=self.get_warning_details(outcome),
                ),
                **self.get_source(outcome),
            }
        )

    def error_data(self, failure: Failure, outcome: Outcome) -> dict[str, Any]:
        standard = {
            "error_code": failure.code,
            "error_type": failure.category.value,
            "remediation": self.get_remediation(failure),
            **self.details(failure),
        }
        answer = self.get_object(self.get_payload(outcome)) if failure.soft else {}
        # Written twice: the standard members stand first and cannot be overwritten.
        return {**standard, **answer, **failure.context, **standard}

    def details(self, failure: Failure) -> dict[str, Any]:
        problems = failure.problems
        if not problems:
            return {"details": failure.details} if failure.details else {}
        first, others = problems[0], problems[1:]
        if not self.is_told_by_details(first, failure):
            listed = [self.problem(problem) for problem in problems]
            return {"details": {"problems": listed, **failure.details}}
        # A name with a dot in it leads to another pointer than its own.
        is_own = JSONPointer.from_dotted(first.path) != first.pointer
        further = {
            "pointer": first.pointer if is_own else "",
            "accepted": first.accepted,
            "problems": [self.problem(problem) for problem in others],
        }
        return {
            "details": {
                **drop_empty({"field": first.path}),
                "constraint": first.code,
                **self.get_received(first),
                **drop_empty(further),
                **failure.details,
            }
        }

    def is_told_by_details(self, problem: Problem, failure: Failure) -> bool:
        # The message of several goes on with their number.
        says_first = failure.message.removeprefix(f"{problem.path}: ").startswith(problem.message)
        return (
            not problem.context
            and says_first
            and problem.remediation in ("", self.get_remediation(failure))
        )

    def problem(self, problem: Problem) -> dict[str, Any]:
        return {
            "pointer": problem.pointer,
            "code": problem.code,
            "message": problem.message,
            **self.get_received(problem),
            **drop_empty(
                {
                    "accepted": problem.accepted,
                    "remediation": problem.remediation,
                    "context": problem.context,
                }
            ),
        }

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        success = {
            "success": {"enum": [True]},
            "error": {"type": "null"},
            "data": self.get_object_schema(data_schema),
        }
        failure = {
            "success": {"enum": [False]},
            "error": {"type": "string"},
            "data": ERROR_DATA,
        }
        return {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "error": {"type": ["string", "null"]},
                "meta": metadata.translate_schema(META),
                "data": {"type": "object"},
            },
            "required": ["success", "error", "meta", "data"],
            "anyOf": [{"properties": success}, {"properties": failure}],
        }

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        members = self.get_members(body)
        # Asked of the answer of every view, so before anything else is made.
        if "success" not in members:
            return None
        meta = members.get("meta")
        if not isinstance(meta, Mapping) or meta.get("version") != VERSION:
            return None
        envelope, data, failure = Members(members), members.get("data"), None
        if not envelope.get("success"):
            failure = self.parse_failure(envelope, status, soft=meta.get("soft") is True)
            # A soft failure has an answer where a hard one has but its context.
            data = dict(failure.context) if failure.soft and failure.context else None
        return Outcome(
            tool="",
            status=status,
            data={} if data is None and failure is None else data,
            failure=failure,
            body=PlainEnvelope().translate_soft(failure, data),
            **MetaParser(meta, STANDARD_META).get_members(),
        )

    def parse_failure(self, envelope: Members, status: int, *, soft: bool) -> Failure:
        # What `error_response` filled in gives way to what the HTTP status says.
        data = Members(envelope.get("data"))
        code = screaming_code(data.get_text("error_code") or DEFAULT_CODE)
        category, remediation = data.get("error_type"), data.get_text("remediation")
        if 400 <= status < 500 and category in (None, CODES[DEFAULT_CODE]):
            code, category = standard_code(status) if code == DEFAULT_CODE else code, None
            default = HANDLING[CODES[DEFAULT_CODE]]
            if remediation in (default.advice, default.remediation):
                remediation = ""
        details = Members(data.get("details"))
        return Failure(
            code=code,
            category=self.parse_category(category, code, status),
            message=envelope.get_text("error") or code,
            remediation=remediation,
            problems=tuple(self.parse_problems(details, envelope, remediation)),
            context=data.get_others(STANDARD_DATA),
            soft=soft,
            details={n: v for n, v in details.values.items() if self.is_valid_detail(n, v)},
        )

    def parse_category(self, name: Any, code: str, status: int) -> Category:
        try:
            return Category(name)
        except ValueError:
            return category_of_code(code, status if status >= 400 else 500)

    def parse_problems(
        self, details: Members, envelope: Members, remediation: str
    ) -> list[Problem]:
        # ``details`` describe the first, with the sentences of the failure, unless it is listed.
        entries = details.get_objects("problems")
        place = details.get_text("pointer") or details.get_pointer("field")
        message = envelope.get_text("error").removeprefix(f"{details.get_text('field')}: ")
        is_listed = place and any(
            place == (entry.get_text("pointer") or entry.get_pointer("field")) for entry in entries
        )
        if not is_listed and not PROBLEM_MEMBERS.isdisjoint(details.values):
            message = OTHERS.sub("", message) if entries else message
            sentences = {"message": message, "remediation": remediation}
            entries = [Members({**sentences, **details.values}), *entries]
        return [
            Problem(
                code=entry.get_text("code") or entry.get_text("constraint") or "invalid",
                message=entry.get_text("message"),
                pointer=entry.get_text("pointer") or entry.get_pointer("field"),
                received=entry.values.get("received", MISSING),
                accepted=entry.get_text("accepted") or None,
                remediation=entry.get_text("remediation"),
                context=entry.get_object("context"),
            )
            for entry in entries
            if not PROBLEM_MEMBERS.isdisjoint(entry.values)
        ]

    def is_valid_detail(self, name: str, value: Any) -> bool:
        # Whether a member has the type that the contract gives it.
        if name == "problems":
            return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
        return name not in ("field", "constraint") or isinstance(value, str)
