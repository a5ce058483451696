"""Handling: which values are files or secrets, how a form writes them, which rows they name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework import fields, relations, serializers

from drf_mcp.introspection.fields.constraints import is_extension_validator
from drf_mcp.introspection.fields.relations import find_related_model, find_source_field
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.request_body.keys import SerializerKeys
from drf_mcp.introspection.source.overrides import converts_like_drf
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    AnyField,
    Handling,
    MemberNames,
    Place,
    Relation,
    Upload,
)

# Fields that read a form by a key for each of their members.
COMPOSITES = (
    serializers.BaseSerializer,
    fields.ListField,
    fields.DictField,
    fields.MultipleChoiceField,
    relations.ManyRelatedField,
)
# Fields whose values may be repeated, though no answer of the view has them.
HARMLESS = (
    fields.IntegerField,
    fields.FloatField,
    fields.DecimalField,
    fields.BooleanField,
    fields.ChoiceField,
    fields.DateTimeField,
    fields.DateField,
    fields.TimeField,
    fields.DurationField,
    relations.RelatedField,
)
KEYS = (fields.IntegerField, fields.CharField, fields.UUIDField)
WITH_ITEMS = (
    serializers.ListSerializer,
    fields.ListField,
    fields.DictField,
    relations.ManyRelatedField,
)


class FieldHandling:
    def __init__(self, field: AnyField, *, takes_json: bool) -> None:
        self.field = field
        self.takes_json = takes_json

    def get_handling(self) -> Handling:
        uploads, forms, secrets, related, types = {}, {}, [], {}, {}
        nested = {}
        for place, part in walk_fields(self.field):
            if self.is_secret(part):
                secrets.append(place)
            if isinstance(part, COMPOSITES):
                forms[place] = "parts"
            elif isinstance(part, fields.JSONField):
                forms[place] = "json"
            elif part.allow_null:
                forms[place] = "null"
            if self.is_upload(part):
                uploads[place] = self.get_upload(part)
            if (relation := self.get_relation(part)) is not None:
                related[place] = relation
            if name := self.get_type_member(part):
                types[place] = name
            if isinstance(part, serializers.Serializer) and self.has_known_members(part):
                nested[place] = self.get_members(part)
        if not (uploads or forms or secrets or related or types):
            return PLAIN  # one value for most fields of a project
        return Handling(uploads, forms, frozenset(secrets), related, types, nested)

    def has_known_members(self, field: Any) -> bool:
        # The outermost serializer's are arguments, or rows of them. Code that converts in an own
        # way, here or further out, may read any member.
        serializer = (field, *FieldNode(field).enclosing)
        is_nested = any(isinstance(part, serializers.Serializer) for part in serializer[1:])
        return is_nested and all(map(self.has_known_parts, serializer))

    def get_members(self, field: Any) -> MemberNames:
        writable = FieldNode(field).sendable
        return MemberNames(
            (*writable, *SerializerKeys(field).find()),
            frozenset(name for name in field.fields if name not in writable),
        )

    def is_secret(self, field: Any) -> bool:
        # Typed without being shown, or text that is never read back. Numbers, dates, choices and
        # relations are no secrets unless their names say so; parts are judged one by one.
        slug = field.slug_field if isinstance(field, relations.SlugRelatedField) else None
        if field.style.get("input_type") == "password" or sounds_secret(slug or ""):
            return True
        written_only = any(part.write_only for part in (field, *FieldNode(field).enclosing))
        return written_only and not isinstance(field, HARMLESS) and not self.has_known_parts(field)

    def has_known_parts(self, field: Any) -> bool:
        if isinstance(field, serializers.Serializer):
            return converts_like_drf(field) and not FieldNode(field).is_recursive
        return isinstance(field, WITH_ITEMS) and converts_like_drf(field)

    def is_upload(self, field: Any) -> bool:
        # A file field with its own way to read input may take text in JSON, such as base64.
        own = isinstance(field, fields.FileField)
        return own and (not self.takes_json or converts_like_drf(field))

    def get_upload(self, field: fields.FileField) -> Upload:
        extensions: list[str] = []
        for validator in field.validators:
            if is_extension_validator(validator):
                extensions += validator.allowed_extensions or ()
        return Upload(tuple(extensions), isinstance(field, fields.ImageField))

    def get_relation(self, field: Any) -> Relation | None:
        if isinstance(field, KEYS):
            return self.get_relation_of_column(field)
        if isinstance(field, relations.SlugRelatedField):
            key = field.slug_field or ""
        else:
            key = "pk" if isinstance(field, relations.PrimaryKeyRelatedField) else ""
        model = find_related_model(field) if key else None
        return None if model is None else Relation(model, key)

    def get_relation_of_column(self, field: Any) -> Relation | None:
        # A foreign key by its column: "owner_id".
        source = find_source_field(field)
        if getattr(source, "attname", None) != field.source or source.related_model is None:
            return None
        return Relation(source.related_model, source.target_field.name)

    def get_type_member(self, field: Any) -> str:
        model = getattr(getattr(field.parent, "Meta", None), "model", None)
        for foreign_key in getattr(getattr(model, "_meta", None), "private_fields", ()):
            if getattr(foreign_key, "fk_field", None) == field.source:
                columns = {foreign_key.ct_field, f"{foreign_key.ct_field}_id"}
                members = field.parent.fields.items()
                return next((name for name, each in members if each.source in columns), "")
        return ""


def walk_fields(field: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    yield place, field
    node = FieldNode(field)
    if isinstance(field, serializers.Serializer):
        for name, member in () if node.is_recursive else node.sendable.items():
            yield from walk_fields(member, (*place, name))
    elif node.child is not None:
        yield from walk_fields(node.child, (*place, ANY))
