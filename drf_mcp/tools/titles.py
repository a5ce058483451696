"""Titles of tools: verb and noun, from the action and the model."""

from __future__ import annotations

import functools
import re
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.views import APIView

from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.paths import NamedKwarg
from drf_mcp.introspection.text import get_model_name, get_names, get_plural_name
from drf_mcp.tools.endpoints import Endpoint

VERBS = {
    "list": gettext_noop("List {plural}"),
    "retrieve": gettext_noop("Get one {single}"),
    "retrieve_many": gettext_noop("Get several {plural}"),
    "create": gettext_noop("Create {one}"),
    "update": gettext_noop("Replace {one}"),
    "partial_update": gettext_noop("Change fields of {one}"),
    "destroy": gettext_noop("Delete {one}"),
}
# Names of GET actions that are verbs; other names are nouns, as "summary".
READ_VERBS = frozenset(
    re.findall(
        r"\w+",
        "calculate check compare count download export fetch find generate get list look lookup "
        "preview print query render search show suggest test track validate verify view",
    )
)
# Titles of actions that are named after a thing, by method.
METHOD_VERBS = {
    "GET": gettext_noop("{name} of {one}"),
    "POST": gettext_noop("Add {name} to {one}"),
    "PUT": gettext_noop("Set the {name} of {one}"),
    "PATCH": gettext_noop("Change the {name} of {one}"),
    "DELETE": gettext_noop("Delete the {name} of {one}"),
}
# Titles of actions on the caller's own object, by method.
OWN_VERBS = {
    "GET": gettext_noop("Get the caller's {single}"),
    "DELETE": gettext_noop("Delete the caller's {single}"),
}
OWN = frozenset({"me", "mine", "my", "current", "self", "own"})
PARTICLES = frozenset({"again", "away", "back", "down", "in", "off", "on", "out", "over", "up"})
PREPOSITIONS = frozenset({"as", "at", "by", "for", "from", "into", "through", "to", "via", "with"})
# The methods that an action calls to answer with rows.
ROWS = frozenset({"filter_queryset", "get_serializer", "paginate_queryset"})


class Subject:
    """The nouns of a view's model and of its parent in the path, and the title made of them."""

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
        return () if self.model is None else (*get_names(self.model), self.owner)

    @functools.cached_property
    def owner(self) -> str:
        """The noun of the nearest parent in the path with its article, "" for none."""
        parent: Any = None
        for kwarg in self.endpoint.route.kwargs.values():
            named = NamedKwarg(self.inspection.view, kwarg, self.model)
            if not named.names_own_row:
                parent = getattr(named.parent_relation, "related_model", None) or parent
        return "" if parent is None else with_article(get_model_name(parent))

    def of_owner(self, noun: str) -> str:
        # Translators: such as "orders of a customer".
        return _("{noun} of {owner}").format(noun=noun, owner=self.owner) if self.owner else noun

    def fill(self, text: str) -> str:
        """Return a marked text in the active language, with ``single``, ``plural`` and ``one``."""
        nouns = {"single": self.single, "plural": self.plural, "one": self.one}
        return _(text).format(**{name: self.of_owner(noun) for name, noun in nouns.items()})

    def get_title(self) -> str:
        """Return the title of the endpoint, "" without a model or an action."""
        endpoint, action = self.endpoint, self.endpoint.standard_action
        if self.model is None or not action:
            return ""
        if action in VERBS:
            return self.fill(VERBS["retrieve_many" if endpoint.many else action])
        words, method = [word for word in action.split("_") if word], endpoint.method
        is_of_many = endpoint.route.initkwargs.get("detail", True) is False
        objects = self.plural if is_of_many else self.one
        fields = {each.name: each for each in self.model._meta.get_fields()}
        field, is_shared = fields.get(action), endpoint.action_has_other_methods
        if action in OWN:
            text = OWN_VERBS.get(method, gettext_noop("Change the caller's {single}"))
            title = _(text).format(single=self.single)
        elif not (field or is_shared) and (method != "GET" or words[0] in READ_VERBS):
            known = {word for noun in get_names(self.model) for word in noun.lower().split()}
            verb, *rest = words
            rest = [word for word in rest if word not in known]
            # Translators: the verb and the words are those of the name of an action.
            text = _("{verb} {words} of {objects}")
            if PARTICLES.issuperset(rest):
                text = _("{verb} {words} {objects}") if rest else _("{verb} {objects}")
            elif rest[0] in PREPOSITIONS:
                text = _("{verb} {objects} {words}")
            title = text.format(verb=verb, words=" ".join(rest), objects=objects)
        elif method == "GET" and is_of_many and self.inspection.calls & ROWS:
            # Translators: the name is that of an action, such as "overdue".
            title = _("{name} {plural}").format(name=" ".join(words), plural=self.plural)
        else:
            # Several objects are added to, one is set.
            is_many = getattr(field, "many_to_many", 0) or getattr(field, "one_to_many", 0)
            if method == "POST" and not is_shared and not is_many:
                method = "PUT"
            text = METHOD_VERBS.get(method, METHOD_VERBS["GET"])
            if isinstance(field, models.FileField) and method in ("POST", "PUT", "PATCH"):
                text = gettext_noop("Upload the {name} of {one}")
            title = _(text).format(name=" ".join(words), one=objects)
        # `str.capitalize` would lower the other letters.
        return f"{title[:1].upper()}{title[1:]}"


def with_article(noun: str) -> str:
    # Translators: the name of a model; without an article where that depends on the noun.
    text = _("an {noun}") if noun[:1].lower() in "aeio" else _("a {noun}")
    return text.format(noun=noun)
