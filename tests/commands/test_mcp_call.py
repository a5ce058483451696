"""``manage.py mcp_call``: the pipeline without HTTP, with exit codes for scripts."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import path
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import PlainEnvelope
from example_project.shop.models import Customer, Order

pytestmark = pytest.mark.django_db


def run(*args: str) -> tuple[int, str]:
    """Run the command and return its exit code and what it printed."""
    out = io.StringIO()
    code = 0
    try:
        call_command("mcp_call", *args, stdout=out)
    except SystemExit as exc:
        code = exc.code
    return code, out.getvalue()


def refused(*args: str) -> CommandError:
    """Run a command that cannot call a tool and return the error."""
    with pytest.raises(CommandError) as caught:
        run(*args)
    return caught.value


class Pages(PageNumberPagination):
    page_size = 1


class Listed(APIView):
    """Pages, whose links need a host."""

    permission_classes = []

    def get(self, request) -> Response:
        pages = Pages()
        return pages.get_paginated_response(pages.paginate_queryset([1, 2], request, view=self))


def test_a_success_prints_the_envelope_for_reading():
    code, text = run("products_list", '{"limit": 1}', "--user", "alice")
    envelope = json.loads(text)
    assert (code, envelope["success"], len(envelope["data"]["results"])) == (0, True, 1)
    assert text.startswith("{\n")


def test_arguments_may_be_left_out():
    assert run("stats", "--user", "alice")[0] == 0


def test_the_user_is_who_the_view_sees():
    seen = {
        name: json.loads(run("stats", "--user", name)[1])["data"]["customers"]
        for name in ("alice", "carol")
    }
    own = Customer.objects.filter(owner__username="alice").count()
    assert seen == {"alice": own, "carol": Customer.objects.count()}


def test_the_user_may_do_no_more_than_over_http():
    code, text = run("customers_deactivate", '{"pk": 1}', "--user", "alice")
    assert (code, json.loads(text)["data"]["error_code"]) == (1, "FORBIDDEN")


def test_a_call_writes():
    order = Order.objects.filter(status="pending").first()
    assert run("orders_cancel", json.dumps({"pk": order.pk}), "--user", "carol")[0] == 0
    order.refresh_from_db()
    assert order.status == "cancelled"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [('{"pk": 999999}', "NOT_FOUND"), ('{"nonsense": 1}', "VALIDATION_ERROR")],
)
def test_a_tool_that_fails_prints_its_envelope_and_exits_with_1(arguments, code):
    status, text = run("orders_retrieve", arguments, "--user", "carol")
    assert (status, json.loads(text)["data"]["error_code"]) == (1, code)


def test_a_stranger_is_refused_with_2_and_told_what_to_do():
    error = refused("orders_list")
    assert error.returncode == 2
    assert "--user" in str(error)


@pytest.mark.parametrize("text", ["{", "", "nonsense", "[1]", '"text"', "5", "[" * 100_000])
def test_arguments_that_are_no_object_exit_with_2(text):
    assert refused("stats", text, "--user", "alice").returncode == 2


def test_a_number_that_is_no_json_exits_with_2():
    assert refused("products_list", '{"limit": NaN}', "--user", "alice").returncode == 2


def test_an_unknown_tool_exits_with_2_and_the_nearest():
    error = refused("stat", "--user", "alice")
    assert error.returncode == 2
    assert "Did you mean stats" in str(error)


def test_an_unknown_user_exits_with_2():
    error = refused("stats", "--user", "nobody")
    assert (error.returncode, str(error)) == (2, "There is no user 'nobody'.")


def test_text_alone_is_printed_as_it_is(expose):
    expose(path("listed/", Listed.as_view()), ENVELOPE_CLASS=PlainEnvelope)
    assert json.loads(run("listed")[1])["results"] == [1]


@pytest.mark.parametrize("hosts", [["*"], [".example.com"], ["*", ".a.example"], ["[::1]"]])
def test_links_can_be_made_whatever_hosts_are_allowed(expose, settings, hosts):
    settings.ALLOWED_HOSTS = hosts
    expose(path("listed/", Listed.as_view()))
    code, text = run("listed")
    assert code == 0, text
    assert json.loads(text)["data"]["next"].startswith("http://")
