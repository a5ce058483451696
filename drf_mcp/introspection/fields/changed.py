"""What a member takes whose serializer changes it before REST framework reads it."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.schema_words import SchemaWords
from drf_mcp.introspection.source.conditions import Write
from drf_mcp.introspection.text import join_values

CLOSED = frozenset({"enum", "anyOf", "const"})


class ChangedSchema:
    def __init__(self, schema: FieldSchema, writes: Sequence[Write]) -> None:
        self.schema = schema
        self.writes = writes
        self.types = sorted({name for write in writes for name in self.get_types(write)})
        self.item_types = sorted({name for write in writes for name in write.item_types})

    def get_types(self, write: Write) -> frozenset[str]:
        return frozenset() if write.contents else write.types

    @property
    def is_open(self) -> bool:
        # No keyword but "type" may stand against a value that is converted.
        has_contents = bool({"properties", "items"} & self.schema.keys())
        contents = has_contents and any(write.contents for write in self.writes)
        closed = self.types and CLOSED & self.schema.keys()
        return contents or bool(closed) or any(write.is_open for write in self.writes)

    def get_schema(self) -> FieldSchema:
        schema = self.widen(self.schema, self.types)
        items = FieldSchema.of(schema.get("items"))
        if self.item_types and "items" in schema:
            is_closed = CLOSED & items.keys()
            widened = {} if is_closed else self.widen(items, self.item_types)
            schema = FieldSchema(schema | {"items": widened}, schema.meaning)
        return schema

    def widen(self, schema: FieldSchema, types: Sequence[str]) -> FieldSchema:
        further = [name for name in types if name not in schema.types]
        if not further or "type" not in schema:
            return schema
        # As with null, the keywords say the fullest form, and words that there is another. What has
        # a shorter form is named, and shown only where it cannot be left out.
        kinds = join_values(SchemaWords({"type": name}).accepted for name in further)
        words = _("May be %(kinds)s instead") % {"kinds": kinds}
        shortened = FieldSchema.of(self.shorten(schema))
        return FieldSchema(explain(shortened, words), schema.meaning)

    def shorten(self, schema: FieldSchema) -> FieldSchema:
        members, required = schema.get("properties", {}), schema.get("required", ())
        further = [name for name in members if name not in required]
        if not further:
            return schema
        shown = {name: members[name] for name in required}
        kept = {name: value for name, value in schema.items() if name != "properties"}
        words = _("Further members: %(names)s") if shown else _("Members: %(names)s")
        words %= {"names": join_values(further)}
        return FieldSchema.of(explain({**kept, **({"properties": shown} if shown else {})}, words))
