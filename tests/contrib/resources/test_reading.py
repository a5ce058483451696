"""The contents and the errors of resources/read."""

from __future__ import annotations

import base64
import json

import pytest
from jsonschema import Draft202012Validator

from drf_mcp.contrib.resources import Document, SchemaDocument
from example_project.shop.models import Customer, Order
from tests.agents import REVISIONS, STATELESS
from tests.contrib.resources.views import PNG, NameSerializer
from tests.parity.shop_requests import REQUESTS, rows_of_alice

CALLERS = [None, "alice", "bob", "carol", "admin"]
# Texts of documents are longer than a result may be.
TOO_LONG = "documents_retrieve"
RETRIEVING = [r for r in REQUESTS if r.tool.endswith("_retrieve") and r.tool != TOO_LONG]


def read(agent, uri: str) -> dict:
    """Return the contents of a resource that has one of them."""
    [contents] = agent.result("resources/read", uri=uri)["contents"]
    assert contents["uri"] == uri
    return contents


@pytest.fixture
def open_endpoint(settings):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }


@pytest.mark.parametrize("username", CALLERS, ids=str)
@pytest.mark.parametrize("request_", RETRIEVING, ids=str)
def test_a_resource_is_the_body_that_http_gives_the_same_user(
    open_endpoint, request_, username, http_of, agent_of
):
    path = request_.about(rows_of_alice()).path
    response = http_of(username).get(path)
    answer = agent_of(username).request("resources/read", uri=f"shop:/{path.rstrip('/')}")
    if response.status_code == 200:
        [contents] = answer["result"]["contents"]
        assert json.loads(contents["text"]) == response.json()
        assert contents["mimeType"] == "application/json"
    else:
        assert answer["error"]["message"] == "Resource not found"


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_missing_and_a_forbidden_object_are_the_same_error(agent_of, revision):
    bob = agent_of("bob", revision=revision)
    foreign = Order.objects.exclude(customer__owner__username="bob").values_list("pk", flat=True)[0]
    errors = []
    for pk in (foreign, 987654321):
        uri = f"shop://api/orders/{pk}"
        error = bob.error("resources/read", uri=uri)
        assert error["data"] == {"uri": uri}
        errors.append((error["code"], error["message"]))
    code = -32602 if revision == STATELESS else -32002
    assert errors == [(code, "Resource not found")] * 2


@pytest.mark.parametrize(
    "uri",
    [
        "shop://api/orders",
        "shop://api/products/cast-iron-pan/",
        "shop://api/products/cast-iron-pan#top",
        "shop://api/products%2fcast-iron-pan",
        "shop://api/products/../orders",
        "shop://api/products/%ff",
        "http://testserver/api/products/cast-iron-pan",
        "shop:api/products/cast-iron-pan",
        "shop://admin",
        "shop://",
        "",
    ],
)
def test_a_uri_of_no_resource_is_not_found(alice, uri):
    assert alice.error("resources/read", uri=uri)["message"] == "Resource not found"


def test_a_value_is_decoded_and_converted(serve):
    assert json.loads(read(serve(), "test://files/a/b%20c.txt")["text"]) == {"file": "a/b c.txt"}


def test_a_header_that_names_another_resource_is_refused(alice):
    message, headers = alice.frame("resources/read", {"uri": "shop://api/products/cast-iron-pan"})
    response = alice.post(message, {**headers, "Mcp-Name": "shop://api/products/other"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


def test_a_read_needs_a_credential(agent_of):
    agent = agent_of(None)
    message, headers = agent.frame("resources/read", {"uri": "shop://api/nothing"})
    assert agent.post(message, headers).status_code == 401


def test_rows_are_stale_at_once_and_private(alice):
    result = alice.result("resources/read", uri="shop://api/products/cast-iron-pan")
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_a_document_of_an_open_endpoint_is_public(serve):
    agent = serve(Document("guide", "Send it back."))
    assert agent.result("resources/read", uri="test://guide")["cacheScope"] == "public"


def test_a_document_of_an_endpoint_with_permissions_is_private(alice):
    listed = alice.result("resources/list")["resources"]
    uri = next(each["uri"] for each in listed if "guides" in each["uri"])
    assert alice.result("resources/read", uri=uri)["cacheScope"] == "private"


def test_a_file_is_a_blob(serve):
    contents = read(serve(), "test://picture")
    assert contents["mimeType"] == "image/png"
    assert base64.b64decode(contents["blob"]) == PNG


def test_a_file_that_is_too_large_is_refused_rather_than_cut(serve):
    error = serve(MAX_CONTENT_BYTES=10).error("resources/read", uri="test://picture")
    assert (error["code"], error["message"]) == (-32603, "The resource has more than 10 bytes.")


def test_a_throttle_of_the_view_holds(serve):
    error = serve().error("resources/read", uri="test://busy")
    assert error["code"] == -32603
    assert error["data"]["retry_after_seconds"] == 30


def test_filters_of_a_list_are_the_query_of_its_uri(serve):
    agent = serve()
    gold = json.loads(read(agent, "test://names?tier=gold")["text"])
    assert {row["tier"] for row in gold} == {"gold"}
    assert len(gold) < len(json.loads(read(agent, "test://names")["text"]))


def test_an_unknown_filter_is_refused_with_the_nearest_one(serve):
    error = serve().error("resources/read", uri="test://names?tear=gold")
    assert error["code"] == -32602
    assert "tier" in error["message"]


@pytest.mark.slow
def test_remarks_name_the_rows_that_the_budget_leaves_out(serve, db):
    Customer.objects.bulk_create(
        Customer(name=f"Customer {n}", email=f"c{n}@example.com", country="SE", owner_id=1)
        for n in range(300)
    )
    agent = serve(MAX_RESULT_TOKENS=1000)
    body, remarks = agent.result("resources/read", uri="test://names")["contents"]
    assert 0 < len(json.loads(body["text"])) < 300
    assert remarks["uri"] == "test://names#remarks"
    assert "CONTENT_TRUNCATED" in remarks["text"]


# --- Documents ---------------------------------------------------------------------------------


def test_a_file_is_read_anew_each_time(serve, tmp_path):
    file = tmp_path / "guide.md"
    file.write_text("Old.")
    agent = serve(Document("guide", file=file))
    file.write_text("New.")
    assert read(agent, "test://guide")["text"] == "New."


def test_a_schema_document_is_the_input_schema_of_its_serializer(serve):
    contents = read(serve(SchemaDocument(NameSerializer)), "test://schemas/name")
    schema = json.loads(contents["text"])
    Draft202012Validator.check_schema(schema)
    assert contents["mimeType"] == "application/schema+json"
    assert schema["properties"].keys() == {"name", "tier"}
