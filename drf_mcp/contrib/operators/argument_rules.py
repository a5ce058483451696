"""The rules of the lint about single arguments, and the lines that make the arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.operators.rules import Rule
from drf_mcp.contrib.operators.source_lines import (
    EndpointLines,
    LintFinding,
    OwnClasses,
    SourceLine,
)
from drf_mcp.exceptions import contain
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.input_serializer import InputSerializer
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.json_text import encode_plain
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

# An enumeration of so many bytes costs more than it explains.
LARGE_ENUM = 1000
# The tokens of the words that replace an enumeration.
WORDS = 20
HELP_TEXT = gettext_noop('Give the field a help_text: help_text="..."')
EXTRA_KWARGS = gettext_noop(
    'Name the field in Meta of the serializer: extra_kwargs = {"NAME": {"help_text": "..."}}'
)
DECLARED_FILTER = gettext_noop(
    'Give the filter a help_text: NAME = filters.CharFilter(help_text="...")'
)
MADE_FILTER = gettext_noop(
    'Declare the filter in a FilterSet, of its own kind: NAME = filters.CharFilter(help_text="...")'
)
PARAMETER = gettext_noop('Describe the parameter: OpenApiParameter("NAME", description="...")')
PATH_PARAMETER = gettext_noop(
    "Describe the parameter: @extend_schema(parameters=[OpenApiParameter("
    '"NAME", location="path", description="...")])'
)
DECLARED = gettext_noop(
    'Describe it on the view: @mcp_tool({location}={{"NAME": {{"type": "string", '
    '"description": "..."}}}})'
)


@dataclass(frozen=True)
class ArgumentSource:
    # The line of the project that makes the argument, whose it is, and what describes it.
    place: str
    subject: str
    remedy: str

    @classmethod
    def at(cls, line: SourceLine | None, name: str, remedy: str) -> ArgumentSource | None:
        return None if line is None else cls(line.place, f"{line.owner}.{name}", _(remedy))


class ArgumentSearch:
    """Finds the sources of one tool's arguments; nothing is imported and no view is called."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.view: Any = tool.view
        self.lines = EndpointLines(tool.endpoint)

    def find(self, argument: Argument) -> ArgumentSource:
        """Return the source of an argument: by default the view's own line."""
        name = argument.parameter.name
        ways = {BODY: self.find_field, QUERY: self.find_filter, PATH: self.find_path_parameter}
        way = ways.get(argument.location, self.find_filter)
        found = contain(lambda: way(name), lambda exc: None)
        return found or self.find_by_name(name, argument.location)

    @cached_property
    def serializer(self) -> Any:
        inspection = Inspection(self.view, self.tool.endpoint.method)
        made = contain(lambda: InputSerializer(inspection).get_serializer(), lambda exc: None)
        return getattr(made, "child", made)

    def find_field(self, name: str) -> ArgumentSource | None:
        if self.serializer is None:
            return None
        owner = type(self.serializer)
        classes = OwnClasses(owner)
        if name in getattr(owner, "_declared_fields", {}):
            return ArgumentSource.at(classes.find_member(name), name, HELP_TEXT)
        field = self.serializer.fields.get(name)
        model = getattr(getattr(owner, "Meta", None), "model", None)
        own = self.find_model_field(model, getattr(field, "source", name))
        if own is not None or field is None or not classes.line:
            return own
        return ArgumentSource(classes.line, f"{owner.__name__}.{name}", _(EXTRA_KWARGS))

    def find_model_field(self, model: Any, name: str) -> ArgumentSource | None:
        try:
            field = model._meta.get_field(name)
        except (AttributeError, FieldDoesNotExist):
            return None
        line = OwnClasses(field.model).find_member(field.name)
        return ArgumentSource.at(line, field.name, HELP_TEXT)

    def find_filter(self, name: str) -> ArgumentSource | None:
        filterset_class = getattr(self.view, "filterset_class", None)
        if isinstance(filterset_class, type):
            classes = OwnClasses(filterset_class)
            # A range is two arguments of one filter.
            for item in filter(None, (name, name.rpartition("_")[0])):
                line = classes.find_member(item)
                if line is not None:
                    return ArgumentSource.at(line, item, DECLARED_FILTER)
            if name in getattr(filterset_class, "base_filters", {}):
                line = self.find_listed(classes, name, "Meta") or classes.find_member("Meta")
                return ArgumentSource.at(line, name, MADE_FILTER)
        classes = self.lines.classes
        line = classes.find_member("filterset_fields")
        if line is None or not self.is_filterset_field(name):
            return None
        line = self.find_listed(classes, name, "filterset_fields") or line
        return ArgumentSource.at(line, name, MADE_FILTER)

    def is_filterset_field(self, name: str) -> bool:
        fields = getattr(self.view, "filterset_fields", None) or ()
        return fields == "__all__" or name in fields or name.partition("__")[0] in fields

    def find_listed(self, classes: OwnClasses, name: str, member: str) -> SourceLine | None:
        field = name.partition("__")[0]
        return classes.find_text(name, member) or classes.find_text(field, member)

    def find_path_parameter(self, name: str) -> ArgumentSource:
        return ArgumentSource(self.lines.handler, self._name_subject(name), _(PATH_PARAMETER))

    def find_by_name(self, name: str, location: str) -> ArgumentSource:
        # Code reads the parameter by its name: a view, its filters, its serializer, its pages.
        view = self.view
        owners = [type(view), getattr(view, "filterset_class", None), type(self.serializer)]
        owners += [getattr(view, "pagination_class", None), *getattr(view, "filter_backends", ())]
        line = OwnClasses(*owners).find_text(name)
        remedy = _(DECLARED).format(location=location if location == BODY else QUERY)
        if line is None:
            return ArgumentSource(self.lines.handler, self._name_subject(name), remedy)
        remedy = _(PARAMETER) if line.call == "OpenApiParameter" else remedy
        return ArgumentSource(line.place, f"{line.owner}.{name}", remedy)

    def _name_subject(self, name: str) -> str:
        return f"{self.tool.endpoint.view_class.__name__}.{name}"


class ArgumentRule(Rule):
    """A rule about single arguments."""

    def concerns(self, argument: Argument, schema: Any) -> bool:
        raise NotImplementedError

    def describe_argument(self, argument: Argument, schema: Any) -> dict[str, Any]:
        return {}

    def find_findings(self) -> Iterator[LintFinding]:
        if self.tool.options.input_schema is not None:
            return
        search = ArgumentSearch(self.tool)
        for argument in self.tool.arguments.arguments:
            schema = self._find_schema(argument)
            if argument.listed and not argument.whole and self.concerns(argument, schema):
                source = search.find(argument)
                facts = {**vars(source), **self.describe_argument(argument, schema)}
                yield self.make(_(self.sentence).replace("{name}", argument.name), **facts)

    def _find_schema(self, argument: Argument) -> Any:
        properties = self.tool.input_schema.get("properties", {})
        if argument.group:
            properties = properties.get(argument.group, {}).get("properties", {})
        return properties.get(argument.name, {})


class UnexplainedArguments(ArgumentRule):
    cause = "no-help-text"
    title = gettext_noop("Arguments without a description")
    why = gettext_noop("Clients search these words, and models fill arguments in by them.")
    sentence = gettext_noop("Argument `{name}` of {tools} has no description.")

    def concerns(self, argument: Argument, schema: Any) -> bool:
        if not isinstance(schema, Mapping) or schema.get("description"):
            return False
        # The package itself leaves words out where the name or the pattern says all.
        parameter = argument.parameter
        is_key = argument.location == PATH and parameter.name.endswith(("pk", "id"))
        if is_key or parameter.role in ("page", "sort"):
            return False
        items = schema.get("items")
        shape = items if isinstance(items, Mapping) else schema
        if "enum" in shape or "pattern" in shape or FieldSchema.of(shape).meaning.finder:
            return False
        # Yes or no to a name is as clear as the name is.
        return schema.get("type") != "boolean"


class LargeEnums(ArgumentRule):
    cause = "large-enum"
    title = gettext_noop("Enumerations of more than a thousand bytes")
    why = gettext_noop("Each list of tools carries all of the values.")
    sentence = gettext_noop("The values of argument `{name}` of {tools} are a long list.")
    remedy = gettext_noop(
        'Describe the values in words: @mcp_tool(query={"NAME": {"type": "string", "description":'
        ' "..."}}), with body= for a field of the body.'
    )

    def concerns(self, argument: Argument, schema: Any) -> bool:
        return self._count_bytes(schema) >= LARGE_ENUM

    def _count_bytes(self, schema: Any) -> int:
        return sum(len(json.dumps(values).encode()) for values in self.find_enums(schema))

    def find_enums(self, schema: Any) -> Iterator[list[Any]]:
        if isinstance(schema, Mapping):
            if isinstance(schema.get("enum"), list):
                yield schema["enum"]
            for member in schema.values():
                yield from self.find_enums(member)

    def describe_argument(self, argument: Argument, schema: Any) -> dict[str, Any]:
        tokens = sum(estimate_tokens(encode_plain(values)) for values in self.find_enums(schema))
        return {"remedy": self.find_remedy(), "saves": max(tokens - WORDS, 0)}
