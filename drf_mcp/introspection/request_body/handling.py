"""What has to be known of a serializer's values beside their schema.

Which of them are files, how a form writes those that are no text, which are secret and
which identify other objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import fields, relations, serializers

from drf_mcp.introspection.fields.constraints import is_extension_validator
from drf_mcp.introspection.fields.relations import find_related_model
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.source.overrides import converts_like_drf
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    AnyField,
    Handling,
    Place,
    Relation,
    Schema,
    Upload,
)

PARTS = (
    serializers.BaseSerializer,
    fields.ListField,
    fields.DictField,
    fields.MultipleChoiceField,
    relations.ManyRelatedField,
)
"""Fields that read a form by a key for each of their members."""

SPOKEN = (
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
"""Fields whose values may be repeated, though no answer of the view has them."""

WITH_ITEMS = (
    serializers.ListSerializer,
    fields.ListField,
    fields.DictField,
    relations.ManyRelatedField,
)


def handling_of(field: AnyField, *, takes_json: bool) -> Handling:
    """Return what has to be known of a field's values.

    Args:
        field: the field.
        takes_json: True if the view reads JSON. There, a file field with its own way to
            read input may take text, such as base64, and gets what was sent.
    """
    uploads, forms, secrets, related = {}, {}, [], {}
    for place, part in inside(field):
        if is_secret(part):
            secrets.append(place)
        if isinstance(part, PARTS):
            forms[place] = "parts"
        elif isinstance(part, fields.JSONField):
            forms[place] = "json"
        elif isinstance(part, fields.FileField) and (not takes_json or converts_like_drf(part)):
            uploads[place] = upload(part)
        if part.allow_null and place not in forms:
            forms[place] = "null"
        if isinstance(part, relations.RelatedField):
            related.update(related_by(place, part))
    if not (uploads or forms or secrets or related):
        return PLAIN
    return Handling(uploads, forms, frozenset(secrets), related)


def inside(field: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield a field and every field inside it that a caller can send, each with its place."""
    yield place, field
    if isinstance(field, serializers.Serializer):
        members: Mapping[str, Any] = (
            {} if FieldNode(field).is_recursive else FieldNode(field).sendable
        )
        for name, member in members.items():
            yield from inside(member, (*place, name))
    else:
        child = getattr(field, "child_relation", None) or getattr(field, "child", None)
        if isinstance(child, fields.Field):
            yield from inside(child, (*place, ANY))


def is_secret(field: Any) -> bool:
    """Return True for a field typed without being shown, or for text that is never read back.

    Numbers, dates, choices and relations are no secrets, unless their names say so. Of what
    has parts, the parts are judged.
    """
    if field.style.get("input_type") == "password" or sounds_secret(slug_field(field)):
        return True
    written_only = any(part.write_only for part in (field, *FieldNode(field).enclosing))
    return written_only and not isinstance(field, SPOKEN) and not is_judged_by_parts(field)


def slug_field(field: Any) -> str:
    """Return the name of the field that a slug relation is written by, "" for other fields."""
    return field.slug_field or "" if isinstance(field, relations.SlugRelatedField) else ""


def is_judged_by_parts(field: Any) -> bool:
    """Return True for a field whose parts are all known."""
    if isinstance(field, serializers.Serializer):
        return converts_like_drf(field) and not FieldNode(field).is_recursive
    return isinstance(field, WITH_ITEMS) and converts_like_drf(field)


def upload(field: fields.FileField) -> Upload:
    """Return what a file has to be."""
    extensions: list[str] = []
    for validator in field.validators:
        if is_extension_validator(validator):
            extensions += validator.allowed_extensions or ()
    return Upload(tuple(extensions), isinstance(field, fields.ImageField))


def related_by(place: Place, field: Any) -> dict[Place, Relation]:
    """Return what the value of a relation identifies, nothing if that cannot be told."""
    key = {
        relations.PrimaryKeyRelatedField: "pk",
        relations.SlugRelatedField: getattr(field, "slug_field", ""),
    }.get(next((base for base in type(field).__mro__ if base in KEYED), object))
    model = find_related_model(field) if key else None
    return {} if model is None else {place: Relation(model, key or "")}


KEYED = (relations.PrimaryKeyRelatedField, relations.SlugRelatedField)


def schema_handling(schema: Schema) -> Handling:
    """Return what a schema alone tells of its values: ``format: binary`` is a file."""
    uploads, forms, secrets, unread = {}, {}, [], set()
    for place, part in schemas_inside(schema):
        if part.get("writeOnly") is True or place[:-1] in unread:
            unread.add(place)
        if part.get("format") == "binary":
            uploads[place] = Upload()
        if part.get("type") in ("array", "object"):
            forms[place] = "parts"
        if part.get("format") == "password" or (place in unread and may_be_text(part)):
            secrets.append(place)
    return Handling(uploads, forms, frozenset(secrets))


def may_be_text(schema: Schema) -> bool:
    """Return True if a schema may take any text, in itself or where its parts are unknown."""
    if "enum" in schema or str(schema.get("format", "")).startswith(("date", "time")):
        return False
    if schema.get("type") in ("array", "object"):
        return not (schema.get("items") or schema.get("properties"))
    return schema.get("type") not in ("integer", "number", "boolean")


def schemas_inside(schema: Any, place: Place = ()) -> Iterator[tuple[Place, Schema]]:
    """Yield a schema without references and every schema inside it, each with its place."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, member in (schema.get("properties") or {}).items():
        yield from schemas_inside(member, (*place, name))
    yield from schemas_inside(schema.get("items"), (*place, ANY))
