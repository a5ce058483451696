"""Request bodies: who reads them, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.forms import Form
from drf_mcp.introspection.inspection import ANNOTATE, GUARD, Inspection
from drf_mcp.introspection.portable import PortableWriter
from drf_mcp.introspection.request_body.handling import (
    ANY_FILE,
    FieldHandling,
    KeyParameters,
    SerializerKeys,
)
from drf_mcp.introspection.request_body.parsers import ViewParsers
from drf_mcp.introspection.request_body.serializer import DeclaredClass, InputSerializer
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.overrides import CONVERSIONS, converts_like_drf
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import (
    PLAIN,
    UNSAID,
    AnyField,
    Body,
    Handling,
    Parameter,
    Parameters,
    Schema,
    Upload,
)

METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
NONE = Body("none")
OPEN = Body("open", schema={})
FURTHER = gettext_noop("Read in addition to the fields of the serializer.")
ANYTHING = gettext_noop("The request body, any JSON value.")
PARSE_JSON = gettext_noop("Add rest_framework.parsers.JSONParser to the view's parser_classes.")
PARSE_FILES = gettext_noop(
    "Add rest_framework.parsers.MultiPartParser to the view's parser_classes."
)
DOCUMENT = gettext_noop(
    "Say what they look like with @mcp_tool(input_schema={...}), or let it take plain members."
)
MEANT_TO_BE_REQUIRED = gettext_noop("Meant to be required")
HAND_OVER = gettext_noop(
    "Describe the body with @mcp_tool(body=...), or begin to_internal_value() and"
    " run_validation() with super() and their argument, unchanged."
)


class RequestBody:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view
        self.method = inspection.method
        self.parsers = ViewParsers(inspection.view)

    def get_body(self) -> Body:
        # drf-spectacular gives a DELETE no body, so what is written there goes unnoticed.
        if self.method not in METHODS or (self.method == "DELETE" and self.ignores_body):
            return NONE
        declared = self.inspection.declared_request = self.get_declaration()
        if declared is UNSAID:
            body = self.get_undeclared_body()
        elif isinstance(declared, BaseSerializer):
            body = self.get_serializer_body(self.serializer.adopt(declared))
        else:
            body = NONE if declared is None else DeclaredBody(self.inspection, declared).get_body()
        if () in body.handling.uploads and self.parsers.reads_whole_file:
            body = self.get_whole_file()
        if self.method == "DELETE" and self.inspection.shares_handler:
            body = replace(body, fields=tuple(replace(f, required=False) for f in body.fields))
        return self.get_document(self.keep_readable_files(body))

    @cached_property
    def serializer(self) -> InputSerializer:
        return InputSerializer(self.inspection)

    @cached_property
    def keys(self) -> KeyParameters:
        return KeyParameters(self.inspection, DescribedField)

    @property
    def ignores_body(self) -> bool:
        reading = self.inspection.reading
        return reading is not None and reading.ignores_body

    def get_declaration(self) -> Any:
        inspection = self.inspection
        if inspection.annotations is None or not inspection.heeds_request:
            return UNSAID
        return inspection.attempt(inspection.annotations.request, ANNOTATE, UNSAID)

    def get_undeclared_body(self) -> Body:
        serializer = self.serializer
        if self.takes_nothing:
            return NONE
        if self.parsers.reads_whole_file:
            return self.get_whole_file()
        if serializer.call is None and self.keys.are_files and not serializer.is_inherited:
            return Body("object", fields=self.keys.get_parameters())
        found = serializer.get_serializer()
        if found is None:
            return self.get_unknown_body()
        partial = serializer.requires_nothing
        rows = serializer.get_row_serializer(found)
        several = None if rows is None else self.get_serializer_body(rows, partial=partial)
        body = self.get_serializer_body(found, partial=partial)
        if several is not None:
            return body.union(several)
        return self.add_row_fields(body)

    @property
    def takes_nothing(self) -> bool:
        # An extra action takes no body if nothing in its source can read one: it must not ask for
        # the fields of a serializer that it merely inherits, or uses only to answer.
        if self.method == "DELETE":
            reading = self.inspection.reading
            return reading is None or not reading.reads_body
        return self.inspection.is_extra_action and self.ignores_body

    def get_unknown_body(self) -> Body:
        # Return the body that no serializer reads: none, or any, with the keys read of it.
        if self.ignores_body:
            return NONE
        members, handling = self.keys.get_parameters(), self.keys.get_any_handling()
        if members:
            names = join_values(member.name for member in members)
            words = _("The handler reads %(names)s") % {"names": names}
        else:
            names = self.inspection.attempt(self.serializer.get_intended_names, GUARD, "")
            words = _("Meant to be an object with %(names)s") % {"names": names} if names else ""
        form = _(ANY_FILE) if handling.uploads else ""
        for member in members:
            handling = member.handling.under(member.name).union(handling)
        schema = explain({}, _(ANYTHING), words, form) if words or form else {}
        # Where people described the body, the keys are members of their own.
        further = () if self.inspection.heeds_request else members
        return Body("open", fields=further, schema=schema, handling=handling)

    def get_serializer_body(self, serializer: Any, *, partial: bool | None = None) -> Body:
        # By default nothing is required of a PATCH.
        if self.method == "PATCH" if partial is None else partial:
            part = serializer
            while part is not None:
                part.partial = True
                part = part.child if isinstance(part, ListSerializer) else None
        self.inspection.serializers.append(serializer)
        body = SerializerBody(self.inspection, serializer)
        return self.inspection.attempt(body.get_body, GUARD, OPEN)

    def add_row_fields(self, body: Body) -> Body:
        # A handler that reads rows with a serializer of its own, such as one of their keys, and
        # gives parts of them to the view's, takes rows with the fields of both.
        call, reading = self.serializer.call, self.inspection.reading
        is_narrow = body.kind == "list" and call is not None and call.serializer_class is not None
        if not is_narrow or reading is None or not reading.reads_parts:
            return body
        step = self.inspection.attempt
        own = step(lambda: self.view.get_serializer(many=True), GUARD, None)
        return body if own is None else body.with_members_of_rows(self.get_serializer_body(own))

    def get_whole_file(self) -> Body:
        # The name that REST framework's parser gives the file.
        return Body("object", fields=(self.keys.get_file("file", Upload(), required=True),))

    def keep_readable_files(self, body: Body) -> Body:
        # What is sent in place of a file that no parser reads is refused as over HTTP.
        handlings = [body.handling, *(parameter.handling for parameter in body.fields)]
        if () in body.handling.uploads or not any(h.uploads for h in handlings):
            return body
        if self.parsers.reads_files:
            return body
        self.inspection.find(_("The view takes files but has no parser for them."), PARSE_FILES)
        fields = (replace(p, handling=replace(p.handling, uploads={})) for p in body.fields)
        return replace(body, fields=tuple(fields), handling=replace(body.handling, uploads={}))

    def get_document(self, body: Body) -> Body:
        inspection, parsers = self.inspection, self.parsers
        text = None if () in body.handling.uploads else parsers.text
        if text is not None and body.kind != "none":
            words = _("The view reads no JSON, but %(type)s.") % {"type": text.media_type}
            inspection.find(words, PARSE_JSON)
            return parsers.get_document(text, body)
        # A parser that cannot be asked is found again when it is asked what it renames.
        refusal = inspection.called_quietly(lambda: parsers.get_refusal(body))
        if not refusal:
            return body
        words = _("The view's parser reads documents of its own: %(refusal)s")
        inspection.find(words % {"refusal": refusal}, DOCUMENT)
        return parsers.get_document(parsers.json, body)


class SerializerBody:
    def __init__(self, inspection: Inspection, serializer: Any) -> None:
        self.inspection = inspection
        self.serializer = serializer
        self.takes_json = ViewParsers(inspection.view).json is not None

    def get_body(self) -> Body:
        serializer, inspection = self.serializer, self.inspection
        if isinstance(serializer, ListSerializer):
            schema = inspection.shaped({"type": "array", **DescribedField(serializer).input_schema})
            return Body("list", schema=schema, handling=self.get_handling(serializer))
        if not isinstance(serializer, Serializer):
            words = _("The serializer declares no fields.")
            inspection.find(words, gettext_noop("Derive it from Serializer."))
            return OPEN
        if converts_like_drf(serializer):
            fields = self.get_closed_fields()
        else:
            facts = {"serializer": type(serializer).__name__}
            inspection.find(_("%(serializer)s reads its input itself.") % facts, HAND_OVER)
            if not self.is_built_on_fields():
                return OPEN
            fields = self.get_open_fields()
        return Body("object", fields=(*fields, *self.get_key_parameters(fields)))

    def get_closed_fields(self) -> Parameters:
        rules: dict[str, str] = {}
        rules = self.inspection.attempt(lambda: FieldNode(self.serializer).uniqueness, GUARD, rules)

        def describe_field(field: Any) -> Schema:
            return explain(DescribedField(field).input_schema, rules.get(field.field_name, ""))

        return self.get_fields(describe_field, is_closed=True)

    def get_open_fields(self) -> Parameters:
        # Its own conversion may take other values, and may do without any of the fields.
        def describe_field(field: Any) -> Schema:
            is_needed = FieldNode(field).is_required
            needed = _(MEANT_TO_BE_REQUIRED) if is_needed else ""
            return explain(DescribedField(field).intended_schema, needed)

        return self.get_fields(describe_field, is_closed=False)

    def get_fields(self, describe: Callable[[AnyField], Schema], *, is_closed: bool) -> Parameters:
        node = FieldNode(self.serializer)
        listed = node.listed
        return tuple(
            Parameter(
                name,
                self.guard(field, describe),
                is_closed and FieldNode(field).is_required,
                handling=self.get_handling(field),
                listed=name in listed,
            )
            for name, field in node.sendable.items()
        )

    def guard(self, field: AnyField, describe: Callable[[AnyField], Schema]) -> Schema:
        inspection = self.inspection
        let = _("Let the field '%(name)s' be built without a caller.") % {"name": field.field_name}
        remedy = f"{let} {_(GUARD)}"
        return inspection.attempt(lambda: inspection.shaped(describe(field)), remedy, {})

    def get_handling(self, field: AnyField) -> Handling:
        handling = FieldHandling(field, takes_json=self.takes_json)
        return self.inspection.attempt(handling.get_handling, GUARD, PLAIN)

    def get_key_parameters(self, fields: Parameters) -> Parameters:
        keys, none = KeyParameters(self.inspection, DescribedField), list[str]()
        found = self.inspection.attempt(SerializerKeys(self.serializer).find, GUARD, none)
        if self.inspection.describes_class:
            found = [*found, *filter(None, DeclaredClass(type(self.serializer)).added)]
        known = {field.name for field in fields}
        further = (key for key in dict.fromkeys((*found, *keys.names)) if key not in known)
        return tuple(keys.get_parameter(key, _(FURTHER)) for key in further)

    def is_built_on_fields(self) -> bool:
        # Its own conversions call those of REST framework somewhere.
        serializer_class = type(self.serializer)
        for method in CONVERSIONS:
            if not is_drf_code(serializer_class, method):
                reading = read_handler(serializer_class, method)
                if reading is None or method not in reading.calls:
                    return False
        return True


FLAT = gettext_noop(
    "Give ask() a flat serializer without secrets; visit() sends the user to a page."
)
ASK_FIRST = gettext_noop(
    "Ask before the first write: the view runs again from its start with the answer."
)


class AskedFields:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection

    def add_to(self, body: Body) -> Body:
        """Return a body with the fields of `call_context(request).ask()` as optional members."""
        reading = self.inspection.reading
        if reading is None or not reading.asked:
            return body
        if reading.writes_before_asking:
            self.inspection.find(_("The view writes before it asks."), ASK_FIRST)
        known = {parameter.name for parameter in body.fields}
        further = [p for p in self.find_parameters(reading.asked) if p.name not in known]
        if body.kind == "list" or not further:
            return body
        kind = "object" if body.kind == "none" else body.kind
        return replace(body, kind=kind, fields=(*body.fields, *further))

    def find_parameters(self, asked: Any) -> Iterator[Parameter]:
        for serializer_class in asked:
            serializer: Serializer[Any] = serializer_class(partial=True)
            for fault in Form(serializer).find_faults():
                self.inspection.find(fault, FLAT)
            own = self.inspection.again()
            for parameter in SerializerBody(own, serializer).get_body().fields:
                yield replace(parameter, required=False)


class DeclaredBody:
    def __init__(self, inspection: Any, schema: Schema) -> None:
        self.inspection = inspection
        self.schema = PortableWriter(schema).combine() if "allOf" in schema else schema

    def get_body(self) -> Body:
        schema, shaped = self.schema, self.inspection.shaped
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices:
            bodies = (type(self)(self.inspection, choice).get_body() for choice in choices)
            return reduce(Body.union, bodies)
        if schema.get("type") == "array":
            handling = Handling.of_schema(schema)
            return Body("list", schema=shaped(schema), handling=handling)
        if not schema.get("properties"):
            handling = Handling({(): Upload()}) if schema.get("format") == "binary" else PLAIN
            return Body("open", schema=shaped(schema), handling=handling)
        return Body("object", fields=tuple(self.get_fields(schema["properties"])))

    def get_fields(self, members: Mapping[str, Schema]) -> Iterator[Parameter]:
        required = () if self.inspection.method == "PATCH" else self.schema.get("required", ())
        for name, member in members.items():
            handling = Handling.of_schema(member)
            shaped = self.inspection.shaped(member)
            yield Parameter(name, shaped, name in required, handling=handling)


class CompletedBody:
    def __init__(self, body: Body, own: Body) -> None:
        self.body = body
        self.own = own
        self.fields = {field.name: field for field in own.fields}

    def get_body(self) -> Body:
        body, own = self.body, self.own
        keys = {**own.keys, **body.keys}
        if body.kind == "open":
            handling = reduce(Handling.union, self.get_handlings(), body.handling)
            return replace(body, handling=handling, keys=keys)
        if body.kind == "object" and own.kind in ("list", "either"):
            body = body.union(replace(own, kind="list", fields=()))
        if body.kind == "none" and own.kind == "open":
            body = replace(body, schema=own.schema, handling=own.handling)
        if body.kind in ("list", "either"):
            body = replace(body, handling=body.handling.union(own.handling))
        listed = tuple(map(self.complete_field, body.fields))
        return replace(body, fields=(*listed, *self.get_unlisted(body)), keys=keys)

    def get_handlings(self) -> Iterator[Handling]:
        yield self.own.handling
        for field in self.own.fields:
            yield field.handling.under(field.name)

    def complete_field(self, field: Parameter) -> Parameter:
        own = self.fields.get(field.name, field).handling
        uploads = {place: upload for place, upload in own.uploads.items() if upload.sure}
        return replace(field, handling=field.handling.union(replace(own, uploads=uploads)))

    def get_unlisted(self, body: Body) -> Iterator[Parameter]:
        listed = {field.name for field in body.fields}
        for name, field in self.fields.items():
            if name not in listed:
                yield replace(field, required=False, listed=False)
