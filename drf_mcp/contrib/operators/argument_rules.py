"""The rules of the lint about single arguments of tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.operators.argument_sources import ArgumentSearch
from drf_mcp.contrib.operators.findings import LintFinding
from drf_mcp.contrib.operators.rules import Rule
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.json_text import encode_plain
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.truncation.tokens import estimate_tokens

# The bytes from which on an enumeration costs more than it tells.
LARGE_ENUM = 1000
# What is left of an enumeration once words stand for it.
WORDS = 20


class ArgumentRule(Rule):
    """A rule about single arguments."""

    def concerns(self, argument: Argument, schema: Any) -> bool:
        raise NotImplementedError

    def get_argument_facts(self, argument: Argument, schema: Any) -> dict[str, Any]:
        return {}

    def get_findings(self) -> Iterator[LintFinding]:
        if self.tool.options.input_schema is not None:
            return
        search = ArgumentSearch(self.tool)
        for argument in self.tool.arguments.arguments:
            schema = self.get_schema(argument)
            if argument.listed and not argument.whole and self.concerns(argument, schema):
                source = search.find(argument)
                facts = {**vars(source), **self.get_argument_facts(argument, schema)}
                yield self.make(_(self.sentence).replace("{name}", argument.name), **facts)

    def get_schema(self, argument: Argument) -> Any:
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
        return self.get_size(schema) >= LARGE_ENUM

    def get_size(self, schema: Any) -> int:
        return sum(len(json.dumps(values).encode()) for values in self.find_enums(schema))

    def find_enums(self, schema: Any) -> Iterator[list[Any]]:
        if isinstance(schema, Mapping):
            if isinstance(schema.get("enum"), list):
                yield schema["enum"]
            for member in schema.values():
                yield from self.find_enums(member)

    def get_argument_facts(self, argument: Argument, schema: Any) -> dict[str, Any]:
        tokens = sum(estimate_tokens(encode_plain(values)) for values in self.find_enums(schema))
        return {"remedy": self.get_remedy(), "saves": max(tokens - WORDS, 0)}
