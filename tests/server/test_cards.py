"""Cards of endpoints, and the catalog that lists the cards (SEP-2127)."""

from __future__ import annotations

import json

import jsonschema
import pytest
from django.test import Client
from django.urls import include, path

from drf_mcp.views import MCPView

# The members of the schema that a card of ours has.
SCHEMA = {
    "type": "object",
    "required": ["$schema", "name", "version", "description"],
    "properties": {
        "$schema": {"pattern": r"^https://static\.modelcontextprotocol\.io/schemas/v1/server-card"},
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
    },
}


@pytest.fixture
def get(expose, settings):
    settings.ALLOWED_HOSTS = ["shop.example"]

    def serve(**mcp_settings):
        expose(
            path("", include("drf_mcp.urls.cards")),
            path("mcp/", include("drf_mcp.urls.toolsets")),
            path("files/", include("drf_mcp.contrib.uploads.urls")),
            path("own/<name>/mcp", MCPView.as_view()),
            **mcp_settings,
        )
        return Client(SERVER_NAME="shop.example").get

    return serve


def test_a_card_says_what_the_endpoint_says_of_itself(get):
    info = {"description": "Orders. " * 30, "websiteUrl": "https://shop.example/"}
    answer = get(SERVER_NAME="shop", SERVER_TITLE="The shop", SERVER_INFO=info)("/mcp/server-card")
    card = answer.json()
    jsonschema.validate(card, SCHEMA)
    assert answer.headers["Content-Type"] == "application/mcp-server-card+json"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert (card["name"], card["title"]) == ("example.shop/shop", "The shop")
    assert card["websiteUrl"] == "https://shop.example/"
    (remote,) = card["remotes"]
    assert (remote["type"], remote["url"]) == ("streamable-http", "http://shop.example/mcp")
    assert remote["supportedProtocolVersions"][0] == "2026-07-28"
    assert remote["headers"][0]["isSecret"]


def test_an_endpoint_with_oauth_asks_for_no_header(get):
    card = get(AUTHORIZATION_SERVERS=["https://login.example"])("/mcp/server-card").json()
    assert "headers" not in card["remotes"][0]


def test_the_catalog_lists_each_endpoint_whose_address_is_known(get):
    ask = get(SERVER_NAME="shop")
    answer = ask("/.well-known/ai-catalog.json")
    assert answer.headers["Content-Type"] == "application/ai-catalog+json"
    entries = answer.json()["entries"]
    assert [entry["url"].removeprefix("http://shop.example") for entry in entries] == [
        "/mcp/server-card",
        "/mcp/readonly/server-card",
    ]
    assert len({entry["identifier"] for entry in entries}) == 2
    assert all(ask(entry["url"]).status_code == 200 for entry in entries)
    assert ask("/.well-known/mcp/catalog.json").json() == answer.json()


def test_an_unchanged_card_is_not_sent_twice_and_other_paths_have_none(get):
    ask = get()
    tag = ask("/mcp/server-card").headers["ETag"]
    assert ask("/mcp/server-card", headers={"if-none-match": tag}).status_code == 304
    assert ask("/nothing/server-card").status_code == 404


def test_cards_hold_nothing_but_the_public_facts(get):
    ask = get()
    text = json.dumps([ask("/mcp/server-card").json(), ask("/.well-known/ai-catalog.json").json()])
    assert "alice" not in text
