"""The table of serializer fields: what each class takes, and what it gives.

Every entry describes the class as REST framework wrote it. A project's subclass is
described by the nearest entry of its MRO as long as it converts values the stock way.
One that converts them itself may take and give anything, so it is left open; what its
nearest entry takes is told in words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar

from rest_framework.fields import empty

from drf_mcp.introspection.accepted import SchemaWords
from drf_mcp.introspection.annotations import declared_input
from drf_mcp.introspection.field_schema import FieldSchema, explain, join_sentences
from drf_mcp.introspection.fields.constraints import constrain
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.overrides import converts_like_drf, is_drf_code
from drf_mcp.introspection.text import listing, says_more, text
from drf_mcp.introspection.types import AnyField, Schema

Rule = Callable[[Any], Schema]
RuleType = TypeVar("RuleType", bound=Rule)

INPUT: dict[type, Rule] = {}
OUTPUT: dict[type, Rule] = {}

COMPOSITE = frozenset({"object", "array"})

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def accepts(*field_classes: type) -> Callable[[RuleType], RuleType]:
    """Register how field classes are described as input."""
    return registering(INPUT, field_classes)


def represents(*field_classes: type) -> Callable[[RuleType], RuleType]:
    """Register how field classes are described as output, when the value is not null."""
    return registering(OUTPUT, field_classes)


def registering(
    table: dict[type, Rule], field_classes: tuple[type, ...]
) -> Callable[[RuleType], RuleType]:
    """Return the decorator that enters a rule into a table."""

    def register(rule: RuleType) -> RuleType:
        table.update(dict.fromkeys(field_classes, rule))
        return rule

    return register


def rule_for(table: dict[type, Rule], field: AnyField) -> Rule:
    """Return the rule of the nearest class in the field's MRO."""
    return next((table[base] for base in type(field).__mro__ if base in table), unknown)


def unknown(field: Any) -> Schema:
    """Describe a field of which nothing is known: any JSON."""
    return {}


def input_schema(field: AnyField) -> Schema:
    """Return the schema of the values a field takes.

    Null is part of it where the field takes it; the portable subset says so in words.
    """
    schema = accepted(field)
    return with_default(field, introduced(field, nullable(schema) if field.allow_null else schema))


def intended_schema(field: AnyField) -> Schema:
    """Return the schema of a field whose values something else may convert before it."""
    schema = accepted(field)
    words = intended(schema, field) if "type" in schema else schema
    return with_default(field, introduced(field, words))


def accepted(field: AnyField) -> Schema:
    """Return what a field takes by its class and validators alone, or by what was declared."""
    declared = declared_input(field)
    if declared is not None:
        return with_plain_values(declared, field)
    if converts_like_drf(field):
        return stock(field)
    # What cannot be described without a caller is no loss here, where it would be a hint.
    return attempt("", lambda: intended(stock(field), field), "", [], {})


def with_plain_values(declared: Schema, field: AnyField) -> Schema:
    """Return what was declared, and the texts or numbers that the field takes besides.

    An object or array is often what the field gives: it reads a key, or a choice. One with
    a way of its own to read input may take both.
    """
    kinds = types_of(declared)
    # What cannot be described without a caller may be any text or number.
    own: Schema = {"type": ["string", "number"]}
    own = attempt("", lambda: stock(field), "", [], own)
    if not kinds or not COMPOSITE.issuperset(kinds):
        return declared
    plain = [kind for kind in types_of(own) if kind not in COMPOSITE]
    if not plain:
        return declared
    if not converts_like_drf(field):
        plain = list(dict.fromkeys([*plain, "string", "number"]))
    open_ended = {name: own[name] for name in own if name not in ("type", "enum", "description")}
    told = f"One of {listing(own['enum'])}" if own.get("enum") else ""
    both = {**open_ended, **declared, "type": [*plain, *types_of(declared, null=True)]}
    return explain(both, told, own.get("description", ""))


def types_of(schema: Schema, *, null: bool = False) -> list[str]:
    """Return the types that a schema names, null among them if that is asked for."""
    kind = schema.get("type", [])
    kinds = [kind] if isinstance(kind, str) else list(kind)
    return kinds if null else [name for name in kinds if name != "null"]


def stock(field: AnyField) -> Schema:
    """Return what REST framework's own code for a field takes."""
    return constrain(rule_for(INPUT, field)(field), field)


def intended(schema: Schema, field: AnyField) -> Schema:
    """Return an open schema that says in words what a schema takes."""
    meant = SchemaWords(schema).intention
    if not meant:
        return {}
    told = "" if SchemaWords(schema).kind_name else schema.get("description", "")
    null = "May be null" if field.allow_null else ""
    words = explain({}, f"Meant to be {meant}", told, null)
    return FieldSchema(words).meaning_also(intention=meant)


def output_schema(field: AnyField) -> Schema:
    """Return the schema of what a field gives, null included.

    A serializer writes null for every attribute that is None, whatever the field's
    ``allow_null`` says, so null is always possible.
    """
    return introduced(field, given(field))


def given(field: AnyField) -> Schema:
    """Return what a field gives by its class alone, null included."""
    return nullable(represented(field))


def represented(field: AnyField) -> Schema:
    """Return what a field makes of a value that is not None."""
    return rule_for(OUTPUT, field)(field) if is_drf_code(type(field), "to_representation") else {}


def introduced(field: AnyField, schema: Schema) -> Schema:
    """Return the schema with the field's own purpose at the head of its description."""
    description = join_sentences(purpose(field), schema.get("description", ""))
    return schema | {"description": description} if description else schema


def purpose(field: AnyField) -> str:
    """Return what a field is for: its help text, or a label that says more than its name."""
    label = text(getattr(field, "label", None))
    named = label if says_more(label, field.field_name or "") else ""
    return text(getattr(field, "help_text", None)) or named


def nullable(schema: Schema) -> Schema:
    """Return a schema that takes null as well as what it took."""
    widened = schema | {}
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        widened["type"] = list(dict.fromkeys([*types, "null"]))
    if "enum" in schema and None not in schema["enum"]:
        widened["enum"] = [*schema["enum"], None]
    if "anyOf" in schema:
        widened["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    return widened


def with_default(field: AnyField, schema: Schema) -> Schema:
    """Add the value used when the field is left out, if it is plain JSON that may be sent too."""
    if is_partial(field) or field.default is empty or callable(field.default):
        return schema
    types = schema.get("type")
    kind = types[0] if isinstance(types, list) else types
    default = plain_default(field.default, kind)
    told = default is not None and is_within(default, schema)
    return schema | {"default": default} if told else schema


def array_of(items: Schema, field: Any) -> Schema:
    """Return the schema of a list; a field that allows none empty needs an item."""
    return {"type": "array", "items": items, **({} if field.allow_empty else {"minItems": 1})}


def is_within(value: Any, schema: Schema) -> bool:
    """Return True if a value keeps to the choices and the bounds of a schema of its type."""
    size = len(value) if isinstance(value, (str, list, dict)) else value
    least = [schema[k] for k in ("minimum", "minLength", "minItems") if k in schema]
    most = [schema[k] for k in ("maximum", "maxLength", "maxItems") if k in schema]
    bounded = all(low <= size for low in least) and all(size <= high for high in most)
    return bounded and value in schema.get("enum", [value])


def plain_default(value: Any, json_type: Any) -> Any:
    """Return a default as a JSON value of the type; None if it is not one."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, Decimal):
        value = str(value) if json_type == "string" else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    expected = JSON_TYPES.get(json_type, (str, bool, int, float, list, dict))
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        return None
    return json_copy(value)


def json_copy(value: Any) -> Any:
    """Return a value as JSON carries it, None if JSON cannot."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return None


def is_partial(field: AnyField) -> bool:
    """Return True if the field belongs to a partial update, where nothing is required."""
    return bool(getattr(field.root, "partial", False))
