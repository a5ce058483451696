"""The catalogs have every text that the package marks, and German has each of them translated."""

from __future__ import annotations

import ast
import io
import re

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from tests.language.catalogs import KEYWORDS, compile_catalog, find_catalogs
from tests.language.conftest import PLACES
from tests.sources import SOURCES, tree_of

COMPLETE = "de"
CATALOGS = {f"{file.language}-{file.domain}": file for file in find_catalogs()}


def get_places(text: str) -> list[str]:
    """Return the placeholders of a text, in no order; the count may be a word in a plural."""
    return sorted(PLACES.findall(text))


def find_pairs(message: Message) -> list[tuple[str, str]]:
    """Return each English text of a message with its translations."""
    if not message.pluralizable:
        return [(message.id, message.string)]
    one, many = message.id
    first, *others = message.string
    return [(one, first), *((many, other) for other in others)]


def test_german_is_complete():
    assert {file.domain for file in CATALOGS.values() if file.language == COMPLETE} == {
        "django",
        "drf_mcpjs",
    }


@pytest.fixture(scope="module")
def catalogs() -> dict[str, Catalog]:
    return {name: file.read() for name, file in CATALOGS.items()}


@pytest.mark.slow
def test_a_catalog_has_the_texts_that_are_marked_and_no_others(catalogs):
    """`python -m tests.language.catalogs` adds new ones, and drops those that are gone."""
    for name, known in catalogs.items():
        marked = CATALOGS[name].refresh()
        assert {(m.context, m.id) for m in known} == {(m.context, m.id) for m in marked}


def test_what_is_compiled_is_what_is_written(catalogs):
    """Whichever version of Babel compiled it: each one signs the header."""
    for name, written in catalogs.items():
        compiled = read_mo(io.BytesIO(CATALOGS[name].compiled.read_bytes()))
        translated = read_mo(io.BytesIO(compile_catalog(written)))
        assert get_texts(compiled) ^ get_texts(translated) == set()


def get_texts(catalog: Catalog) -> set[tuple[str, ...]]:
    return {(str(m.context), *map("\0".join, find_pairs(m))) for m in catalog if m.id and m.string}


def find_strings(message: Message) -> tuple[str, ...]:
    return message.string if message.pluralizable else (message.string,)


def test_every_text_is_translated(catalogs):
    complete = [known for name, known in catalogs.items() if CATALOGS[name].language == COMPLETE]
    messages = [m for known in complete for m in known if m.id]
    assert [m.id for m in messages if m.fuzzy or not all(find_strings(m))] == []


def test_a_translation_has_the_placeholders_and_the_edges_of_its_text(catalogs):
    """A placeholder that is lacking hides a fact; one too many breaks the answer.

    Texts are put together: a space at the end, a full stop, a line.
    """
    messages = [m for known in catalogs.values() for m in known if m.id]
    pairs = [pair for m in messages for pair in find_pairs(m) if pair[1]]
    assert [pair for pair in pairs if get_places(pair[0]) != get_places(pair[1])] == []
    edges = re.compile(r"^(\s*).*?([.:?!…]?\s*)$", re.DOTALL)
    assert [p for p in pairs if edges.match(p[0]).groups() != edges.match(p[1]).groups()] == []


def is_mark(node: ast.AST) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return named and node.func.id in KEYWORDS


def find_unreadable(calls: list[ast.Call]) -> list[int]:
    """Return the lines that mark what no catalog can hold: a text with values in it already."""
    return [
        call.lineno
        for call in calls
        if any(isinstance(a, ast.JoinedStr | ast.BinOp) for a in call.args[:2])
    ]


def find_hidden(texts: list[ast.JoinedStr]) -> list[int]:
    """Return the lines that mark a text in an f-string, where Python before 3.12 finds none."""
    inside = (node for each in texts for node in ast.walk(each))
    return [n.lineno for n in inside if is_mark(n) and isinstance(n.args[0], ast.Constant)]


@pytest.mark.slow
def test_no_text_is_marked_with_its_values_in_it_or_within_another():
    found = {}
    # A module that marks texts imports a function of that name.
    for source in (source for source in SOURCES if "gettext" in source.read_text()):
        nodes = list(ast.walk(tree_of(source)))
        lines = find_unreadable([node for node in nodes if is_mark(node)])
        lines += find_hidden([node for node in nodes if isinstance(node, ast.JoinedStr)])
        found |= {str(source): lines} if lines else {}
    assert found == {}
