"""Error texts are in the language of the caller, not in that of the description."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.text import describe_accepted


@pytest.fixture(autouse=True)
def bracketed_german(monkeypatch):
    """Puts every text in brackets while German is active."""

    def translate(text: str) -> str:
        return f"[{text}]" if translation.get_language() == "de" else text

    def translate_plural(one: str, many: str, count: int) -> str:
        return translate(one if count == 1 else many)

    monkeypatch.setattr(translation._trans, "gettext", translate)
    monkeypatch.setattr(translation._trans, "ngettext", translate_plural)


def get_german_words(field: Any) -> str | None:
    with translation.override("en"):
        schema = DescribedField(field).input_schema
    with translation.override("de"):
        return describe_accepted(schema)


def test_the_kind_of_a_value_and_a_bound_that_no_keyword_holds():
    field = serializers.DecimalField(max_digits=5, decimal_places=2)
    assert get_german_words(field) == (
        "[a decimal number] ([at most 5 digits], [2 decimal places])"
    )


def test_one_decimal_place():
    field = serializers.DecimalField(max_digits=None, decimal_places=1)
    assert get_german_words(field) == "[a decimal number] ([1 decimal place])"


def test_a_format_of_the_projects_own():
    field = serializers.DateField(input_formats=["%d.%m.%Y"])
    assert get_german_words(field) == "[a string in the format DD.MM.YYYY]"


def test_a_translation_may_change_the_order_of_the_phrases(monkeypatch):
    own = {"%(value)s matching %(pattern)s": "%(pattern)s: %(value)s", "a string": "ein Text"}
    monkeypatch.setattr(translation._trans, "gettext", lambda text: own.get(text, text))
    assert describe_accepted({"type": "string", "pattern": "^[a-z]$"}) == "^[a-z]$: ein Text"


def test_the_labels_of_many_choices():
    choices = [(f"C{number}", gettext_lazy("Country")) for number in range(60)]
    words = get_german_words(serializers.ChoiceField(choices))
    assert words is not None
    assert words.startswith("[one of C0 = [Country], ")
