"""What an envelope is: `render`, `schema` and `parse`, side by side."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, MappingView
from typing import Any, ClassVar

from django.db.models import QuerySet

from drf_mcp.codes import HANDLING
from drf_mcp.outcomes import MISSING, PAGE_MEMBERS, Failure, Outcome, Problem, Warning

Encode = Callable[[Any], str]

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
        """Return the JSON value for an outcome.

        The view's own values are placed as they are; the caller encodes the result
        with REST framework's JSON encoder.
        """
        raise NotImplementedError(f"{type(self).__name__} must define render().")

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        """Return the outcome that `render` gets.

        Where `render` looks into the view's own value, this makes plain JSON of the value.

        Args:
            encode: turns a value of the view's into compact JSON text.
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

        A view may return the body itself, as a model of the contract or as the JSON value;
        a test reads the results of tools with it.

        Args:
            body: the model or the JSON value, ``data`` in it as the view made it.
            status: the HTTP status of the response; 200 for the result of a tool.
        """
        return None

    def get_members(self, body: Any) -> Mapping[str, Any]:
        """Return the members of a body, of a model of the contract or of a JSON object."""
        if getattr(type(body), "mcp_contract", None) == self.contract:
            members: Mapping[str, Any] = body.as_envelope()
            return members
        return body if isinstance(body, Mapping) else {}

    def format_code(self, code: str) -> str:
        """Return an error code, SCREAMING_SNAKE_CASE in an `Outcome`, as the contract has it."""
        return code

    def remarks(self, outcome: Outcome) -> Any:
        """Return the JSON value of a second text block, for facts that the shape has no room for.

        None for no such block.
        """
        return None

    def result_meta(self, outcome: Outcome) -> dict[str, Any]:
        """Return the ``_meta`` of the MCP result, which clients may read and models do not."""
        return {}

    def texts(self, outcome: Outcome, encode: Encode) -> list[str]:
        """Return the result's text blocks, the envelope first.

        Args:
            encode: turns a JSON value into compact JSON text.
        """
        outcome = self.prepare(outcome, encode)
        text = self.text(outcome, self.render(outcome), encode)
        remarks = self.remarks(outcome)
        return [text] if remarks is None else [text, encode(remarks)]

    def text(self, outcome: Outcome, rendered: Any, encode: Encode) -> str:
        """Return the text block of the envelope that `render` gave."""
        return encode(rendered)


class ContractEnvelope(Envelope):
    """An envelope of one of the built-in contracts, which have many members in common.

    A member that has nothing to say is left out, never null.
    """

    def get_payload(self, outcome: Outcome) -> Any:
        """Return the view's value, without count and links if a paginator made the page."""
        data = outcome.data
        # The links are URLs, which no tool takes: `get_pagination` has the arguments instead.
        if not outcome.is_page or not isinstance(data, Mapping) or "results" not in data:
            return data
        return {name: value for name, value in data.items() if name not in PAGE_MEMBERS}

    def get_payload_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of the payload."""
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
        """Return a value as an object: a list as ``results``, a scalar as ``result``."""
        if isinstance(value, Mapping):
            return value
        if value is None:
            return {}
        # Structured content is an object (server/tools, Structured Content).
        return {"results" if isinstance(value, LISTS) else "result": value}

    def get_object_schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of the payload as an object; open if its type is not known."""
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
        """Return the position of the page, and the arguments of the next."""
        page = outcome.pagination
        if page is None:
            return None
        members = {
            "has_more": page.has_more,
            "total_count": page.total_count,
            "page_size": page.page_size,
            "page": page.page,
            "cursor": page.cursor,
            "next": page.next,
        }
        return {**page.more, **drop_empty(members)}

    def get_rate_limit(self, outcome: Outcome) -> dict[str, Any] | None:
        """Return what is left of the caller's quota."""
        quota = outcome.rate_limit
        if quota is None:
            return None
        members = {
            "limit": quota.limit,
            "remaining": quota.remaining,
            "reset_at": quota.reset_at,
            "period": quota.period,
            "retry_after": quota.retry_after,
        }
        return {**quota.more, **drop_empty(members)}

    def get_source(self, outcome: Outcome) -> dict[str, Any]:
        """Return the version of what was read and its hash, where the view has said them."""
        if not outcome.version and not outcome.content_hash:
            return {}
        return drop_empty(
            {"content_version": outcome.version, "content_hash": outcome.content_hash}
        )

    def get_further_meta(self, outcome: Outcome, reserved: Container[str]) -> dict[str, Any]:
        """Return the further facts of a view's own envelope, under names that are free."""
        return {name: value for name, value in outcome.meta.items() if name not in reserved}

    def get_fidelity(self, outcome: Outcome) -> dict[str, Any]:
        """Return the members that say what was left out to fit a budget."""
        fidelity = outcome.fidelity
        if fidelity is None:
            return {}
        return {
            "content_fidelity": fidelity.level,
            "content_fidelity_schema_version": fidelity.version,
            "dropped_content_ids": list(fidelity.dropped),
            "content_archive_hashes": fidelity.archives,
            "warning_details": list(map(self.get_warning_detail, outcome.warnings)),
        }

    def get_warning_messages(self, outcome: Outcome) -> list[str]:
        """Return the warnings as sentences."""
        return [warning.summary or warning.message for warning in outcome.warnings]

    def get_warning_detail(self, warning: Warning) -> dict[str, Any]:
        """Return a warning with its code and its context."""
        return {
            "code": warning.code,
            "severity": warning.severity.value,
            "message": warning.message,
            **drop_empty({"context": warning.context, "remediation": warning.remediation}),
        }

    def get_message(self, failure: Failure) -> str:
        """Return what went wrong in a sentence, or its code where a view gives none."""
        return failure.message if failure.message.strip() else failure.code

    def get_remediation(self, failure: Failure) -> str:
        """Return what the caller can do, by the category if nothing else is known."""
        return failure.remediation or HANDLING[failure.category].remediation

    def get_received(self, problem: Problem) -> dict[str, Any]:
        """Return the ``received`` member: null for a missing required value, else only if sent."""
        if problem.received is not MISSING:
            return {"received": problem.received}
        return {"received": None} if problem.code == "required" else {}


def drop_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have something to say: not None, "", or empty."""
    # Neither 0 nor False equals any of these, so both stay.
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}
