"""URIs: the scheme of the server, and paths that are written as URIs and read back."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import clear_url_caches, path
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.resources import Document
from drf_mcp.contrib.resources.routes import URISpace
from tests.contrib.resources import views


def test_the_scheme_is_the_name_of_the_server(subtests):
    for name, prefix in [
        ("shop", "shop://"),
        ("Back_Office", "back-office://"),
        ("24-7", "server-24-7://"),
        ("http", "server-http://"),
        ("___", "server://"),
    ]:
        with subtests.test(name=name, prefix=prefix):
            assert URISpace(name).prefix == prefix


PATHS = st.lists(st.text(min_size=1), min_size=1).map("/".join).filter(lambda t: "://" not in t)


@given(PATHS.filter(lambda text: text == text.strip("/")))
def test_every_path_is_read_back_from_its_uri(text):
    """A path with a lone surrogate has no URI."""
    try:
        uri = URISpace("shop").write(text)
    except UnicodeEncodeError:
        return
    assert uri.isascii()
    assert URISpace("shop").split(uri) == (f"/{text}", "")


@given(st.text())
def test_any_text_is_matched_without_an_error(text):
    list(URISpace("shop").find_matches(f"shop://{text}", "example_project.urls"))
    list(URISpace("shop").find_matches(text, "example_project.urls"))


def test_the_uri_of_a_document_is_not_changed():
    assert URISpace("shop").write("ui://orders/table") == "ui://orders/table"


def test_a_wrong_declaration_of_a_document_is_refused_at_once(subtests):
    for options in [
        {},
        {"content": "a", "file": "b"},
        {"file": "/no/such/file"},
        {"content": "a", "annotations": {"priority": 2}},
        {"content": "a", "annotations": {"audience": ["everybody"]}},
        {"content": "a", "annotations": {"lastModified": "yesterday"}},
        {"content": "a", "icons": [{"src": "http://insecure.example/a.png"}]},
        {"content": "a", "title": 7},
    ]:
        with subtests.test(options=options):
            with pytest.raises(ImproperlyConfigured, match="Document"):
                Document("guide", **options)


def test_the_first_route_that_matches_a_uri_is_read(settings, serve):
    """Django's resolver finds the view of a URI, as it does for a request."""
    agent = serve()
    first = path("pages/special/", views.Picture.as_view())
    settings.ROOT_URLCONF.urlpatterns.insert(0, first)
    clear_url_caches()
    [read] = agent.result("resources/read", uri="test://pages/special")["contents"]
    assert read["mimeType"] == "image/png"
