"""Words for descriptions and errors: cleaned texts, names of models, the values of a schema."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.utils import translation
from django.utils.encoding import force_str
from django.utils.text import camel_case_to_spaces

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.option_types.spelling import find_nearest

HISSING = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
PLURAL = re.compile(r"(?:(ie)|(?<=ss|sh)e|(?<=x)e|(?<=[nt]ch)e)?(?<=[^siua])s$")
# Words that end as plurals do, and are none or are their own.
UNCHANGED = re.compile(r"\b(?:news|series|species|lens|means)$")
CONSONANT_Y = re.compile(r"(?<=[^aeiou\W])y$")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")


# Some providers refuse control characters, and bidirectional ones may hide what a text says.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


def clean_text(value: Any) -> str:
    """Return a text that may be lazy, in one line and without markup."""
    if not value:
        return ""
    text = html.unescape(TAG.sub(" ", force_str(value)))
    return " ".join(UNPRINTABLE.sub("", text).split())


def clean_lines(text: str, most: int) -> str:
    """Return a text of several lines in no more than this many characters, all printable."""
    text = UNPRINTABLE.sub("", text)
    return text if len(text) <= most else text[: most - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"


SENTENCE = re.compile(r"(?<=[.!?])\s+")


SEPARATED = re.compile(
    r"(?<!be)(?<!are)\s+[,(]?\s*(?:separated|delimited) by (?:a )?commas?\b.*"
    r"|comma[- ](?:separated|delimited)(?: (?:list|string|values?)(?: of)?)?\s*",
    re.IGNORECASE,
)


def leave_out_commas(text: str) -> str:
    """Return the text about an array without what it says about a text with commas."""
    parts = (SEPARATED.sub("", part).strip() for part in SENTENCE.split(text))
    return " ".join(part for part in parts if "comma" not in part.lower())


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"


def with_plural(number: Any, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def join_values(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in values)


def find_model_name(model: Any) -> str:
    name, written = model.__name__, model._meta.verbose_name
    # Django makes a verbose_name by splitting the class name at capitals, and keeps underscores.
    if written != camel_case_to_spaces(name):
        return clean_text(written)
    noun = " ".join(camel_case_to_spaces(part) for part in name.split("_") if part)
    return noun if UNCHANGED.search(noun) else PLURAL.sub(lambda end: "y" if end[1] else "", noun)


def find_plural_name(model: Any) -> str:
    plural = model._meta.verbose_name_plural
    # Django makes a verbose_name_plural by adding "s" to any name.
    if str(plural) != f"{model._meta.verbose_name}s":
        return clean_text(plural)
    noun = find_model_name(model)
    if PLURAL.search(noun):
        return noun
    return f"{noun}es" if HISSING.search(noun) else CONSONANT_Y.sub("ie", noun) + "s"


def get_names(model: Any) -> tuple[str, ...]:
    """Return the model's nouns in the active language, and as they are written in the code."""
    with translation.override(None):
        written = find_model_name(model), find_plural_name(model)
    return find_model_name(model), find_plural_name(model), *written


def says_more(label: str, name: str) -> bool:
    """Return whether a label has other words than a name, written with spaces and capitals."""
    words = re.sub(r"[\W_]+", " ", label).lower().split()
    return bool(words) and not {*re.sub(r"[\W_]+", " ", name).lower().split()}.issuperset(words)


NOUNS = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
MOST_CHOICES, MOST_NEAREST = 20, 5


def describe_accepted(schema: Any, near: Any = None) -> str | None:
    """Return the values that a schema takes in words, None where it takes any.

    Args:
        near: a value that was refused; of many choices those like it are named, but never itself:
            a choice may be refused for the state of an object.
    """
    schema = FieldSchema.of(schema)
    choices, kind = schema.get("enum"), next(iter(schema.types), None)
    if schema.meaning.choices:
        others = [pair for pair in schema.meaning.choices if str(pair[0]) != str(near)]
        alike = join_values(_find_alike(others, near))
        return f"one of {alike}, …"
    if choices:
        choices = [choice for choice in choices if str(choice) != str(near)]
        if not choices:
            return None
        cut = ", …" if len(choices) > MOST_CHOICES else ""
        return f"one of {join_values(choices[:MOST_CHOICES])}{cut}"
    if kind == "array":
        return _describe_array(describe_accepted(schema.get("items"), near))
    if kind is None:
        return None
    name = name_kind(schema) if kind in ("string", "number") else ""
    words = name or NOUNS.get(kind, f"a {kind}")
    # That a text must not be empty goes without saying.
    least, most = schema.get("minLength"), schema.get("maxLength")
    shortest = None if name or (least == 1 and most is None) else least
    words += _describe_bounds(schema.get("minimum"), schema.get("maximum"))
    words += _describe_bounds(shortest, most, partial(with_plural, noun="character"))
    # A pattern of the kind itself is in the words already.
    pattern, known = schema.get("pattern"), schema.kind
    if pattern is not None and (known is None or known.pattern != pattern):
        words = f"{words} matching {pattern}"
    if finder := schema.meaning.finder:
        words = f"{words} that {finder} gives"
    return words


def _describe_bounds(low: Any, high: Any, say: Callable[[Any], str] = str) -> str:
    if low is None:
        return "" if high is None else f" of at most {say(high)}"
    return f" of at least {say(low)}" if high is None else f" from {low} to {say(high)}"


def _describe_array(item: str | None) -> str:
    return f"an array, each item {item}" if item else "an array"


def _find_alike(labelled: Iterable[tuple[Any, Any]], near: Any) -> list[str]:
    # By value or by label: models know the name of a country better than its code.
    choices = [(value, clean_text(label)) for value, label in labelled]
    spelled = {text.casefold(): pair for pair in choices for text in map(str, pair) if text}
    alike = [
        spelled[text]
        for value in (near if isinstance(near, list) else [near])
        for text in find_nearest(str(value), spelled, MOST_NEAREST)
    ]
    shown = dict.fromkeys(alike or choices[:MOST_NEAREST])
    return [
        f"{value} = {label}" if label not in ("", str(value)) else str(value)
        for value, label in shown
    ]


def name_kind(schema: FieldSchema) -> str:
    kind, limits = schema.kind, schema.meaning.limits
    if kind is None:
        return ""
    if not limits:
        return kind.words
    words, bracket, inside = kind.words.removesuffix(")").partition(" (")
    return f"{words} ({join_values([inside, *limits] if bracket else limits)})"


def describe_intention(schema: Any) -> str:
    """Return the values that a schema allows, with the members of an object."""
    schema = FieldSchema.of(schema)
    if schema.get("type") == "array":
        return _describe_array(describe_intention(schema.get("items")))
    names = join_values(schema.get("properties", ()))
    if names and schema.types[:1] in ([], ["object"]):
        return f"an object with {names}"
    return describe_accepted(schema) or schema.meaning.intention
