"""The catalogs have every text that the package marks, and the German one translates each."""

from __future__ import annotations

import ast
import io
import re

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from tests.language.catalogs import KEYWORDS, compile_catalog, find_catalogs
from tests.language.conftest import PLACEHOLDERS
from tests.sources import SOURCES, tree_of

COMPLETE = "de"
CATALOGS = {f"{file.language}-{file.domain}": file for file in find_catalogs()}


def get_placeholders(text: str) -> list[str]:
    """Return the placeholders of a text in sorted order."""
    return sorted(PLACEHOLDERS.findall(text))


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
def test_a_catalog_has_exactly_the_marked_texts(catalogs):
    """``python -m tests.language.catalogs`` adds and removes texts."""
    for name, known in catalogs.items():
        marked = CATALOGS[name].refresh()
        assert {(m.context, m.id) for m in known} == {(m.context, m.id) for m in marked}


def test_the_compiled_catalogs_have_the_translations(catalogs):
    """The header is not compared, because each version of Babel writes another."""
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
    """The code joins texts, so spaces and punctuation at the edges have to be the same."""
    messages = [m for known in catalogs.values() for m in known if m.id]
    pairs = [pair for m in messages for pair in find_pairs(m) if pair[1]]
    assert [pair for pair in pairs if get_placeholders(pair[0]) != get_placeholders(pair[1])] == []
    edges = re.compile(r"^(\s*).*?([.:?!…]?\s*)$", re.DOTALL)
    assert [p for p in pairs if edges.match(p[0]).groups() != edges.match(p[1]).groups()] == []


def is_mark(node: ast.AST) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return named and node.func.id in KEYWORDS


def find_formatted(calls: list[ast.Call]) -> list[int]:
    """Return the lines of marks whose text already has its values, which no catalog can hold."""
    return [
        call.lineno
        for call in calls
        if any(isinstance(a, ast.JoinedStr | ast.BinOp) for a in call.args[:2])
    ]


def find_nested(texts: list[ast.JoinedStr]) -> list[int]:
    """Return the lines of marks in an f-string, which Python before 3.12 does not find."""
    inside = (node for each in texts for node in ast.walk(each))
    return [n.lineno for n in inside if is_mark(n) and isinstance(n.args[0], ast.Constant)]


@pytest.mark.slow
def test_no_mark_has_a_formatted_text_or_is_in_an_f_string():
    found = {}
    # A module that marks texts imports a function with this name.
    for source in (source for source in SOURCES if "gettext" in source.read_text()):
        nodes = list(ast.walk(tree_of(source)))
        lines = find_formatted([node for node in nodes if is_mark(node)])
        lines += find_nested([node for node in nodes if isinstance(node, ast.JoinedStr)])
        found |= {str(source): lines} if lines else {}
    assert found == {}
