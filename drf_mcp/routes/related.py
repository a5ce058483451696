"""Links foreign-key arguments to the list tools that return their keys."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.text import capfirst

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import STANDARD
from drf_mcp.introspection.model_fields import drop_comparison, shows_value
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.text import find_model_name, get_names, join_values, with_article
from drf_mcp.introspection.types import ANY, EndpointSchema, Parameter, Parameters, Place, Schema

# The most list tools that are named for a generic foreign key.
MOST_LISTS = 5
# The most arguments of a query that are listed with the lookups of filters.
MOST_FILTERS = 40
# The endings of names of keys.
OF_KEY = re.compile(r"_(?:id|pk)s?$")


class RelatedTools:
    """Finds tools of a registry, or what becomes tools, by their paths and models."""

    def __init__(self, tools: Mapping[str, Any]) -> None:
        self.endpoints = {name: tool.endpoint for name, tool in tools.items()}
        self.options = {name: tool.options for name, tool in tools.items()}

    @functools.cached_property
    def by_path(self) -> dict[str, str]:
        """The lists by their paths."""
        return {
            endpoint.route.path.rstrip("/"): name
            for name, endpoint in self.endpoints.items()
            if endpoint.standard_action == "list"
        }

    @property
    def by_model(self) -> dict[Any, str]:
        """The list that finds the rows of each model."""
        return {model: names[0] for model, names in self.lists.items()}

    @functools.cached_property
    def lists(self) -> dict[Any, list[str]]:
        """The lists of the rows of each model, the most complete first."""
        # First lists without path arguments, and of these first the lists whose objects can be
        # retrieved: another list may have some rows only, such as deleted ones.
        collections = {
            endpoint.collection
            for endpoint in self.endpoints.values()
            if endpoint.standard_action == "retrieve" and "{" in endpoint.route.path
        }

        def rank(path: str) -> tuple[bool, bool]:
            return "{" in path, path not in collections

        names: dict[Any, list[str]] = {}
        for path in sorted(self.by_path, key=rank):
            model = self.endpoints[self.by_path[path]].model
            if model is not None:
                names.setdefault(model._meta.concrete_model, []).append(self.by_path[path])
        return names

    @functools.cached_property
    def describing_tools(self) -> frozenset[str]:
        """The tools whose descriptions describe the view: one for each view and collection."""
        found: dict[Any, tuple[int, str]] = {}
        for name, endpoint in self.endpoints.items():
            if endpoint.is_standard:
                key = endpoint.view_class, endpoint.collection
                place = STANDARD.index(endpoint.standard_action), name
                found[key] = min(place, found.get(key, place))
        return frozenset(name for _, name in found.values())

    @functools.cached_property
    def _namesakes(self) -> Counter[Any]:
        """How many tools do the same with the objects of the same view or model."""
        return Counter(map(_find_verb_key, self.endpoints.values()))

    def has_namesake(self, endpoint: Any) -> bool:
        """Return whether another tool does the same with such objects, under another path."""
        return self._namesakes[_find_verb_key(endpoint)] > 1

    def find_list(self, model: Any) -> str | None:
        return next(iter(self.lists.get(model._meta.concrete_model, ())), None)

    def find_source(self, model: Any, key: str) -> str | None:
        """Return the list whose rows show a column of a model, None for none."""
        named = self.lists.get(model._meta.concrete_model, ())
        return next((name for name in named if self.shows(name, model, key)), None)

    def shows(self, name: str, model: Any, key: str) -> bool:
        if (name, key) not in self._shown:
            view = self.endpoints[name].introspected_view
            self._shown[name, key] = attempt(lambda: shows_value(view(), model, key), True)
        return self._shown[name, key]

    @functools.cached_property
    def _shown(self) -> dict[tuple[str, str], bool]:
        """Whether the rows of lists show columns."""
        return {}

    def find_lookup(self, collection: str) -> str:
        """Return the column by which the objects of a collection are looked up."""
        columns = (
            getattr(endpoint.view_class, "lookup_field", "pk")
            for endpoint in self.endpoints.values()
            if endpoint.standard_action == "retrieve" and endpoint.collection == collection
        )
        return drop_comparison(next(columns, "pk"))

    def find_nearest_list(self, path: str) -> str | None:
        while "{" in path:
            path = path[: path.rindex("{")]
            if path.rstrip("/") in self.by_path:
                return self.by_path[path.rstrip("/")]
        return None

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


def _find_verb_key(endpoint: Any) -> Any:
    # Not `endpoint.model`, since to ask each view for its queryset is costly.
    queryset = getattr(endpoint.view_class, "queryset", None)
    model = getattr(queryset, "model", None)
    # Models of two apps may have one name, and titles name nothing else.
    objects = find_model_name(model) if model else endpoint.view_class
    return (
        objects,
        endpoint.standard_action,
        endpoint.method,
        endpoint.part,
        len(endpoint.route.kwargs),
    )


class ArgumentSources:
    """Adds to the arguments of an endpoint the tools that list the objects they identify."""

    def __init__(self, related: RelatedTools, endpoint: Any) -> None:
        self.related = related
        self.endpoint = endpoint

    def explain(self, schema: EndpointSchema) -> EndpointSchema:
        body, query = schema.body, tuple(map(self._explain_parameter, schema.query))
        return replace(
            schema,
            path=tuple(map(self._explain_kwarg, schema.path)),
            query=_leave_out_lookups(_shorten_lookups(query)),
            body=replace(body, fields=tuple(map(self._explain_parameter, body.fields))),
        )

    def _explain_kwarg(self, kwarg: Parameter) -> Parameter:
        # Mostly the path before a kwarg is the path of a list.
        related, endpoint = self.related, self.endpoint
        before = endpoint.route.path.partition(f"{{{kwarg.name}}}")[0].rstrip("/")
        finder, key = related.by_path.get(before), "pk"
        if finder is None:
            names_own_row = not endpoint.is_of_many and kwarg.name == endpoint.lookup_kwarg
            model = endpoint.model if names_own_row else None
            key = drop_comparison(getattr(endpoint.view_class, "lookup_field", None) or "pk")
            finder = related.find_source(model, key) if model is not None else None
        elif before == endpoint.collection:
            return kwarg  # the names of both tools begin with the same noun
        elif related.endpoints[finder].view_class is endpoint.view_class:
            return kwarg
        else:
            key, model = related.find_lookup(before), related.endpoints[finder].model
            finder = finder if model is None or related.shows(finder, model, key) else None
        if finder is None:
            return self._explain_parameter(kwarg)
        schema = self._explain_value(kwarg.schema, (), finder, key, kwarg.name)
        return replace(kwarg, schema=schema)

    def _explain_parameter(self, parameter: Parameter) -> Parameter:
        schema = parameter.schema
        for place, info in parameter.value_info.items():
            relation = info.relation
            if relation is not None and relation.key:
                finder = self.related.find_source(relation.model, relation.key)
            else:
                finder = None
            if relation is not None and finder is not None:
                name = next((part for part in reversed(place) if part != ANY), parameter.name)
                schema = self._explain_value(schema, place, finder, relation.key, name)
            if info.type_member:
                schema = self._explain_object_id(schema, place, info.type_member)
        return parameter if schema is parameter.schema else replace(parameter, schema=schema)

    def _explain_object_id(self, schema: Schema, place: Place, type_member: str) -> Schema:
        lists = list(self.related.by_model.values())
        words = f"Key of an object of the type in {make_portable_name(type_member)}"
        if lists:
            more = ", …" if len(lists) > MOST_LISTS else ""
            tools = f"{join_values(lists[:MOST_LISTS])}{more}"
            words = f"{words}, found with the list of that type: {tools}"
        return _explain_place(schema, place, lambda found: explain(found, words))

    def _explain_value(
        self, schema: dict[str, Any], place: Place, finder: str, key: str = "pk", name: str = ""
    ) -> dict[str, Any]:
        listing = self.related.endpoints[finder]
        taken = listing.route.kwargs
        further = [make_portable_name(k) for k in taken if k not in self.endpoint.route.kwargs]
        # The name of an argument such as ``order_id`` says that ``orders_list`` has the ids.
        names = () if listing.model is None else get_names(listing.model)
        nouns = [name.replace(" ", "_").lower() for name in names]
        is_key = listing.model is None or key in ("pk", listing.model._meta.pk.name)
        noun = finder.removesuffix(f"_{listing.standard_action}").lower()
        is_named = not further and noun in nouns[1::2] and OF_KEY.sub("", name.lower()) in nouns

        def explain_one(found: dict[str, Any]) -> dict[str, Any]:
            # The name of the list also says of what the value is a key.
            known = FieldSchema.of(found)
            known = known.without_words(known.meaning.identity)
            text = f"from {finder}"
            if further:
                text = f"{text} by {join_values(further)}"
            said = known.get("description", "").lower()
            if not is_key and not {key, names[0].lower()}.issubset(re.findall(r"\w+", said)):
                known = known.without_words(f"{capfirst(key)} of the {names[0]}")
                text = f"The {' '.join(key.split('_'))} of {with_article(names[0])}, {text}"
            elif is_named and is_key:
                text = ""
            else:
                text = capfirst(text)
            return explain(known, text).with_meaning(finder=finder)

        return _explain_place(schema, place, explain_one)


def _explain_place(
    schema: dict[str, Any], place: Place, explain_one: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    if not place:
        return explain_one(schema)
    if place[0] == ANY and isinstance(schema.get("items"), dict):
        return schema | {"items": _explain_place(schema["items"], place[1:], explain_one)}
    members = schema.get("properties", {})
    if place[0] in members:
        member = _explain_place(members[place[0]], place[1:], explain_one)
        return schema | {"properties": {**members, place[0]: member}}
    return schema


def _shorten_lookups(query: Parameters) -> Parameters:
    """Return query parameters where ``owner__in`` does not repeat the words of ``owner``."""
    filters = {each.name: each for each in query if each.role == "filter"}

    def shorten(parameter: Parameter) -> Parameter:
        name = parameter.name if parameter.role == "filter" else ""
        while "__" in name:
            name = name.rpartition("__")[0]
            if name in filters:
                return replace(
                    parameter, schema=_leave_out_said(parameter.schema, filters[name].schema)
                )
        return parameter

    return tuple(map(shorten, query))


def _leave_out_lookups(query: Parameters) -> Parameters:
    """Return query parameters, few of them listed: of many filters only ``name``.

    ``name__ic`` and its kin are taken too, and the description of ``name`` names them.
    """
    if sum(each.listed for each in query) <= MOST_FILTERS:
        return query
    filters = {each.name: each for each in query if each.role == "filter" and each.listed}
    lookups: dict[str, list[str]] = {}
    for name in filters:
        base = name.partition("__")[0]
        if base != name and base in filters and not filters[name].required:
            lookups.setdefault(base, []).append(name)
    unlisted = {name for names in lookups.values() for name in names}

    def shorten(parameter: Parameter) -> Parameter:
        base = parameter.name
        if base in unlisted:
            return replace(parameter, listed=False)
        first, *others = lookups.get(base, [""])
        words = join_values([first, *(name.removeprefix(base) for name in others)])
        schema = explain(parameter.schema, f"Also {words}" if words else "")
        return replace(parameter, schema=schema)

    return tuple(map(shorten, query))


def _leave_out_said(schema: Schema, said: Mapping[str, object]) -> Schema:
    """Return a schema without the descriptions that another schema has, in items too."""
    left = FieldSchema.of(schema)
    if left.get("description") == said.get("description"):
        left = FieldSchema({k: v for k, v in left.items() if k != "description"}, left.meaning)
    items, others = left.get("items"), said.get("items")
    if isinstance(items, dict) and isinstance(others, dict):
        left = left | {"items": _leave_out_said(items, others)}
    return left
