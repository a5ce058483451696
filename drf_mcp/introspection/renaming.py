"""Keys that a view's parser and renderer rename, such as to camel case."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.source.members import find_package, is_drf_code
from drf_mcp.introspection.types import ANY, Body, Place, Schema, ValueInfos, walk_schema

JSON = "application/json"
# Its renderers are known to rename keys and to do nothing else.
RENAMING_PACKAGE = "djangorestframework_camel_case"


class Renaming:
    # The renderer is given a key, and its rendition counts if the parser turns it back.

    def __init__(self, view: Any) -> None:
        self.view = view
        self.parser_class = self.find_class(getattr(view, "parser_classes", ()), JSONParser)
        self.renderer_class = self.find_class(getattr(view, "renderer_classes", ()), JSONRenderer)
        self.rename_key = functools.cache(self.find_read_key)

    @staticmethod
    def find_class(classes: Any, base: type) -> Any:
        return next((c for c in classes if issubclass(c, base) or c.media_type == JSON), None)

    @property
    def gives_other_names(self) -> bool:
        # True if the view's renderer renames keys and does nothing else.
        renderer = self.renderer_class
        return renderer is not None and find_package(renderer, "render") == RENAMING_PACKAGE

    def render_key(self, key: str) -> str:
        if self.renderer_class is None or is_drf_code(self.renderer_class, "render"):
            return key
        rendered = json.loads(self.renderer_class().render({key: 1}, JSON, {"view": self.view}))
        return next(iter(rendered)) if isinstance(rendered, dict) and len(rendered) == 1 else key

    def find_read_key(self, key: str) -> str:
        rendered = key if key == ANY else self.render_key(key)
        if rendered == key:
            return key
        body = io.BytesIO(json.dumps({rendered: 1}).encode())
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        read = self.parser_class().parse(body, media_type=JSON, parser_context=context)
        return rendered if read == {key: 1} else key

    def rename_place(self, place: Place) -> Place:
        return tuple(map(self.rename_key, place))

    def rename_places(self, value_info: ValueInfos) -> ValueInfos:
        return {self.rename_place(place): info for place, info in value_info.items()}

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
                schema=rename_schema(each.schema, self.rename_key),
                value_info=self.rename_places(each.value_info),
            )
            for each in body.fields
        ]
        schema = None if body.schema is None else rename_schema(body.schema, self.rename_key)
        renamed = {place: self.rename_place(place) for place in places}
        keys = {place: other for place, other in renamed.items() if place != other}
        return Body(body.kind, tuple(fields), schema, self.rename_places(body.value_info), keys)

    def rename_response(self, schema: Schema) -> Schema:
        return rename_schema(schema, self.render_key)


def rename_schema(schema: Schema, rename: Callable[[str], str]) -> Schema:
    renamed: Schema = FieldSchema.of(schema) | {}
    if isinstance(schema.get("items"), dict):
        renamed["items"] = rename_schema(schema["items"], rename)
    if schema.get("properties"):
        renamed["properties"] = {
            rename(name): rename_schema(member, rename)
            for name, member in schema["properties"].items()
        }
    if "required" in schema:
        renamed["required"] = list(map(rename, schema["required"]))
    return renamed
