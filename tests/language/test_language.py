"""LANGUAGE is the language of what models read; without it Django's own choice is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy

from drf_mcp.test import MCPClient

pytestmark = pytest.mark.django_db
GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de"}
LOCALE = "django.middleware.locale.LocaleMiddleware"


@pytest.fixture
def make_client():
    def make_client(**headers) -> MCPClient:
        client = MCPClient(**headers)
        client.force_authenticate(User.objects.get(username="admin"))
        return client

    return make_client


def find_reason(client: MCPClient) -> str:
    """Return what a call with a wrong argument is told."""
    return client.call_tool("orders_retrieve", {"pk": "seven"}).error.message


def find_words(client: MCPClient) -> str:
    """Return words that this package writes."""
    return client.list_tools()["content_retrieve"]["description"]


@pytest.mark.slow
def test_without_a_language_errors_have_that_of_the_request_and_tools_that_of_the_project(
    speak, make_client, settings
):
    """So have instructions."""
    text = gettext_lazy("This field is required.")
    settings.DRF_MCP = {**settings.DRF_MCP, "INSTRUCTIONS": text}
    speak(None, MIDDLEWARE=[LOCALE, *settings.MIDDLEWARE])
    english, german = make_client(), make_client(**GERMAN)
    assert find_reason(english) != find_reason(german)
    words = find_words(english)
    assert words == find_words(german)
    result, _response = german.request_mcp("server/discover", {})
    assert result["instructions"] == "This field is required."
    speak(None, LANGUAGE_CODE="de")
    assert find_words(make_client()) != words


@pytest.mark.slow
def test_tools_and_errors_have_the_language_that_is_set_whatever_that_of_the_request(
    speak, make_client, settings
):
    """Codes and names stay as they are; what REST framework says has the language too."""
    speak("en", MIDDLEWARE=[LOCALE, *settings.MIDDLEWARE])
    english = find_words(make_client()), find_reason(make_client())
    assert find_reason(make_client(**GERMAN)) == english[1]
    speak("de")
    client = make_client()
    german = find_words(client), find_reason(client)
    assert english[0] != german[0]
    assert english[1] != german[1]
    error = client.call_tool("customers_create", {"name": "", "email": "x"}).error
    assert "Dieses Feld darf nicht leer sein." in error.message
    result = client.call_tool("orders_list", {"status": ["delivered"]})
    assert (result.error.code, result.problems[0].pointer) == ("VALIDATION_ERROR", "/status")
    assert "orders_list" in client.list_tools()
