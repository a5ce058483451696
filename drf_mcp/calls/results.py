"""The result of tools/call, and the output schema and definitions of tools/list."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from json.encoder import encode_basestring
from typing import Any

from drf_mcp.codes import UNWRITABLE, UNWRITABLE_TRIAL
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.envelopes import Envelope
from drf_mcp.envelopes.tables import make_tabular
from drf_mcp.json_text import MAX_DEPTH, NestedTooDeep, refuse_deep, to_bytes
from drf_mcp.outcomes import MISSING, Outcome
from drf_mcp.protocol import Encoded, Era, jsonrpc
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation import fit_outcome

# The characters of an answer whose tokens are counted.
SAMPLE = 8_000


# The text for a client that shows a model the structure as well.
POINTER = "The result is in structuredContent."


class ResultWriter:
    def __init__(self, envelope: Envelope, era: Era, client_name: str = "") -> None:
        self.envelope = envelope
        self.era = era
        is_named = client_name in mcp_settings.STRUCTURE_CLIENTS
        self.points = is_named and envelope.structured_content and not envelope.repeats_text
        self.encoder = AnswerEncoder()

    def write(self, outcome: Outcome, budget: Any = None) -> dict[str, Any]:
        """Return the members of a result that fits the `ToolBudget`."""
        envelope = self.envelope
        outcome, texts = self.write_texts(outcome, budget)
        blocks: list[bytes] = []
        # Of a failure, hosts show the text.
        is_error = outcome.failure is not None and outcome.is_error
        for text in [POINTER] if self.points and not is_error else texts:
            blocks += [b'{"type":"text","text":%b}' % to_bytes(encode_basestring(text))]
        for block in outcome.content:
            if block["type"] in self.era.content_types:
                blocks += [jsonrpc.encode(block)]
        result: dict[str, Any] = {"content": Encoded(b"[%b]" % b",".join(blocks))}
        if envelope.structured_content:
            result["structuredContent"] = Encoded(to_bytes(texts[0]))
        if is_error:
            result["isError"] = True
        if meta := envelope.result_meta(outcome):
            result["_meta"] = meta
        return result

    def write_texts(self, outcome: Outcome, budget: Any = None) -> tuple[Outcome, list[str]]:
        """Return the outcome that fits the budget, and the texts of its result."""
        envelope, encode = self.envelope, self.encoder.encode
        texts = envelope.texts(outcome, encode)
        text = "".join(texts)
        if budget is not None and budget.is_exceeded(outcome, text):
            answer = encode(envelope.answer(outcome))
            failure = outcome.failure
            if failure is not None and failure.soft:
                # The body of `PlainEnvelope` is the data from here on.
                failure = replace(failure, body=None)
            outcome = outcome.changed(data=json.loads(answer), failure=failure)
            sample, length, answer, text = answer[:SAMPLE], len(text), "", ""
            outcome = fit_outcome(
                budget, outcome, lambda it: "".join(envelope.texts(it, encode)), length, sample
            )
            texts = envelope.texts(outcome, encode)
        if texts[0][:1] in ("{", "["):
            refuse_deep(texts[0])
        return outcome, texts

    def explain(self, failure: Outcome, outcome: Outcome, exc: Exception) -> Outcome:
        # A lazy answer may have failed while it was read, for any reason.
        if failure.failure is None or self.encoder.unread is not None:
            return failure
        is_deep = isinstance(exc, (NestedTooDeep, RecursionError))
        fault = f": it is {NestedTooDeep(MAX_DEPTH)}" if is_deep else ""
        explained = replace(
            failure.failure,
            message=f"The answer cannot be written as JSON{fault}. "
            f"It was logged under the id {failure.request_id}.",
            remediation=(UNWRITABLE_TRIAL if outcome.is_trial else UNWRITABLE).remediation,
            recoverable=False,
        )
        return replace(failure, failure=explained)


# A shortened answer lacks rows and members, repeats reduced rows, and has digests for texts; the
# negated keywords would turn round where a part of them is gone.
BROKEN = frozenset(
    {
        "required",
        "dependentRequired",
        "minProperties",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
# Keywords with texts for people, keywords whose members are named by the project, and keywords
# whose values are no schemas.
WORDS = frozenset({"title", "description", "examples", "default", "$comment"})
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
VALUES = frozenset({"enum", "const", "default", "examples"})


# One instance of each class: envelopes hold no state of a call.
make_envelope: Callable[[Any], Envelope] = functools.lru_cache(256)(lambda each: each())


def choose_envelope_class(
    tool: Tool | None, endpoint_class: type[Envelope] | None = None
) -> type[Envelope]:
    own = tool.options.envelope_class if tool else None
    chosen: type[Envelope] = own or endpoint_class or mcp_settings.ENVELOPE_CLASS
    return make_tabular(chosen) if tool and tool.options.tabular else chosen


def get_output_schema(tool: Tool, envelope: Envelope) -> Mapping[str, Any] | None:
    own = tool.options.output_schema
    kind = mcp_settings.OUTPUT_SCHEMA if own is MISSING else own
    if kind is None:
        return None
    if isinstance(kind, Mapping):
        return envelope.schema(relax_schema(kind))
    # Several objects are answered by a list.
    is_known = kind != "envelope" and tool.arguments.items is None
    output = tool.schema.output if is_known else {}
    if kind == "data":
        return _describe_data(envelope, output) if output else None
    return envelope.schema(output)


def _describe_data(envelope: Envelope, output: dict[str, Any]) -> Mapping[str, Any] | None:
    # The members with the view's data, without descriptions. In a failure they have another object.
    whole, around = envelope.schema(output), envelope.schema({})
    if whole is None or around is None:
        return None
    known = _find_success(around)
    data = {
        name: schema if schema.get("type") == "object" else {"anyOf": [schema, {"type": "object"}]}
        for name, schema in relax_schema({"properties": _find_success(whole)}, WORDS)[
            "properties"
        ].items()
        if schema != known.get(name)
    }
    return {"type": "object", "properties": data}


def _find_success(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    # An envelope describes its success before its failure.
    members: Mapping[str, Any] = schema.get("anyOf", [schema])[0].get("properties", {})
    return members


def relax_schema(schema: Any, dropped: Container[str] = BROKEN) -> Any:
    """Return a JSON Schema, or a list of them, without the keywords that are dropped."""
    if isinstance(schema, list):
        return [relax_schema(part, dropped) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in NAMED and isinstance(value, Mapping):
            kept[keyword] = {name: relax_schema(part, dropped) for name, part in value.items()}
        elif keyword not in dropped:
            kept[keyword] = value if keyword in VALUES else relax_schema(value, dropped)
    # Several of the relaxed choices may hold at once.
    if "oneOf" in kept:
        kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": kept.pop("oneOf")}]
    return kept
