"""Titles of tools: verb and noun, from the action and the model."""

from __future__ import annotations

import functools
import re
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from rest_framework.views import APIView

from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.path_kwargs import NamedKwarg
from drf_mcp.introspection.text import get_model_name, get_plural_name
from drf_mcp.tools.endpoints import Endpoint

VERBS = {
    "list": "List {plural}",
    "retrieve": "Get one {single}",
    "retrieve_many": "Get several {plural}",
    "create": "Create {one}",
    "update": "Replace {one}",
    "partial_update": "Change fields of {one}",
    "destroy": "Delete {one}",
}
# Actions on GET that are verbs; others are nouns, as "summary" of a customer is.
READ_VERBS = frozenset(
    re.findall(
        r"\w+",
        "calculate check compare count download export fetch find generate get list look lookup "
        "preview print query render search show suggest test track validate verify view",
    )
)
# What a method does with the thing that an action is named after.
METHOD_VERBS = {
    "GET": "{name} of {one}",
    "POST": "Add {name} to {one}",
    "PUT": "Set the {name} of {one}",
    "PATCH": "Change the {name} of {one}",
    "DELETE": "Delete the {name} of {one}",
}
OWN = frozenset({"me", "mine", "my", "current", "self", "own"})
PARTICLES = frozenset({"again", "away", "back", "down", "in", "off", "on", "out", "over", "up"})
PREPOSITIONS = frozenset({"as", "at", "by", "for", "from", "into", "through", "to", "via", "with"})
LINKS = {"add": "to", "append": "to", "attach": "to", "detach": "from", "remove": "from"}
# What an action calls if it answers with rows.
ROWS = frozenset({"filter_queryset", "get_serializer", "paginate_queryset"})


class Subject:
    """What the tools of a view are about, in words: its model, and the one it belongs to."""

    def __init__(self, endpoint: Endpoint, view: APIView) -> None:
        self.endpoint = endpoint
        self.inspection = Inspection(view, endpoint.method)
        self.model = endpoint.model

    @property
    def single(self) -> str:
        return get_model_name(self.model)

    @property
    def plural(self) -> str:
        return get_plural_name(self.model)

    @property
    def one(self) -> str:
        return with_article(self.single)

    @property
    def nouns(self) -> tuple[str, ...]:
        return () if self.model is None else (self.single, self.plural, self.owner)

    @functools.cached_property
    def owner(self) -> str:
        """The noun of the nearest parent in the path with its article, "" without any."""
        parent: Any = None
        for kwarg in self.endpoint.route.kwargs.values():
            named = NamedKwarg(self.inspection.view, kwarg, self.model)
            if not named.names_own_row:
                parent = getattr(named.parent_relation, "related_model", None) or parent
        return "" if parent is None else with_article(get_model_name(parent))

    @property
    def of_owner(self) -> str:
        return f" of {self.owner}" if self.owner else ""

    def find_field(self, name: str) -> Any:
        try:
            return self.model._meta.get_field(name)
        except FieldDoesNotExist:
            return None


class Title:
    """The title of one endpoint of a view with a model."""

    def __init__(self, endpoint: Endpoint, subject: Subject) -> None:
        self.endpoint = endpoint
        self.subject = subject
        self.action = endpoint.standard_action or ""
        self.words = [word for word in self.action.split("_") if word]

    def get_text(self) -> str:
        if self.subject.model is None or not self.words:
            return ""
        if self.action in VERBS:
            text = VERBS["retrieve_many" if self.endpoint.many else self.action]
            return f"{self.fill(text)}{self.subject.of_owner}"
        title = self.get_phrase()
        # `str.capitalize` would take the capitals of the other words away.
        return f"{title[:1].upper()}{title[1:]}"

    def fill(self, text: str) -> str:
        subject = self.subject
        name = " ".join(self.words)
        return text.format(
            name=name, one=self.objects, single=subject.single, plural=subject.plural
        )

    @property
    def objects(self) -> str:
        return self.subject.plural if self.is_of_many else self.subject.one

    @property
    def is_of_many(self) -> bool:
        if self.action in VERBS:
            return False
        return self.endpoint.route.initkwargs.get("detail", True) is False

    def get_phrase(self) -> str:
        method, words = self.endpoint.method, self.words
        if words[0] in OWN and len(words) == 1:
            verb = {"GET": "get", "DELETE": "delete"}.get(method, "change")
            return self.fill(f"{verb} the caller's {{single}}")
        if self.uploads:
            return self.fill("upload the {name} of {one}")
        if not self.is_noun:
            return self.get_verb_phrase()
        if method == "GET" and self.is_of_many and self.subject.inspection.calls & ROWS:
            return self.fill("{name} {plural}")
        if method == "POST" and not self.endpoint.action_has_other_methods and not self.is_many:
            method = "PUT"
        return self.fill(METHOD_VERBS.get(method, "{name} of {one}"))

    @functools.cached_property
    def field(self) -> Any:
        return self.subject.find_field(self.action)

    @property
    def uploads(self) -> bool:
        is_file = isinstance(self.field, models.FileField)
        return is_file and self.endpoint.method in ("POST", "PUT", "PATCH")

    @property
    def is_many(self) -> bool:
        return bool(getattr(self.field, "many_to_many", 0) or getattr(self.field, "one_to_many", 0))

    @property
    def is_noun(self) -> bool:
        if self.field is not None or self.endpoint.action_has_other_methods:
            return True
        return self.endpoint.method == "GET" and self.words[0] not in READ_VERBS

    def get_verb_phrase(self) -> str:
        verb, *rest = self.words
        known = {*self.subject.single.lower().split(), *self.subject.plural.lower().split()}
        rest = [word for word in rest if word not in known]
        objects, said = self.objects, " ".join(rest)
        if not rest:
            return f"{verb} {objects}"
        if PARTICLES.issuperset(rest):
            return f"{verb} {said} {objects}"
        if rest[0] in PREPOSITIONS:
            return f"{verb} {objects} {said}"
        return f"{verb} {said} {LINKS.get(verb, 'of')} {objects}"


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"
