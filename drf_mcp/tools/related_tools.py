"""The tools that find the objects which arguments of other tools identify."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import STANDARD
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.query.families import FilterFamilies
from drf_mcp.introspection.text import get_names, join_values
from drf_mcp.introspection.types import ANY, EndpointSchema, Parameter, Place

# The most list tools that are named for a generic foreign key.
MOST_LISTS = 5
# The endings of names of keys.
OF_KEY = re.compile(r"_(?:id|pk)s?$")


class RelatedTools:
    """The tools of a registry that find the objects which arguments of other tools identify."""

    def __init__(self, endpoints: Mapping[str, Any]) -> None:
        self.endpoints = endpoints

    @functools.cached_property
    def digest(self) -> str:
        """A hash of the names, methods and routes, the same in each process."""
        lines = (
            f"{name} {each.method} {each.action} {each.route.match_route}"
            for name, each in self.endpoints.items()
        )
        return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()

    @functools.cached_property
    def by_model(self) -> dict[Any, str]:
        # Lists without path arguments.
        lists = [
            (name, endpoint)
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list" and not endpoint.route.kwargs
        ]
        # Lists whose objects can be retrieved come first: others may list only some rows, such as
        # deleted ones.
        lists.sort(key=lambda named: named[1].route.path.rstrip("/") not in self.collections)
        names: dict[Any, str] = {}
        for name, endpoint in lists:
            model = self.find_model(endpoint)
            if model is not None:
                names.setdefault(model._meta.concrete_model, name)
        return names

    @functools.cached_property
    def collections(self) -> frozenset[str]:
        # The paths of lists whose objects can be retrieved.
        return frozenset(
            endpoint.collection
            for endpoint in self.endpoints.values()
            if endpoint.standard_action == "retrieve" and "{" in endpoint.route.path
        )

    @functools.cached_property
    def describing_tools(self) -> frozenset[str]:
        """The tools whose descriptions describe the view: one for each view and collection."""
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
        return endpoint.attempt(lambda: endpoint.model, None)

    def get_nearest_list(self, path: str) -> str | None:
        while "{" in path:
            path = path[: path.rindex("{")]
            if path.rstrip("/") in self.by_path:
                return self.by_path[path.rstrip("/")]
        return None

    @functools.cached_property
    def nested(self) -> dict[Any, str]:
        """The lists with path arguments, by model."""
        names: dict[Any, str] = {}
        for name, endpoint in self.endpoints.items():
            if endpoint.standard_action == "list" and endpoint.route.kwargs:
                model = self.find_model(endpoint)
                if model is not None:
                    names.setdefault(model._meta.concrete_model, name)
        return names

    def find_list(self, model: Any) -> str | None:
        model = model._meta.concrete_model
        return self.by_model.get(model) or self.nested.get(model)

    def names_finder(self, name: str, finder: str) -> bool:
        """Return whether an argument is named after the objects that a tool lists."""
        model, endpoint = self.find_model(self.endpoints[finder]), self.endpoints[finder]
        if model is None:
            return False
        nouns = [noun.replace(" ", "_").lower() for noun in get_names(model)]
        noun = finder.removesuffix(f"_{endpoint.standard_action}").lower()
        return noun in nouns[1::2] and OF_KEY.sub("", name.lower()) in nouns

    def find_actions(self, endpoint: Any) -> list[str]:
        """Return the actions that change the object of an endpoint."""
        path = endpoint.object_path
        return [
            name
            for name, other in self.endpoints.items()
            if path and other.method != "GET" and other.object_path == path
            if other.route.path.rstrip("/") != path
        ]

    def find_read(self, object_path: str) -> Any:
        """Return the endpoint that reads the object at a path, None without such a tool."""
        return next(
            (
                endpoint
                for endpoint in self.endpoints.values()
                if object_path and endpoint.object_kwarg
                if endpoint.route.path.rstrip("/") == object_path
            ),
            None,
        )


class ArgumentSources:
    """Adds to the arguments of an endpoint the tools that list the objects they identify."""

    def __init__(self, related: RelatedTools, endpoint: Any) -> None:
        self.related = related
        self.endpoint = endpoint

    def explain(self, schema: EndpointSchema) -> EndpointSchema:
        body, query = schema.body, tuple(map(self.explain_parameter, schema.query))
        return replace(
            schema,
            path=tuple(map(self.explain_kwarg, schema.path)),
            query=FilterFamilies(query).without_repeated_words(),
            body=replace(body, fields=tuple(map(self.explain_parameter, body.fields))),
        )

    def explain_kwarg(self, kwarg: Parameter) -> Parameter:
        # The path before a kwarg is mostly that of a list.
        related, endpoint = self.related, self.endpoint
        before = endpoint.route.path.partition(f"{{{kwarg.name}}}")[0].rstrip("/")
        finder = related.by_path.get(before)
        if finder is None:
            model = related.find_model(endpoint) if self.names_own_row(kwarg.name) else None
            finder = related.find_list(model) if model is not None else None
        elif before == endpoint.collection:
            return kwarg  # the names of both tools begin alike
        elif related.endpoints[finder].view_class is endpoint.view_class:
            return kwarg
        if finder is None:
            return self.explain_parameter(kwarg)
        explained = self.explain_value(kwarg.schema, (), finder, name=kwarg.name)
        return replace(kwarg, schema=explained)

    def names_own_row(self, kwarg: str) -> bool:
        view_class = self.endpoint.view_class
        names = (getattr(view_class, name, None) for name in ("lookup_url_kwarg", "lookup_field"))
        is_of_one = self.endpoint.route.initkwargs.get("detail", True)
        return bool(is_of_one) and kwarg == next(filter(None, names), None)

    def explain_parameter(self, parameter: Parameter) -> Parameter:
        schema, handling = parameter.schema, parameter.handling
        for place, relation in handling.relations.items():
            finder = self.related.find_list(relation.model)
            if finder is not None:
                name = next((part for part in reversed(place) if part != ANY), parameter.name)
                schema = self.explain_value(schema, place, finder, relation.key, name)
        for place, member in handling.types.items():
            schema = self.explain_place(schema, place, self.explain_type(member))
        return parameter if schema is parameter.schema else replace(parameter, schema=schema)

    def explain_value(
        self, schema: dict[str, Any], place: Place, finder: str, key: str = "pk", name: str = ""
    ) -> dict[str, Any]:
        taken = self.related.endpoints[finder].route.kwargs
        further = [make_portable_name(k) for k in taken if k not in self.endpoint.route.kwargs]
        is_named = not further and self.related.names_finder(name, finder)
        facts = {
            "key": f"{key[:1].upper()}{key[1:]}",
            "tool": "" if is_named else finder,
            "arguments": join_values(further),
        }

        def explain_one(found: dict[str, Any]) -> dict[str, Any]:
            # The name of the list names the model of the key.
            known = FieldSchema.of(found)
            known = known.without_words(known.meaning.identity)
            shown = facts | {"key": ""} if key == "pk" or known == found else facts
            explained = explain(known, self.name_source(**shown))
            return FieldSchema.of(explained).with_meaning(finder=finder)

        return self.explain_place(schema, place, explain_one)

    def name_source(self, **facts: str) -> str:
        if not facts["tool"]:
            return facts["key"]
        if facts["key"]:
            by = _("%(key)s from %(tool)s by %(arguments)s")
            text = by if facts["arguments"] else _("%(key)s from %(tool)s")
        else:
            by = _("From %(tool)s by %(arguments)s")
            text = by if facts["arguments"] else _("From %(tool)s")
        return text % facts

    def explain_type(self, member: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        lists = list(self.related.by_model.values())
        more = ", …" if len(lists) > MOST_LISTS else ""
        words = _("Key of an object of the type in %(argument)s")
        if lists:
            words = _(
                "Key of an object of the type in %(argument)s, found with the list of that type: "
                "%(tools)s"
            )
        tools = f"{join_values(lists[:MOST_LISTS])}{more}"
        words %= {"argument": make_portable_name(member), "tools": tools}
        return lambda found: explain(found, words)

    def explain_place(
        self,
        schema: dict[str, Any],
        place: Place,
        explain_one: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> dict[str, Any]:
        if not place:
            return explain_one(schema)
        if place[0] == ANY and isinstance(schema.get("items"), dict):
            return schema | {"items": self.explain_place(schema["items"], place[1:], explain_one)}
        members = schema.get("properties", {})
        if place[0] in members:
            member = self.explain_place(members[place[0]], place[1:], explain_one)
            return schema | {"properties": {**members, place[0]: member}}
        return schema
