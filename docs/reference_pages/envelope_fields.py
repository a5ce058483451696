"""The fields of each envelope: from what it states, and from the models that describe it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from docs.reference_pages.markdown import page, paragraph
from drf_mcp import envelopes
from drf_mcp.outcomes import Pagination, RateLimit

Schema = dict[str, Any]
# What is resolved, and then left out.
SEEN = {"$ref", "anyOf"}
# Attributes of facts that are no fields of their own.
HIDDEN = {"more", "own"}


@dataclass(frozen=True)
class Described:
    """An envelope or a payload, and what describes its fields.

    Attributes:
        title: its heading.
        text: what holds for all of it.
        model: the pydantic model of the contract.
        schema: what results are held to; {} if the model is all there is.
        parts: schemas of members, by their paths.
    """

    title: str
    text: str
    model: Any
    schema: Schema
    parts: Mapping[str, Schema]


def attributes(documented: type) -> Schema:
    """Return a schema of the attributes in a docstring."""
    section = inspect.cleandoc(documented.__doc__ or "").split("Attributes:\n")[1]
    found = re.findall(r"^ {4}(\w+): ((?:.+\n?)(?: {8}.+\n?)*)", section, re.M)
    shown = {name: present(text) for name, text in found if name not in HIDDEN}
    return {"properties": {name: {"description": text} for name, text in shown.items()}}


def present(text: str) -> str:
    """Return what an attribute is where it is there: a field that is None is left out."""
    return re.split(r"[,;] None ", " ".join(text.split()))[0]


def model_schema(model: Any) -> Schema:
    """Return the JSON Schema of a model, its references resolved."""
    schema = TypeAdapter(model).json_schema()
    definitions = schema.pop("$defs", {})

    def resolved(node: Any) -> Any:
        if isinstance(node, list):
            return [resolved(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
        # What may be null is described by its other type.
        for option in node.get("anyOf", []):
            node = node if option.get("type") == "null" else {**option, **node}
        return {key: resolved(value) for key, value in node.items() if key not in SEEN}

    result: Schema = resolved(schema)
    return result


def merged(schema: Schema, more: Schema) -> Schema:
    """Return a schema with what another one says where it says nothing."""
    result = {**more, **schema}
    if "properties" in schema and "properties" in more:
        names = list(dict.fromkeys([*schema["properties"], *more["properties"]]))
        result["properties"] = {
            name: merged(schema["properties"].get(name, {}), more["properties"].get(name, {}))
            for name in names
        }
    if "items" in schema and "items" in more:
        result["items"] = merged(schema["items"], more["items"])
    return result


def whole(described: Described) -> Schema:
    """Return all that is known of the fields."""
    model = model_schema(described.model)
    schema = described.schema or {"required": list(model["properties"])}
    for path, part in described.parts.items():
        schema = merged(schema, at(path.split("."), part))
    return merged(schema, model)


def at(path: list[str], schema: Schema) -> Schema:
    """Return a schema that has this one at a path of names; ``name[]`` is a list's items."""
    for name in filter(None, reversed(path)):
        inner = {"items": schema} if name.endswith("[]") else schema
        schema = {"properties": {name.removesuffix("[]"): inner}}
    return schema


def rows(described: Described) -> Iterator[list[str]]:
    """Yield a row for each field: path, type, whether it is always there, meaning."""
    yield from fields(whole(described), "")


def fields(schema: Schema, path: str) -> Iterator[list[str]]:
    """Yield the rows of an object and of what is in it."""
    for name, member in schema.get("properties", {}).items():
        always = "yes" if name in schema.get("required", ()) else ""
        meaning = member.get("description", "").replace("``", "`").removesuffix(".")
        yield [f"`{path}{name}`", kind(member), always, capitalised(meaning)]
        yield from fields(member, f"{path}{name}.")
        yield from fields(member.get("items", {}), f"{path}{name}[].")


def capitalised(meaning: str) -> str:
    """Return a text with a capital, unless it starts with a name."""
    first = meaning.partition(" ")[0]
    return meaning[:1].upper() + meaning[1:] if first.isalpha() else meaning


def kind(schema: Schema) -> str:
    """Return the type of a field in words."""
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices:
        return ", ".join(f"`{value}`" for value in choices)
    types = schema.get("type", "any")
    names = [types] if isinstance(types, str) else types
    text = " or ".join(names)
    if "array" in names:
        inner = schema.get("items", {}).get("type")
        text = text.replace("array", f"list of {inner}s" if inner else "list")
    return text + bound(schema)


def bound(schema: Schema) -> str:
    """Return how long or large a field may be."""
    if "maxLength" in schema:
        return f", at most {schema['maxLength']} characters"
    if "maxItems" in schema:
        return f", at most {schema['maxItems']}"
    if "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    return ""


def meanings(**texts: str) -> Schema:
    """Return a schema of fields that says what they mean."""
    return {"properties": {name: {"description": text} for name, text in texts.items()}}


META = meanings(
    version="The version of the envelope",
    request_id="The id of the call in the log",
    warnings="Warnings about the answer, in sentences",
    warning_details="The warnings, with codes",
    pagination="The position of the page in its list",
    rate_limit="What is left of the quota",
    telemetry="Measurements, by name",
    content_fidelity="How much of the answer is left",
    content_fidelity_schema_version="Version of the content fidelity members",
    dropped_content_ids="What was left out",
    content_archive_hashes="The hashes of what was left out, by archive id",
    suggestions="What to do next, in sentences",
    content_version="Canonical version of what was read",
    content_hash="Hash of that version, the same for every read of it",
)
TOOL_RESPONSE = meanings(
    success="Whether the call worked",
    error="One sentence on failure, else null",
    meta="Facts about the answer",
    data="The answer; on failure, the code and details of the error",
)
WARNING = meanings(
    code="Machine-readable code",
    severity="How serious",
    message="One sentence",
    context="Further facts",
)
ERROR_DATA = meanings(
    error_code="Machine-readable code",
    error_type="Category of the failure",
    remediation="What to do, in one sentence",
    details="The first problem; problems has the others",
)
OK_RESPONSE = meanings(
    ok="Whether the answer is yes",
    data="The answer",
    errors="Why not; on failure only",
    meta="Facts about the answer",
)
OK_ERROR = meanings(
    code="Stable machine-readable code",
    message="Human-readable diagnostic",
    path="JSON path into the caller's arguments",
    fix_hint="Short instruction for a human or agent",
)
OK_META = meanings(
    content_hash="Hash of that version, the same for every read of it; of the answer, if the view "
    "names no version",
    version="Canonical version of what was read",
    next_cursor="Null on the final page",
    warnings="Non-blocking issues",
)

# What the envelopes say of a call in members of the same names.
FACTS = merged(
    merged(model_schema(envelopes.ResponseMeta), META),
    {"properties": {"pagination": attributes(Pagination), "rate_limit": attributes(RateLimit)}},
)


def shared(*more: str) -> Schema:
    """Return what is known of the facts that every envelope has, and of these."""
    names = [
        "request_id",
        "pagination",
        "rate_limit",
        "content_fidelity",
        "content_fidelity_schema_version",
        "dropped_content_ids",
        "content_archive_hashes",
        *more,
    ]
    return {"properties": {name: FACTS["properties"][name] for name in names}}


SOURCE = ("content_version", "content_hash")
STRING: Schema = {"type": "string"}
PROBLEM: Schema = {
    "properties": {
        "pointer": {
            **STRING,
            "description": "JSON pointer into the arguments, `/lines/0/quantity`",
        },
        "code": {**STRING, "description": "REST framework's own code, such as `required`"},
        "message": {**STRING, "description": "The view's sentence"},
        "received": {"description": "The value that was sent, masked where secret"},
        "accepted": {**STRING, "description": "What would be accepted, in words"},
        "remediation": {**STRING, "description": "What to do, in one sentence"},
        "context": {"type": "object", "description": "Further facts"},
    },
    "required": ["pointer", "code", "message"],
}
DETAILS: Schema = {
    "properties": {
        "field": {"description": "The pointer of the first problem as people write it"},
        "constraint": {"description": "`code` of the first problem"},
        "received": {"description": "`received` of the first problem"},
        "accepted": {"description": "`accepted` of a single problem"},
        "pointer": {"description": "`pointer` of a single problem whose field does not lead to it"},
        "problems": {"description": "The other problems", "items": PROBLEM},
    }
}
ADVICE: Schema = {"properties": {"remediation": {**STRING, "description": "What to do"}}}
RESPONSE_V2 = envelopes.ResponseV2Envelope().schema({}) or {}

DESCRIBED = (
    Described(
        "ResponseV2Envelope",
        "The default. `meta` may hold further members that a view gave it.",
        envelopes.ToolResponse,
        RESPONSE_V2,
        {
            "": TOOL_RESPONSE,
            "meta": merged(META, shared(*SOURCE)),
            "meta.warning_details[]": merged(WARNING, ADVICE),
        },
    ),
    Described(
        "Data of a failure",
        "What `data` of a `ResponseV2Envelope` holds on failure, with its context, such as "
        "`retry_after_seconds`.",
        envelopes.ErrorData,
        RESPONSE_V2["anyOf"][1]["properties"]["data"],
        {"": ERROR_DATA, "details": DETAILS},
    ),
    Described(
        "OkEnvelope",
        "`data` is there on success, `errors` on failure; a soft failure may have both.",
        envelopes.OkResponse,
        envelopes.OkEnvelope().schema({}) or {},
        {
            "": OK_RESPONSE,
            "errors[]": OK_ERROR,
            "meta": merged(OK_META, shared("telemetry", "suggestions")),
        },
    ),
    Described(
        "StatusEnvelope",
        "A subclass of `StandardMCPResponse` may have further members.",
        envelopes.StandardMCPResponse,
        envelopes.StatusEnvelope().schema({}) or {},
        {"metadata": shared("telemetry", *SOURCE)},
    ),
)


def envelope_fields_page() -> str:
    """Return the page of the fields of envelopes."""
    parts = [FIELDS_HEAD]
    facts: set[str] = set()
    for described in DESCRIBED:
        own = [row for row in rows(described) if fact_of(row) not in facts]
        facts |= {fact for row in own if (fact := fact_of(row))}
        parts += [f"## {described.title}", paragraph(described.text)]
        parts.append("\n".join(describe(*row) for row in own))
    return page("Fields of envelopes", *parts)


def describe(name: str, of: str, always: str, meaning: str) -> str:
    """Return the item of a field."""
    star = " \\*" if always else ""
    return f"- {name}{star} ({of}): {meaning}"


def fact_of(row: list[str]) -> str:
    """Return the name of a fact below `meta` or `metadata`, "" of another field."""
    group, _, name = row[0].strip("`").partition(".")
    return name if group in ("meta", "metadata") else ""


FIELDS_HEAD = """\
For code that reads results, by [envelope](../envelopes.md). A star marks a field that is always
there; others are left out if they are empty. `[]` is each item of a list. A field of `meta` is
listed once: `meta` of `OkEnvelope` and `metadata` of `StatusEnvelope` may have it too."""
