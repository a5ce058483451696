"""``manage.py mcp_call``: calls tools without HTTP, with exit codes for scripts."""

from __future__ import annotations

import io
import json
import logging
import shlex
import sys
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.urls import path
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.envelopes import PlainEnvelope
from drf_mcp.management.base import read_call_arguments
from example_project.shop.models import Customer, Order

pytestmark = pytest.mark.django_db


def run(*args: str) -> tuple[int, str]:
    out = io.StringIO()
    code = 0
    try:
        call_command("mcp_call", *args, stdout=out)
    except SystemExit as exc:
        code = exc.code
    return code, out.getvalue()


def refused(*args: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        run(*args)
    return caught.value


class Pages(PageNumberPagination):
    page_size = 1


class Listed(APIView):
    """Pages whose links need a host."""

    permission_classes = []

    def get(self, request) -> Response:
        pages = Pages()
        return pages.get_paginated_response(pages.paginate_queryset([1, 2], request, view=self))


class Crashing(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        raise ZeroDivisionError


@pytest.mark.parametrize("name", ["drf_mcp", ""])
def test_a_crash_prints_the_envelope_without_a_traceback(expose, capsys, name):
    expose(path("thing/", Crashing.as_view()))
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger(name).addHandler(handler)
    try:
        code, out = run("thing")
        assert (code, json.loads(out)["data"]["error_code"]) == (1, "INTERNAL_ERROR")
        assert capsys.readouterr().err.strip() == "Add --traceback to see what was logged."
        run("thing", "--traceback")
        assert "ZeroDivisionError" in capsys.readouterr().err
    finally:
        logging.getLogger(name).removeHandler(handler)


def test_both_spellings_name_the_user(subtests):
    for option in ["--as", "--user"]:
        with subtests.test(option=option):
            assert json.loads(run("stats", option, "alice")[1])["data"]["customers"]


def test_the_view_gets_the_user():
    seen = {
        name: json.loads(run("stats", "--as", name)[1])["data"]["customers"]
        for name in ("alice", "carol")
    }
    own = Customer.objects.filter(owner__username="alice").count()
    assert seen == {"alice": own, "carol": Customer.objects.count()}


def test_the_user_has_the_permissions_of_http():
    code, text = run("customers_deactivate", '{"pk": 1}', "--as", "alice")
    assert (code, json.loads(text)["data"]["error_code"]) == (1, "FORBIDDEN")


def test_options_may_be_anywhere_among_the_arguments(subtests):
    for words in [
        ["--as", "alice", "page_size=1", 'tier=["gold"]'],
        ["page_size=1", "--as", "alice", 'tier=["gold"]'],
        ["page_size=1", 'tier=["gold"]', "--as", "alice"],
    ]:
        with subtests.test(words=words):
            code, text = run("customers_list", *words)
            assert code == 0
            assert [row["tier"] for row in json.loads(text)["data"]["results"]] == ["gold"]


def test_a_call_commits_its_writes():
    order = Order.objects.filter(status="pending").first()
    assert run("orders_cancel", json.dumps({"pk": order.pk}), "--as", "carol")[0] == 0
    order.refresh_from_db()
    assert order.status == "cancelled"


def test_a_tool_that_fails_prints_its_envelope_and_exits_with_1(subtests):
    for arguments, code in [
        ('{"pk": 999999}', "NOT_FOUND"),
        ('{"nonsense": 1}', "VALIDATION_ERROR"),
    ]:
        with subtests.test(arguments=arguments, code=code):
            status, text = run("orders_retrieve", arguments, "--as", "carol")
            assert (status, json.loads(text)["data"]["error_code"]) == (1, code)


def test_arguments_that_are_no_object_exit_with_2(subtests):
    for text in ["{", "", "nonsense", "[1]", '"text"', "5", "[" * 100_000, '{"limit": NaN}']:
        with subtests.test(text=text):
            assert refused("products_list", text, "--as", "alice").returncode == 2


def test_a_call_that_cannot_be_made_exits_with_2_and_the_reason(subtests):
    for args, message in [
        (["orders_list"], "Name a user with --as."),
        (["stat", "--as", "alice"], "Did you mean stats"),
        (["stats", "--as", "nobody"], "There is no user 'nobody'."),
        (["stats", "--as", "Alise"], "There is no user 'Alise'. Did you mean alice?"),
        (["stat"], "Did you mean stats"),
        (["no_such", "--as", "alice", "--raw"], "no_such"),
    ]:
        with subtests.test(args=args, message=message):
            error = refused(*args)
            assert error.returncode == 2
            assert message in str(error)


def test_text_is_printed_unchanged(expose):
    expose(path("listed/", Listed.as_view()), ENVELOPE_CLASS=PlainEnvelope)
    text = run("listed")[1]
    assert json.JSONDecoder().raw_decode(text)[0]["results"] == [1]


def test_links_are_built_with_any_allowed_hosts(subtests, expose, settings):
    for hosts in [["*"], [".example.com"], ["*", ".a.example"], ["[::1]"]]:
        with subtests.test(hosts=hosts):
            settings.ALLOWED_HOSTS = hosts
            expose(path("listed/", Listed.as_view()))
            code, text = run("listed")
            assert code == 0, text
            assert json.loads(text)["data"]["next"].startswith("http://")


# --- Arguments as key=value ------------------------------------------------------------------


def test_an_argument_is_parsed_as_json_if_it_is_json(subtests):
    for texts, arguments in [
        (["page=2"], {"page": 2}),
        (["name=Ada Núñez"], {"name": "Ada Núñez"}),
        (["name=a=b"], {"name": "a=b"}),
        (["name="], {"name": ""}),
        (["phone=007"], {"phone": "007"}),
        (["price=NaN"], {"price": "NaN"}),
        (
            ['tier=["gold"]', "flag=true", "none=null"],
            {"tier": ["gold"], "flag": True, "none": None},
        ),
        (["a.b.c=1", "a.b.d=x"], {"a": {"b": {"c": 1, "d": "x"}}}),
        (['{"a": 1, "b": 1}', "b=2"], {"a": 1, "b": 2}),
        ([], {}),
    ]:
        with subtests.test(texts=texts, arguments=arguments):
            assert read_call_arguments(texts) == arguments


def test_arguments_without_a_name_exit_with_2(subtests):
    for texts in [["=1"], ["a..b=1"], [".a=1"], ["a=1", "a.b=2"], ["a"]]:
        with subtests.test(texts=texts):
            with pytest.raises(CommandError) as caught:
                read_call_arguments(texts)
            assert caught.value.returncode == 2


# --- The output -------------------------------------------------------------------------------


def test_raw_prints_the_response_as_it_was_sent():
    _, indented = run("stats", "--as", "alice")
    assert indented.startswith('{\n  "success": true,\n')
    code, text = run("stats", "--as", "alice", "--raw")
    response = json.loads(text)
    assert (code, response["jsonrpc"]) == (0, "2.0")
    assert response["result"]["resultType"] == "complete"
    assert text.count("\n") == 1


def test_the_chosen_envelope_replaces_that_of_the_tool(expose):
    view = mcp_tool(envelope_class=PlainEnvelope)(type("Own", (Listed,), {}))
    expose(path("listed/", view.as_view()))
    assert json.loads(run("listed", "--envelope", "OkEnvelope")[1])["ok"] is True


def test_an_error_in_plain_text_is_printed_unchanged():
    code, text = run("orders_retrieve", "pk=0", "--as", "carol", "--envelope", "PlainEnvelope")
    assert (code, text.startswith("Error executing tool:")) == (1, True)


def test_a_block_that_is_no_text_is_named_on_stderr(expose):
    class Picture(APIView):
        permission_classes = []

        def get(self, request) -> HttpResponse:
            return HttpResponse(b"\x89PNG", content_type="image/png")

    expose(path("picture/", Picture.as_view()))
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp_call", "picture", stdout=out, stderr=err)
    assert err.getvalue() == "+ image image/png 8 characters\n"
    assert json.loads(out.getvalue())["success"] is True


# --- The equivalent HTTP request --------------------------------------------------------------


def curl(*args: str) -> list[str]:
    code, text = run(*args, "--http")
    assert code == 0
    return shlex.split(text)


def test_the_curl_command_sends_the_request_of_the_tool():
    words = curl("customers_list", 'tier=["gold","silver"]', "search=Ü&x", "--as", "alice")
    url, header = words[1], words[3]
    assert urlsplit(url).path == "/api/customers/"
    assert parse_qsl(urlsplit(url).query) == [
        ("tier", "gold"),
        ("tier", "silver"),
        ("search", "Ü&x"),
    ]
    assert header == "Authorization: Token $MCP_TOKEN"


def test_the_curl_command_of_a_write_has_the_body():
    words = curl("orders_refund", "pk=3", "reason=late", "amount=it's")
    assert words[:4] == ["curl", "-X", "POST", "http://127.0.0.1:8000/api/orders/3/refund/"]
    assert json.loads(words[-1]) == {"reason": "late", "amount": "it's"}
    assert "Content-Type: application/json" in words


def test_the_curl_command_calls_nothing():
    order = Order.objects.filter(status="pending").first()
    curl("orders_cancel", f"pk={order.pk}", "--as", "carol")
    order.refresh_from_db()
    assert order.status == "pending"


def test_a_request_that_cannot_be_written_exits_with_2(subtests):
    for args in [("no_such",), ("stats", "x=1"), ("orders_retrieve",)]:
        with subtests.test(args=args):
            assert refused(*args, "--http").returncode == 2
