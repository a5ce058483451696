"""The portable subset of JSON Schema: what every client and model provider accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeGuard

from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from drf_mcp.introspection.field_schema import (
    FORMATS,
    MOST_VALUES,
    FieldSchema,
    explain,
    make_own_format,
)
from drf_mcp.introspection.names import is_portable, measure_pattern, translate_pattern
from drf_mcp.introspection.text import clean_text, join_values, name_type
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import join_alternatives

LONGEST_DESCRIPTION = 1024
# Every keyword of the subset, in the order of the written schema.
KEYWORDS = (
    "type",
    "description",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "default",
)
MEMBERS = {
    "minProperties": ngettext_lazy(
        "At least %(minProperties)s member", "At least %(minProperties)s members", "minProperties"
    ),
    "maxProperties": ngettext_lazy(
        "At most %(maxProperties)s member", "At most %(maxProperties)s members", "maxProperties"
    ),
}
# How many values of a long enumeration are named.
SHOWN_VALUES = 3
TYPED = ("type", "items", "properties", "required", "additionalProperties")


class PortableWriter:
    # One type at a time; arrays always have items; patterns compile in ECMAScript; null appears
    # nowhere. Any keyword but `KEYWORDS` becomes one of these, or a sentence of the description.

    def __init__(self, schema: Any) -> None:
        self.meaning = FieldSchema.of(schema).meaning
        self.schema: dict[str, Any] = {**FieldSchema.of(schema)}

    @classmethod
    def write(cls, schema: Any) -> FieldSchema:
        return cls(resolve_references(schema, schema)).get_schema()

    def get_schema(self) -> FieldSchema:
        self.combine()
        self.settle_type()
        self.write_choices()
        # The format is about to become words, which nothing reads.
        kind = self.meaning.kind or FieldSchema(self.schema).kind
        self.write_text()
        self.write_bound("exclusiveMinimum", "minimum", 1, max)
        self.write_bound("exclusiveMaximum", "maximum", -1, min)
        self.explain_other_keywords()
        self.write_parts()
        description = self.schema.get("description", "")
        if len(description) > LONGEST_DESCRIPTION:
            cut = description[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0]
            self.schema["description"] = f"{cut[: LONGEST_DESCRIPTION - 1]}…"
        known = {name: self.schema[name] for name in KEYWORDS if self.schema.get(name) is not None}
        return FieldSchema(known, replace(self.meaning, kind=kind))

    def explain(self, *sentences: str) -> None:
        self.schema = explain(self.schema, *sentences)

    def combine(self) -> dict[str, Any]:
        for part in self.schema.get("allOf") or ():
            if isinstance(part, dict):
                self.add_to(PortableWriter(part).combine())
        for keyword in ("anyOf", "oneOf"):
            members = [m for m in self.schema.get(keyword) or () if isinstance(m, dict)]
            self.choose([PortableWriter(member).combine() for member in members])
        return self.schema

    def add_to(self, base: dict[str, Any]) -> None:
        # The schema around a part decides where both have a keyword.
        own = self.schema
        properties = {**base.get("properties", {}), **own.get("properties", {})}
        required = dict.fromkeys([*base.get("required", []), *own.get("required", [])])
        self.schema = {**base, **own}
        if properties:
            self.schema["properties"] = properties
        if required:
            self.schema["required"] = list(required)

    def choose(self, members: list[dict[str, Any]]) -> None:
        others = [member for member in members if member.get("type") != "null"]
        if len(others) < len(members):
            self.explain(_("May be null"))
        types = {str(member.get("type")) for member in others}
        if len(others) == 1:
            self.add_to(others[0])
        elif len(types) == 1 and all("enum" in member for member in others):
            values = [value for member in others for value in member["enum"]]
            self.add_to({**others[0], "enum": values})
        elif others:
            if len(types) == 1 and "type" in others[0]:
                self.schema["type"] = others[0]["type"]
            names = dict.fromkeys(map(name_type, others))
            self.explain(_("Either %(types)s") % {"types": join_alternatives(names)})

    def settle_type(self) -> None:
        schema, types = self.schema, FieldSchema(self.schema).types
        if not isinstance(schema.get("type"), list):
            if schema.get("type") == "null":
                schema["type"] = None
            elif schema.get("type") is None and schema.get("properties"):
                schema["type"] = "object"
            return
        if len(types) < len(schema["type"]):
            self.explain(_("May be null"))
        if len(types) < 2:
            self.schema["type"] = types[0] if types else None
            return
        # No keyword of one type can stand where values are of several types.
        kinds = [
            name_type({**self.schema, "type": name, "enum": None}, with_members=True)
            for name in types
        ]
        self.schema = {name: self.schema[name] for name in self.schema if name not in TYPED}
        self.explain(_("Either %(types)s") % {"types": join_alternatives(kinds)})

    def write_choices(self) -> None:
        schema = self.schema
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values is None:
            return
        # Some providers refuse an empty string in an enumeration.
        kept = [value for value in values if value is not None and value != ""]
        unique = [value for place, value in enumerate(kept) if value not in kept[:place]]
        if schema.get("type") is None and unique and all(isinstance(v, str) for v in unique):
            schema["type"] = "string"
        schema["enum"] = unique or None
        if len(unique) > MOST_VALUES:
            # Of few choices no word: every list of tools would carry many.
            choices = self.meaning.choices or tuple((value, "") for value in unique)
            shown = ", ".join(str(value) for value, label in choices[:SHOWN_VALUES])
            facts = {"count": len(unique), "values": shown}
            self.meaning = replace(self.meaning, choices=choices)
            schema["enum"] = None
            self.explain(_("One of %(count)d values, such as %(values)s") % facts)
        self.explain(_("May be blank") if "" in values else "")

    def write_text(self) -> None:
        schema, kind = self.schema, self.meaning.kind
        name, pattern = schema.get("format"), schema.get("pattern")
        is_text = schema.get("type") == "string"
        portable = translate_pattern(pattern) if pattern and is_text else None
        # A pattern of the project's own says more than that of a kind, and so does an enumeration.
        is_said = portable is not None or schema.get("enum") is not None
        form = kind if kind is not None and kind.pattern and is_text and not is_said else None
        is_plain = form is not None and form.plain
        # Date-time is the one format that is understood everywhere.
        if name is not None and not (name == "date-time" and is_text):
            schema["format"] = None
            if name in FORMATS:
                self.explain("" if is_plain else _(FORMATS[name].sentence))
            elif is_text:
                self.explain(make_own_format(name).sentence)
        if pattern and not portable:
            self.explain(_("Must match %(pattern)s") % {"pattern": pattern})
        if form is not None and is_plain:
            self.schema = {**FieldSchema.of(self.schema).without_words(_(form.sentence))}
        self.schema["pattern"] = portable = portable if form is None else form.pattern
        if portable is None:
            return
        # Without the lengths that every text has which the pattern allows, or which no address of
        # people reaches.
        shortest, longest = measure_pattern(portable)
        if self.schema.get("minLength", 0) <= shortest:
            self.schema["minLength"] = None
        is_form = kind is not None and kind.pattern == portable
        if is_form or longest <= self.schema.get("maxLength", 0):
            self.schema["maxLength"] = None

    def write_bound(
        self,
        exclusive: str,
        keyword: str,
        step: int,
        tightest: Callable[..., int],
    ) -> None:
        limit = self.schema.get(exclusive)
        if limit is True:  # OpenAPI 3.0 has the bound and a flag
            limit = self.schema.pop(keyword, None)
        present = self.schema.get(keyword)
        if not is_finite_number(present):
            self.schema[keyword] = present = None
        if not is_finite_number(limit):
            return
        if self.schema.get("type") != "integer":
            words = _("Greater than %(limit)s") if step > 0 else _("Less than %(limit)s")
            self.explain(words % {"limit": limit})
            return
        whole = math.floor(limit) if step > 0 else math.ceil(limit)
        self.schema[keyword] = tightest(whole + step, whole if present is None else present)

    def explain_other_keywords(self) -> None:
        schema = self.schema
        values = FieldSchema.of(schema.get("additionalProperties"))
        example = next(iter(schema.get("examples") or ()), schema.get("example"))
        if not isinstance(example, str) and example is not None:
            example = json.dumps(example, ensure_ascii=False, default=str)
        counts = [
            words % schema
            for name, words in MEMBERS.items()
            if isinstance(schema.get(name), int) and schema[name] > 0
        ]
        self.explain(
            "" if schema.get("description") else clean_text(schema.get("title")),
            _("Values: %(type)s") % {"type": name_type(values)} if values else "",
            _("A multiple of %(multipleOf)s") % schema if schema.get("multipleOf") else "",
            _("No duplicates") if schema.get("uniqueItems") is True else "",
            *counts,
            _("Example: %(value)s") % {"value": example} if example else "",
        )

    def write_parts(self) -> None:
        items = self.schema.pop("items", None)
        members = self.schema.pop("properties", None) or {}
        required = self.schema.pop("required", None) or ()
        if self.schema.get("type") == "array":
            self.schema["items"] = PortableWriter(items).get_schema()
        if self.schema.get("type") == "object":
            properties = {
                name: PortableWriter(member).get_schema()
                for name, member in members.items()
                if is_portable(name)
            }
            self.schema["properties"] = properties or None
            self.schema["required"] = [name for name in required if name in properties] or None
            others = join_values(name for name in members if not is_portable(name))
            self.explain(_("Also takes %(names)s") % {"names": others} if others else "")


def resolve_references(schema: Any, root: Any, enclosing: tuple[str, ...] = ()) -> Any:
    # A reference to a schema that encloses it, or to nothing, becomes the open schema.
    if isinstance(schema, list):
        return [resolve_references(member, root, enclosing) for member in schema]
    if not isinstance(schema, dict):
        return schema
    members = {
        name: resolve_references(member, root, enclosing)
        for name, member in schema.items()
        if name != "$defs"
    }
    reference = members.get("$ref")
    if not isinstance(reference, str):
        return FieldSchema(members, FieldSchema.of(schema).meaning)
    del members["$ref"]
    if reference in enclosing or not reference.startswith("#/"):
        return members
    found = root
    for name in JSONPointer(reference[1:]).path:
        found = found.get(name) if isinstance(found, dict) else None
    found = resolve_references(found, root, (*enclosing, reference))
    return {**found, **members} if isinstance(found, dict) else members


def is_finite_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
