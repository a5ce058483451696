"""Regular expressions that JavaScript can compile and reads like Python."""

from __future__ import annotations

import contextlib
import re

from hypothesis import assume, given
from hypothesis import strategies as st

from drf_mcp.introspection.names import is_ecmascript, translate_pattern

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
    "(a",
]


def test_syntax_of_both_languages_is_kept(subtests):
    for pattern in SHARED:
        with subtests.test(pattern=pattern):
            assert is_ecmascript(pattern)


def test_syntax_of_python_only_is_refused(subtests):
    for pattern in PYTHON_ONLY:
        with subtests.test(pattern=pattern):
            assert not is_ecmascript(pattern)


TRANSLATED = [
    (r"^97[89]\d{10}\Z", r"^97[89]\d{10}$"),
    (r"\A[a-z]+\Z", "^[a-z]+$"),
    (r"^(?P<year>\d{4})-(?P<week>\d\d)$", r"^(\d{4})-(\d\d)$"),
    ("^a{,3}$", "^a{0,3}$"),
    (r"^\\Z$", r"^\\Z$"),
    (r"^[A-Z\]{,2}]$", r"^[A-Z\]{,2}]$"),
]


def test_syntax_of_python_is_translated(subtests):
    for pattern, expected in TRANSLATED:
        with subtests.test(pattern=pattern, expected=expected):
            assert translate_pattern(pattern) == expected


def test_syntax_that_javascript_does_not_have_is_not_translated(subtests):
    for pattern in [r"^\w+$", r"(a)\1", r"(?P<a>x)(?P=a)", "(?i)a", "a++", r"\bx"]:
        with subtests.test(pattern=pattern):
            assert translate_pattern(pattern) is None


def test_a_pattern_with_flags_is_not_translated(subtests):
    for flag in [re.IGNORECASE, re.MULTILINE, re.DOTALL, re.VERBOSE]:
        with subtests.test(flag=flag):
            assert translate_pattern("^a.$", flag) is None


PIECES_OF_PYTHON = re.split(
    " ", r"a 0 - @ \Z \A (?P<n> (?: ( ) [ab] [^\@a] {,2} {1} * ? | \@ \- \d ."
)


@given(
    st.lists(st.sampled_from(PIECES_OF_PYTHON), max_size=7).map("".join),
    st.text("a0-@", max_size=6),
)
def test_a_translated_pattern_matches_the_same_texts(pattern, text):
    # Validators have only patterns that Python can compile.
    with contextlib.suppress(re.error):
        re.compile(pattern)
        translated = translate_pattern(pattern)
        assume(translated is not None)
        assert bool(re.search(pattern, text)) is bool(re.search(translated, text))


@given(st.text())
def test_any_escaped_text_can_be_checked(text):
    assert is_ecmascript(re.escape(text)) in (True, False)
