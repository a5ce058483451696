"""Every error tells the model what it can do."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import include, path, re_path
from rest_framework import generics, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp import mcp_viewset
from drf_mcp.envelopes import error_response
from drf_mcp.exceptions import SoftFailure
from drf_mcp.tools import registry
from example_project.shop.models import Product
from example_project.shop.pagination import NumberedPages
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering, raising
from tests.envelopes.cases import RAISED
from tests.envelopes.conftest import ENVELOPES

GENERAL = "Look up which identifiers exist, then call again with one of them."


def hint(name: str) -> str:
    return f"Use {name} to find existing ids, then call again with one of them."


def said(result: Any) -> str:
    return result.data["remediation"]


@pytest.mark.parametrize("make", RAISED.values(), ids=RAISED)
def test_every_exception_has_a_remediation_in_every_envelope_with_room(serve, make):
    thing = serve(raising(make()))
    assert len(said(thing.call())) > 10
    assert all(len(error["fix_hint"]) > 10 for error in thing.read("ok")["errors"])
    assert all(len(error["suggestion"]) > 10 for error in thing.read("status")["errors"])


@pytest.mark.parametrize(
    ("tool", "arguments", "list_tool"),
    [
        ("customers_retrieve", {"pk": 10**9}, "customers_list"),
        ("customers_retrieve", {"pk": "none"}, "customers_list"),
        ("customers_destroy", {"pk": 10**9}, "customers_list"),
        ("customers_summary", {"pk": 10**9}, "customers_list"),
        ("products_retrieve", {"slug": "no-such"}, "products_list"),
        ("customers_orders_list", {"customer_pk": 10**9}, "customers_list"),
        ("tickets_retrieve", {"ids": [10**9]}, "tickets_list"),
        # The nearest list is the one.
        ("customers_orders_retrieve", {"customer_pk": 0, "pk": 0}, "customers_orders_list"),
    ],
)
def test_what_is_not_found_points_at_the_list_tool(alice, tool, arguments, list_tool):
    result = alice.call_with(tool, arguments)
    assert (result.code, said(result)) == ("NOT_FOUND", hint(list_tool))


def test_a_page_that_does_not_exist_is_not_looked_up(alice):
    result = alice.call("customers_list", page=99)
    assert result.code == "NOT_FOUND"
    assert said(result) == "Start at the first page, and go on with the arguments of the next."


class Things(viewsets.ModelViewSet):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []
    pagination_class = NumberedPages


def routed(viewset: type, **options: Any) -> Any:
    router = SimpleRouter(**options)
    router.register("things", viewset)
    return path("", include(router.urls))


def test_a_list_that_is_no_tool_is_not_named(serve):
    @mcp_viewset(actions=["retrieve"])
    class Hidden(Things):
        pass

    served = serve(routed(Hidden), EXPOSE="explicit")
    assert said(served.call(pk=10**9)) == GENERAL


def test_paths_without_a_slash_at_the_end_are_understood(serve):
    served = serve(routed(Things, trailing_slash=False))
    result = served.agent("response_v2").call("things_retrieve", pk=10**9)
    assert said(result) == hint("things_list")


class Listed(generics.ListAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []


class Shown(generics.RetrieveAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []


def test_generic_views_under_regular_expressions_are_understood(serve):
    served = serve(
        re_path(r"^things/$", Listed.as_view()),
        re_path(r"^things/(?P<pk>[0-9]+)/$", Shown.as_view()),
    )
    result = served.agent("response_v2").call("things_retrieve", pk=10**9)
    assert said(result) == hint("things_list")


def test_a_view_that_is_no_list_is_not_named(serve):
    class Other(viewsets.ViewSet):
        permission_classes = []

        def retrieve(self, request, pk: str) -> Response:
            raise NotFound()

        @action(detail=False)
        def newest(self, request) -> Response:
            raise NotFound()

    router = SimpleRouter()
    router.register("others", Other, "other")
    served = serve(path("", include(router.urls)))
    agent = served.agent("response_v2")
    assert said(agent.call("others_retrieve", pk=1)) == GENERAL
    assert said(agent.call("others_newest")) == GENERAL


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_what_the_view_said_itself_is_kept(serve, envelope):
    def answer(request) -> Response:
        return Response(
            error_response("Gone.", error_code="NOT_FOUND", remediation="Ask Eve."), status=404
        )

    assert "Ask Eve." in str(serve(answering(answer)).call(envelope).raw)


def test_a_soft_failure_of_nothing_found_points_at_the_list_too(serve):
    class Soft(Things):
        def retrieve(self, request, pk: str) -> Response:
            raise SoftFailure("No such thing.", "not_found")

    served = serve(routed(Soft))
    result = served.agent("ok").call("things_retrieve", pk=1)
    assert "isError" not in result.raw
    assert result.envelope["errors"][0]["fix_hint"] == hint("things_list")


def test_naming_the_list_describes_no_tool(serve):
    serve(routed(Things))
    tool = registry.tool("things_retrieve")
    assert tool.list_tool == "things_list"
    assert not {"schema", "view", "arguments"} & set(vars(tool))
