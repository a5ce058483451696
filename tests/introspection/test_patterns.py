"""Which regular expressions every client can compile."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.patterns import is_ecmascript

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


def random_patterns(count: int) -> list[str]:
    """Return patterns put together at random from pieces that mean something."""
    pieces = [
        "a",
        "-",
        "0",
        "]",
        "[",
        "[^",
        "(",
        ")",
        "(?:",
        "(?=",
        "(?<!",
        "{",
        "}",
        "{2}",
        "{1,}",
    ]
    pieces += [
        "*",
        "+",
        "?",
        ".",
        "^",
        "$",
        "|",
        r"\d",
        r"\S",
        r"\-",
        r"\.",
        r"\]",
        r"\@",
        ",",
        "/",
    ]
    chance = random.Random(7)
    return ["".join(chance.choices(pieces, k=chance.randint(1, 7))) for _ in range(count)]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_real_engine_compiles_whatever_is_kept():
    kept = [pattern for pattern in random_patterns(20_000) if is_ecmascript(pattern)]
    assert len(kept) > 1000
    script = "for (const p of JSON.parse(require('fs').readFileSync(0))) new RegExp(p, 'u')"
    made = subprocess.run(
        ["node", "-e", script], input=json.dumps(kept + SHARED), text=True, capture_output=True
    )
    assert made.returncode == 0, made.stderr


@given(st.text())
def test_escaped_text_is_judged_without_failing(text):
    assert is_ecmascript(re.escape(text)) in (True, False)
