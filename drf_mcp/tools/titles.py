"""Titles of tools: verb and noun, from the action and the model."""

from __future__ import annotations

import functools
import re
from typing import Any

from django.core.exceptions import FieldDoesNotExist
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
# Names of actions that are states of objects.
ADJECTIVES = frozenset(
    re.findall(
        r"\w+",
        "active available busy current due empty free full idle inactive late latest missing new "
        "next old open overdue past pending popular previous private public recent similar "
        "unread unused upcoming valid",
    )
)
STATES = re.compile(r"(?:done|paid|sent|seen|lost|sold|\w*[^e]ed)\Z")
# Verbs that end like a participle.
ENDING_ALIKE = frozenset({"bed", "embed", "shed", "sled", "wed"})
PARTICLES = frozenset({"again", "away", "back", "down", "in", "off", "on", "out", "over", "up"})
PREPOSITIONS = frozenset({"as", "at", "by", "for", "from", "into", "through", "to", "via", "with"})
# Translators: the verb and the words are those of the name of an action, "add line".
TO = gettext_noop("{verb} {words} to {objects}")
# Translators: the verb and the words are those of the name of an action, "remove line".
FROM = gettext_noop("{verb} {words} from {objects}")
# Translators: the verb and the words are those of the name of an action, "print label".
OF = gettext_noop("{verb} {words} of {objects}")
LINKS = {"add": TO, "append": TO, "attach": TO, "detach": FROM, "remove": FROM}
# The methods that an action calls to answer with rows.
ROWS = frozenset({"filter_queryset", "get_serializer", "paginate_queryset"})


class Subject:
    """The nouns of a view's model and of its parent in the path."""

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
        is_of_one = self.action in VERBS or endpoint.route.initkwargs.get("detail", True)
        self.is_of_many = is_of_one is False

    def get_text(self) -> str:
        if self.subject.model is None or not self.words:
            return ""
        if self.action in VERBS:
            text = VERBS["retrieve_many" if self.endpoint.many else self.action]
            return self.subject.fill(text)
        title = self.get_phrase()
        # `str.capitalize` would lower the other letters.
        return f"{title[:1].upper()}{title[1:]}"

    @property
    def objects(self) -> str:
        return self.subject.plural if self.is_of_many else self.subject.one

    def get_phrase(self) -> str:
        subject, endpoint, words = self.subject, self.endpoint, self.words
        method, field = endpoint.method, subject.find_field(self.action)
        is_noun = field is not None or endpoint.action_has_other_methods
        if words[0] in OWN and len(words) == 1:
            text = OWN_VERBS.get(method, gettext_noop("Change the caller's {single}"))
        elif isinstance(field, models.FileField) and method in ("POST", "PUT", "PATCH"):
            text = gettext_noop("Upload the {name} of {one}")
        elif not is_noun and (method != "GET" or words[0] in READ_VERBS):
            return self.get_verb_phrase()
        elif method == "GET" and self.is_of_many and subject.inspection.calls & ROWS:
            # Translators: the name is that of an action, such as "overdue".
            text = gettext_noop("{name} {plural}")
        elif method == "GET" and words[-1] in ADJECTIVES:
            # Translators: the name is that of an action, such as "free" or "next".
            words_of_one = gettext_noop("what is {name} of {one}")
            text = "{name} {plural}" if self.is_of_many else words_of_one
        else:
            is_many = getattr(field, "many_to_many", 0) or getattr(field, "one_to_many", 0)
            if method == "POST" and not endpoint.action_has_other_methods and not is_many:
                method = "PUT"
            text = METHOD_VERBS.get(method, METHOD_VERBS["GET"])
        return _(text).format(
            name=" ".join(words), one=self.objects, single=subject.single, plural=subject.plural
        )

    def get_verb_phrase(self) -> str:
        verb, *rest = self.words
        if not rest and STATES.match(verb) and verb not in ENDING_ALIKE:
            # Translators: the state is the name of an action, such as "done" or "archived".
            return _("mark {objects} as {state}").format(objects=self.objects, state=verb)
        known = {word for noun in get_names(self.subject.model) for word in noun.lower().split()}
        rest = [word for word in rest if word not in known]
        if not rest:
            # Translators: the verb is the name of an action, such as "cancel".
            text = _("{verb} {objects}")
        elif PARTICLES.issuperset(rest):
            # Translators: the verb and the words are those of the name of an action, "check in".
            text = _("{verb} {words} {objects}")
        elif rest[0] in PREPOSITIONS:
            # Translators: the verb and the words are those of an action, "export as csv".
            text = _("{verb} {objects} {words}")
        else:
            text = _(LINKS.get(verb, OF))
        return text.format(verb=verb, words=" ".join(rest), objects=self.objects)


def with_article(noun: str) -> str:
    # Translators: the name of a model; without an article where that depends on the noun.
    text = _("an {noun}") if noun[:1].lower() in "aeio" else _("a {noun}")
    return text.format(noun=noun)
