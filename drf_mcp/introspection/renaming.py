"""Keys that a view's parser and renderer rename, such as to camel case."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.source.members import find_package, is_drf_code
from drf_mcp.introspection.types import ANY, Body, Handling, Parameter, Place, Schema

JSON = "application/json"
# Its renderers are known to rename keys and to do nothing else.
RENAMING_PACKAGE = "djangorestframework_camel_case"


class Renaming:
    # The renderer is given a key, and its rendition counts if the parser turns it back.

    def __init__(self, view: Any) -> None:
        self.view = view
        self.parser_class = self.find_class(getattr(view, "parser_classes", ()), JSONParser)
        self.renderer_class = self.find_class(getattr(view, "renderer_classes", ()), JSONRenderer)
        self.places: dict[Place, Place] = {(): ()}

    @staticmethod
    def find_class(classes: Any, base: type) -> Any:
        return next((c for c in classes if issubclass(c, base) or c.media_type == JSON), None)

    @property
    def takes_other_names(self) -> bool:
        return self.parser_class is not None and not is_drf_code(self.parser_class, "parse")

    @property
    def gives_other_names(self) -> bool:
        # True if the view's renderer renames keys and does nothing else.
        renderer = self.renderer_class
        return renderer is not None and find_package(renderer, "render") == RENAMING_PACKAGE

    def get_place(self, place: Place) -> Place:
        if place not in self.places:
            outer, key = self.get_place(place[:-1]), place[-1]
            rendered = key if key == ANY else self.render_key(key)
            is_read_back = rendered == key or self.parse((*outer, rendered)) == self.nest(place)
            self.places[place] = (*outer, rendered if is_read_back else key)
        return self.places[place]

    def parse(self, keys: Place) -> Any:
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        body = io.BytesIO(json.dumps(self.nest(keys)).encode())
        return self.parser_class().parse(body, media_type=JSON, parser_context=context)

    def nest(self, keys: Place) -> Any:
        if not keys:
            return 1
        inner = self.nest(keys[1:])
        return [inner] if keys[0] == ANY else {keys[0]: inner}

    def render_key(self, key: str) -> str:
        if self.renderer_class is None or is_drf_code(self.renderer_class, "render"):
            return key
        rendered = json.loads(self.renderer_class().render({key: 1}, JSON, {"view": self.view}))
        return next(iter(rendered)) if isinstance(rendered, dict) and len(rendered) == 1 else key

    def rename_body(self, body: Body) -> Body:
        if not self.takes_other_names:
            return body
        fields = tuple(map(self.rename_parameter, body.fields))
        schema = None if body.schema is None else self.rename_schema(body.schema, ())
        handling = self.rename_handling(body.handling, ())
        keys = {place: renamed for place, renamed in self.places.items() if place != renamed}
        return Body(body.kind, fields, schema, handling, keys)

    def rename_parameter(self, parameter: Parameter) -> Parameter:
        place = (parameter.name,)
        return replace(
            parameter,
            name=self.get_place(place)[0],
            schema=self.rename_schema(parameter.schema, place),
            handling=self.rename_handling(parameter.handling, place),
        )

    def rename_handling(self, handling: Handling, outer: Place) -> Handling:
        return handling.relocate(lambda place: self.get_place((*outer, *place))[len(outer) :])

    def rename_schema(
        self, schema: Schema, place: Place, get_key: Callable[[Place], str] | None = None
    ) -> Schema:
        get_key = get_key or (lambda place: self.get_place(place)[-1])
        renamed: Schema = FieldSchema.of(schema) | {}
        if isinstance(schema.get("items"), dict):
            renamed["items"] = self.rename_schema(schema["items"], (*place, ANY), get_key)
        members = schema.get("properties", {})
        keys = {name: get_key((*place, name)) for name in members}
        if members:
            renamed["properties"] = {
                keys[name]: self.rename_schema(member, (*place, name), get_key)
                for name, member in members.items()
            }
        if "required" in schema:
            renamed["required"] = [keys.get(name, name) for name in schema["required"]]
        return renamed

    def rename_response(self, schema: Schema) -> Schema:
        return self.rename_schema(schema, (), lambda place: self.render_key(place[-1]))
