"""Which tool finds the objects that an argument identifies."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.types import ANY, EndpointSchema, Parameter, Place
from drf_mcp.tools.endpoints import Endpoint


class Finders:
    """Names the list tools of the models that relations point at.

    Args:
        endpoints: those of all tools by name, in the URLconf's order.
    """

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        self.endpoints = endpoints

    @functools.cached_property
    def by_model(self) -> dict[Any, str]:
        """The list tool of each model that needs no path argument.

        The first of those where one object can be got beside the list: others may list some
        of them alone, such as what was thrown away.
        """
        lists = [
            (name, endpoint)
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list" and not endpoint.route.kwargs
        ]
        lists.sort(key=lambda named: named[1].route.path.rstrip("/") not in self.collections)
        names: dict[Any, str] = {}
        for name, endpoint in lists:
            model = find_listed_model(endpoint)
            if model is not None:
                names.setdefault(model._meta.concrete_model, name)
        return names

    @functools.cached_property
    def collections(self) -> frozenset[str]:
        """The paths below which single objects are got, without the slash at their end."""
        return frozenset(
            endpoint.route.path[: endpoint.route.path.rindex("{")].rstrip("/")
            for endpoint in self.endpoints.values()
            if endpoint.standard_action == "retrieve" and "{" in endpoint.route.path
        )

    @functools.cached_property
    def by_path(self) -> dict[str, str]:
        """The list tools by path, without the slash at its end."""
        return {
            endpoint.route.path.rstrip("/"): name
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list"
        }

    def get_nearest_list(self, path: str) -> str | None:
        """Return the list tool of the nearest collection that a path leads through."""
        while "{" in path:
            path = path[: path.rindex("{")]
            if path.rstrip("/") in self.by_path:
                return self.by_path[path.rstrip("/")]
        return None

    def explain_relations(self, described: EndpointSchema) -> EndpointSchema:
        """Return a description that tells where the values of relations are found."""
        body = described.body
        return replace(
            described,
            path=tuple(map(self.explain_parameter, described.path)),
            query=tuple(map(self.explain_parameter, described.query)),
            body=replace(body, fields=tuple(map(self.explain_parameter, body.fields))),
        )

    def explain_parameter(self, parameter: Parameter) -> Parameter:
        """Return a parameter that tells where the values of its relations are found."""
        schema = parameter.schema
        for place, relation in parameter.handling.relations.items():
            finder = self.by_model.get(relation.model._meta.concrete_model)
            if finder is not None:
                schema = explain_finder(schema, place, finder)
        return parameter if schema is parameter.schema else replace(parameter, schema=schema)


def find_listed_model(endpoint: Endpoint) -> Any:
    """Return the model that an endpoint lists, None if it cannot be told."""
    declared = getattr(endpoint.view_class, "queryset", None)
    if declared is not None:
        return getattr(declared, "model", None)

    def find_model() -> Any:
        return Inspection(endpoint.introspected_view(), endpoint.method).model

    return attempt(endpoint.place, find_model, "", [], None)


def explain_finder(schema: dict[str, Any], place: Place, finder: str) -> dict[str, Any]:
    """Return a schema that tells which tool finds the value at a place."""
    if not place:
        return FieldSchema.of(explain(schema, f"Find it with {finder}")).meaning_also(finder=finder)
    if place[0] == ANY and isinstance(schema.get("items"), dict):
        return schema | {"items": explain_finder(schema["items"], place[1:], finder)}
    members = schema.get("properties", {})
    if place[0] in members:
        member = explain_finder(members[place[0]], place[1:], finder)
        return schema | {"properties": {**members, place[0]: member}}
    return schema
