"""An artificial language with brackets around every text that is marked."""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog

from drf_mcp import registry
from tests.language.catalogs import collect, compile_catalog

# A language code that Django knows. The catalogs of the tests replace its own translations.
PSEUDO = "eo"
BRACKETED_PART = re.compile(r"[^\s.:?!…](?:.*[^\s.:?!…])?", re.DOTALL)
PLACEHOLDERS = re.compile(r"(%%|%(?:\(\w+\))?[a-z]|\{[^{}]*\})")


def bracket(text: str) -> str:
    """Return a text with brackets around its words, without placeholders and the full stop."""
    # Every second part is a placeholder.
    parts = PLACEHOLDERS.split(text)
    parts[::2] = [BRACKETED_PART.sub(r"⟦\g<0>⟧", part) for part in parts[::2]]
    return "".join(parts)


def find_messages() -> Iterator[tuple[str | None, str | tuple[str, str]]]:
    """Yield the messages of Django, REST framework, django-filter and this package."""
    for package in ("django.conf", "django.contrib.auth", "rest_framework", "django_filters"):
        folder = Path(find_spec(package).origin).parent / "locale" / "de" / "LC_MESSAGES"
        with (folder / "django.mo").open("rb") as file:
            known = gettext.GNUTranslations(file)._catalog
        for key in known:
            if isinstance(key, str):
                context, _, text = key.rpartition("\x04")
                yield context or None, text
    for message in collect("django"):
        yield message.context, message.id


@pytest.fixture(scope="session")
def pseudo_locale(tmp_path_factory) -> Path:
    """A folder with the catalog of the artificial language."""
    folder = tmp_path_factory.mktemp("locale")
    catalog = Catalog(locale=PSEUDO)
    for context, msgid in find_messages():
        if msgid:
            is_plural = isinstance(msgid, tuple)
            text = tuple(map(bracket, msgid)) if is_plural else bracket(msgid)
            catalog.add(msgid, text, context=context)
    path = folder / PSEUDO / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(compile_catalog(catalog))
    return folder


@pytest.fixture
def set_language(settings, pseudo_locale) -> Iterator[Callable[..., None]]:
    """Set LANGUAGE, and other settings of Django."""
    settings.LOCALE_PATHS = [pseudo_locale]

    def set_language(language: str | None, **others: Any) -> None:
        settings.DRF_MCP = {**settings.DRF_MCP, "LANGUAGE": language}
        for name, value in others.items():
            setattr(settings, name, value)
        registry.reload()

    yield set_language
    registry.reload()
