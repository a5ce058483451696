"""What a view's parsers read, and the keys that its parser and renderer rename."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.parsers import FileUploadParser, FormParser, JSONParser, MultiPartParser
from rest_framework.renderers import JSONRenderer

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.source.members import find_package, is_drf_code
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import ANY, Body, Place, Schema, ValueInfos, walk_schema

JSON = "application/json"
# Parsers of bodies that have named fields.
FIELD_PARSERS = (JSONParser, FormParser, MultiPartParser)


class ViewParsers:
    def __init__(self, view: Any) -> None:
        self.view = view
        self.classes: Sequence[Any] = getattr(view, "parser_classes", ())

    @functools.cached_property
    def json_parser(self) -> Any:
        return next((parser for parser in self.classes if _is_json_parser(parser)), None)

    @functools.cached_property
    def text_parser(self) -> Any:
        """The first parser of a view that reads neither JSON nor forms nor files."""
        others = map(self.reads, (*FIELD_PARSERS, FileUploadParser))
        return None if self.json_parser or any(others) or not self.classes else self.classes[0]

    def reads(self, parser_class: type) -> bool:
        media_type = getattr(parser_class, "media_type", None)
        return any(issubclass(p, parser_class) or p.media_type == media_type for p in self.classes)

    @property
    def reads_raw_files(self) -> bool:
        return any(issubclass(parser, FileUploadParser) for parser in self.classes)

    @property
    def reads_files(self) -> bool:
        return self.reads_raw_files or self.reads(MultiPartParser)

    @property
    def reads_whole_file(self) -> bool:
        return self.reads_raw_files and not any(map(self.reads, FIELD_PARSERS))

    @property
    def reads_forms(self) -> bool:
        return self.reads(MultiPartParser)

    @property
    def reads_any_form(self) -> bool:
        return self.reads(FormParser) or self.reads_forms

    @property
    def reads_forms_with_files(self) -> bool:
        return self.reads_forms and self.json_parser is None

    def describe_refusal(self, body: Body) -> str:
        """Return why a JSON parser of the project's own refuses the fields of a body, "" if not."""
        parser = self.json_parser
        if parser is None or is_drf_code(parser, "parse") or body.kind in ("none", "open"):
            return ""
        # Such a parser may read documents that hold the fields deeper inside, such as JSON:API's.
        members = {parameter.name: 1 for parameter in body.fields}
        sample = io.BytesIO(json.dumps([members] if body.kind == "list" else members).encode())
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        try:
            parser().parse(sample, media_type=parser.media_type, parser_context=context)
        except APIException as exc:
            return str(exc) or type(exc).__name__
        return ""

    def get_document(self, parser: Any, body: Body) -> Body:
        """Return an open body: a document that only the parser knows, described in words."""
        names = join_values(parameter.name for parameter in body.fields)
        schema = explain(
            {"type": "string"} if parser is self.text_parser else {},
            f"The request body: a document of {parser.media_type}",
            f"It holds {names}" if names else "",
        )
        return Body("open", schema=schema)


def _is_json_parser(parser: Any) -> bool:
    media_type = str(parser.media_type)
    return issubclass(parser, JSONParser) or media_type.endswith(("/json", "+json"))


# --- Keys that a parser and a renderer rename, such as to camel case ------------------------------

# Its renderers rename keys and change nothing else.
RENAMING_PACKAGE = "djangorestframework_camel_case"


class Renaming:
    # A key has another name for clients if the view's renderer writes it so, and the view's parser
    # turns this name back.

    def __init__(self, view: Any) -> None:
        self.view = view
        self.parser_class = self._find_class(getattr(view, "parser_classes", ()), JSONParser)
        self.renderer_class = self._find_class(getattr(view, "renderer_classes", ()), JSONRenderer)
        self.rename_key = functools.cache(self._find_client_key)

    @staticmethod
    def _find_class(classes: Any, base: type) -> Any:
        return next((c for c in classes if issubclass(c, base) or c.media_type == JSON), None)

    @property
    def only_renames(self) -> bool:
        """Whether the view's renderer renames keys and changes nothing else."""
        renderer = self.renderer_class
        return renderer is not None and find_package(renderer, "render") == RENAMING_PACKAGE

    def render_key(self, key: str) -> str:
        if self.renderer_class is None or is_drf_code(self.renderer_class, "render"):
            return key
        rendered = json.loads(self.renderer_class().render({key: 1}, JSON, {"view": self.view}))
        return next(iter(rendered)) if isinstance(rendered, dict) and len(rendered) == 1 else key

    def render_schema(self, schema: Schema) -> Schema:
        """Return the schema of an answer with the names of the view's renderer."""
        return _rename_schema(schema, self.render_key) if self.only_renames else schema

    def _find_client_key(self, key: str) -> str:
        rendered = key if key == ANY else self.render_key(key)
        if rendered == key:
            return key
        body = io.BytesIO(json.dumps({rendered: 1}).encode())
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        read = self.parser_class().parse(body, media_type=JSON, parser_context=context)
        return rendered if read == {key: 1} else key

    def _rename_place(self, place: Place) -> Place:
        return tuple(map(self.rename_key, place))

    def _rename_places(self, value_info: ValueInfos) -> ValueInfos:
        return {self._rename_place(place): info for place, info in value_info.items()}

    def rename_body(self, body: Body) -> Body:
        if self.parser_class is None or is_drf_code(self.parser_class, "parse"):
            return body
        places = [place for place, _ in walk_schema(body.schema)]
        for each in body.fields:
            places += [(each.name, *place) for place, _ in walk_schema(each.schema)]
        fields = [
            replace(
                each,
                name=self.rename_key(each.name),
                schema=_rename_schema(each.schema, self.rename_key),
                value_info=self._rename_places(each.value_info),
            )
            for each in body.fields
        ]
        schema = None if body.schema is None else _rename_schema(body.schema, self.rename_key)
        renamed = {place: self._rename_place(place) for place in places}
        keys = {place: other for place, other in renamed.items() if place != other}
        info = self._rename_places(body.value_info)
        return replace(body, fields=tuple(fields), schema=schema, value_info=info, keys=keys)


def _rename_schema(schema: Schema, rename: Callable[[str], str]) -> Schema:
    renamed: Schema = FieldSchema.of(schema) | {}
    if isinstance(schema.get("items"), dict):
        renamed["items"] = _rename_schema(schema["items"], rename)
    if schema.get("properties"):
        renamed["properties"] = {
            rename(name): _rename_schema(member, rename)
            for name, member in schema["properties"].items()
        }
    if "required" in schema:
        renamed["required"] = list(map(rename, schema["required"]))
    return renamed
