"""Serializers: their fields, the describers of relations, and what is described once for all."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from django.core.signals import setting_changed
from django.utils.translation import get_language
from rest_framework import relations, serializers, validators
from rest_framework.serializers import ListSerializer, ModelSerializer, Serializer
from rest_framework.utils.serializer_helpers import BindingDict
from rest_framework.validators import BaseUniqueForValidator

from drf_mcp.introspection.field_schema import FieldSchema, explain, join_sentences
from drf_mcp.introspection.fields import FieldDescriber, make_array
from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.inspection import find_hidden_fields, noted_queries
from drf_mcp.introspection.model_fields import describe_input, describe_stored, find_model_field
from drf_mcp.introspection.source.members import depends_on_request, is_drf_code
from drf_mcp.introspection.text import clean_text, find_model_name, join_values
from drf_mcp.introspection.types import ANY, AnyField, Place, Schema

DEEPEST = 10


def find_enclosing(field: Any) -> list[Any]:
    found = []
    while (field := getattr(field, "parent", None)) is not None:
        found.append(field)
    return found


def is_recursive(field: Any) -> bool:
    enclosing = find_enclosing(field)
    return len(enclosing) > DEEPEST or type(field) in map(type, enclosing)


def is_required(field: Any) -> bool:
    if not field.required or not getattr(field.root, "partial", False):
        return bool(field.required)
    # REST framework requires nothing inside a partial update. But a row in a list whose serializer
    # has no key can only be a new row, for which the view needs all fields.
    for row in find_enclosing(field):
        if isinstance(row.parent, serializers.ListSerializer) and row.parent is not row.root:
            model = getattr(getattr(row, "Meta", None), "model", None)
            keys = {"id", "pk", "uuid", "url", model._meta.pk.name if model is not None else "id"}
            if not any(
                keys & {name, key.source} for name, key in find_writable_fields(row).items()
            ):
                return True
    return False


def find_listed(serializer: Any) -> Mapping[str, AnyField]:
    hidden, fields = find_hidden_fields(serializer), find_writable_fields(serializer).items()
    return {name: field for name, field in fields if name not in hidden or field.required}


def walk_fields(field: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    yield place, field
    if isinstance(field, serializers.Serializer):
        for name, member in () if is_recursive(field) else find_writable_fields(field).items():
            yield from walk_fields(member, (*place, name))
        return
    child = getattr(field, "child_relation", None) or getattr(field, "child", None)
    if isinstance(child, serializers.Field):
        yield from walk_fields(child, (*place, ANY))


def describe_uniqueness(serializer: Any) -> dict[str, str]:
    rules: dict[str, list[str]] = {}
    for validator in serializer.validators:
        if isinstance(validator, validators.UniqueTogetherValidator):
            for name in validator.fields:
                others = join_values(other for other in validator.fields if other != name)
                words = f"Unique together with {others}" if others else "Unique"
                rules.setdefault(name, []).append(words)
        elif isinstance(validator, BaseUniqueForValidator):
            words = clean_text(validator.message).format(date_field=validator.date_field)
            rules.setdefault(validator.field, []).append(words)
    return {name: join_sentences(*words) for name, words in rules.items()}


class SerializerDescriber(FieldDescriber):
    field_classes = (serializers.Serializer,)

    def get_input_schema(self) -> Schema:
        if is_recursive(self.field):
            return explain({"type": "object"}, "Members as of the object around it")
        fields, rules = find_listed(self.field), describe_uniqueness(self.field)
        properties = {
            name: explain(self.describe(field).input_schema, rules.get(name, ""))
            for name, field in fields.items()
        }
        required = [name for name, field in fields.items() if is_required(field)]
        schema: Schema = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema

    def get_output_schema(self) -> Schema:
        if is_recursive(self.field):
            return {"type": "object"}
        shown = {name: f for name, f in self.field.fields.items() if not f.write_only}
        # Nothing is required: a field with a default is left out where its attribute is missing.
        if is_drf_code(type(self.field), "__init__", "fields", "get_fields", "_readable_fields"):
            properties = {name: self.describe(f).output_schema for name, f in shown.items()}
            return {"type": "object", "properties": properties}
        # A serializer that builds its own fields may build others for the next caller.
        open_members: Schema = {name: {} for name in shown}
        return {"type": "object", "properties": open_members, "additionalProperties": True}


class ListSerializerDescriber(FieldDescriber):
    field_classes = (serializers.ListSerializer,)

    def get_input_schema(self) -> Schema:
        schema = make_array(self.field, self.describe(self.field.child).accepted_schema)
        if self.field.min_length:
            schema["minItems"] = self.field.min_length
        if self.field.max_length is not None:
            schema["maxItems"] = self.field.max_length
        return schema

    def get_output_schema(self) -> Schema:
        return {"type": "array", "items": self.describe(self.field.child).represented_schema}


def find_source_field(field: Any) -> Any:
    holder = field.parent if isinstance(field.parent, relations.ManyRelatedField) else field
    model = getattr(getattr(holder.parent, "Meta", None), "model", None)
    return find_model_field(model, holder.source or "")


def find_related_model(field: Any) -> Any:
    if field.queryset is not None:
        return field.queryset.model
    model = getattr(find_source_field(field), "related_model", None)
    # Last, since a get_queryset() of the project's may need a request.
    return getattr(field.get_queryset(), "model", None) if model is None else model


class RelationDescriber(FieldDescriber):
    def _identify(self, schema: Schema, key: str) -> Schema:
        # REST framework reads a blank text as null.
        if schema.get("type") == "string" and not self.field.allow_null:
            schema = FieldSchema.of(schema) | {"minLength": 1}
        if self.field.help_text:
            return schema
        model = find_related_model(self.field)
        identity = f"{key} of the {'object' if model is None else find_model_name(model)}"
        return explain(schema, identity).with_meaning(identity=identity)


class PrimaryKeyDescriber(RelationDescriber):
    field_classes = (relations.PrimaryKeyRelatedField,)

    def get_input_schema(self) -> Schema:
        key = self.field.pk_field
        model = find_related_model(self.field) if key is None else None
        described = describe_input(find_model_field(model, "pk"))
        schema = described if key is None else self.describe(key).input_schema
        return self._identify(schema, "Primary key")

    def get_output_schema(self) -> Schema:
        if self.field.pk_field is not None:
            schema: Schema = self.describe(self.field.pk_field).output_schema
            return schema
        schema = describe_stored(find_model_field(find_related_model(self.field), "pk"))
        source = find_source_field(self.field)
        # A foreign key that targets another column gives that column's value.
        is_foreign_key = getattr(source, "concrete", False)
        return {} if is_foreign_key and describe_stored(source) != schema else schema


class SlugDescriber(RelationDescriber):
    field_classes = (relations.SlugRelatedField,)

    def get_input_schema(self) -> Schema:
        name = self.field.slug_field
        slug = find_model_field(find_related_model(self.field), name)
        return self._identify(describe_input(slug), str(name).capitalize())

    def get_output_schema(self) -> Schema:
        return describe_stored(
            find_model_field(find_related_model(self.field), self.field.slug_field)
        )


class StringRelationDescriber(RelationDescriber):
    field_classes: ClassVar[tuple[type, ...]] = (relations.StringRelatedField,)

    def get_output_schema(self) -> Schema:
        return {"type": "string"}


class HyperlinkDescriber(StringRelationDescriber):
    field_classes = (relations.HyperlinkedRelatedField,)

    def get_input_schema(self) -> Schema:
        return self._identify({"type": "string"}, "URL")


class ManyRelatedDescriber(FieldDescriber):
    field_classes = (relations.ManyRelatedField,)

    def get_input_schema(self) -> Schema:
        return make_array(self.field, self.describe(self.field.child_relation).accepted_schema)

    def get_output_schema(self) -> Schema:
        item: FieldSchema = self.describe(self.field.child_relation).represented_schema
        return {"type": "array", "items": item.allow_null()}


# --- Serializers whose fields are the same for every caller and view are described once -----------

Value = TypeVar("Value")
# The members that serializers override to choose their fields.
FIELD_HOOKS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
# The members of serializers and fields in which code may read the request.
MEMBERS = (
    *FIELD_HOOKS,
    "__new__",
    "__deepcopy__",
    "bind",
    "choices",
    "context",
    "get_validators",
    "many_init",
    "root",
    *(name for name in dir(ModelSerializer) if name.startswith("build_")),
    "include_extra_kwargs",
)
UNSHARED = frozenset({"context", "data", "instance", "child", "partial"})
# The tools of a view share its serializers, and are described one after the other.
MOST_SHARED = 128


def describe_once(serializer: Any, around: Hashable, describe: Callable[[], Value]) -> Value:
    """Return what ``describe`` returns for a serializer, called once for all that are equal.

    Args:
        around: what the description depends on besides the serializer and the language.
    """
    shared, arguments = SharedFields.of(serializer), _freeze_arguments(serializer)
    if shared is None or arguments is None:
        return describe()
    key = type(serializer), arguments, get_language(), around
    if key not in shared.described:
        shared.give(serializer)
        with noted_queries() as queries:
            made = describe()
        if queries:  # the rows may be others next time
            return made
        shared.described[key] = made
    found: Value = shared.described[key]
    return found


class SharedFields:
    # The fields of one serializer class with the same arguments, and what was described of them.

    known: dict[Any, SharedFields | None] = {}

    def __init__(self, serializer: Any) -> None:
        self.fields = serializer.fields
        self.described: dict[Any, Any] = {}
        self.signature: Any = None

    @classmethod
    def of(cls, serializer: Any) -> SharedFields | None:
        """Return the shared fields of a serializer, None where they may be others next time."""
        row: Any = serializer.child if isinstance(serializer, ListSerializer) else serializer
        if not isinstance(row, Serializer):
            return None
        key = type(row), _freeze_arguments(row)
        if key[1] is None or (key not in cls.known and "fields" in vars(row)):
            return None
        if key not in cls.known:
            if len(cls.known) >= MOST_SHARED:
                cls.known.clear()
            cls.known[key] = None  # until it is known, for a serializer that has itself as a field
            with noted_queries() as queries:
                found = cls(row) if cls._are_shared(row) else None
            cls.known[key] = None if queries else found
        return cls.known[key]

    @classmethod
    def _are_shared(cls, serializer: Any) -> bool:
        serializer_class: Any = type(serializer)
        if depends_on_request(serializer_class, MEMBERS):
            return False
        # A project's plain property builds the fields at every read.
        if serializer.fields is not vars(serializer).get("fields"):
            return False
        return all(map(cls.is_shared, _find_inner_fields(serializer)))

    @classmethod
    def is_shared(cls, field: Any) -> bool:
        field_class: Any = type(field)
        return not depends_on_request(field_class, MEMBERS) and cls._give_nested(field)

    @classmethod
    def _give_nested(cls, field: Any) -> bool:
        """Give a field that is a serializer its shared fields; return False if it has none."""
        if not isinstance(field, Serializer) or is_recursive(field):
            return True
        shared = cls.of(field)
        if shared is not None:
            shared.give(field)
        return shared is not None

    def give(self, serializer: Any) -> None:
        # The serializer gets copies, where it would build its own.
        row: Any = serializer.child if isinstance(serializer, ListSerializer) else serializer
        if "fields" not in vars(row):
            fields = vars(row)["fields"] = BindingDict(row)
            for name, field in self.fields.items():
                fields.fields[name] = _copy_field(field, row)
            for field in _find_inner_fields(row):
                self._give_nested(field)


def _find_inner_fields(serializer: Any) -> Iterator[Any]:
    for field in find_writable_fields(serializer).values():
        yield field
        inner = getattr(field, "child_relation", None) or getattr(field, "child", None)
        if inner is not None:
            yield inner


def _copy_field(field: Any, parent: Any) -> Any:
    own = copy.copy(field)
    own.parent = parent
    vars(own).pop("fields", None)
    for name in ("child", "child_relation"):
        if name in vars(own):
            setattr(own, name, _copy_field(vars(own)[name], own))
    return own


def _forget_shared_fields(**kwargs: Any) -> None:
    """Free the fields; they are built again for what is described later."""
    SharedFields.known.clear()


setting_changed.connect(_forget_shared_fields)


def _freeze_arguments(serializer: Any) -> Any:
    # None for arguments that cannot be compared.
    own = {name: v for name, v in serializer._kwargs.items() if name not in UNSHARED}
    frozen = tuple(sorted((name, _freeze(value)) for name, value in own.items()))
    try:
        hash(frozen)
    except TypeError:
        return None
    return None if any(value is not None for value in serializer._args) else frozen


def _freeze(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, set)) else value
