"""Argument names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.names import make_portable_name

PORTABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")


def test_a_name_becomes_portable(subtests):
    for name, portable in [
        ("price__gte", "price__gte"),
        ("id_", "id_"),
        ("sort-by", "sort_by"),
        ("user.name", "user_name"),
        ("filter[status]", "filter_status"),
        ("page[number]", "page_number"),
        ("2fa", "_2fa"),
        ("größe", "gr__e"),
        ("", "_"),
        ("$", "_"),
    ]:
        with subtests.test(name=name, portable=portable):
            assert make_portable_name(name) == portable


@given(st.text())
def test_any_name_becomes_portable(name):
    assert PORTABLE.match(make_portable_name(name))


@given(st.from_regex(PORTABLE, fullmatch=True).filter(lambda name: "\n" not in name))
def test_a_portable_name_does_not_change(name):
    assert make_portable_name(name) == name


def test_long_names_with_the_same_beginning_stay_different():
    first, second = make_portable_name("x" * 80 + "1"), make_portable_name("x" * 80 + "2")
    assert first != second
    assert len(first) == len(second) == 64
