"""Patterns of dates, numbers and addresses against what REST framework's fields read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given, provisional, settings
from hypothesis import strategies as st
from rest_framework import serializers as s

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.names import is_ecmascript
from drf_mcp.introspection.portable import write_portable

FIELDS: dict[str, tuple[Any, list[str], list[str]]] = {
    "date": (
        s.DateField(),
        ["2026-11-22", "1000-01-01", "9999-12-31", "2024-02-29"],
        ["22.11.2026", "2026-11-22T10:00:00Z", "soon"],
    ),
    "email": (
        s.EmailField(),
        [
            *("amara@example.com", "o'brien+x@mail.example.co.uk", "a.b_c&d@x-y.museum"),
            *("root@localhost", "a@xn--bcher-kva.example"),
        ],
        ["amara", "a b@example.com", "@example.com"],
    ),
    "money": (
        s.DecimalField(max_digits=5, decimal_places=2),
        ["0", "12.5", "999.99", "-3.10"],
        ["1000", "1.234", "12,50", "abc"],
    ),
    "price": (
        s.DecimalField(max_digits=5, decimal_places=2, min_value=0),
        ["0.00", "12.50"],
        ["-1", "-0.01"],
    ),
    "share": (s.DecimalField(max_digits=2, decimal_places=2), ["0.0", "0.25"], ["1", "1.25"]),
    "whole": (s.DecimalField(max_digits=3, decimal_places=0), ["7", "-999"], ["1.5", "1000"]),
}
WORDS: dict[str, Any] = {
    "Time, hh:mm[:ss].": s.TimeField(),
    "Duration, [DD] [hh:[mm:]]ss.": s.DurationField(),
    "URL.": s.URLField(),
    "UUID.": s.UUIDField(),
    "IPv4 address.": s.IPAddressField(protocol="ipv4"),
    "IPv6 address.": s.IPAddressField(protocol="ipv6"),
    "IPv4 or IPv6 address.": s.IPAddressField(),
}


def test_what_needs_a_long_pattern_is_said_in_words(subtests):
    for words, field in WORDS.items():
        with subtests.test(field=field):
            written = write_portable(DescribedField(field).input_schema)
            assert written["description"] == words
            assert "pattern" not in written


def test_a_kind_that_the_help_text_names_is_not_said_again():
    field = s.URLField(help_text="Public URL of the tool")
    written = write_portable(DescribedField(field).input_schema)
    assert written["description"] == "Public URL of the tool."


def test_the_pattern_of_a_kind_is_no_longer_than_its_words(subtests):
    for field, _, _ in FIELDS.values():
        with subtests.test(field=field):
            described = DescribedField(field).input_schema
            assert len(pattern_of(field)) <= len(f"{described.kind.sentence}.")


def pattern_of(field: Any) -> str:
    written = write_portable(DescribedField(field).input_schema)
    pattern: str = written["pattern"]
    return pattern


def test_common_notations_are_accepted_by_the_field_and_its_pattern(subtests):
    for field, text in [(field, text) for field, texts, _ in FIELDS.values() for text in texts]:
        with subtests.test(field=field, text=text):
            field.run_validation(text)
            assert re.search(pattern_of(field), text)


def test_wrong_values_are_refused_by_the_field_and_its_pattern(subtests):
    for field, text in [(field, text) for field, _, texts in FIELDS.values() for text in texts]:
        with subtests.test(field=field, text=text):
            with pytest.raises(s.ValidationError):
                field.run_validation(text)
            assert not re.search(pattern_of(field), text)


EXACT = {name: FIELDS[name][0] for name in ("money", "price", "share", "whole")}


# To make texts for long patterns takes long.
@settings(max_examples=max(5, settings.default.max_examples // 3))
@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_texts_that_match_the_pattern_are_accepted_by_the_field(name, data):
    pattern = re.compile(pattern_of(EXACT[name]), re.ASCII)
    text = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assume(not text.endswith("\n") and text.isprintable())
    EXACT[name].run_validation(text)


WRITTEN = {
    "date": st.dates().map(str),
    "email": st.emails(domains=st.one_of(st.just("localhost"), provisional.domains())),
}


@pytest.mark.parametrize("name", WRITTEN)
@given(data=st.data())
def test_texts_that_the_field_accepts_match_its_pattern(name, data):
    """The dates and addresses are generated without the pattern."""
    field, text = FIELDS[name][0], data.draw(WRITTEN[name])
    try:
        field.run_validation(text)
    except s.ValidationError:
        return
    assert re.search(pattern_of(field), text)


def test_a_date_with_other_input_formats_has_no_pattern():
    written = write_portable(
        DescribedField(s.DateField(input_formats=["iso-8601", "%d.%m.%Y"])).input_schema
    )
    assert "pattern" not in written


def test_every_pattern_is_ecmascript():
    patterns = [pattern_of(field) for field, _, _ in FIELDS.values()]
    assert [pattern for pattern in patterns if not is_ecmascript(pattern)] == []


def test_the_pattern_of_a_validator_replaces_that_of_the_field():
    from django.core.validators import RegexValidator

    field = s.EmailField(validators=[RegexValidator(r"@example\.com$")])
    assert pattern_of(field) == r"@example\.com$"
