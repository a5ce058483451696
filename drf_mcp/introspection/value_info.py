"""Which values are files or secrets, how a form writes them, and which objects they identify."""

from __future__ import annotations

import re
from typing import Any

from rest_framework import fields, relations, serializers

from drf_mcp.introspection.described_field import DescribedField, is_extension_validator
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.parsers import ViewParsers
from drf_mcp.introspection.read_members import describe_member, find_member_info
from drf_mcp.introspection.serializer_fields import (
    find_enclosing,
    find_related_model,
    find_source_field,
    is_recursive,
    walk_fields,
)
from drf_mcp.introspection.source.overrides import converts_like_drf
from drf_mcp.introspection.source.readings import read_class
from drf_mcp.introspection.types import (
    ANY,
    NO_INFO,
    AnyField,
    MemberNames,
    Parameter,
    Relation,
    Upload,
    ValueInfo,
    ValueInfos,
)

# Fields that read a form by one key for each member.
COMPOSITES = (
    serializers.BaseSerializer,
    fields.ListField,
    fields.DictField,
    fields.MultipleChoiceField,
    relations.ManyRelatedField,
)
# Fields whose values are no secrets, even where they are write-only.
NEVER_SECRET = (
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


def find_value_info(field: AnyField, *, takes_json: bool) -> ValueInfos:
    """Return what is known of the values of a serializer field, and of the values in them."""
    found = {place: _describe_value(part, takes_json) for place, part in walk_fields(field)}
    return {place: info for place, info in found.items() if info != NO_INFO}


def _describe_value(field: Any, takes_json: bool) -> ValueInfo:
    # In a form an empty text is null for a field, unless the field takes an empty text.
    form = "null" if field.allow_null and not getattr(field, "allow_blank", False) else ""
    if isinstance(field, COMPOSITES):
        form = "parts"
    elif isinstance(field, fields.JSONField):
        form = "json"
    upload = members = None
    # A file field with its own way to read input may take text in JSON, such as base64.
    if isinstance(field, fields.FileField) and (not takes_json or converts_like_drf(field)):
        extensions: list[str] = []
        for validator in filter(is_extension_validator, field.validators):
            extensions += validator.allowed_extensions or ()
        upload = Upload(tuple(extensions), isinstance(field, fields.ImageField))
    if isinstance(field, serializers.Serializer):
        # The members of the outermost serializer are arguments, or rows of them. Where a serializer
        # around this one has its own conversion, that may read any member.
        enclosing = find_enclosing(field)
        is_nested = any(isinstance(each, serializers.Serializer) for each in enclosing)
        if is_nested and all(map(_has_known_parts, (field, *enclosing))):
            members = _find_members(field)
    return ValueInfo(
        upload, form, is_secret(field), _find_relation(field), _find_type_member(field), members
    )


def _find_members(serializer: Any) -> MemberNames:
    writable = find_writable_fields(serializer)
    read_only = frozenset(name for name in serializer.fields if name not in writable)
    return MemberNames(tuple(writable), read_only)


def is_secret(field: Any) -> bool:
    # The input of a password, and write-only texts. Of a write-only object or list the parts are
    # asked one by one.
    slug = field.slug_field if isinstance(field, relations.SlugRelatedField) else None
    if field.style.get("input_type") == "password" or sounds_secret(slug or ""):
        return True
    written_only = any(part.write_only for part in (field, *find_enclosing(field)))
    return written_only and not isinstance(field, NEVER_SECRET) and not _has_known_parts(field)


def _has_known_parts(field: Any) -> bool:
    if isinstance(field, serializers.Serializer):
        return converts_like_drf(field) and not is_recursive(field)
    return isinstance(field, WITH_ITEMS) and converts_like_drf(field)


def _find_relation(field: Any) -> Relation | None:
    if isinstance(field, KEYS):
        # A foreign key by its column: "owner_id".
        source = find_source_field(field)
        if getattr(source, "attname", None) != field.source or source.related_model is None:
            return None
        return Relation(source.related_model, source.target_field.name)
    if isinstance(field, relations.SlugRelatedField):
        key = field.slug_field or ""
    else:
        key = "pk" if isinstance(field, relations.PrimaryKeyRelatedField) else ""
    model = find_related_model(field) if key else None
    return None if model is None else Relation(model, key)


def _find_type_member(field: Any) -> str:
    # The member of the content type, for the field of a generic foreign key's object id.
    model = getattr(getattr(field.parent, "Meta", None), "model", None)
    for foreign_key in getattr(getattr(model, "_meta", None), "private_fields", ()):
        if getattr(foreign_key, "fk_field", None) == field.source:
            columns = {foreign_key.ct_field, f"{foreign_key.ct_field}_id"}
            members = field.parent.fields.items()
            return next((name for name, each in members if each.source in columns), "")
    return ""


ANY_FILE = "A file is sent as a data URI: data:TYPE;name=FILE_NAME;base64,CONTENT"
# Keys that name a file, where bodies are sent as forms in order to carry files.
FILE_NAME = re.compile(
    r"(?:^|_)(?:file|image|photo|picture|upload|attachment|avatar)s?\Z", re.IGNORECASE
)


class KeyParameters:
    # Parameters for the keys of the body that the handler reads.

    def __init__(self, inspection: Inspection, serializer: Any = None) -> None:
        self.reading = inspection.reading
        self.files = {} if self.reading is None else dict(self.reading.files)
        if serializer is not None:
            # Hooks of the view and methods of the serializer may read files as well.
            self.files |= inspection.query_reading.files
            serializer_class: Any = type(serializer)
            self.files |= read_class(serializer_class)[0].files
        # In a form any key may name a file, and so where the handler looks through all files.
        parsers, reading = ViewParsers(inspection.view), self.reading
        reads_any = reading is not None and reading.reads_files and not reading.files
        self.takes_forms = parsers.reads_forms_with_files or (reads_any and parsers.reads_forms)

    @property
    def names(self) -> tuple[str, ...]:
        reading = self.reading
        keys = () if reading is None else reading.keys
        return tuple(dict.fromkeys((*self.files, *keys)))

    @property
    def are_files(self) -> bool:
        # Whether the handler reads files, and the body by keys only.
        reading = self.reading
        if reading is None or not reading.reads_keys_alone:
            return False
        return bool(reading.files or (reading.keys and self.takes_forms))

    def get_parameter(self, key: str, words: str = "") -> Parameter:
        """Return the parameter of a key: a file, or any value with these words."""
        read = self.files.get(key)
        if read is not None and read.several:
            return _make_files_parameter(key)
        if read is not None or (self.takes_forms and FILE_NAME.search(key)):
            return make_file_parameter(key, Upload(by_name=read is None))
        if self.takes_forms:
            info = ValueInfo(Upload(sure=False))
            return Parameter(key, explain({}, words, ANY_FILE), value_info={(): info})
        shown = None if self.reading is None else self.reading.keys.get(key)
        if shown is None:
            return Parameter(key, explain({}, words))
        schema, infos = describe_member(shown, {}), find_member_info(shown)
        return Parameter(key, explain(schema, words), shown.is_needed, value_info=infos)


def _make_files_parameter(name: str) -> Parameter:
    items = DescribedField(fields.FileField()).input_schema
    # One file may be sent without a list.
    infos = {(): ValueInfo(Upload(sure=False)), (ANY,): ValueInfo(Upload())}
    return Parameter(name, {"type": "array", "items": items}, value_info=infos)


def make_file_parameter(name: str, upload: Upload, *, required: bool = False) -> Parameter:
    schema = DescribedField(fields.FileField()).input_schema
    return Parameter(name, schema, required, value_info={(): ValueInfo(upload)})
