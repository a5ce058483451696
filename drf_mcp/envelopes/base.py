"""What an envelope is: `render`, `schema` and `parse`, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, MappingView
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from drf_mcp.codes import HANDLING, PLAIN_WARNINGS
from drf_mcp.envelopes.metadata import PAGINATION, RATE_LIMIT
from drf_mcp.envelopes.rules import drop_refused
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import (
    MISSING,
    PAGE_MEMBERS,
    Failure,
    Outcome,
    Pagination,
    Problem,
    RateLimit,
    Warning,
)

Encode = Callable[[Any], str]

# Characters of a received value that an error repeats.
MOST_RECEIVED = 100

# What REST framework's encoder writes as an array.
LISTS = (list, tuple, set, frozenset, QuerySet, MappingView, Iterator)


class Envelope:
    """The shape in which outcomes reach the model.

    A subclass gives `render`, and `schema` if its shape can be stated. An envelope
    keeps nothing between calls: one instance serves every tool and thread.

    Attributes:
        structured_content: True if results carry ``structuredContent`` beside the
            text block, both of the same value.
        contract: the name of the contract, which ``mcp_contract`` of its models repeats.
        self_describing: True if each JSON object of the contract names the contract, so
            that a view may return such a dict, and other dicts are its data.
        meta_member: the member of the envelope that holds facts about the answer, "" if
            the contract has none.
    """

    structured_content: ClassVar[bool] = True
    contract: ClassVar[str] = ""
    self_describing: ClassVar[bool] = False
    meta_member: ClassVar[str] = ""

    def render(self, outcome: Outcome) -> Any:
        """Return the JSON value for an outcome, the view's own values placed as they are."""
        raise NotImplementedError(f"{type(self).__name__} must define render().")

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        """Return the outcome that `render` gets.

        Where `render` looks into the view's own value, ``encode`` makes JSON text of the value.
        """
        return outcome

    def answer(self, outcome: Outcome) -> Any:
        """Return the part of an outcome that is shortened where the result is too long."""
        return outcome.data

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any] | None:
        """Return the JSON Schema (2020-12) of everything that `render` gives, None for none.

        The schema holds for success, failure, soft failure and trimmed results alike, and
        its root is ``type: object`` (MCP, server/tools, Output Schema).

        Args:
            data_schema: the schema of the view's own value; ``{}`` if nothing is known.
        """
        return None

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        """Return the outcome that a body of this contract describes, None for another body.

        Args:
            body: a model of the contract or its JSON value, ``data`` in it as the view made it.
            status: the HTTP status of the response; 200 for the result of a tool.
        """
        return None

    def get_members(self, body: Any) -> Mapping[str, Any]:
        if getattr(type(body), "mcp_contract", None) == self.contract:
            members: Mapping[str, Any] = body.as_envelope()
            return members
        return body if isinstance(body, OBJECTS) else {}

    def format_code(self, code: str) -> str:
        """Return an error code, SCREAMING_SNAKE_CASE in an `Outcome`, as the contract has it."""
        return code

    def remarks(self, outcome: Outcome) -> Any:
        """Return the JSON value of a second text block, None for no such block."""
        return None

    def result_meta(self, outcome: Outcome) -> dict[str, Any]:
        """Return the ``_meta`` of the MCP result, which clients may read and models do not."""
        return {}

    def texts(self, outcome: Outcome, encode: Encode) -> list[str]:
        """Return the result's text blocks, the envelope first."""
        outcome = self.prepare(outcome, encode)
        text = self.text(outcome, self.render(outcome), encode)
        remarks = self.remarks(outcome)
        return [text] if remarks is None else [text, encode(remarks)]

    def text(self, outcome: Outcome, rendered: Any, encode: Encode) -> str:
        """Return the text block of the envelope that `render` gave."""
        return encode(rendered)


class ContractEnvelope(Envelope):
    # What the built-in contracts have in common. An empty member is left out, never null.

    def get_payload(self, outcome: Outcome) -> Any:
        data = outcome.data
        # The links are URLs, which no tool takes: `get_pagination` has the arguments instead.
        if not outcome.is_page or not isinstance(data, OBJECTS) or "results" not in data:
            return data
        return {name: value for name, value in data.items() if name not in PAGE_MEMBERS}

    def get_payload_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        properties = data_schema.get("properties", {})
        if "results" not in properties:
            return data_schema
        required = data_schema.get("required", [])
        return {
            **data_schema,
            "properties": {n: properties[n] for n in properties if n not in PAGE_MEMBERS},
            "required": [name for name in required if name not in PAGE_MEMBERS],
        }

    def get_object(self, value: Any) -> Mapping[str, Any]:
        if isinstance(value, OBJECTS):
            return value
        if value is None:
            return {}
        # Structured content is an object (server/tools, Structured Content).
        return {"results" if isinstance(value, LISTS) else "result": value}

    def get_object_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        schema = self.get_payload_schema(data_schema)
        named = schema.get("type", [])
        types = {named} - {"null"} if isinstance(named, str) else set(named) - {"null"}
        if types == {"object"}:
            return {**schema, "type": "object"}
        if types == {"array"}:
            return {"type": "object", "properties": {"results": {**schema, "type": "array"}}}
        if types and types.isdisjoint({"object", "array"}):
            return {"type": "object", "properties": {"result": schema}}
        return {"type": "object"}

    def get_pagination(self, outcome: Outcome) -> dict[str, Any] | None:
        page = outcome.pagination
        if page is None:
            return None
        facts = self.get_facts(page, PAGINATION)
        # Facts that others imply: a page has a number or a cursor, and the only page neither.
        needless: tuple[str, ...] = ("cursor",) if page.page is not None else ()
        if page.has_more is False and page.page in (None, 1) and not page.own:
            needless = ("page", "page_size", "cursor")
        return {name: facts[name] for name in facts if page.own or name not in needless}

    def get_rate_limit(self, outcome: Outcome) -> dict[str, Any] | None:
        quota = outcome.rate_limit
        return None if quota is None else self.get_facts(quota, RATE_LIMIT)

    def get_facts(self, facts: Pagination | RateLimit, schema: dict[str, Any]) -> dict[str, Any]:
        values = vars(facts)
        return {**facts.more, **drop_empty({name: values[name] for name in schema["properties"]})}

    def get_telemetry(self, outcome: Outcome) -> Mapping[str, Any]:
        if not outcome.telemetry:
            return {}
        telemetry: Mapping[str, Any] = drop_refused({"telemetry": outcome.telemetry})["telemetry"]
        return telemetry

    def get_source(self, outcome: Outcome) -> dict[str, Any]:
        if not outcome.version and not outcome.content_hash:
            return {}
        return drop_empty(
            {"content_version": outcome.version, "content_hash": outcome.content_hash}
        )

    def get_further_meta(self, outcome: Outcome, reserved: Container[str]) -> dict[str, Any]:
        return {name: value for name, value in outcome.meta.items() if name not in reserved}

    def get_fidelity(self, outcome: Outcome) -> dict[str, Any]:
        fidelity = outcome.fidelity
        if fidelity is None:
            return {}
        return {
            "content_fidelity": fidelity.level,
            "content_fidelity_schema_version": fidelity.version,
            "dropped_content_ids": list(fidelity.dropped),
            "content_archive_hashes": fidelity.archives,
            "warning_details": self.get_warning_details(outcome),
        }

    def get_common_meta(self, outcome: Outcome, **more: Any) -> dict[str, Any]:
        return {
            "request_id": outcome.request_id,
            **self.get_fidelity(outcome),
            "warnings": [warning.summary or warning.message for warning in outcome.warnings],
            **more,
            "pagination": self.get_pagination(outcome),
            "rate_limit": self.get_rate_limit(outcome),
            "telemetry": self.get_telemetry(outcome),
            "suggestions": list(outcome.suggestions),
        }

    def get_warning_details(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Return the warnings that say more than the sentence that ``warnings`` has."""
        return [
            self.get_warning_detail(warning)
            for warning in outcome.warnings
            if PLAIN_WARNINGS.get(warning.code) is not warning.severity
            or warning.context
            or warning.remediation
            or warning.summary
        ]

    def get_warning_detail(self, warning: Warning) -> dict[str, Any]:
        return {
            "code": warning.code,
            "severity": warning.severity.value,
            "message": warning.message,
            **drop_empty({"context": warning.context, "remediation": warning.remediation}),
        }

    def get_message(self, failure: Failure) -> str:
        return failure.message if failure.message.strip() else failure.code

    def get_problems(self, failure: Failure) -> tuple[Problem, ...]:
        if failure.problems:
            return failure.problems
        # A failure without problems is one itself.
        message, remediation = self.get_message(failure), self.get_remediation(failure)
        recoverable = failure.recoverable
        return (Problem(failure.code, message, remediation=remediation, recoverable=recoverable),)

    def get_remediation(self, failure: Failure) -> str:
        return failure.remediation or HANDLING[failure.category].remediation

    def get_advice(self, problem: Problem) -> str:
        # For contracts that have one sentence for what to do and what is accepted.
        accepted, remediation = problem.accepted, problem.remediation
        if not accepted or accepted in remediation:
            return remediation
        told = _("Accepted: %(values)s.") % {"values": accepted}
        return f"{remediation} {told}".lstrip()

    def get_received(self, problem: Problem) -> dict[str, Any]:
        # Null for a missing required value, as contract 000 has it.
        if problem.received is not MISSING:
            return {"received": self.shorten(problem.received)}
        return {"received": None} if problem.code == "required" else {}

    def shorten(self, received: Any) -> Any:
        # The caller has the whole value.
        text = received if isinstance(received, str) else ""
        if isinstance(received, (list, tuple, Mapping)):
            text = json.dumps(received, ensure_ascii=False, default=str)
        return f"{text[:MOST_RECEIVED]}…" if len(text) > MOST_RECEIVED else received


def drop_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    # Neither 0 nor False equals any of these, so both stay.
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}
