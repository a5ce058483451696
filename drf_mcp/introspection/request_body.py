"""The body that a handler takes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any

from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.alternatives import Alternative, Alternatives
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.findings import Finding
from drf_mcp.introspection.forms import find_faults, find_writable_fields
from drf_mcp.introspection.input_serializer import InputSerializer
from drf_mcp.introspection.inspection import (
    CHECK_ANNOTATION,
    RETURN_EARLY,
    WRITE_PLAINLY,
    Inspection,
)
from drf_mcp.introspection.parsers import Renaming, ViewParsers
from drf_mcp.introspection.portable import combine
from drf_mcp.introspection.serializer_fields import (
    describe_once,
    describe_uniqueness,
    find_listed,
    is_required,
)
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.overrides import CONVERSIONS, converts_like_drf
from drf_mcp.introspection.source.readings import read_handler
from drf_mcp.introspection.taken import (
    TakenMembers,
    find_taken,
    find_taken_by_view,
    reads_elsewhere,
)
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import (
    ANY,
    UNDECLARED,
    AnyField,
    Body,
    Parameter,
    Place,
    Schema,
    Upload,
    ValueInfo,
    ValueInfos,
    find_uploads,
    join_bodies,
    join_value_info,
    keep_uploads,
    read_value_info,
)
from drf_mcp.introspection.value_info import (
    ANY_FILE,
    KeyParameters,
    find_value_info,
    make_file_parameter,
)

METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
NONE = Body("none")
OPEN = Body("open", schema={})
RENAMED = "Let the view's parser and renderer work without a request that was sent."
# What opens a body that people declare with further members.
DECLARED_OPEN = "@extend_schema"
NAME_MEMBERS = "Name them with @mcp_tool(body={...})."
FURTHER = "Read in addition to the fields of the serializer."
ANYTHING = "The request body, any JSON value."
PARSE_JSON = "Add rest_framework.parsers.JSONParser to the view's parser_classes."
PARSE_FILES = "Add rest_framework.parsers.MultiPartParser to the view's parser_classes."
DOCUMENT = (
    "Say what they look like with @mcp_tool(input_schema={...}), or let it take plain members."
)
FLAT = "Give ask() a flat serializer without secrets; visit() sends the user to a page."
ASK_FIRST = "Ask before the first write: the view runs again from its start with the answer."
HANDED_ON_ADVICE = (
    "Describe the body with @mcp_tool(body=...), or begin to_internal_value() and"
    " run_validation() with super() and their argument, unchanged."
)


class RequestBody:
    # keeps_keys: whether the keys that a handler reads of an open body are fields of the body. They
    # complete a body that people declared; otherwise the words name them.

    def __init__(self, inspection: Inspection, *, keeps_keys: bool = False) -> None:
        self.inspection = inspection
        self.keeps_keys = keeps_keys
        self.view: Any = inspection.view
        self.method = inspection.method
        self.parsers = ViewParsers(inspection.view)
        self.serializer = InputSerializer(inspection)
        reading = inspection.reading
        self.ignores_body = reading is not None and reading.ignores_body

    def get_body(self) -> Body:
        # drf-spectacular gives a DELETE no body, so a body that is declared there does not count.
        if self.method not in METHODS or (self.method == "DELETE" and self.ignores_body):
            return _add_form_fields(self.inspection, NONE)
        inspection, declared = self.inspection, UNDECLARED
        if inspection.annotations is not None:
            declared = inspection.attempt(
                inspection.annotations.request, CHECK_ANNOTATION, UNDECLARED
            )
        body = self.describe_renamed(declared)
        reading = inspection.reading
        body = replace(body, is_form=reading is not None and reading.reads_form)
        if declared is UNDECLARED:
            return body
        own = RequestBody(inspection.start_over(), keeps_keys=True)
        return _complete_body(body, attempt(lambda: own.describe_renamed(UNDECLARED), NONE))

    def describe_renamed(self, declared: Any) -> Body:
        body = _add_form_fields(self.inspection, self.describe(declared))
        rename = Renaming(self.view).rename_body
        return self.inspection.attempt(lambda: rename(body), RENAMED, body)

    def describe(self, declared: Any) -> Body:
        inspection = self.inspection
        if declared is UNDECLARED:
            body = self._describe_undeclared_body()
        elif isinstance(declared, BaseSerializer):
            # A copy, but not of the view and the request in its context.
            made_with = [getattr(declared, "_kwargs", {}).get("context")]
            made_with += [getattr(getattr(declared, "child", None), "_context", None)]
            own: Any = copy.deepcopy(declared, {id(each): each for each in made_with})
            own._context = self.serializer.context
            body = self.describe_serializer_body(own)
        else:
            body = NONE if declared is None else _describe_declared(inspection, declared)
        if body.is_file and self.parsers.reads_whole_file:
            body = self._find_whole_file()
        if self.method == "DELETE":  # the serializer may be for the other methods
            body = replace(body, fields=tuple(replace(f, required=False) for f in body.fields))
        return self.get_document(self._keep_readable_files(body))

    @cached_property
    def keys(self) -> KeyParameters:
        return KeyParameters(self.inspection)

    def _describe_undeclared_body(self) -> Body:
        serializer = self.serializer
        # An extra action takes no body if no code in it can read one: the view's serializer may
        # write its answer alone.
        reading = self.inspection.reading
        if self.method == "DELETE":
            takes_nothing = reading is None or not reading.reads_body
        else:
            takes_nothing = self.inspection.is_extra_action and self.ignores_body
        if takes_nothing:
            return NONE
        if self.parsers.reads_whole_file:
            return self._find_whole_file()
        if serializer.call is None and self.keys.are_files and not serializer.is_inherited:
            return Body("object", fields=tuple(map(self.keys.get_parameter, self.keys.names)))
        chosen = [self._describe_choice(reader) for reader in serializer.each]
        body = join_bodies([body for body, _ in chosen if body is not None])
        if body is None:
            return self._describe_unknown_body()
        opened_by = next((line for _, line in chosen if line), "")
        if len(chosen) > 1:
            opened_by = opened_by or f"{self.inspection.place} makes several serializers"
        return body.open(opened_by)

    def _describe_choice(self, reader: InputSerializer) -> tuple[Body | None, str]:
        """Return the body for all serializers that the view may choose, and what opens it."""
        choice = Alternatives(self.inspection, reader)
        bodies = [self._describe_alternative(each, choice) for each in choice.find()]
        choice.report()
        if choice.has_failed and bodies:
            # What the view chooses for a call is not known, nor what that requires.
            return join_bodies([*bodies, OPEN]), choice.opened_by
        joined = choice.explain_requirements(join_bodies(bodies), bodies)
        if joined is not None and joined.kind in ("object", "either"):
            known = {each.name for each in joined.fields}
            keys = [key for key in choice.keys if key not in known]
            further = (self.keys.get_parameter(key, FURTHER) for key in keys)
            joined = replace(joined, fields=(*joined.fields, *further))
        return joined, choice.opened_by

    def _describe_alternative(self, chosen: Alternative, choice: Alternatives) -> Body:
        reader = InputSerializer(chosen.inspection, choice.reader.call)
        described = RequestBody(chosen.inspection, keeps_keys=self.keeps_keys)
        rows = reader.find_row_serializer(chosen.serializer)
        partial = reader.requires_nothing
        several = (
            None if rows is None else described.describe_serializer_body(rows, partial=partial)
        )
        body = described.describe_serializer_body(chosen.serializer, partial=partial)
        if chosen.inspection is not self.inspection and chosen is choice.found[0]:
            self.inspection.findings += chosen.inspection.findings
        if several is None or (body.kind, several.kind) != ("object", "list"):
            return body
        return body.with_rows(several)

    def _describe_unknown_body(self) -> Body:
        """Return a body that no serializer reads: none, or an open one with the keys in words."""
        if self.ignores_body:
            return NONE
        members = tuple(map(self.keys.get_parameter, self.keys.names))
        if self.method == "DELETE":
            # What may be sent in the query as well is listed there.
            query = {
                **self.inspection.query_reading.names,
                **self.inspection.read_declared_parameters("query"),
            }
            members = tuple(replace(each, listed=each.name not in query) for each in members)
        reading = self.inspection.reading
        if members and reading is not None and reading.reads_object:
            return Body("object", fields=members, opened_by=reading.opened_by)
        if members:
            names = join_values(member.name for member in members)
            words = f"The handler reads {names}"
        else:
            words = ""
        form, any_member = "", dict[Place, ValueInfo]()
        if self.keys.takes_forms:
            form, any_member = ANY_FILE, {(ANY,): ValueInfo(Upload(sure=False))}
        schema = explain({}, ANYTHING, words, form) if words or form else {}
        body = Body("open", fields=members, schema=schema, value_info=any_member)
        return body if self.keeps_keys else replace(body, fields=(), value_info=body.all_value_info)

    def describe_serializer_body(self, serializer: Any, *, partial: bool | None = None) -> Body:
        # A PATCH requires nothing unless the code shows that it is no partial update.
        if self.method == "PATCH" if partial is None else partial:
            part = serializer
            while part is not None:
                part.partial = True
                part = part.child if isinstance(part, ListSerializer) else None
        body = SerializerBody(self.inspection, serializer)
        return self.inspection.attempt(body.get_body, RETURN_EARLY, OPEN)

    def _find_whole_file(self) -> Body:
        # REST framework's FileUploadParser gives the file this name.
        return Body("object", fields=(make_file_parameter("file", Upload(), required=True),))

    def _keep_readable_files(self, body: Body) -> Body:
        # Without a parser of files the value is sent as it is, and refused as over HTTP.
        if body.is_file or self.parsers.reads_files or not find_uploads(body.all_value_info):
            return body
        self.inspection.add_finding("The view takes files but has no parser for them.", PARSE_FILES)

        def without_files(known: ValueInfos) -> ValueInfos:
            return keep_uploads(known, lambda place, upload: False)

        fields = (replace(p, value_info=without_files(p.value_info)) for p in body.fields)
        return replace(body, fields=tuple(fields), value_info=without_files(body.value_info))

    def get_document(self, body: Body) -> Body:
        inspection, parsers = self.inspection, self.parsers
        text = None if body.is_file else parsers.text_parser
        if text is not None and body.kind != "none":
            words = f"The view reads no JSON, but {text.media_type}."
            inspection.add_finding(words, PARSE_JSON)
            return parsers.get_document(text, body)
        # A parser that fails here fails again in rename_body, which leaves the finding.
        refusal = attempt(lambda: parsers.describe_refusal(body), None)
        if not refusal:
            return body
        words = f"The view's parser reads documents of its own: {refusal}"
        inspection.add_finding(words, DOCUMENT)
        return parsers.get_document(parsers.json_parser, body)


class SerializerBody:
    def __init__(self, inspection: Inspection, serializer: Any) -> None:
        self.inspection = inspection
        self.serializer = serializer
        self.takes_json = ViewParsers(inspection.view).json_parser is not None
        self.taken = TakenMembers()

    def get_body(self) -> Body:
        inspection = self.inspection
        find = partial(find_taken_by_view, inspection.view, inspection.readings[2])
        self.taken = inspection.attempt(find, WRITE_PLAINLY, self.taken)
        facts = self.serializer.partial, self.takes_json, self.taken.key, type(inspection.view)
        # Annotations of fields count for views with a schema class of drf-spectacular.
        around = inspection.annotations is None, inspection.write_schema, *facts
        body, own, findings = describe_once(self.serializer, around, self.describe)
        inspection.findings += [replace(each, place=inspection.place) for each in findings]
        if body.kind != "object":
            return body
        keys = KeyParameters(inspection, self.serializer)
        known = {field.name for field in body.fields}
        named = {parameter.name: parameter for parameter in own}
        names = dict.fromkeys((*named, *self.taken.find_names(()), *keys.names))
        further = (
            named.get(name) or keys.get_parameter(name, FURTHER)
            for name in names
            if name not in known
        )
        return replace(body, fields=(*body.fields, *further))

    def describe(self) -> tuple[Body, Sequence[Parameter], Sequence[Finding]]:
        """Return the body, the members that code reads besides fields, and what was found."""
        # Any view with this serializer has these findings.
        inspection, findings = self.inspection, self.inspection.findings
        before = len(findings)
        find = partial(find_taken, self.serializer, type(inspection.view))
        own = inspection.attempt(find, RETURN_EARLY, TakenMembers())
        by_view, self.taken = self.taken, self.taken.union(own)
        body = self._describe_fields().open(self.taken.find_opening(()))
        further = [
            self._make_further(name)
            for name in (own.find_names(()) if body.kind == "object" else ())
            if name not in find_writable_fields(self.serializer)
        ]
        self.taken = by_view
        found = findings[before:]
        del findings[before:]
        return body, further, found

    def _make_further(self, name: str) -> Parameter:
        keys = KeyParameters(self.inspection, self.serializer)
        parameter = keys.get_parameter(name, FURTHER)
        shown = self.serializer.fields.get(name)
        if shown is None or parameter.value_info:
            return parameter
        # What code sets by the body may be read-only as a field.
        schema = self.inspection.attempt(
            lambda: DescribedField(shown).represented_schema, RETURN_EARLY, FieldSchema()
        )
        return replace(parameter, schema=self.inspection.write_schema(explain(schema, FURTHER)))

    def _describe_fields(self) -> Body:
        serializer, inspection = self.serializer, self.inspection
        if isinstance(serializer, ListSerializer):
            rows = {"type": "array", **DescribedField(serializer).input_schema}
            schema = inspection.write_schema(self.taken.add_members(rows, serializer, ()))
            return Body("list", schema=schema, value_info=self._make_value_info(serializer))
        if not isinstance(serializer, Serializer):
            words = "The serializer declares no fields."
            inspection.add_finding(words, "Derive it from Serializer.")
            return OPEN
        is_closed = converts_like_drf(serializer)
        if not is_closed:
            words = f"{type(serializer).__name__} reads its input itself."
            inspection.add_finding(words, HANDED_ON_ADVICE)
            if not self._is_built_on_fields():
                return OPEN
        return Body("object", fields=tuple(self.get_fields(is_closed=is_closed)))

    def _is_built_on_fields(self) -> bool:
        """Return whether the serializer's own conversions call REST framework's somewhere."""
        serializer_class = type(self.serializer)
        for method in CONVERSIONS:
            if not is_drf_code(serializer_class, method):
                reading = read_handler(serializer_class, method)
                if reading is None or method not in reading.calls:
                    return False
        return True

    def get_fields(self, *, is_closed: bool) -> Iterator[Parameter]:
        inspection, rules = self.inspection, dict[str, str]()
        if is_closed:
            rules = inspection.attempt(
                lambda: describe_uniqueness(self.serializer), RETURN_EARLY, rules
            )
        listed = find_listed(self.serializer)
        for name, field in find_writable_fields(self.serializer).items():
            describe = partial(self._describe_field, field, rules.get(name, ""), is_closed)
            let = f"Let the field '{name}' be built without a caller."
            yield Parameter(
                name,
                inspection.attempt(describe, f"{let} {RETURN_EARLY}", {}),
                is_closed and is_required(field) and not reads_elsewhere(field),
                value_info=self.taken.open_values(name, self._make_value_info(field)),
                listed=name in listed,
            )

    def _describe_field(self, field: AnyField, rule: str, is_closed: bool) -> Schema:
        if is_closed:
            schema = explain(DescribedField(field).input_schema, rule)
        else:
            # The serializer may take other values, or require none of the fields.
            needed = "Meant to be required" if is_required(field) else ""
            schema = explain(DescribedField(field).intended_schema, needed)
        place = (str(field.field_name),)
        return self.inspection.write_schema(self.taken.add_members(schema, field, place))

    def _make_value_info(self, field: AnyField) -> ValueInfos:
        find = partial(find_value_info, field, takes_json=self.takes_json)
        return self.inspection.attempt(find, RETURN_EARLY, {})


# --- Fields that a view asks its user for ---------------------------------------------------------


def _add_form_fields(inspection: Inspection, body: Body) -> Body:
    # A client that cannot show a form sends the answers to `call_context(request).ask()` at once.
    reading = inspection.reading
    if reading is None or not reading.asked:
        return body
    if reading.writes_before_asking:
        inspection.add_finding("The view writes before it asks.", ASK_FIRST)
    further: list[Parameter] = []
    for serializer_class in reading.asked:
        serializer: Serializer[Any] = serializer_class(partial=True)
        for fault in find_faults(serializer):
            inspection.add_finding(fault, FLAT)
        further += SerializerBody(inspection.start_over(), serializer).get_body().fields
    known = {parameter.name for parameter in body.fields}
    optional = [replace(each, required=False) for each in further if each.name not in known]
    if body.kind == "list" or not optional:
        return body
    kind = "object" if body.kind == "none" else body.kind
    return replace(body, kind=kind, fields=(*body.fields, *optional))


# --- Bodies that people wrote down ----------------------------------------------------------------


def _describe_declared(inspection: Inspection, schema: Schema) -> Body:
    if "allOf" in schema:
        schema = combine(schema)
    choices: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
    if len(choices) == 1:
        return _describe_declared(inspection, choices[0])
    if choices:
        inspection.add_finding("The body is declared as one of several schemas.", NAME_MEMBERS)
        value_info = reduce(join_value_info, map(read_value_info, choices))
        return Body("open", schema=inspection.write_schema(schema), value_info=value_info)
    if schema.get("type") == "array":
        value_info = read_value_info(schema)
        return Body("list", schema=inspection.write_schema(schema), value_info=value_info)
    if not schema.get("properties"):
        value_info = {(): ValueInfo(Upload())} if schema.get("format") == "binary" else {}
        return Body("open", schema=inspection.write_schema(schema), value_info=value_info)
    required = () if inspection.method == "PATCH" else schema.get("required", ())
    fields = (
        Parameter(
            name,
            inspection.write_schema(member),
            name in required,
            value_info=read_value_info(member),
        )
        for name, member in schema["properties"].items()
    )
    further = schema.get("additionalProperties")
    # An empty schema allows any member, too.
    opened_by = "" if further is None or further is False else DECLARED_OPEN
    return Body("object", fields=tuple(fields), opened_by=opened_by)


def _complete_body(body: Body, own: Body) -> Body:
    # What the code reads besides what people declared is taken, and not listed.
    body, keys = body.open(own.opened_by), {**own.keys, **body.keys}
    if body.kind == "open":
        value_info = join_value_info(body.value_info, own.all_value_info)
        return replace(body, value_info=value_info, keys=keys)
    if body.kind == "object" and own.kind in ("list", "either"):
        body = body.with_rows(own)
    if body.kind == "none" and own.kind == "open":
        body = replace(body, schema=own.schema, value_info=own.value_info)
    if body.kind in ("list", "either"):
        body = replace(body, value_info=join_value_info(body.value_info, own.value_info))
    known, fields = {field.name: field for field in own.fields}, []
    for field in body.fields:
        read = known.pop(field.name, field).value_info
        read = keep_uploads(read, lambda place, upload: upload.sure)
        fields.append(replace(field, value_info=join_value_info(field.value_info, read)))
    unlisted = (replace(field, required=False, listed=False) for field in known.values())
    return replace(body, fields=(*fields, *unlisted), keys=keys)
