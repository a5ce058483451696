"""The envelope over plain HTTP: the same body as the tool's."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.urls import include, path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from rest_framework import serializers, viewsets
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.envelopes import OkEnvelope, StatusEnvelope, success_response
from drf_mcp.exceptions import FeatureDisabled, SoftFailure
from drf_mcp.renderers import EnvelopeJSONRenderer
from example_project.shop.models import Product
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering
from tests.envelopes.cases import RAISED
from tests.envelopes.conftest import ENVELOPES, drop_volatile

STRUCTURED = ["response_v2", "ok", "status"]


class Chosen(EnvelopeJSONRenderer):
    """Writes the envelope that the test chooses."""


@pytest.fixture
def choosing(monkeypatch):
    """Give every new view the renderer, and return a function that chooses its envelope."""
    monkeypatch.setattr(APIView, "renderer_classes", [Chosen])

    def choose(envelope: str) -> None:
        monkeypatch.setattr(Chosen, "envelope_class", ENVELOPES[envelope], raising=False)

    return choose


# REST framework does not handle these: Django answers them with a page.
HANDLED = {name: RAISED[name] for name in RAISED if name not in ("crash", "bad_request")}
ANSWERS = {
    "object": {"a": 1},
    "list": [1, 2],
    "scalar": 3,
    "null": None,
    "model": success_response({"a": 1}, warnings=["Old."]),
}


@pytest.mark.slow
def test_the_body_is_that_of_the_tool(choosing, thing):
    """For every success, and for every error that REST framework handles."""
    different = []
    for envelope in STRUCTURED:
        choosing(envelope)
        for name, what in {**ANSWERS, **{name: HANDLED[name]() for name in HANDLED}}.items():
            body = drop_volatile(thing.answer_with(what).get())
            different += [(envelope, name)] if body != drop_volatile(thing.read(envelope)) else []
    assert different == []


class Window(LimitOffsetPagination):
    default_limit = 3


class Products(viewsets.ReadOnlyModelViewSet):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    lookup_field = "slug"
    permission_classes = []
    pagination_class = Window
    renderer_classes = [Chosen]


def products() -> Any:
    router = SimpleRouter()
    router.register("products", Products)
    return path("", include(router.urls))


@pytest.mark.slow
def test_pages_and_not_found_have_the_body_of_the_tool(serve, choosing):
    """An object that is not found has a hint at the list tool in both."""
    served = serve(products())
    for envelope in STRUCTURED:
        choosing(envelope)
        body = served.get("/products/?limit=2&offset=4")
        assert drop_volatile(body) == drop_volatile(served.read(envelope, limit=2, offset=4))
        assert drop_volatile(served.get("/products/")) == drop_volatile(served.read(envelope))
        missed = served.get("/products/no-such/")
        result = served.agent(envelope).call("products_retrieve", slug="no-such")
        assert drop_volatile(missed) == drop_volatile(result.envelope)
        assert "Use products_list to find existing ids" in str(missed)


class Line(serializers.Serializer):
    quantity = serializers.IntegerField(max_value=5)


class Order(serializers.Serializer):
    name = serializers.CharField()
    lines = Line(many=True)


class Ordering(APIView):
    permission_classes = []
    renderer_classes = [EnvelopeJSONRenderer]
    serializer_class = Order

    def post(self, request) -> Response:
        Order(data=request.data).is_valid(raise_exception=True)
        return Response({})


def test_refused_fields_have_the_body_of_the_tool(serve):
    body = {"lines": [{"quantity": 9}]}
    thing = serve(Ordering.as_view())
    response = thing.http.post("/thing/", body, format="json")
    assert response.status_code == 400
    assert drop_volatile(response.json()) == drop_volatile(thing.read(**body))
    assert response.json()["data"]["details"]["problems"][0]["received"] == 9


def test_a_body_that_cannot_be_read_is_answered(serve):
    """The body is not read where the view refuses the caller before."""

    class Closed(Ordering):
        permission_classes = [IsAuthenticated]

    json, malformed = "application/json", (400, "INVALID_FORMAT")
    http = serve(Ordering.as_view(), path("closed/", Closed.as_view())).http
    expected = {
        ("/thing/", b"{", json): malformed,
        ("/thing/", b"\xff", json): malformed,
        ("/thing/", b'{"name": ', json): malformed,
        ("/thing/", b"a", "text/csv"): (415, "INVALID_FORMAT"),
        ("/closed/", b"{", json): (401, "UNAUTHORIZED"),
    }
    found = {}
    for url, content, kind in expected:
        response = http.post(url, content, content_type=kind)
        code = response.json()["data"]["error_code"]
        found[url, content, kind] = (response.status_code, code)
    assert found == expected


def test_a_view_without_a_tool_has_an_envelope_too(thing, serve, choosing):
    other = answering(lambda request: Response({}))
    hidden = path("hidden/", answering(lambda request: thing.act(request)))
    served = serve(path("other/", other), hidden, EXCLUDE=["/hidden/"])
    assert served.tool == "other"
    for exc in (FeatureDisabled("x"), SoftFailure("x")):
        thing.answer_with(exc)
        for envelope in STRUCTURED:
            choosing(envelope)
            body = served.get("/hidden/")
            assert body.get("success", body.get("ok")) is False


def test_problems_and_pages_of_a_view_without_a_tool_use_http_names(serve, choosing):
    """Problems point into the body, and pages name query parameters."""
    choosing("response_v2")
    other = path("other/", answering(lambda request: Response({})))
    hidden = path("hidden/", Ordering.as_view())
    served = serve(other, hidden, products(), EXCLUDE=["/hidden/", "/products/*"])
    response = served.http.post("/hidden/", {"lines": [{"quantity": 9}]}, format="json")
    details = response.json()["data"]["details"]
    (problem,) = details["problems"]
    assert {details["field"], problem["pointer"]} == {"name", "/lines/0/quantity"}
    pagination = served.get("/products/?limit=2")["meta"]["pagination"]
    assert pagination["next"] == {"limit": "2", "offset": "2"}


def test_problems_of_a_list_that_no_tool_takes_point_into_its_items(serve):
    class Orders(Ordering):
        def post(self, request) -> Response:
            Line(data=request.data, many=True).is_valid(raise_exception=True)
            return Response({})

    other = path("other/", answering(lambda request: Response({})))
    served = serve(other, path("hidden/", Orders.as_view()), EXCLUDE=["/hidden/"])
    response = served.http.post("/hidden/", [{"quantity": 1}, {"quantity": 9}], format="json")
    details = response.json()["data"]["details"]
    assert details == {"field": "[1].quantity", "constraint": "max_value"}


def test_project_wide_every_response_has_the_envelope(serve, monkeypatch):
    monkeypatch.setattr(APIView, "renderer_classes", [EnvelopeJSONRenderer, JSONRenderer])
    thing = serve(answering(lambda request: Response({"a": 1})), ENVELOPE_CLASS=OkEnvelope)
    assert thing.get()["ok"] is True
    assert thing.read("ok")["data"] == {"a": 1}


def test_the_renderer_uses_the_envelope_of_the_tool(serve):
    @mcp_tool(envelope_class=StatusEnvelope)
    class Thing(Ordering):
        def get(self, request) -> Response:
            return Response({})

    assert serve(Thing.as_view()).get()["status"] == "success"


def test_a_response_without_a_body_has_none(choosing, thing):
    choosing("response_v2")
    thing.answer_with(None, status=204)
    assert thing.http.get("/thing/").content == b""


def test_a_cached_response_is_not_wrapped_twice(serve, choosing):
    """Whether HTTP or the tool came first."""

    @method_decorator(cache_page(60), name="dispatch")
    class Cached(APIView):
        permission_classes = []
        renderer_classes = [Chosen]

        def get(self, request) -> Response:
            return Response({"a": 1})

    served = serve(Cached.as_view())
    for envelope in STRUCTURED:
        choosing(envelope)
        for first in (served.get, lambda: None):
            cache.clear()
            first()
            assert [served.read(envelope)["data"] for _ in range(2)] == [{"a": 1}] * 2


def test_other_renderers_of_the_view_still_work(serve):
    view = answering(lambda request: Response({"a": 1}))
    view.cls.renderer_classes = [EnvelopeJSONRenderer, JSONRenderer]
    thing = serve(view)
    thing.http.get("/thing/", headers={"accept": "application/json"})
    assert thing.read()["data"] == {"a": 1}
