"""The class of all envelopes: `render`, `schema` and `parse` of one contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, KeysView, Mapping, MappingView
from dataclasses import replace
from typing import Any, ClassVar

from django.db.models import QuerySet

from drf_mcp.codes import HANDLING, PLAIN_WARNINGS
from drf_mcp.envelopes.metadata import PAGINATION, RATE_LIMIT, drop_invalid
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import (
    MISSING,
    PAGE_MEMBERS,
    Failure,
    Outcome,
    Pagination,
    Problem,
    RateLimit,
)

Encode = Callable[[Any], str]

MAX_RECEIVED_LENGTH = 100
# An opaque cursor is longer, and half of a page's description.
SHORT_CURSOR = 16
# Values that are left out; 0 and False equal none of these.
EMPTY: tuple[Any, ...] = (None, "", [], {})
# REST framework's encoder writes them as arrays.
ARRAYS = (list, tuple, set, frozenset, QuerySet, MappingView, Iterator)


class Envelope:
    """The shape in which outcomes reach the model.

    A subclass gives `render`, and `schema` if its shape can be stated. An envelope
    keeps nothing between calls: one instance serves every tool and thread.

    Attributes:
        structured_content: True if results carry ``structuredContent`` as well as the
            text block, both of the same value.
        contract: the name of the contract, which ``mcp_contract`` of its models repeats.
        meta_member: the member of the envelope that holds facts about the answer, "" if
            the contract has none.
        repeats_text: True if the contract wants the same value as text and as structure.
        has_tables: True if the contract lets rows in ``data`` be written as columns and rows.
    """

    structured_content: ClassVar[bool] = True
    contract: ClassVar[str] = ""
    meta_member: ClassVar[str] = ""
    repeats_text: ClassVar[bool] = False
    has_tables: ClassVar[bool] = False

    def render(self, outcome: Outcome) -> Any:
        """Return the JSON value for an outcome, the view's own values placed as they are."""
        raise NotImplementedError(f"{type(self).__name__} must define render().")

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        """Return the outcome that `render` gets.

        ``encode`` makes JSON text of the data, for a `render` that reads the data.
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
            body: the JSON value of an envelope, ``data`` in it as the view made it.
            status: the HTTP status of the response; 200 for the result of a tool.
        """
        return None

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
    """The parts that the built-in contracts share. Empty members are left out, never null."""

    has_tables: ClassVar[bool] = True

    def _get_payload(self, outcome: Outcome) -> Any:
        data, page = outcome.data, outcome.pagination
        # Tools do not take the URLs of other pages: `_describe_page` has their arguments instead.
        if page is None or page.own or not isinstance(data, OBJECTS) or "results" not in data:
            return data
        payload = dict(data)
        for name in PAGE_MEMBERS & payload.keys():
            del payload[name]
        return payload

    def _get_payload_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        properties = data_schema.get("properties", {})
        if "results" not in properties:
            return data_schema
        return {
            **data_schema,
            "properties": {n: properties[n] for n in properties if n not in PAGE_MEMBERS},
            "required": [n for n in data_schema.get("required", []) if n not in PAGE_MEMBERS],
        }

    def _get_object(self, value: Any) -> Mapping[str, Any]:
        if isinstance(value, OBJECTS):
            return value
        if value is None:
            return {}
        # Structured content is an object (server/tools, Structured Content).
        return {"results" if isinstance(value, ARRAYS) else "result": value}

    def _get_object_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        schema = self._get_payload_schema(data_schema)
        named = schema.get("type", [])
        types = ({named} if isinstance(named, str) else set(named)) - {"null"}
        if types == {"object"}:
            return {**schema, "type": "object"}
        if types == {"array"}:
            return {"type": "object", "properties": {"results": {**schema, "type": "array"}}}
        if types and types.isdisjoint({"object", "array"}):
            return {"type": "object", "properties": {"result": schema}}
        return {"type": "object"}

    def _describe_page(self, page: Pagination) -> dict[str, Any]:
        # A page has a number or a cursor, which `next` may say, and the only page has neither.
        redundant: tuple[str, ...] = ()
        cursor = page.cursor or ""
        is_said = len(cursor) > SHORT_CURSOR and cursor in str(page.next)
        if not page.own and page.page in (None, 1) and page.has_more is False:
            redundant = ("page", "page_size", "cursor")
        elif not page.own and (page.page is not None or is_said):
            redundant = ("cursor",)
        return self._describe(page, PAGINATION, redundant)

    def _describe(
        self, facts: Pagination | RateLimit, schema: dict[str, Any], without: Container[str] = ()
    ) -> dict[str, Any]:
        described, values = {**facts.more}, vars(facts)
        for name in schema["properties"]:
            if name not in without and values[name] not in EMPTY:
                described[name] = values[name]
        return described

    def _describe_source(self, outcome: Outcome) -> dict[str, Any]:
        source = outcome.source
        return drop_empty({"content_version": source.version, "content_hash": source.content_hash})

    def _get_further_meta(self, outcome: Outcome, reserved: Container[str]) -> dict[str, Any]:
        meta = outcome.meta
        return {name: meta[name] for name in meta if name not in reserved} if meta else {}

    def _describe_fidelity(self, outcome: Outcome) -> dict[str, Any]:
        fidelity = outcome.fidelity
        if fidelity is None:
            return {}
        return {
            "content_fidelity": fidelity.level,
            "content_fidelity_schema_version": fidelity.version,
            "dropped_content_ids": list(fidelity.dropped),
            "content_archive_hashes": fidelity.archives,
            "warning_details": self._describe_warnings(outcome),
        }

    def _get_common_meta(self, outcome: Outcome, *, has_details: bool = False) -> dict[str, Any]:
        meta: dict[str, Any] = {"request_id": outcome.request_id} if outcome.request_id else {}
        if outcome.fidelity is not None:
            meta |= drop_empty(self._describe_fidelity(outcome))
        if outcome.warnings:
            meta["warnings"] = [each.summary or each.message for each in outcome.warnings]
            if has_details and (details := self._describe_warnings(outcome)):
                meta["warning_details"] = details
        page, quota = outcome.pagination, outcome.rate_limit
        if page is not None and (described := self._describe_page(page)):
            meta["pagination"] = described
        if quota is not None and (described := self._describe(quota, RATE_LIMIT)):
            meta["rate_limit"] = described
        if telemetry := self._describe_telemetry(outcome):
            meta["telemetry"] = telemetry
        if outcome.suggestions:
            meta["suggestions"] = list(outcome.suggestions)
        return meta

    def _describe_telemetry(self, outcome: Outcome) -> dict[str, Any]:
        telemetry = outcome.telemetry
        return drop_invalid({"telemetry": telemetry})["telemetry"] if telemetry else {}

    def _describe_warnings(self, outcome: Outcome) -> list[dict[str, Any]]:
        # Other warnings have nothing but the sentence in ``warnings``.
        return [
            warning.detail
            for warning in outcome.warnings
            if PLAIN_WARNINGS.get(warning.code) is not warning.severity
            or warning.context
            or warning.remediation
            or warning.summary
        ]

    def _get_message(self, failure: Failure) -> str:
        return failure.message if failure.message.strip() else failure.code

    def _get_remediation(self, failure: Failure) -> str:
        return failure.remediation or HANDLING[failure.category].remediation

    def _get_problems(self, failure: Failure) -> tuple[Problem, ...]:
        message, remediation = self._get_message(failure), self._get_remediation(failure)
        main = Problem(
            failure.code, message, remediation=remediation, recoverable=failure.recoverable
        )
        if not failure.details:
            return failure.problems or (main,)
        # A view's own failure keeps its code.
        if not failure.problems or failure.details.keys() == {"problems"}:
            return (main, *failure.problems)
        first, *others = failure.problems
        named = {"constraint": first.code} if "constraint" in failure.details else {}
        return (replace(first, code=failure.code, context={**named, **first.context}), *others)

    def _get_advice(self, problem: Problem) -> str:
        # For contracts without a member for the accepted values.
        accepted, remediation = problem.accepted, problem.remediation
        if not accepted or accepted in remediation:
            return remediation
        sentence = f"Accepted: {accepted}."
        return f"{remediation} {sentence}".lstrip()

    def _describe_received(self, problem: Problem) -> dict[str, Any]:
        # Null for a missing required value, as in contract 000.
        received = problem.received
        if received is MISSING:
            return {"received": None} if problem.code == "required" else {}
        text = received if isinstance(received, str) else ""
        if not text and isinstance(received, (list, tuple, Mapping)):
            text = json.dumps(received, ensure_ascii=False, default=str)
        is_long = len(text) > MAX_RECEIVED_LENGTH
        return {"received": f"{text[:MAX_RECEIVED_LENGTH]}…" if is_long else received}


def add_members(
    standard: Mapping[str, Any], members: Mapping[str, Any], reserved: Container[str]
) -> dict[str, Any]:
    """Return the members of a contract with others, which never take reserved names."""
    return {**standard, **{f"body_{n}" if n in reserved else n: v for n, v in members.items()}}


def drop_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in EMPTY}


class OwnEnvelope(dict[str, Any]):
    """The JSON value of an envelope of a contract, as the models and helpers return it.

    Attributes:
        contract: the name of the contract.
        defaults: members of the metadata that the view did not set, and that a tool's result
            has of the call.
    """

    def __init__(
        self, members: Mapping[str, Any], contract: str, defaults: Container[str] = ()
    ) -> None:
        super().__init__(members)
        self.contract = contract
        self.defaults = defaults

    def __reduce__(self) -> Any:
        return OwnEnvelope, (dict(self), self.contract, self.defaults)


class EnvelopeModel:
    """A model of a contract, which REST framework's JSON encoder writes as an object."""

    # The encoder takes any value with `keys` and items: ``Response(success_response(...))``.

    mcp_contract: ClassVar[str] = ""

    def as_json(self) -> OwnEnvelope:
        """Return the envelope as JSON."""
        raise NotImplementedError

    def keys(self) -> KeysView[str]:
        return self.as_json().keys()

    def __getitem__(self, name: str) -> Any:
        return self.as_json()[name]
