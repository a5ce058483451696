"""Which regular expressions every client can compile."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.names import is_ecmascript
from tests.nasty.test_patterns import refused

SHARED = [
    "^[-a-zA-Z0-9_]+$",
    r"^\d{4}-\d{2}$",
    "^[A-Z]{2}$",
    r"^(?:a|b)+?$",
    r"^(?=.*[0-9]).{8,}$",
    r"(?<=a)b",
    r"^\$\{x\}\/\.$",
    r"^[\w.@+-]+$".replace(r"\w", "a-z"),
    r"^[^\s@]+@[^\s@]+$",
    r"[\d-]",
    "\\u00e9\\x41",
    "",
]
PYTHON_ONLY = [
    r"^[\w.@+-]+\Z",
    r"\Aabc",
    r"(?P<year>\d+)",
    r"(?#remark)a",
    r"(?i)abc",
    r"(?x) a b",
    r"a\@b",
    r"a\-b",
    r"\bword\b",
    r"^\w+$",
    "a{,3}",
    "a{",
    "}",
    "]",
    "[]a]",
    "^*",
    "(?=a)*",
    r"(a)\1",
    r"(?P=x)",
    "a++",
    "(?>a)b",
    "[",
    "a**",
]


@pytest.mark.parametrize("pattern", SHARED)
def test_shared_syntax_is_kept(pattern):
    assert is_ecmascript(pattern)


@pytest.mark.parametrize("pattern", PYTHON_ONLY)
def test_syntax_of_python_alone_is_refused(pattern):
    assert not is_ecmascript(pattern)


PIECES = re.split(
    " ", r"a - 0 ] [ [^ ( (?: (?= (?<! { {2} {1,} * + ? . ^ $ | \d \S \- \. \] \@ , /"
)


def test_a_real_engine_compiles_whatever_is_kept():
    chance = random.Random(7)
    made = ("".join(chance.choices(PIECES, k=chance.randint(1, 7))) for _ in range(20_000))
    kept = list(filter(is_ecmascript, made))
    assert len(kept) > 1000
    assert refused(kept + SHARED) == []


@given(st.text())
def test_escaped_text_is_judged_without_failing(text):
    assert is_ecmascript(re.escape(text)) in (True, False)
