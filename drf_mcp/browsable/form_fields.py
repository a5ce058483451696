from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drf_mcp.introspection.field_schema import DECIMAL, FieldSchema
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.json_text import JSONPointer
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.tools.tool import Tool

Facts = dict[str, Any]


class FormFields:
    """What the form has to know of a tool's arguments beside their schema.

    Args:
        tool: the tool.
        tools: the tools that the caller sees, by name: no other finds the objects of an argument.
    """

    def __init__(self, tool: Tool, tools: Mapping[str, Tool]) -> None:
        self.tool = tool
        self.tools = tools

    def get_facts(self) -> dict[str, Facts]:
        """Return the facts by pointer, with ``*`` for the items of a list."""
        listed = (argument for argument in self.tool.arguments.arguments if argument.listed)
        return {
            pointer: facts
            for argument in listed
            for pointer, facts in self.walk(argument, argument.parameter.schema, ())
        }

    def walk(
        self, argument: Argument, schema: Any, place: Place, finder: str = ""
    ) -> Iterator[tuple[str, Facts]]:
        known = FieldSchema.of(schema)
        # A list of keys may name the finder itself.
        finder = known.meaning.finder or finder
        pointer = argument.pointer + "".join(f"/{JSONPointer.escape(name)}" for name in place)
        facts = self.get_field_facts(argument, known, place, finder)
        yield pointer, {name: fact for name, fact in facts.items() if fact not in (None, "", False)}
        for name, member in known.get("properties", {}).items():
            yield from self.walk(argument, member, (*place, name))
        if "items" in known:
            yield from self.walk(argument, known["items"], (*place, ANY), finder)

    def get_field_facts(
        self, argument: Argument, schema: FieldSchema, place: Place, finder: str
    ) -> Facts:
        handling = argument.parameter.handling
        upload = handling.uploads.get(place)
        return {
            "location": argument.location,
            "format": schema.format_name,
            "decimal": schema.kind is not None and schema.kind.words == DECIMAL.words,
            # A portable schema has no type null: a form writes what is null in its own way.
            "null": handling.forms.get(place) == "null",
            "upload": upload is not None,
            "image": upload is not None and upload.image,
            "secret": place in handling.secrets or (not place and argument.parameter.write_only),
            "example": None if place else self.tool.hints.find_value(argument.pointer),
            "finder": self.get_finder(argument, place, finder),
        }

    def get_finder(self, argument: Argument, place: Place, name: str) -> Facts | None:
        if argument.location == PATH and place in ((), (ANY,)):
            before = self.tool.endpoint.route.path.partition(f"{{{argument.parameter.name}}}")[0]
            name = self.tool.related.by_path.get(before.rstrip("/"), name)
        finder = self.tools.get(name)
        if finder is None:
            return None
        relation = argument.parameter.handling.relations.get(place)
        key = relation.key if relation else getattr(finder.endpoint.view_class, "lookup_field", "")
        model = self.tool.related.find_model(finder.endpoint)
        named = model is not None and key in ("", "pk")
        arguments = finder.arguments.arguments
        return {
            "tool": name,
            "key": model._meta.pk.name if named else key,
            "search": next((a.pointer for a in arguments if a.parameter.role == "search"), ""),
            # What the list needs of the form: those in front of the key in the same path.
            "given": [
                [theirs.pointer, own.pointer]
                for theirs in arguments
                for own in self.tool.arguments.arguments
                if theirs.name == own.name and theirs.location == own.location == PATH
            ],
            "mirrored": [[list(path), header] for path, header in finder.mirrored.items()],
        }
