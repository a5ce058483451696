"""The official Python SDK's client at real servers, in each revision."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from mcp import MCPError
from mcp_types import ElicitResult, PromptReference

from tests.agents import REVISIONS, STATELESS
from tests.programs.interop.python_sdk import connected

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize(
    "revision",
    [
        revision if revision == STATELESS else pytest.param(revision, marks=pytest.mark.nightly)
        for revision in REVISIONS
    ],
)

ALICES_CUSTOMERS = 30


@pytest.fixture(scope="session")
def tokens(shop):
    """The token of each user, by username."""
    return shop.tokens


async def customer_of(connection) -> int:
    """Return the primary key of a customer that the user sees."""
    listed = await connection.call("customers_list", page_size=1)
    return listed["data"]["results"][0]["id"]


async def product_in_stock(connection) -> str:
    """Return the slug of a product that can be ordered."""
    listed = await connection.call("products_list", in_stock=True, limit=1)
    return listed["data"]["results"][0]["slug"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_client_lists_tools_and_reads_all_pages(uvicorn, tokens, revision):
    seen, following = [], {"page_size": 7}
    async with connected(uvicorn, tokens["alice"], revision) as connection:
        assert connection.client.protocol_version == revision
        assert connection.client.server_info.name == "shop"
        assert connection.client.instructions.startswith("A shop's back office")
        names = {tool.name for tool in (await connection.client.list_tools()).tools}
        assert {"customers_list", "orders_create", "stats", "status"} <= names
        assert "customers_deactivate" not in names
        while following is not None:
            listed = await connection.call("customers_list", **following)
            seen += [row["id"] for row in listed["data"]["results"]]
            following = listed["meta"]["pagination"].get("next")
    assert len(seen) == len(set(seen)) == ALICES_CUSTOMERS


@every_revision
async def test_client_finds_and_runs_a_tool_that_is_not_listed(uvicorn, tokens, revision):
    few = replace(uvicorn, url=f"{uvicorn.url}/search")
    async with connected(few, tokens["alice"], revision) as connection:
        listed = {tool.name: tool for tool in (await connection.client.list_tools()).tools}
        arguments = {"query": "show one order with its lines", "definitions": True}
        found = await connection.call("tools_search", **arguments)
        hit = next(h for h in found["data"]["tools"] if h["name"] == "orders_retrieve")
        wrong = {"name": hit["name"], "arguments": {"orderr": 1}}
        refusal = await connection.refusal(hit["run_with"], **wrong)
        rows = await connection.call("tools_read", name="orders_list", arguments={"page_size": 1})
        right = {"name": hit["name"], "arguments": {"id": rows["data"]["results"][0]["id"]}}
        order = await connection.call(hit["run_with"], **right)
    assert set(listed) == {
        *("tools_search", "tools_read", "tools_write"),
        *("content_retrieve", "customers_list", "proposals_retrieve", "proposals_withdraw"),
    }
    assert listed["tools_read"].annotations.read_only_hint
    # The required argument comes first.
    assert refusal["details"]["field"] == "arguments.id"
    assert refusal["details"]["problems"][0]["pointer"] == "/arguments/orderr"
    assert order["data"]["lines"]


@every_revision
async def test_client_creates_an_order(uvicorn, tokens, revision):
    async with connected(uvicorn, tokens["alice"], revision) as connection:
        customer = await customer_of(connection)
        line = {"product": await product_in_stock(connection), "quantity": 2}
        created = await connection.call("orders_create", customer=customer, lines=[line])
        found = await connection.call("orders_retrieve", pk=created["data"]["id"])
    assert found["data"] == created["data"]
    assert found["data"]["lines"][0]["product"] == line["product"]


async def new_order(connection) -> int:
    """Return the primary key of an unpaid order."""
    line = {"product": await product_in_stock(connection), "quantity": 1}
    customer = await customer_of(connection)
    return (await connection.call("orders_create", customer=customer, lines=[line]))["data"]["id"]


async def test_a_client_with_forms_confirms_by_a_form(uvicorn, tokens):
    messages = []

    async def agree(context, params) -> ElicitResult:
        messages.append(params.message)
        return ElicitResult(action="accept", content={})

    options = {"elicitation_callback": agree}
    async with connected(uvicorn, tokens["alice"], **options) as connection:
        cancelled = await connection.call("orders_cancel", pk=await new_order(connection))
    assert cancelled["data"]["status"] == "cancelled"
    assert 'number: "S-' in messages[0]


@every_revision
async def test_a_wrong_token_gets_401_and_a_challenge(uvicorn, revision):
    responses = []
    refused = pytest.RaisesExc(MCPError, check=lambda exc: exc.error.code == 401)
    with pytest.RaisesGroup(refused, flatten_subgroups=True):
        async with connected(uvicorn, "wrong", revision, responses) as connection:
            await connection.client.list_tools()
    assert {response.status_code for response in responses} == {401}
    assert {response.headers["WWW-Authenticate"] for response in responses} == {"Token"}


@every_revision
async def test_wsgi_servers_answer_the_same(wsgi_server, tokens, revision):
    """The workers of gunicorn share no memory, so that no state may be kept between requests."""
    async with connected(wsgi_server, tokens["alice"], revision) as connection:
        names = {tool.name for tool in (await connection.client.list_tools()).tools}
        listed = [await connection.call("customers_list", page_size=3) for _ in range(6)]
        refusal = await connection.refusal("customers_deactivate", pk=1)
    assert "customers_list" in names
    assert all(answer["data"] == listed[0]["data"] for answer in listed)
    assert refusal["error_code"] == "FORBIDDEN"


@pytest.mark.nightly
async def test_a_worker_retrieves_what_another_archived(server_of, tokens):
    """With default settings, in ten rounds over three workers."""
    server = server_of("gunicorn")
    for _ in range(10):
        async with connected(server, tokens["alice"]) as connection:
            shortened = await connection.call("documents_texts", search="exception", page_size=20)
        (archive_id,) = shortened["meta"]["content_archive_hashes"]
        async with connected(server, tokens["alice"]) as connection:
            fetched = await connection.call("content_retrieve", archive_id=archive_id)
        assert fetched["data"]["archive_id"] == archive_id


@every_revision
async def test_client_reads_resources(uvicorn, tokens, revision):
    async with connected(uvicorn, tokens["alice"], revision) as connection:
        listed = await connection.client.list_resources()
        assert "shop://guides/returns" in [str(each.uri) for each in listed.resources]
        templates = (await connection.client.list_resource_templates()).resource_templates
        assert "shop://api/products/{slug}" in [each.uri_template for each in templates]
        uri = f"shop://api/products/{await product_in_stock(connection)}"
        (contents,) = (await connection.client.read_resource(uri)).contents
        assert json.loads(contents.text)["in_stock"] is True


@every_revision
async def test_client_completes_and_gets_a_prompt(uvicorn, tokens, revision):
    async with connected(uvicorn, tokens["alice"], revision) as connection:
        (prompt,) = (await connection.client.list_prompts()).prompts
        ref = PromptReference(name=prompt.name)
        completed = await connection.client.complete(ref, {"name": "order", "value": ""})
        arguments = {"order": completed.completion.values[0], "tone": "formal"}
        messages = (await connection.client.get_prompt(prompt.name, arguments)).messages
        assert "formal tone" in messages[-1].content.text
