"""The header ``Idempotency-Key`` over HTTP, and the tools of views that accept it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.urls import path

from drf_mcp.contrib.writes.models import IdempotencyRecord
from tests.contrib.writes.idempotency.views import HeaderRecords, RecordSerializer

pytestmark = pytest.mark.django_db
RENT = {"name": "rent"}


@pytest.fixture
def send(payer, http_of):
    """Send a payment over plain HTTP as alice, by default with the key ``monday``."""
    client = http_of("alice")

    def send(body=None, key='"monday"', at="/header/", **more):
        headers = {} if key is None else {"Idempotency-Key": key}
        return client.post(at, body or RENT, format="json", headers=headers, **more)

    return send


def payments() -> int:
    return Group.objects.filter(name__startswith="rent").count()


def test_the_same_key_again_has_the_first_response(send):
    """A bare key is the same as one in quotation marks."""
    first, second = send(), send(key="monday")
    assert (second.status_code, second.content) == (201, first.content)
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert payments() == 1


def test_a_file_is_replayed_byte_by_byte(send):
    first, second = send(at="/header-receipts/"), send(at="/header-receipts/")
    assert (second.content, second["Content-Type"]) == (first.content, "image/png")
    assert payments() == 1


def test_another_request_with_the_same_key_is_refused(send):
    """Another body, path or query."""
    send()
    refused = [
        send({"name": "lunch"}),
        send(at="/header-receipts/"),
        send(query_params={"currency": "EUR"}),
    ]
    assert [response.status_code for response in refused] == [422] * 3
    assert "with another value of: name" in refused[0].json()["detail"]
    assert "POST /header/" in refused[1].json()["detail"]


def test_a_file_with_other_content_is_another_request(send, http_of):
    def upload(content: bytes):
        body = {**RENT, "slip": ContentFile(content, "slip.txt")}
        headers = {"Idempotency-Key": "monday"}
        return http_of("alice").post("/header/", body, format="multipart", headers=headers)

    assert upload(b"one").content == upload(b"one").content
    assert "value of: slip" in upload(b"two").json()["detail"]


def test_a_missing_key_is_refused_where_it_is_required(send):
    assert send(key=None, at="/required/").status_code == 400
    assert send(at="/required/").status_code == 201


def test_without_a_key_or_the_mixin_nothing_changes(send):
    for sent in ({"key": None}, {"at": "/pay/"}):
        assert send(**sent).content != send(**sent).content
    assert not IdempotencyRecord.objects.exists()


def test_a_refusal_and_a_crash_free_the_key_and_only_the_crash_rolls_back(send):
    assert send({"name": "rent", "way": "unavailable"}).status_code == 503
    assert payments() == 0
    assert send({"name": "rent", "way": "refused"}).status_code == 400
    assert payments() == 1
    assert send().status_code == 201


def test_an_anonymous_caller_is_refused_by_the_view(payer, http_of):
    response = http_of(None).post("/header/", RENT, headers={"Idempotency-Key": "monday"})
    assert response.status_code == 401


def test_a_tool_and_the_request_have_one_record(send, payer):
    """In either order; the tool names the arguments that differ."""
    over_http = send()
    called = payer.call("pay_by_header", name="rent", idempotency_key="monday")
    assert called.data == over_http.json()
    assert called.envelope["meta"]["replayed"] is True
    assert called.envelope["meta"]["suggestions"] == ["Have a look."]
    called = payer.call("pay_by_header", name="rent", idempotency_key="tuesday")
    assert send(key="tuesday").json() == called.data
    assert payments() == 2
    refused = payer.call("pay_by_header", name="lunch", idempotency_key="monday")
    assert refused.code == "CONFLICT"
    assert "with another value of: name" in refused.envelope["error"]


def test_a_tool_requires_the_key_that_the_view_requires(payer):
    schema = payer.tools()["pay_by_required_header"]["inputSchema"]
    assert "idempotency_key" in schema["required"]
    refused = payer.call("pay_by_required_header", **RENT)
    assert refused.code == "MISSING_REQUIRED"
    assert refused.problems[0]["pointer"] == "/idempotency_key"


ITEMS = [{"name": "one"}, {"name": "two"}]


@pytest.fixture
def keeper(serve, payer):
    """An agent at an endpoint that takes several rows in one call."""
    serve(path("records/", HeaderRecords.as_view({"post": "create"})))
    return payer


def records() -> int:
    return Group.objects.filter(name__in=["one", "two"]).count()


def test_each_item_of_a_call_is_written_once(keeper):
    first = keeper.call("records_create", items=ITEMS, idempotency_key="monday")
    again = keeper.call("records_create", items=ITEMS, idempotency_key="monday")
    assert (first.is_error, again.data, records()) == (False, first.data, 2)
    assert again.envelope["meta"]["replayed"] is True


class NameSerializer(RecordSerializer):
    class Meta(RecordSerializer.Meta):
        fields = ("name",)
