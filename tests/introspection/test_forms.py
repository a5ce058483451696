"""Patterns of dates, numbers and addresses against what REST framework's fields read."""

from __future__ import annotations

import functools
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils.duration import duration_string
from hypothesis import assume, given, provisional, settings
from hypothesis import strategies as st
from rest_framework import serializers as s

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.names import is_ecmascript
from drf_mcp.introspection.portable import write_portable

FIELDS: dict[str, tuple[Any, list[str], list[str]]] = {
    "date": (
        s.DateField(),
        ["2026-11-22", "1000-01-01", "9999-12-31", "2024-02-29", "2026-1-3"],
        ["22.11.2026", "4722-14-13", "2026-01-32", "2026-00-10", "2026-11-22T10:00:00Z", "soon"],
    ),
    "time": (
        s.TimeField(),
        ["09:30", "9:30", "23:59:59", "00:00:00.123456"],
        ["25:00", "9 am", "12:60", "12:00:61"],
    ),
    "duration": (
        s.DurationField(),
        [
            "90",
            "01:30:00",
            "3 00:00:00",
            "-1 02:00:00",
            "02:30",
            "1.5",
            "1 day, 2:00:00",
            "PT1H30M",
        ],
        ["an hour", "1:2:3:4", "1 day, two", "99999999999999 00:00:00", "P1H", "1.1234567890123"],
    ),
    "email": (
        s.EmailField(),
        [
            *("amara@example.com", "o'brien+x@mail.example.co.uk", "a.b_c&d@x-y.museum"),
            *("root@localhost", "a@xn--bcher-kva.example"),
        ],
        [
            *("amara", "amara@example", "a b@example.com", "@example.com", "a..b@example.com"),
            *(".a@example.com", "a(b)@example.com", "a@-b.com", "a@b-.com"),
        ],
    ),
    "uri": (
        s.URLField(),
        [
            "https://example.com",
            "http://a.xn--vermgensberater-ctb/",
            "http://localhost:8000/hooks?a=1#b",
            "https://a-b.example.org/p/ä",
            "http://192.0.2.1:8080/hook",
            "ftp://files.example.com",
        ],
        [
            *("example.com", "https://", "https://a b.com", "http://999.1.1.1/", "mailto:a@b.co"),
            *("https://-a.com", "https://a-.com", "https://a..com", "https://a.com:123456"),
        ],
    ),
    "uuid": (
        s.UUIDField(),
        ["6b1f6c5e-2a53-4d0e-9c55-0f3f4f1f7a10", "6B1F6C5E2A534D0E9C550F3F4F1F7A10"],
        ["6b1f6c5e", "g" * 32],
    ),
    "ipv4": (s.IPAddressField(protocol="ipv4"), ["192.0.2.1", "0.0.0.0"], ["256.1.1.1", "1.2.3"]),
    "ipv6": (s.IPAddressField(protocol="ipv6"), ["2001:db8::1", "::1", "fe80::"], ["1.2.3.4", "x"]),
    "either": (s.IPAddressField(), ["192.0.2.1", "::1"], ["host", "256.1.1.1"]),
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


# The patterns of these fields are not exact.
SHAPES = ("ipv6", "either")
EXACT = {name: FIELDS[name][0] for name in FIELDS if name not in SHAPES}
# Conditions that would make a pattern too long.
IMPOSSIBLE_DAY = re.compile(r"0000-|-0?2-(29|30|31)|-(0?[469]|11)-31")
LONG_LABEL = re.compile(r"[^.]{64}")
LONG_HOST = re.compile(r"[a-z\d.-]{254}", re.IGNORECASE)
PUNYCODE_OF_PARTS = re.compile(r"xn--[a-z\d]*-")


@functools.cache
def fitting(name: str) -> st.SearchStrategy[str]:
    """Return a strategy for the ASCII texts that match the pattern of a field."""
    pattern = re.compile(pattern_of(EXACT[name]), re.ASCII)
    return st.from_regex(pattern, alphabet=st.characters(codec="ascii"))


# Django's validator limits the length, which a pattern of two parts cannot.
LONGEST_EMAIL = 320


# To make texts for long patterns takes long.
@settings(max_examples=max(5, settings.default.max_examples // 3))
@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_texts_that_match_the_pattern_are_accepted_by_the_field(name, data):
    text = data.draw(fitting(name))
    assume(not text.endswith("\n") and text.isprintable())
    assume(not IMPOSSIBLE_DAY.search(text) and not LONG_LABEL.search(text))
    assume(not LONG_HOST.search(text) and not PUNYCODE_OF_PARTS.search(text))
    assume(name != "email" or len(text) <= LONGEST_EMAIL)
    EXACT[name].run_validation(text)


# Nearly 274,000 years.
CENTURIES = timedelta(days=99_999_999)
lower_domains = provisional.domains().map(str.lower)
WRITTEN = {
    "date": st.dates().flatmap(
        lambda day: st.sampled_from([day.isoformat(), f"{day.year:04}-{day.month}-{day.day}"])
    ),
    "time": st.times().flatmap(
        lambda at: st.sampled_from([at.isoformat(), f"{at.hour}:{at.minute:02}"])
    ),
    "duration": st.timedeltas(-CENTURIES, CENTURIES).flatmap(
        lambda span: st.sampled_from([duration_string(span), str(abs(span)), iso(span)])
    ),
    "email": st.emails(domains=st.one_of(st.just("localhost"), lower_domains)),
    "uri": provisional.urls().map(str.lower),
}


def iso(span: timedelta) -> str:
    return f"P{abs(span.days)}DT{span.seconds}S"


@pytest.mark.parametrize("name", WRITTEN)
@given(data=st.data())
def test_texts_that_the_field_accepts_match_its_pattern(name, data):
    """The dates, times, durations, addresses and URLs are generated without the pattern."""
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
