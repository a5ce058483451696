"""The language of the page, and the texts of its scripts."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override

from drf_mcp.browsable.frame import ScriptTexts

BROWSER = {"accept": "text/html,*/*;q=0.8"}
SCRIPT = {"accept": "*/*"}
ADDRESS = "/mcp?show=texts&language="


def write_catalog(path: Path, texts: dict[str, str]) -> None:
    """Write a compiled catalog, in the format of gettext's manual."""
    pairs = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **texts}.items())
    columns = [[text.encode() for text in column] for column in zip(*pairs, strict=True)]
    start, end = 28, 28 + 16 * len(pairs)
    tables, content = b"", b""
    for column in columns:
        for text in column:
            tables += struct.pack("<II", len(text), end + len(content))
            content += text + b"\0"
    head = struct.pack(
        "<7I", 0x950412DE, 0, len(pairs), start, start + 8 * len(pairs), 0, end + len(content)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + tables + content)


@pytest.fixture(autouse=True)
def german_texts(db, settings, tmp_path):
    write_catalog(tmp_path / "de" / "LC_MESSAGES" / "drf_mcpjs.mo", {"Copied": "Abgeschrieben"})
    write_catalog(tmp_path / "de" / "LC_MESSAGES" / "django.mo", {"No such tool": "Kein Werkzeug"})
    settings.LOCALE_PATHS = [tmp_path]
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}


@pytest.fixture
def alice() -> Client:
    client = Client(headers=BROWSER)
    client.force_login(User.objects.get(username="alice"))
    return client


def read_texts(language: str, **headers: str):
    return Client(headers={**SCRIPT, **headers}).get(ADDRESS + language)


def test_texts_have_the_language_in_the_url_and_need_no_authentication():
    response = read_texts("de")
    assert response["Content-Type"].startswith("text/javascript")
    assert "Abgeschrieben" in response.content.decode()
    assert "Abgeschrieben" not in read_texts("en").content.decode()


def test_texts_of_the_projects_own_scripts_are_left_out(tmp_path):
    """The project decides who may read those."""
    write_catalog(tmp_path / "de" / "LC_MESSAGES" / "djangojs.mo", {"Payroll": "Gehaltsliste"})
    response = read_texts("de")
    assert "Gehaltsliste" not in response.content.decode()
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_browser_caches_texts_until_they_change():
    response = read_texts("de")
    assert response["Cache-Control"] == "no-cache"
    assert read_texts("de", if_none_match=response["ETag"]).status_code == 304
    assert read_texts("en", if_none_match=response["ETag"]).status_code == 200


def test_an_unknown_language_falls_back_to_a_known_one(subtests):
    for language in ["", "xx", "de-zz", "../../de", "d" * 1000]:
        with subtests.test(language=language):
            response = read_texts(language)
            assert response.status_code == 200
            assert ("Abgeschrieben" in response.content.decode()) is (language == "de-zz")


def test_texts_are_served_only_with_the_page(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": False}
    assert read_texts("de").status_code == 405


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/mcp", "/mcp/tokens/"])
def test_page_names_its_language_and_loads_its_texts(alice, settings, path):
    assert '<html lang="en">' in alice.get(path).content.decode()
    settings.LANGUAGE_CODE = "de"
    page = alice.get(path).content.decode()
    assert '<html lang="de">' in page
    address = f"{path}?show=texts&language=de"
    assert f'<script src="{address.replace("&", "&amp;")}" defer>' in page
    assert "Abgeschrieben" in alice.get(address, headers=SCRIPT).content.decode()


@pytest.mark.slow
def test_page_has_the_language_of_its_reader(alice, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
    page = alice.get("/mcp?tool=none", headers={**BROWSER, "accept-language": "de"})
    assert "Kein Werkzeug" in page.content.decode()
    assert "Accept-Language" in page["Vary"]
    assert "No such tool" in alice.get("/mcp?tool=none").content.decode()


@pytest.mark.slow
def test_page_of_a_right_to_left_language_has_its_direction(alice, settings):
    settings.LANGUAGE_CODE = "ar"
    assert '<html lang="ar" dir="rtl">' in alice.get("/mcp").content.decode()


def test_url_of_the_texts_names_a_language_even_if_none_is_active():
    with override(None):
        assert ScriptTexts.locate("/mcp") == "/mcp?show=texts&language=en"
