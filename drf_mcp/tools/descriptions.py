"""Descriptions of tools: the project's own texts, else a sentence made of the schema."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from rest_framework.views import APIView

from drf_mcp.introspection.field_selection import SelectableFields
from drf_mcp.introspection.text import clean_text
from drf_mcp.introspection.types import Parameter
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool

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
# Choices: of one filter, and the characters of all. The schema has them as well.
MAX_CHOICES, MAX_CHOICES_LENGTH = 6, 50
MAX_NAMES = 8
# Fields that any answer may have.
COMMON_FIELDS = frozenset({"id", "pk", "url", "uuid"})
# Query parameters that shape the answer, and choose no rows.
SHAPING = frozenset({"depth", "embed", "exclude", "expand", "fields", "include", "lang", "omit"})
# Endings of a filter's name that say how it compares.
LOOKUP = re.compile(
    r"(?:__(?:i?exact|i?contains|i?startswith|i?endswith|i?regex|gte?|lte?|in|range|isnull|date|"
    r"year|month|day|search)|_(?:after|before|min|max|gte?|lte?))+\Z"
)
# The words of docstrings such as "This viewset automatically provides `list` and `retrieve`
# actions" and "API endpoint that allows users to be viewed or edited". A sentence says something
# of the project where it has another word that is neither the model's name nor quoted as code.
STOCK_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a action actions additional additionally all allow allows also an and any api are as "
        "automatic automatically available base based basic be by can class common complete "
        "create created creates creating crud custom data default defaults delete deleted "
        "deletes deleting destroy display edit edited editing either endpoint endpoints "
        "existing extra for from full function functionality generic get gets given handle "
        "handles handling http implementation in instance instances it item items its list "
        "listed listing lists manage managed management manages managing method methods model "
        "models modelviewset modify new object objects of on one only operation operations or "
        "our partial partially patch perform performing performs post provide provided provides "
        "providing put queryset read readonly remove removed resource resources rest restful "
        "retrieve retrieved retrieves retrieving return returns serializer set sets simple "
        "single some specific standard submit that the their them these this through to update "
        "updated updates updating use used using various via view viewed viewing views viewset "
        "viewsets we which with work works write",
    )
)
SENTENCE = re.compile(r"(?<=[.!?:])\s+")
CODE = re.compile(r"`[^`]*`")
WORD = re.compile(r"[^\W\d]\w*")
# A header as REST framework's own schemas read it: the lines below it are about one action.
SECTION = re.compile(r"([a-z]\w*):(?:\s+(.*)|)\Z")
# The most characters of a view's own text in a description.
MAX_ABOUT = 300


class Docstrings:
    """The texts that a project wrote of one endpoint, in docstrings and annotations."""

    def __init__(self, endpoint: Endpoint, view: APIView) -> None:
        self.endpoint = endpoint
        self.view = view

    @functools.cached_property
    def annotations(self) -> Any:
        return self.endpoint.find_annotations(self.view)

    def get_summary(self) -> str:
        return clean_text(getattr(self.annotations, "summary", ""))

    def get_description(self) -> str:
        """Return the text of the endpoint itself, "" for none."""
        endpoint = self.endpoint
        declared = getattr(self.annotations, "description", "")
        docstring = endpoint.find_docstring(endpoint.handler)
        if declared and declared != docstring:
            return str(declared)
        if docstring and endpoint.action_has_other_methods:
            return f"{endpoint.method.capitalize()}: {docstring}"
        own = endpoint.route.initkwargs.get("description") if endpoint.extra_path else None
        sections = self.split_sections(endpoint.find_docstring(endpoint.view_class))
        docstring = docstring or inspect.cleandoc(str(own or ""))
        return docstring or sections.get(endpoint.handler_name, "")

    def get_view_description(self) -> str:
        """Return the text of the view, "" for none."""
        endpoint = self.endpoint
        own = endpoint.attempt(lambda: str(getattr(self.view, "description", None) or ""), "")
        return inspect.cleandoc(own) or endpoint.find_docstring(endpoint.view_class)

    def get_about(self, nouns: Collection[str]) -> str:
        """Return the sentences of the view's text that have words of their own."""
        about = ""
        for paragraph in self.split_sections(self.get_view_description())[""].split("\n\n"):
            sentences = SENTENCE.split(" ".join(paragraph.split()))
            kept = " ".join(each for each in sentences if self.says_more(each, nouns))
            if about and kept and len(about) + len(kept) > MAX_ABOUT:
                break
            about = f"{about} {kept}".strip()
        return about

    def split_sections(self, text: str) -> dict[str, str]:
        """Return the sections of the view's text by action; "" is what is about no action."""
        sections, name = {"": ""}, ""
        for line in text.splitlines():
            header = SECTION.match(line)
            if header and callable(getattr(self.endpoint.view_class, header[1], None)):
                name, line = header[1], header[2] or ""
            sections[name] = f"{sections.get(name, '')}\n{line}"
        return {name: inspect.cleandoc(section) for name, section in sections.items()}

    def says_more(self, text: str, nouns: Collection[str]) -> bool:
        """Return whether a text has words of its own.

        Nouns of the model, names of actions and stock words are no words of its own.
        """
        names = (*nouns, *self.endpoint.route.actions.values())
        known = {*STOCK_WORDS, *(word for name in names for word in split_text(name))}
        return not known.issuperset(split_text(CODE.sub("", text)))


def describe_tool(tool: Tool) -> str:
    """Return the description of a tool that has none in its options."""
    endpoint, texts = tool.endpoint, Docstrings(tool.endpoint, tool.view)
    subject = Subject(endpoint, tool.view)
    description = texts.get_description()
    if not texts.says_more(description, subject.nouns):
        about = description = texts.get_view_description()
        is_plain = endpoint.standard_action is None and endpoint.action is None
        if not (about and is_plain and not endpoint.view_has_other_methods):
            # The tools of a view are listed one after another: only the first describes the view.
            is_first = tool.name in tool.related.describing_tools
            if subject.model is not None:
                about = texts.get_about(subject.nouns) if is_first else ""
            description = f"{make_sentence(tool, subject, is_first)} {about}".strip()
    if getattr(texts.annotations, "is_deprecated", False):
        description = _("Deprecated. %(description)s") % {"description": description}
    if len(description) <= MAX_LENGTH:
        return description
    return description[: MAX_LENGTH - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"


def make_sentence(tool: Tool, subject: Subject, is_first: bool) -> str:
    endpoint, title, schema = tool.endpoint, tool.title, tool.schema
    action = endpoint.standard_action
    if subject.model is not None and action in SENTENCES:
        title = subject.fill(SENTENCES["retrieve_many" if endpoint.many else action])
    if action == "retrieve":
        # Where a list is a tool, its description comes first, and names the fields as filters.
        looked_up = {parameter.name for parameter in schema.path} | COMMON_FIELDS
        row = SelectableFields(schema.output).row.get("properties", {}) if is_first else ()
        if names := join_names(speak(name) for name in row if name not in looked_up):
            return f"{title}: {names}."
    elif endpoint.method == "GET" and (filters := join_names(name_filters(schema.query))):
        # Translators: such as "Find, show or count orders by status, customer.".
        return _("%(title)s by %(names)s.") % {"title": title, "names": filters}
    return f"{title}."


def name_filters(query: Iterable[Parameter]) -> Iterator[str]:
    # The arguments for search and order describe themselves.
    room = MAX_CHOICES_LENGTH
    for parameter in query:
        if parameter.role != "filter" or not parameter.listed or parameter.name in SHAPING:
            continue
        name = speak(LOOKUP.sub("", parameter.name)).removeprefix("is ") or parameter.name
        schema = parameter.schema.get("items", parameter.schema)
        choices = [choice for choice in schema.get("enum", ()) if isinstance(choice, str)]
        shown = join_names(choices, MAX_CHOICES)
        if shown and len(shown) <= room:
            room -= len(shown)
            name = f"{name} ({shown})"
        yield name


def speak(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def join_names(names: Iterable[str], most: int = MAX_NAMES) -> str:
    shown = list(dict.fromkeys(names))
    rest = len(shown) - most
    if rest <= 1:
        return ", ".join(shown)
    text = ngettext("%(names)s and %(count)d more", "%(names)s and %(count)d more", rest)
    return text % {"names": ", ".join(shown[:most]), "count": rest}


def split_text(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("_", " "))
