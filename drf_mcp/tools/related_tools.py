from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import STANDARD, Inspection
from drf_mcp.introspection.types import ANY, EndpointSchema, Parameter, Place


class Finders:
    """Names the list tools of the models that relations point at."""

    def __init__(self, endpoints: Mapping[str, Any]) -> None:
        self.endpoints = endpoints

    @functools.cached_property
    def by_model(self) -> dict[Any, str]:
        # Only lists that need no path argument.
        lists = [
            (name, endpoint)
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list" and not endpoint.route.kwargs
        ]
        # Lists beside which one object can be retrieved come first: others may list some rows
        # alone, such as deleted ones.
        lists.sort(key=lambda named: named[1].route.path.rstrip("/") not in self.collections)
        names: dict[Any, str] = {}
        for name, endpoint in lists:
            model = self.find_model(endpoint)
            if model is not None:
                names.setdefault(model._meta.concrete_model, name)
        return names

    @functools.cached_property
    def collections(self) -> frozenset[str]:
        # The paths below which single objects are retrieved.
        return frozenset(
            endpoint.collection
            for endpoint in self.endpoints.values()
            if endpoint.standard_action == "retrieve" and "{" in endpoint.route.path
        )

    @functools.cached_property
    def speakers(self) -> frozenset[str]:
        """The tools that say what their views are about: one of each view and collection."""
        found: dict[Any, tuple[int, str]] = {}
        for name, endpoint in self.endpoints.items():
            if endpoint.standard_action in STANDARD:
                key = endpoint.view_class, endpoint.collection
                place = STANDARD.index(endpoint.standard_action), name
                found[key] = min(place, found.get(key, place))
        return frozenset(name for _, name in found.values())

    @functools.cached_property
    def by_path(self) -> dict[str, str]:
        return {
            endpoint.route.path.rstrip("/"): name
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list"
        }

    def find_model(self, endpoint: Any) -> Any:
        declared = getattr(endpoint.view_class, "queryset", None)
        if declared is not None:
            return getattr(declared, "model", None)
        return endpoint.attempt(
            lambda: Inspection(endpoint.introspected_view(), endpoint.method).model, None
        )

    def get_nearest_list(self, path: str) -> str | None:
        while "{" in path:
            path = path[: path.rindex("{")]
            if path.rstrip("/") in self.by_path:
                return self.by_path[path.rstrip("/")]
        return None

    def explain_relations(self, endpoint: EndpointSchema) -> EndpointSchema:
        body = endpoint.body
        return replace(
            endpoint,
            path=tuple(map(self.explain_parameter, endpoint.path)),
            query=tuple(map(self.explain_parameter, endpoint.query)),
            body=replace(body, fields=tuple(map(self.explain_parameter, body.fields))),
        )

    def explain_parameter(self, parameter: Parameter) -> Parameter:
        schema = parameter.schema
        for place, relation in parameter.handling.relations.items():
            finder = self.by_model.get(relation.model._meta.concrete_model)
            if finder is not None:
                schema = self.explain_value(schema, place, finder)
        return parameter if schema is parameter.schema else replace(parameter, schema=schema)

    def explain_value(self, schema: dict[str, Any], place: Place, finder: str) -> dict[str, Any]:
        if not place:
            found = explain(schema, f"Find it with {finder}")
            return FieldSchema.of(found).with_meaning(finder=finder)
        if place[0] == ANY and isinstance(schema.get("items"), dict):
            return schema | {"items": self.explain_value(schema["items"], place[1:], finder)}
        members = schema.get("properties", {})
        if place[0] in members:
            member = self.explain_value(members[place[0]], place[1:], finder)
            return schema | {"properties": {**members, place[0]: member}}
        return schema
