"""Plain words for descriptions: lazy text resolved, markup removed, names of models."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterable
from typing import Any

from django.core.signals import setting_changed
from django.dispatch import receiver
from django.utils import translation
from django.utils.encoding import force_str
from django.utils.text import camel_case_to_spaces

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
