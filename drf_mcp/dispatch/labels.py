"""What an object is called in a confirmation: by fields that its caller is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from drf_mcp.introspection.text import get_model_name
from drf_mcp.tools.arguments.errors import escape_unprintable

# Fields that people know an object by, the likeliest first.
NAMES = ("name", "title", "label", "number", "reference", "subject", "code", "username", "email")
# Characters of a field's text.
LONGEST_TEXT = 100
# Of several objects so many are named.
MOST_LABELS = 5


def describe_object(instance: Any, key: Any, shown: Mapping[str, Any]) -> str:
    """Return the label of an object: its model, its key, and a field that says what it is.

    Args:
        key: what the caller names the object by, None for nothing.
        shown: the object's fields as its GET shows them to the caller.
    """
    model = get_model_name(type(instance)) if isinstance(instance, Model) else _("object")
    label = model if key is None else f"{model} {quote_value(key)}"
    texts = {n: text for n, text in shown.items() if isinstance(text, str) and text and text != key}
    likely = [name for name in NAMES if name in texts]
    names = likely or [name for name in texts if says_what_it_is(texts[name])]
    return f"{label}, {names[0]} {quote_value(texts[names[0]])}" if names else label


def join_labels(labels: Iterable[str]) -> str:
    """Return the labels of several objects, of which some are left out where they are many."""
    known = [label for label in labels if label]
    more = ["…"] if len(known) > MOST_LABELS else []
    return "; ".join(known[:MOST_LABELS] + more)


def says_what_it_is(text: str) -> bool:
    # A date and a URL are texts in JSON, and say little.
    return text[0].isalpha() and "://" not in text


def quote_value(value: Any) -> str:
    """Return a value of a row as JSON, whose quotation marks no text of a row can close."""
    if not isinstance(value, str):
        return json.dumps(value, default=str)
    text = " ".join(value.split())
    cut = escape_unprintable(text, LONGEST_TEXT)
    return json.dumps(f"{cut}…" if len(text) > LONGEST_TEXT else cut, ensure_ascii=False)
