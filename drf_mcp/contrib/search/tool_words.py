"""What is known about a tool, for a search: more than its definition says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.search.words import SearchLanguage
from drf_mcp.introspection.text import get_names
from drf_mcp.tools.descriptions import SENTENCES
from drf_mcp.tools.summaries import Signature
from drf_mcp.tools.tool import Tool

# The actions of viewsets whose verbs people use for one another, as `ASKING` has them.
ACTIONS = {
    "list": "read",
    "retrieve": "read",
    "create": "create",
    "update": "partial_update",
    "partial_update": "partial_update",
    "destroy": "destroy",
}


class ToolWords:
    """The texts that a search looks at, by field.

    Args:
        tool: a `Tool`.
        language: of the project's texts.
    """

    def __init__(self, tool: Tool, language: SearchLanguage) -> None:
        self.tool = tool
        self.language = language
        self.action = tool.endpoint.standard_action or ""

    def describe(self) -> dict[str, Any]:
        """Return what `FieldRanking` takes of a tool."""
        tool = self.tool
        controls = {control.name for control in tool.controls}
        arguments = tool.input_schema.get("properties", {})
        return {
            "name": self.drop_verbs(tool.name),
            "title": self.drop_verbs(tool.title),
            "keywords": " ".join(tool.options.keywords or ()),
            "object": " ".join(self.object),
            "description": self.drop_verbs(tool.description),
            "subject": " ".join(self.read_subject()),
            "inputSchema": {
                "properties": {n: each for n, each in arguments.items() if n not in controls}
            },
            "own": "" if self.action in ACTIONS else self.own_action,
            "action": self.action,
            "as_question": ACTIONS.get(self.action, ""),
            "reads": tool.reads,
            "destroys": bool(tool.annotations["destructiveHint"]) and self.action == "destroy",
        }

    @property
    def own_action(self) -> str:
        """What a tool that is no standard action does: its name without its object."""
        name, nouns = self.tool.name, set(self.language.split(" ".join(self.object)))
        words = [word for word in name.split("_") if not nouns & set(self.language.split(word))]
        return " ".join([" ".join(words) or name, *(self.tool.options.keywords or ())])

    @cached_property
    def object(self) -> list[str]:
        """The names of what the tool is about, without those that its path begins with."""
        noun = self.tool.name.removesuffix(f"_{self.action}").rpartition("_")[2]
        collection = self.tool.endpoint.collection.rstrip("/").rpartition("/")[2]
        own = [collection] if self.action in ACTIONS and "{" not in collection else []
        return [*(get_names(self.model) if self.model else [noun]), *own]

    @cached_property
    def model(self) -> Any:
        return self.tool.endpoint.attempt(lambda: self.tool.endpoint.model, None)

    def drop_verbs(self, text: str) -> str:
        # What standard actions do, a search knows from the action: "Add or register a new order".
        if self.action not in ACTIONS:
            return text
        verbs = find_verbs()
        words = text.replace("_", " ").split(" ")
        return " ".join(word for word in words if word.lower().strip(",.") not in verbs)

    def read_subject(self) -> Iterator[str]:
        """Yield names of the model, and what its fields are called, mean and may hold."""
        model = self.model
        if model is None:
            yield from read_properties(Signature(self.tool).find_output())
            return
        yield from get_names(model)
        for field in model._meta.get_fields():
            if field.auto_created:
                continue
            yield field.name
            yield str(getattr(field, "verbose_name", ""))
            yield str(getattr(field, "help_text", ""))
            for value, label in getattr(field, "flatchoices", None) or ():
                yield f"{value} {label}"
            if isinstance(related := field.related_model, type):
                yield from get_names(related)


def find_verbs() -> set[str]:
    """Return the words of the sentences that describe standard actions, and of their names."""
    names = "_".join(ACTIONS).split("_")
    sentences = (_(text).format(plural="", single="", one="") for text in SENTENCES.values())
    return {*names, *(word.strip(",.").lower() for text in sentences for word in text.split())}


def read_properties(schema: Any) -> Iterator[str]:
    """Yield names, descriptions and choices of all properties of a schema, nested ones too."""
    if not isinstance(schema, Mapping):
        return
    for name, member in (schema.get("properties") or {}).items():
        yield name
        if isinstance(member, Mapping):
            yield str(member.get("description", ""))
            yield " ".join(value for value in member.get("enum") or () if isinstance(value, str))
        yield from read_properties(member)
    yield from read_properties(schema.get("items"))
