"""The catalogs have every text that the package marks, and German has each of them translated."""

from __future__ import annotations

import ast
import re

import pytest
from babel.messages.catalog import Message

from tests.language.catalogs import KEYWORDS, PACKAGE, CatalogFile, compile_catalog, find_catalogs
from tests.language.conftest import PLACES

COMPLETE = "de"
CATALOGS = {f"{file.language}-{file.domain}": file for file in find_catalogs()}


@pytest.fixture(params=CATALOGS)
def file(request) -> CatalogFile:
    return CATALOGS[request.param]


@pytest.fixture(params=[key for key, file in CATALOGS.items() if file.language == COMPLETE])
def complete(request) -> CatalogFile:
    return CATALOGS[request.param]


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


def test_a_catalog_has_the_texts_that_are_marked_and_no_others(file):
    """`python -m tests.language.catalogs` adds new ones, and drops those that are gone."""
    known, marked = file.read(), file.refresh()
    assert {(m.context, m.id) for m in known} == {(m.context, m.id) for m in marked}


def test_what_is_compiled_is_what_is_written(file):
    assert file.compiled.read_bytes() == compile_catalog(file.read())


def test_every_text_is_translated(complete):
    assert [m.id for m in complete.read() if m.id and (m.fuzzy or not all(find_strings(m)))] == []


def find_strings(message: Message) -> tuple[str, ...]:
    return message.string if message.pluralizable else (message.string,)


def test_a_translation_has_the_placeholders_of_its_text(file):
    """One that is lacking hides a fact; one too many breaks the answer."""
    pairs = [pair for m in file.read() if m.id for pair in find_pairs(m) if pair[1]]
    assert [pair for pair in pairs if get_places(pair[0]) != get_places(pair[1])] == []


def test_a_translation_begins_and_ends_as_its_text(file):
    """Texts are put together: a space at the end, a full stop, a line."""
    pairs = [pair for m in file.read() if m.id for pair in find_pairs(m) if pair[1]]
    edges = re.compile(r"^(\s*).*?([.:?!…]?\s*)$", re.DOTALL)
    assert [p for p in pairs if edges.match(p[0]).groups() != edges.match(p[1]).groups()] == []


def find_unreadable(tree: ast.Module) -> list[int]:
    """Return the lines that mark what no catalog can hold: a text with values in it already."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in KEYWORDS
        and any(isinstance(a, ast.JoinedStr | ast.BinOp) for a in call.args[:2])
    ]


def test_no_text_is_marked_with_its_values_in_it():
    found = {p: find_unreadable(ast.parse(p.read_text())) for p in PACKAGE.rglob("*.py")}
    assert {str(path): lines for path, lines in found.items() if lines} == {}


def find_hidden(tree: ast.Module) -> list[int]:
    """Return the lines that mark a text in an f-string, where Python before 3.12 finds none."""
    inside = [
        n for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) for n in ast.walk(each)
    ]
    return [
        call.lineno
        for call in inside
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in KEYWORDS
        and isinstance(call.args[0], ast.Constant)
    ]


def test_no_text_is_marked_within_another():
    found = {p: find_hidden(ast.parse(p.read_text())) for p in PACKAGE.rglob("*.py")}
    assert {str(path): lines for path, lines in found.items() if lines} == {}
