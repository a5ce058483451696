"""The German of pages, mails, the admin and scripts is complete and compiled."""

from __future__ import annotations

import io
import re

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from tests.language.catalogs import CATALOGS, collect, read_catalog

PLACEHOLDERS = re.compile(r"(%%|%(?:\(\w+\))?[a-z]|\{[^{}]*\})")
# The code joins texts, so spaces and punctuation at the edges have to be the same.
EDGES = re.compile(r"^(\s*).*?([.:?!…]?\s*)$", re.DOTALL)


@pytest.fixture(params=CATALOGS)
def domain(request) -> str:
    return request.param


def find_pairs(message: Message) -> list[tuple[str, str]]:
    """Return each English text of a message with its translations."""
    if not message.pluralizable:
        return [(message.id, message.string)]
    one, many = message.id
    first, *others = message.string
    return [(one, first), *((many, other) for other in others)]


def find_texts(catalog: Catalog) -> set[tuple[str | None, str, str]]:
    return {(m.context, *pair) for m in catalog if m.id for pair in find_pairs(m)}


@pytest.mark.slow
def test_a_catalog_has_exactly_the_marked_texts(domain):
    """``python -m tests.language.catalogs`` adds and removes texts."""
    known, marked = read_catalog(CATALOGS[domain]), collect(domain)
    assert {(m.context, m.id) for m in known if m.id} == {(m.context, m.id) for m in marked if m.id}


def test_every_text_is_translated_with_its_placeholders_and_its_edges(domain):
    known = read_catalog(CATALOGS[domain])
    assert [m.id for m in known if m.id and m.fuzzy] == []
    wrong = [
        (text, german)
        for _, text, german in find_texts(known)
        if not german
        or sorted(PLACEHOLDERS.findall(text)) != sorted(PLACEHOLDERS.findall(german))
        or EDGES.match(text).groups() != EDGES.match(german).groups()
    ]
    assert wrong == []


def test_the_compiled_catalog_has_the_translations(domain):
    """The header is not compared, because each version of Babel writes another."""
    compiled = read_mo(io.BytesIO(CATALOGS[domain].with_suffix(".mo").read_bytes()))
    assert find_texts(compiled) == find_texts(read_catalog(CATALOGS[domain]))
