"""Small additions to the modules of a project."""

from __future__ import annotations

import pytest

from drf_mcp.management.source_edits import SourceText


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NAMES = []\n", "NAMES = [x]\n"),
        ("NAMES = ['é', 'b']  # two\n", "NAMES = ['é', 'b', x]  # two\n"),
        ("NAMES = [\n  'a', # [\n]\n", "NAMES = [\n  'a', # [\n  x,\n]\n"),
        ("NAMES: list[str] = ['a',\n  'b']\n", "NAMES: list[str] = ['a',\n  'b', x]\n"),
        ("NAMES = ['a'] + others\n", None),
        ("OTHER = ['a']\n", None),
    ],
)
def test_an_item_goes_to_the_end_of_a_list_that_is_written_out(text, expected):
    assert SourceText(text).with_item("NAMES", "x") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NAMES = ['a'] + others\nif DEBUG:\n    y = 1\n", "{}\nNAMES += [x]\n"),
        ("NAMES = ('a', 'b')\n", None),
        ("from others import NAMES\n", None),
    ],
)
def test_a_computed_list_gets_an_item_in_a_line_at_the_end(text, expected):
    given = SourceText(text).with_item("NAMES", "x", extends=True)
    assert given == (expected and expected.format(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os\n\nx = 1\n", "import os\nfrom m import a, b\n\nx = 1\n"),
        ("from m import b\n", "from m import a, b\n"),
        ("from m import (\n    b,\n)\n", "from m import (\n    b,\n)\nfrom m import a\n"),
        ("from m import a, b\n", "from m import a, b\n"),
        ("x = 1\n", "from m import a, b\nx = 1\n"),
        ("from m.n import a\n", "from m.n import a\nfrom m import b\n"),
    ],
)
def test_names_are_imported_once(text, expected):
    assert SourceText(text).with_names("m", {"a", "b"}) == expected
