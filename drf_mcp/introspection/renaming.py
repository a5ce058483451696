"""Keys that a view's parser and renderer rename, such as to camel case.

HTTP clients use the renamed keys, so arguments do. Which they are is found by asking: the
renderer is given a key, and what it makes of it counts if the parser turns it back.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from drf_mcp.introspection.source.overrides import find_package, is_drf_code
from drf_mcp.introspection.types import ANY, Body, Handling, Parameter, Place, Schema

Value = TypeVar("Value")

JSON = "application/json"
RENAMING_PACKAGE = "djangorestframework_camel_case"
"""The package whose renderers are known to rename keys and to do nothing else."""


class Renaming:
    """The keys that HTTP clients of a view use.

    Args:
        view: the view instance.
    """

    def __init__(self, view: Any) -> None:
        self.view = view
        self.parser_class = first(getattr(view, "parser_classes", ()), JSONParser)
        self.renderer_class = first(getattr(view, "renderer_classes", ()), JSONRenderer)
        self.names: dict[Place, Place] = {(): ()}

    @property
    def takes_other_names(self) -> bool:
        """True if the view's parser may rename keys."""
        return self.parser_class is not None and not is_drf_code(self.parser_class, "parse")

    @property
    def gives_other_names(self) -> bool:
        """True if the view's renderer renames keys and does nothing else."""
        renderer = self.renderer_class
        return renderer is not None and find_package(renderer, "render") == RENAMING_PACKAGE

    def place(self, place: Place) -> Place:
        """Return the keys that lead to a place when a client writes it."""
        if place not in self.names:
            outer = self.place(place[:-1])
            own = place[-1] if place[-1] == ANY else self.name(place, outer)
            self.names[place] = (*outer, own)
        return self.names[place]

    def name(self, place: Place, outer: Place) -> str:
        """Return the key of a place inside renamed ones: its own unless another is read as it."""
        given = self.rendered(place[-1])
        return given if self.parsed((*outer, given)) == nest(place) else place[-1]

    def parsed(self, keys: Place) -> Any:
        """Return what the parser makes of a body with one value."""
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        parser: Any = self.parser_class
        body = io.BytesIO(json.dumps(nest(keys)).encode())
        return parser().parse(body, media_type=JSON, parser_context=context)

    def rendered(self, name: str) -> str:
        """Return what the renderer makes of a key, the key itself if it makes no key of it."""
        renderer: Any = self.renderer_class
        if renderer is None or is_drf_code(renderer, "render"):
            return name
        given = json.loads(renderer().render({name: 1}, JSON, {"view": self.view}))
        return next(iter(given)) if isinstance(given, dict) and len(given) == 1 else name

    def body(self, body: Body) -> Body:
        """Return a body under the keys that clients use."""
        if not self.takes_other_names:
            return body
        fields = tuple(map(self.parameter, body.fields))
        schema = None if body.schema is None else self.schema(body.schema, ())
        handling = self.handling(body.handling, ())
        keys = {place: renamed for place, renamed in self.names.items() if place != renamed}
        return Body(body.kind, fields, schema, handling, keys)

    def parameter(self, parameter: Parameter) -> Parameter:
        """Return a member of the body under the keys that clients use."""
        place = (parameter.name,)
        return replace(
            parameter,
            name=self.place(place)[0],
            schema=self.schema(parameter.schema, place),
            handling=self.handling(parameter.handling, place),
        )

    def handling(self, handling: Handling, outer: Place) -> Handling:
        """Return what has to be known of values by the keys that clients use."""

        def renamed(places: Mapping[Place, Value]) -> dict[Place, Value]:
            return {self.place((*outer, *p))[len(outer) :]: places[p] for p in places}

        return Handling(
            renamed(handling.uploads),
            renamed(handling.forms),
            frozenset(renamed(dict.fromkeys(handling.secrets))),
            renamed(handling.relations),
        )

    def schema(self, schema: Schema, place: Place) -> Schema:
        """Return a schema whose members have the keys that clients use."""
        schema = schema | {}
        if isinstance(schema.get("items"), dict):
            schema["items"] = self.schema(schema["items"], (*place, ANY))
        if "properties" in schema:
            keys = {name: self.place((*place, name))[-1] for name in schema["properties"]}
            members = schema["properties"]
            schema["properties"] = {
                keys[name]: self.schema(members[name], (*place, name)) for name in members
            }
            if "required" in schema:
                schema["required"] = [keys.get(name, name) for name in schema["required"]]
        return schema

    def output(self, schema: Schema) -> Schema:
        """Return the schema of an answer with the keys that the renderer makes."""
        schema = dict(schema)
        if isinstance(schema.get("items"), dict):
            schema["items"] = self.output(schema["items"])
        if "properties" in schema:
            members = schema["properties"]
            schema["properties"] = {
                self.rendered(name): self.output(members[name]) for name in members
            }
        return schema


def first(classes: Any, stock: type) -> Any:
    """Return the first of some parsers or renderers that is for JSON, None without one."""
    return next((c for c in classes if issubclass(c, stock) or c.media_type == JSON), None)


def nest(keys: Place) -> Any:
    """Return a body with one value, under these keys."""
    if not keys:
        return 1
    inner = nest(keys[1:])
    return [inner] if keys[0] == ANY else {keys[0]: inner}
