"""Plain words for descriptions: lazy text resolved, markup removed, names of models."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.signals import setting_changed
from django.dispatch import receiver
from django.utils import translation
from django.utils.encoding import force_str
from django.utils.text import camel_case_to_spaces
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, ngettext_lazy

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.option_types.spelling import find_nearest, join_alternatives

HISSING = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
CONSONANT_Y = re.compile(r"(?<=[^aeiou\W])y$")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")


def clean_text(value: Any) -> str:
    if not value:
        return ""
    return " ".join(html.unescape(TAG.sub(" ", force_str(value))).split())


def join_values(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in values)


def get_model_name(model: Any) -> str:
    options = model._meta
    # Without a name of the project's own, Django takes a class name apart at its capitals alone.
    if "_" not in model.__name__ or options.verbose_name != camel_case_to_spaces(model.__name__):
        return clean_text(options.verbose_name)
    return " ".join(camel_case_to_spaces(part) for part in model.__name__.split("_") if part)


def get_plural_name(model: Any) -> str:
    plural = model._meta.verbose_name_plural
    # Without a plural of the project's own, Django adds an "s" to any name.
    if str(plural) != f"{model._meta.verbose_name}s":
        return clean_text(plural)
    noun = get_model_name(model)
    return f"{noun}es" if HISSING.search(noun) else CONSONANT_Y.sub("ie", noun) + "s"


def get_names(model: Any) -> tuple[str, ...]:
    """Return the model's nouns in the active language, and as they are written in the code."""
    with translation.override(None):
        written = get_model_name(model), get_plural_name(model)
    return get_model_name(model), get_plural_name(model), *written


def says_more(label: str, name: str) -> bool:
    return bool(label) and re.sub(r"\W+", "_", label).lower() != name.lower()


@functools.lru_cache(maxsize=1024)
def look_up_text(text: str, language: str | None) -> str:
    return translation.gettext(text)


def translate(text: str) -> str:
    """Return a text in the language of the thread; each text is looked up once a language.

    For texts of the package that every refusal repeats: Django asks the catalogs of all apps.
    """
    return look_up_text(text, translation.get_language())


@receiver(setting_changed)
def _forget_translations(**kwargs: Any) -> None:
    look_up_text.cache_clear()


NAMES = {
    "array": gettext_noop("array"),
    "boolean": gettext_noop("boolean"),
    "integer": gettext_noop("integer"),
    "number": gettext_noop("number"),
    "object": gettext_noop("object"),
    "string": gettext_noop("string"),
}
NOUNS = {
    "array": gettext_noop("an array"),
    "boolean": gettext_noop("a boolean"),
    "integer": gettext_noop("an integer"),
    "number": gettext_noop("a number"),
    "object": gettext_noop("an object"),
    "string": gettext_noop("a string"),
}
MEMBERS = {
    "minProperties": ngettext_lazy(
        "At least %(minProperties)s member", "At least %(minProperties)s members", "minProperties"
    ),
    "maxProperties": ngettext_lazy(
        "At most %(maxProperties)s member", "At most %(maxProperties)s members", "maxProperties"
    ),
}
MOST_CHOICES, MOST_NEAREST = 20, 5


class SchemaWords:
    # near: a value that was refused; of many choices those like it are named.
    def __init__(self, schema: Any, near: Any = None) -> None:
        self.schema = FieldSchema.of(schema)
        self.near = near

    @property
    def accepted(self) -> str | None:
        if self.schema.meaning.choices:
            return _("one of %(values)s, …") % {"values": join_values(self.nearest)}
        choices = self.schema.get("enum")
        if choices:
            facts = {"values": join_values(choices[:MOST_CHOICES])}
            is_cut = len(choices) > MOST_CHOICES
            return (_("one of %(values)s, …") if is_cut else _("one of %(values)s")) % facts
        for kind in self.schema.types[:1]:
            if kind == "array":
                items = SchemaWords(self.schema.get("items"), self.near)
                return self.describe_array(items.accepted)
            return self.describe_value(kind)
        return None

    def count_members(self) -> Iterator[str]:
        for name, words in MEMBERS.items():
            if isinstance(self.schema.get(name), int) and self.schema[name] > 0:
                yield words % self.schema

    def describe_array(self, item: str | None) -> str:
        return _("an array, each item %(item)s") % {"item": item} if item else _("an array")

    @property
    def nearest(self) -> list[str]:
        # By value or by label: people know a country's name, and few its code.
        choices = [(value, clean_text(label)) for value, label in self.schema.meaning.choices]
        spelled = {text.casefold(): pair for pair in choices for text in map(str, pair) if text}
        values = self.near if isinstance(self.near, list) else [self.near]
        alike = [
            spelled[text]
            for value in values
            for text in find_nearest(str(value), spelled, MOST_NEAREST)
        ]
        shown = dict.fromkeys(alike or choices[:MOST_NEAREST])
        return [
            f"{value} = {label}" if label not in ("", str(value)) else str(value)
            for value, label in shown
        ]

    def describe_value(self, json_type: str) -> str:
        name = self.kind_name if json_type in ("string", "number") else ""
        words = name or translate(NOUNS.get(json_type, f"a {json_type}"))
        words = self.bound(words, self.schema.get("minimum"), self.schema.get("maximum"))
        # What has a kind of its own is never empty.
        shortest = None if name else self.schema.get("minLength")
        words = self.bound_length(words, shortest, self.schema.get("maxLength"))
        if self.has_own_pattern:
            facts = {"value": words, "pattern": self.schema["pattern"]}
            words = _("%(value)s matching %(pattern)s") % facts
        if finder := self.schema.meaning.finder:
            words = _("%(value)s that %(tool)s gives") % {"value": words, "tool": finder}
        return words

    @property
    def has_own_pattern(self) -> bool:
        # The words of a kind say what its pattern says.
        kind = self.schema.kind
        return "pattern" in self.schema and (kind is None or kind.pattern != self.schema["pattern"])

    @property
    def kind_name(self) -> str:
        kind, limits = self.schema.kind, self.schema.meaning.limits
        if kind is None:
            return ""
        words = translate(kind.words)
        words = words % {"format": kind.format} if kind.format else words
        if not limits:
            return words
        words, bracket, inside = words.removesuffix(")").partition(" (")
        return f"{words} ({join_values([inside, *limits] if bracket else limits)})"

    def bound(self, words: str, low: Any, high: Any) -> str:
        facts = {"value": words, "low": low, "high": high}
        if low is not None and high is not None:
            return _("%(value)s from %(low)s to %(high)s") % facts
        if low is not None:
            return _("%(value)s of at least %(low)s") % facts
        return words if high is None else _("%(value)s of at most %(high)s") % facts

    def bound_length(self, words: str, low: Any, high: Any) -> str:
        facts = {"value": words, "low": low, "high": high}
        if low is not None and high is not None:
            return _("%(value)s from %(low)s to %(high)s characters") % facts
        if low is not None:
            least = ngettext(
                "%(value)s of at least %(low)s character",
                "%(value)s of at least %(low)s characters",
                low,
            )
            return least % facts
        if high is None:
            return words
        most = ngettext(
            "%(value)s of at most %(high)s character",
            "%(value)s of at most %(high)s characters",
            high,
        )
        return most % facts

    @property
    def intention(self) -> str:
        if self.schema.get("type") == "array":
            return self.describe_array(SchemaWords(self.schema.get("items")).intention)
        names = join_values(self.schema.get("properties", ()))
        if names:
            return _("an object with %(names)s") % {"names": names}
        return self.accepted or self.schema.meaning.intention

    @property
    def type_name(self) -> str:
        if self.schema.get("enum"):
            return _("one of %(values)s") % {"values": join_values(self.schema["enum"])}
        kind = self.schema.get("type")
        if kind == "array" and self.schema.get("items"):
            items = SchemaWords(self.schema["items"]).type_name
            return _("array of %(items)s") % {"items": items}
        names = kind if isinstance(kind, list) else [kind or gettext_noop("any value")]
        return join_alternatives(_(NAMES.get(name, name)) for name in names)

    @property
    def type_name_with_members(self) -> str:
        is_object = self.schema.get("type") == "object"
        names = join_values(self.schema.get("properties") or ()) if is_object else ""
        return _("object with %(names)s") % {"names": names} if names else self.type_name
