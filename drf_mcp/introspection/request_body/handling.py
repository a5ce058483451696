"""Handling: which values are files or secrets, how a form writes them, which rows they name."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import fields, relations, serializers
from rest_framework.fields import FileField, empty

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.described import is_extension_validator
from drf_mcp.introspection.fields.serializers import (
    FieldNode,
    find_related_model,
    find_source_field,
)
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.request_body.parsers import ViewParsers
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.overrides import CONVERSIONS, converts_like_drf
from drf_mcp.introspection.source.trees import MappingReads, is_name, parse_function
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    AnyField,
    Handling,
    MemberNames,
    Parameter,
    Parameters,
    Place,
    Relation,
    Schema,
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


ANY_FILE = gettext_noop("A file is sent as a data URI: data:TYPE;name=FILE_NAME;base64,CONTENT")
# Keys that name a file, where bodies are sent as forms in order to carry files.
FILE_NAME = re.compile(
    r"(?:^|_)(?:file|image|photo|picture|upload|attachment|avatar)s?\Z", re.IGNORECASE
)


class SerializerKeys:
    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer

    def find(self) -> list[str]:
        fields = FieldNode(self.serializer).sendable
        found = [key for field in fields.values() for key in self.find_of_field(field)]
        for base in type(self.serializer).__mro__:
            if base.__module__.partition(".")[0] != "rest_framework":
                for member in filter(inspect.isfunction, vars(base).values()):
                    found += find_keys_of_method(member)
        return [key for key in dict.fromkeys(found) if key not in fields]

    def find_of_field(self, field: Any) -> list[str]:
        if is_drf_code(type(field), "get_value"):
            return []
        # Asked once without its own value and once with it: one may hide the other.
        data = RecordedKeys()
        field.get_value(data)
        data.known[field.field_name] = ""
        field.get_value(data)
        return list(data.keys_asked)


@functools.lru_cache(maxsize=4096)
def find_keys_of_method(function: Any) -> tuple[str, ...]:
    walked = parse_function(function.__code__)
    tree = walked.root
    if tree is None:
        return ()
    found = list(MappingReads(walked.nodes, is_initial_data).keys)
    if tree.name in CONVERSIONS and len(tree.args.args) > 1:
        data = tree.args.args[1].arg
        if not is_validated(tree, data):
            found += MappingReads(walked.nodes, lambda node: is_name(node, data)).keys
    return tuple(found)


def is_initial_data(node: ast.AST) -> bool:
    own = isinstance(node, ast.Attribute) and is_name(node.value, "self")
    return own and getattr(node, "attr", "") == "initial_data"


def is_validated(tree: ast.AST, data: str) -> bool:
    # From there on the variable holds what `super` made of the body.
    return any(
        isinstance(node, ast.Assign)
        and any(is_name(target, data) for target in node.targets)
        and any(is_name(part, "super") for part in ast.walk(node.value))
        for node in ast.walk(tree)
    )


class RecordedKeys(dict[str, Any]):
    # An empty body that notes which keys it is asked for.
    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Any] = {}
        self.keys_asked: dict[str, None] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        self.keys_asked[str(key)] = None
        return self.known.get(key, default)

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, empty)

    def __contains__(self, key: Any) -> bool:
        self.get(key)
        return key in self.known


class KeyParameters:
    def __init__(self, inspection: Inspection, describe: Callable[[Any], Any]) -> None:
        self.describe = describe
        self.reading = inspection.reading
        # There, any key may be a file's.
        self.takes_forms = ViewParsers(inspection.view).reads_forms_with_files

    @property
    def names(self) -> tuple[str, ...]:
        reading = self.reading
        return () if reading is None else tuple(dict.fromkeys((*reading.files, *reading.keys)))

    @property
    def are_files(self) -> bool:
        # The handler asks for files, and for nothing else than keys.
        reading = self.reading
        if reading is None or not reading.reads_keys_alone:
            return False
        return bool(reading.files or (reading.keys and self.takes_forms))

    def get_parameters(self) -> Parameters:
        return tuple(map(self.get_parameter, self.names))

    def get_parameter(self, key: str, words: str = "") -> Parameter:
        # A file if it can be nothing else; the words are for a value that may be anything.
        reading = self.reading
        is_known = reading is not None and key in reading.files
        if is_known or (self.takes_forms and FILE_NAME.search(key)):
            file = self.get_file(key, Upload(by_name=not is_known))
            if reading is None or key not in reading.lists:
                return file
            schema: Schema = {"type": "array", "items": file.schema}
            return Parameter(key, schema, handling=file.handling.under(ANY))
        if self.takes_forms:
            handling = Handling({(): Upload(sure=False)})
            return Parameter(key, explain({}, words, _(ANY_FILE)), handling=handling)
        return Parameter(key, explain({}, words))

    def get_file(self, name: str, upload: Upload, *, required: bool = False) -> Parameter:
        schema = self.describe(FileField()).input_schema
        return Parameter(name, schema, required, handling=Handling({(): upload}))

    def get_any_handling(self) -> Handling:
        return Handling({(ANY,): Upload(sure=False)}) if self.takes_forms else PLAIN
