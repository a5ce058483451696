"""LANGUAGE is the language of tools and errors; without the setting Django chooses it."""

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


def get_error_message(client: MCPClient) -> str:
    """Return the error message of a call with an invalid argument."""
    return client.call_tool("orders_retrieve", {"pk": "seven"}).error.message


def get_description(client: MCPClient) -> str:
    """Return a description that this package writes."""
    return client.list_tools()["content_retrieve"]["description"]


@pytest.mark.slow
def test_without_the_setting_errors_have_the_language_of_the_request_and_tools_of_the_project(
    set_language, make_client, settings
):
    """Instructions have the language of the project too."""
    text = gettext_lazy("This field is required.")
    settings.DRF_MCP = {**settings.DRF_MCP, "INSTRUCTIONS": text}
    set_language(None, MIDDLEWARE=[LOCALE, *settings.MIDDLEWARE])
    english, german = make_client(), make_client(**GERMAN)
    assert get_error_message(english) != get_error_message(german)
    description = get_description(english)
    assert description == get_description(german)
    result, _response = german.request_mcp("server/discover", {})
    assert result["instructions"] == "This field is required."
    set_language(None, LANGUAGE_CODE="de")
    assert get_description(make_client()) != description


@pytest.mark.slow
def test_with_the_setting_tools_and_errors_ignore_the_language_of_the_request(
    set_language, make_client, settings
):
    """Messages of REST framework are translated too; codes and names are not."""
    set_language("en", MIDDLEWARE=[LOCALE, *settings.MIDDLEWARE])
    english = get_description(make_client()), get_error_message(make_client())
    assert get_error_message(make_client(**GERMAN)) == english[1]
    set_language("de")
    client = make_client()
    german = get_description(client), get_error_message(client)
    assert english[0] != german[0]
    assert english[1] != german[1]
    error = client.call_tool("customers_create", {"name": "", "email": "x"}).error
    assert "Dieses Feld darf nicht leer sein." in error.message
    result = client.call_tool("orders_list", {"status": ["delivered"]})
    assert (result.error.code, result.problems[0].pointer) == ("VALIDATION_ERROR", "/status")
    assert "orders_list" in client.list_tools()
