"""The header ``Idempotency-Key`` over HTTP, and the tools of views that accept it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.writes.idempotency import KeyHeader
from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.tools import mcp_viewset
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


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_a_key_is_read_as_it_was_written(key):
    assert KeyHeader.read(KeyHeader.write(key)) == key


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


def test_a_form_with_the_same_values_is_the_same_request(send, http_of):
    first = send()
    again = http_of("alice").post("/header/", RENT, headers={"Idempotency-Key": "monday"})
    assert again.content == first.content


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


def test_an_invalid_key_is_refused(send):
    statuses = [send(key=key).status_code for key in ("", '""', "two words", "x" * 256)]
    assert (statuses, payments()) == ([400] * 4, 0)


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


def test_the_header_of_a_message_is_not_the_key_of_its_call(payer):
    payer.http.defaults["HTTP_IDEMPOTENCY_KEY"] = "monday"
    first, second = (payer.call("pay_by_header", **RENT) for _ in "ab")
    assert first.data != second.data
    assert not IdempotencyRecord.objects.exists()


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


def test_an_item_that_differs_is_refused_and_the_others_are_not_written_again(keeper):
    keeper.call("records_create", items=ITEMS, idempotency_key="monday")
    other = [ITEMS[0], {"name": "three"}]
    again = keeper.call("records_create", items=other, idempotency_key="monday")
    assert again.is_error
    assert [each["pointer"] for each in again.problems] == ["/items/1"]
    assert (records(), Group.objects.filter(name="three").count()) == (2, 0)


class NameSerializer(RecordSerializer):
    class Meta(RecordSerializer.Meta):
        fields = ("name",)


@mcp_viewset(if_match="id")
class HeaderNames(HeaderRecords):
    serializer_class = NameSerializer


def test_if_match_knows_an_object_that_the_response_does_not_show(serve, payer):
    methods = {"post": "create"}
    one = {"delete": "destroy"}
    serve(
        path("names/", HeaderNames.as_view(methods)),
        path("names/<int:pk>/", HeaderNames.as_view(one)),
    )
    for is_replay in (False, True):
        meta = payer.call("names_create", name="one", idempotency_key="monday").envelope["meta"]
        pk = Group.objects.get(name="one").pk
        assert meta.get("replayed", False) is is_replay
        assert meta["if_match"] == pk


def test_a_call_is_a_replay_if_all_of_its_items_are(keeper):
    for items in (ITEMS[:1], ITEMS):
        made = keeper.call("records_create", items=items, idempotency_key="monday")
        assert (made.is_error, "replayed" in made.envelope["meta"]) == (False, False)
    assert records() == 2
    again = keeper.call("records_create", items=ITEMS, idempotency_key="monday")
    assert (again.envelope["meta"]["replayed"], records()) == (True, 2)
