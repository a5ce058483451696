"""Descriptions of tools for which the project wrote none: verb, noun, and what narrows a list."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from drf_mcp.introspection.field_selection import SelectableFields
from drf_mcp.introspection.types import EndpointSchema, Parameter
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool
from drf_mcp.tools.written_texts import WrittenTexts

# People ask for one thing by several verbs, and the tool's name has another one.
SENTENCES = {
    "list": gettext_noop("Find, show or count {plural}"),
    "retrieve": gettext_noop("Get or show one {single}"),
    "retrieve_many": gettext_noop("Get or show several {plural}"),
    "create": gettext_noop("Add or register a new {single}"),
    "update": gettext_noop("Replace or change {one}"),
    "partial_update": gettext_noop("Change, edit or mark {one}"),
    "destroy": gettext_noop("Delete or remove {one}"),
}
# Clients cut longer ones.
MAX_LENGTH = 2048
MAX_CHOICES = 6
MAX_NAMES = 8
# Fields that any answer may have.
COMMON_FIELDS = frozenset({"id", "pk", "url", "uuid"})
# Parameters that views commonly read to shape the answer, by none of which rows are chosen.
SHAPING = frozenset({"depth", "embed", "exclude", "expand", "fields", "include", "lang", "omit"})
# The endings of a filter's name that tell how it compares, and not what.
LOOKUP = re.compile(
    r"(?:__(?:i?exact|i?contains|i?startswith|i?endswith|i?regex|gte?|lte?|in|range|isnull|date|"
    r"year|month|day|search)|_(?:after|before|min|max|gte?|lte?))+\Z"
)


class Description:
    """The description of a tool: what was written of it, else a sentence and what the view is."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint
        self.texts = WrittenTexts(tool.endpoint, tool.view)

    def get_text(self) -> str:
        description = self.get_written() or self.compose()
        if self.texts.is_deprecated:
            description = _("Deprecated. %(description)s") % {"description": description}
        if len(description) <= MAX_LENGTH:
            return description
        return description[: MAX_LENGTH - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"

    @functools.cached_property
    def subject(self) -> Subject:
        return Subject(self.endpoint, self.tool.view)

    def get_written(self) -> str:
        written = self.texts.get_description()
        return written if self.texts.says_more(written, self.subject.nouns) else ""

    def compose(self) -> str:
        about = self.texts.get_view_description()
        is_plain = self.endpoint.standard_action is None and self.endpoint.action is None
        if about and is_plain and not self.endpoint.view_has_other_methods:
            return about
        # The tools of one view are described side by side: only the first says what all are about.
        speaks = self.tool.name in self.tool.finders.speakers
        sentence = Sentence(self.tool.schema, self.subject, speaks).get_text(self.tool.title)
        if self.subject.model is not None:
            about = self.texts.get_about(self.subject.nouns) if speaks else ""
        return f"{sentence} {about}".strip()


class Sentence:
    """What a tool does, in a sentence made of its schema."""

    def __init__(self, schema: EndpointSchema, subject: Subject, speaks: bool = False) -> None:
        self.schema = schema
        self.subject = subject
        self.speaks = speaks
        self.action = subject.endpoint.standard_action

    def get_text(self, title: str) -> str:
        """Return the description; the title is the verb and noun of other than standard actions."""
        subject = self.subject
        if subject.model is not None and self.action in SENTENCES:
            action = "retrieve_many" if subject.endpoint.many else self.action
            title = subject.fill(SENTENCES[action])
        if names := self.get_names():
            return f"{title}: {join_names(names)}."
        if filters := self.get_filters():
            # Translators: such as "Find, show or count orders by status, customer.".
            return _("%(title)s by %(names)s.") % {"title": title, "names": join_names(filters)}
        return f"{title}."

    def get_names(self) -> list[str]:
        """Return what is told of an object that no list tells of."""
        if self.action != "retrieve" or not self.speaks:
            return []
        looked_up = {parameter.name for parameter in self.schema.path}
        answered = SelectableFields(self.schema.output).row.get("properties", {})
        return [speak(name) for name in answered if name not in COMMON_FIELDS | looked_up]

    def get_filters(self) -> list[str]:
        # A parameter beside one object or a change narrows nothing.
        if self.subject.endpoint.method != "GET" or self.action == "retrieve":
            return []
        # What is searched and sorted, the arguments for that say themselves.
        known = (p for p in self.schema.query if p.role == "filter" and p.listed)
        return [self.describe_filter(p) for p in known if p.name not in SHAPING]

    def describe_filter(self, parameter: Parameter) -> str:
        schema = parameter.schema.get("items", parameter.schema)
        choices = [c for c in schema.get("enum", ()) if isinstance(c, str)]
        name = speak(LOOKUP.sub("", parameter.name)).removeprefix("is ") or parameter.name
        return f"{name} ({join_names(choices, MAX_CHOICES)})" if choices else name


def speak(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def join_names(names: Iterable[str], most: int = MAX_NAMES) -> str:
    shown = list(dict.fromkeys(names))
    rest = len(shown) - most
    if rest <= 1:
        return ", ".join(shown)
    text = ngettext("%(names)s and %(count)d more", "%(names)s and %(count)d more", rest)
    return text % {"names": ", ".join(shown[:most]), "count": rest}
