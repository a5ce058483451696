"""Titles and descriptions of tools: the project's texts, else sentences made of the schema."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db import models
from django.utils.text import capfirst
from rest_framework.pagination import LimitOffsetPagination, PageNumberPagination
from rest_framework.views import APIView

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_selection import SelectableFields
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.paths import NamedKwarg
from drf_mcp.introspection.text import (
    clean_text,
    find_model_name,
    find_plural_name,
    get_names,
    with_article,
)
from drf_mcp.introspection.types import Parameter
from drf_mcp.option_types.spelling import join_alternatives, join_names
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.tool import Tool

# --- Titles: verb and noun, from the action and the model ------------------------------------

VERBS = {
    "list": "List {plural}",
    "retrieve": "Get one {single}",
    "retrieve_several": "Get several {plural}",
    "create": "Create {one}",
    "update": "Replace {one}",
    "partial_update": "Change fields of {one}",
    "destroy": "Delete {one}",
    "create_several": "Create several {plural}",
    "update_several": "Update several {plural}",
    "partial_update_several": "Change fields of several {plural}",
    "destroy_several": "Delete several {plural}",
}
# The names that libraries and projects give to actions with several objects.
SEVERAL = {
    "bulk_create": "create_several",
    "bulk_update": "update_several",
    "batch_update": "update_several",
    "bulk_partial_update": "partial_update_several",
    "partial_bulk_update": "partial_update_several",
    "bulk_destroy": "destroy_several",
    "bulk_delete": "destroy_several",
}
# Verbs with which the name of a GET action may begin; other names, such as "summary", are nouns.
READ_VERBS = frozenset(
    re.findall(
        r"\w+",
        "calculate check compare count download export fetch find generate get list look lookup "
        "preview print query render search show suggest test track validate verify view",
    )
)
# Titles of actions whose name is a noun, by method.
METHOD_VERBS = {
    "GET": "{name} of {one}",
    "POST": "Add {name} to {one}",
    "PUT": "Set the {name} of {one}",
    "PATCH": "Change the {name} of {one}",
    "DELETE": "Delete the {name} of {one}",
}
# Titles of actions on the caller's own object, by method.
OWN_VERBS = {"GET": "Get the caller's {single}", "DELETE": "Delete the caller's {single}"}
# Titles of actions whose name is a field that is true or false, by the first word of the name.
FLAG_VERBS = {
    "is": "Set whether {one} is {name}",
    "has": "Set whether {one} has {name}",
    "can": "Set whether {one} can {name}",
}
OWN = frozenset({"me", "mine", "my", "current", "self", "own"})
PARTICLES = frozenset({"again", "away", "back", "down", "in", "off", "on", "out", "over", "up"})
PREPOSITIONS = frozenset({"as", "at", "by", "for", "from", "into", "through", "to", "via", "with"})
# Names of answers, where other names say which rows an answer has.
ANSWERS = frozenset(
    re.findall(
        r"\w+",
        "activity calendar chart count dashboard export feed graph history log overview report "
        "summary timeline tree",
    )
)
PLURAL = re.compile(r"[^siu]s$")
# The methods of a view that an action calls if it answers with rows.
ROWS = frozenset({"filter_queryset", "get_serializer", "paginate_queryset"})


class Subject:
    """The nouns of a view's model and of its parent in the path, and the title made of them."""

    def __init__(self, endpoint: Endpoint, view: APIView) -> None:
        self.endpoint = endpoint
        self.view = view
        self.model = endpoint.model

    @property
    def single(self) -> str:
        return find_model_name(self.model)

    @property
    def plural(self) -> str:
        return find_plural_name(self.model)

    @property
    def one(self) -> str:
        return with_article(self.single)

    @property
    def nouns(self) -> tuple[str, ...]:
        return () if self.model is None else (*get_names(self.model), self.owner)

    @functools.cached_property
    def owner(self) -> str:
        """The noun of the nearest parent in the path with its article, "" for none."""
        parent: Any = None
        for kwarg in self.endpoint.route.kwargs.values():
            named = NamedKwarg(self.view, kwarg, self.model)
            if not named.names_own_row:
                parent = getattr(named.parent_relation, "related_model", None) or parent
        return "" if parent is None else with_article(find_model_name(parent))

    def of_owner(self, noun: str) -> str:
        return f"{noun} of {self.owner}" if self.owner else noun

    def fill(self, text: str) -> str:
        """Return a marked text in the active language, with ``single``, ``plural`` and ``one``."""
        nouns = {"single": self.single, "plural": self.plural, "one": self.one}
        return text.format(**{name: self.of_owner(noun) for name, noun in nouns.items()})

    def get_title(self) -> str:
        """Return the title of the endpoint, "" without a model or an action."""
        endpoint, action = self.endpoint, self.endpoint.standard_action
        action = snake_case(endpoint.part) or action
        if self.model is None or not action:
            return ""
        if text := VERBS.get(_find_deed(endpoint, action)):
            return self.fill(text)
        words, method = [word for word in action.split("_") if word], endpoint.method
        objects = self.plural if endpoint.is_of_many else self.one
        fields = {each.name: each for each in self.model._meta.get_fields()}
        field = fields.get(action)
        is_shared = bool(endpoint.part) or endpoint.action_has_other_methods
        if action in OWN:
            text = OWN_VERBS.get(method, "Change the caller's {single}")
            title = text.format(single=self.single)
        elif not (field or is_shared) and (method != "GET" or words[0] in READ_VERBS):
            known = {word for noun in get_names(self.model) for word in noun.lower().split()}
            verb, *rest = words
            rest = [word for word in rest if word not in known]
            text = "{verb} {words} of {objects}"
            if PARTICLES.issuperset(rest):
                text = "{verb} {words} {objects}" if rest else "{verb} {objects}"
            elif rest[0] in PREPOSITIONS | PARTICLES:
                text = "{verb} {objects} {words}"
            title = text.format(verb=verb, words=" ".join(rest), objects=objects)
        elif method == "GET" and endpoint.is_of_many and Inspection(self.view, method).calls & ROWS:
            # "Overdue orders", but "stats of orders".
            is_noun = words[-1] in ANSWERS or PLURAL.search(words[-1])
            text = "{name} of {plural}" if is_noun else "{name} {plural}"
            title = text.format(name=" ".join(words), plural=self.plural)
        else:
            # To a relation with many objects one is added, any other field is set.
            is_many = getattr(field, "many_to_many", 0) or getattr(field, "one_to_many", 0)
            if method == "POST" and not is_shared and not is_many:
                method = "PUT"
            text = METHOD_VERBS.get(method, METHOD_VERBS["GET"])
            if isinstance(field, models.FileField) and method in ("POST", "PUT", "PATCH"):
                text = "Upload the {name} of {one}"
            elif isinstance(field, models.BooleanField) and method in ("PUT", "PATCH"):
                text = FLAG_VERBS.get(words[0], "Set whether {one} is {name}")
                words = words[words[0] in FLAG_VERBS :]
            title = text.format(name=" ".join(words), one=objects)
        return capfirst(title)


# --- Descriptions ----------------------------------------------------------------------------

# With several verbs, since people ask in other words than the tool's name.
SENTENCES = {
    "list": "Find, show or count {plural}",
    "retrieve": "Get or show one {single}",
    "retrieve_several": "Get or show several {plural}",
    "create": "Add or register a new {single}",
    "update": "Replace or change {one}",
    "partial_update": "Change, edit or mark {one}",
    "destroy": "Delete or remove {one}",
    "create_several": "Add or register several {plural} in one call",
    "update_several": "Update or change several {plural} in one call",
    "partial_update_several": "Change, edit or mark several {plural} in one call",
    "destroy_several": "Delete or remove several {plural} in one call",
}
# Of a list whose pages have no count, such as pages by cursor.
UNCOUNTED = "Find or show {plural}"
# How many choices of a filter are named, and in how many characters, for all filters.
MAX_CHOICES, MAX_CHOICES_LENGTH = 6, 50
# Fields that need no mention.
COMMON_FIELDS = frozenset({"id", "pk", "url", "uuid"})
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
# A line such as ``list:`` in a view's docstring, which REST framework's own schemas read too: the
# lines below it are about that action.
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

    def read_summary(self) -> str:
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
        sections = self._split_sections(endpoint.find_docstring(endpoint.view_class))
        docstring = docstring or inspect.cleandoc(str(own or ""))
        return docstring or sections.get(endpoint.handler_name, "")

    def read_view_description(self) -> str:
        """Return the text of the view, "" for none."""
        endpoint = self.endpoint
        own = attempt(lambda: str(getattr(self.view, "description", None) or ""), "")
        return inspect.cleandoc(own) or endpoint.find_docstring(endpoint.view_class)

    def read_about(self, nouns: Collection[str]) -> str:
        """Return the sentences of the view's text that have words of their own."""
        about = ""
        for paragraph in self._split_sections(self.read_view_description())[""].split("\n\n"):
            sentences = SENTENCE.split(" ".join(paragraph.split()))
            kept = " ".join(each for each in sentences if self.says_more(each, nouns))
            if about and kept and len(about) + len(kept) > MAX_ABOUT:
                break
            about = f"{about} {kept}".strip()
        return about

    def _split_sections(self, text: str) -> dict[str, str]:
        """Return the sections of the view's text by action; the rest is under ""."""
        sections, name = {"": ""}, ""
        for line in text.splitlines():
            header = SECTION.match(line)
            if header and callable(getattr(self.endpoint.view_class, header[1], None)):
                name, line = header[1], header[2] or ""
            sections[name] = f"{sections.get(name, '')}\n{line}"
        return {name: inspect.cleandoc(section) for name, section in sections.items()}

    def says_more(self, text: str, nouns: Collection[str]) -> bool:
        """Return whether a text has other words than the model's, the actions' and stock words."""
        names = (*nouns, *self.endpoint.route.actions.values())
        known = {*STOCK_WORDS, *(word for name in names for word in _split_text(name))}
        return not known.issuperset(_split_text(CODE.sub("", text)))


def describe_tool(tool: Tool) -> str:
    """Return the description of a tool that has none in its options."""
    endpoint, texts = tool.endpoint, Docstrings(tool.endpoint, tool.view)
    subject = Subject(endpoint, tool.view)
    description = texts.get_description()
    if not texts.says_more(description, subject.nouns):
        about = description = texts.read_view_description()
        is_plain = endpoint.standard_action is None and endpoint.action is None
        if not (about and is_plain and not endpoint.view_has_other_methods):
            # Only the first tool of a view has the view's text.
            is_first = tool.name in tool.related.describing_tools
            if subject.model is not None:
                about = texts.read_about(subject.nouns) if is_first else ""
            description = f"{_make_sentence(tool, subject, is_first)} {about}".strip()
            if subject.model is not None and tool.related.has_namesake(endpoint):
                # Else two tools would differ in their names alone.
                words = [word for word in endpoint.route.path.split("/") if "{" not in word]
                description = f"{description} Path: {'/'.join(filter(None, words))}."
    if getattr(texts.annotations, "is_deprecated", False):
        description = f"Deprecated. {description}"
    return description


def _make_sentence(tool: Tool, subject: Subject, is_first: bool) -> str:
    endpoint, title, schema = tool.endpoint, tool.title, tool.schema
    action = None if endpoint.part else endpoint.standard_action
    deed = _find_deed(endpoint, action or "")
    if subject.model is not None and deed in SENTENCES:
        sentence = SENTENCES[deed]
        if action == "list" and not _counts_rows(endpoint):
            sentence = UNCOUNTED
        title = subject.fill(sentence)
    if action == "retrieve":
        # The fields are named unless the description of a list has named them as filters.
        looked_up = {parameter.name for parameter in schema.path} | COMMON_FIELDS
        row = SelectableFields(schema.output).row.get("properties", {}) if is_first else ()
        if names := join_names(speak(name) for name in row if name not in looked_up):
            return f"{title}: {names}."
    elif endpoint.method == "GET" and (filters := join_names(_name_filters(schema.query))):
        return f"{title} by {filters}."
    return f"{title}."


def _find_deed(endpoint: Endpoint, action: str) -> str:
    if endpoint.many:
        return "retrieve_several"
    return SEVERAL.get(action, action) if endpoint.is_of_many else action


def _counts_rows(endpoint: Any) -> bool:
    """Return whether the answers of a list say how many rows there are."""
    own = getattr(endpoint.view_class, "pagination_class", None)
    chosen = endpoint.route.initkwargs.get("pagination_class", own)
    counting = (PageNumberPagination, LimitOffsetPagination)
    return chosen is None or (isinstance(chosen, type) and issubclass(chosen, counting))


def _name_filters(query: Iterable[Parameter]) -> Iterator[str]:
    # Only filters: the arguments for search and ordering have descriptions of their own.
    room = MAX_CHOICES_LENGTH
    for parameter in query:
        if parameter.role != "filter" or not parameter.listed:
            continue
        name = speak(LOOKUP.sub("", parameter.name)).removeprefix("is ") or parameter.name
        schema = parameter.schema.get("items", parameter.schema)
        choices = [choice for choice in schema.get("enum", ()) if isinstance(choice, str)]
        shown = join_names(choices, MAX_CHOICES)
        if name in PREPOSITIONS:  # it says nothing, but its choices may: "by status or priority"
            if shown:
                yield join_alternatives(choices[:MAX_CHOICES])
            continue
        if shown and len(shown) <= room:
            room -= len(shown)
            name = f"{name} ({shown})"
        yield name


def snake_case(text: str) -> str:
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def speak(name: str) -> str:
    """Return a name as words."""
    return " ".join(name.replace("_", " ").split())


def _split_text(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("_", " "))
