"""The envelope over plain HTTP: the same body as the tool's."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import include, path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from rest_framework import serializers, viewsets
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Empty
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.envelopes import OkEnvelope, StatusEnvelope, success_response
from drf_mcp.exceptions import FeatureDisabled, SoftFailure
from drf_mcp.renderers import EnvelopeJSONRenderer
from example_project.shop.models import Product
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering, raising
from tests.envelopes.cases import RAISED
from tests.envelopes.conftest import ENVELOPES, told

STRUCTURED = ["response_v2", "ok", "status"]


def renderer(envelope: str) -> type[EnvelopeJSONRenderer]:
    members = {"envelope_class": ENVELOPES[envelope]}
    return type("Renderer", (EnvelopeJSONRenderer,), members)


def enveloped(view: Any, envelope: str) -> Any:
    view.cls.renderer_classes = [renderer(envelope)]
    return view


# These leave REST framework: Django answers them with a page of its own.
HANDLED = {name: RAISED[name] for name in RAISED if name not in ("crash", "bad_request")}
ANSWERS = {
    "object": {"a": 1},
    "list": [1, 2],
    "scalar": 3,
    "null": None,
    "model": success_response({"a": 1}, warnings=["Old."]),
}


@pytest.mark.parametrize("envelope", STRUCTURED)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_success_has_the_body_of_the_tool(serve, answer, envelope):
    thing = serve(enveloped(answering(lambda request: Response(answer)), envelope))
    assert told(thing.get()) == told(thing.read(envelope))


@pytest.mark.parametrize("envelope", STRUCTURED)
@pytest.mark.parametrize("make", HANDLED.values(), ids=HANDLED)
def test_an_error_has_the_body_of_the_tool(serve, make, envelope):
    thing = serve(enveloped(raising(make()), envelope))
    response = thing.http.get("/thing/")
    assert told(response.json()) == told(thing.read(envelope))


class Window(LimitOffsetPagination):
    default_limit = 3


class Products(viewsets.ReadOnlyModelViewSet):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    lookup_field = "slug"
    permission_classes = []
    pagination_class = Window
    envelope = "response_v2"

    def get_renderers(self) -> list[Any]:
        return [renderer(self.envelope)()]


@pytest.fixture
def products(serve):
    def make(envelope: str) -> Any:
        router = SimpleRouter()
        router.register("products", type("Products", (Products,), {"envelope": envelope}))
        return serve(path("", include(router.urls)))

    return make


@pytest.mark.parametrize("envelope", STRUCTURED)
def test_a_page_has_the_body_of_the_tool(products, envelope):
    served = products(envelope)
    body = served.get("/products/?limit=2&offset=4")
    assert told(body) == told(served.read(envelope, limit=2, offset=4))
    assert told(served.get("/products/")) == told(served.read(envelope))


@pytest.mark.parametrize("envelope", STRUCTURED)
def test_what_is_not_found_points_at_the_list_tool_in_both(products, envelope):
    served = products(envelope)
    agent = served.agent(envelope)
    result = agent.call("products_retrieve", slug="no-such")
    body = served.get("/products/no-such/")
    assert told(body) == told(result.envelope)
    assert "Use products_list to find existing ids" in str(body)


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
    assert told(response.json()) == told(thing.read(**body))
    assert response.json()["data"]["details"]["problems"][0]["received"] == 9


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"name": '])
def test_a_body_that_cannot_be_read_is_answered(serve, content):
    thing = serve(Ordering.as_view())
    response = thing.http.post("/thing/", content, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["data"]["error_code"] == "INVALID_FORMAT"


def test_a_refusal_before_the_body_was_read_does_not_read_it(serve):
    class Closed(Ordering):
        permission_classes = [IsAuthenticated]

    thing = serve(Closed.as_view())
    response = thing.http.post("/thing/", b"{", content_type="application/json")
    assert response.status_code == 401
    assert response.json()["data"]["error_code"] == "UNAUTHORIZED"


def test_a_media_type_that_is_not_served_is_answered(serve):
    response = serve(Ordering.as_view()).http.post("/thing/", b"a", content_type="text/csv")
    assert response.status_code == 415
    assert response.json()["data"]["error_code"] == "INVALID_FORMAT"


def test_a_success_leaves_an_unread_body_unread(serve):
    seen: list[Any] = []

    class Upload(Ordering):
        def post(self, request) -> Response:
            seen.append(request)
            return Response({})

    serve(Upload.as_view()).http.post("/thing/", {"name": "a"}, format="json")
    assert seen[0]._full_data is Empty


@pytest.mark.parametrize("envelope", STRUCTURED)
@pytest.mark.parametrize("make", [FeatureDisabled, SoftFailure], ids=["feature", "soft"])
def test_a_view_that_no_tool_stands_for_has_an_envelope_too(serve, make, envelope):
    exc = make("x")
    view = enveloped(raising(exc), envelope)
    other = answering(lambda request: Response({}))
    served = serve(path("other/", other), path("hidden/", view), EXCLUDE=["/hidden/"])
    assert served.tool == "other"
    body = served.get("/hidden/")
    assert body.get("success", body.get("ok")) is False


def test_problems_of_a_view_without_a_tool_point_into_the_body(serve):
    other = answering(lambda request: Response({}))
    served = serve(path("other/", other), path("hidden/", Ordering.as_view()), EXCLUDE=["/hidden/"])
    response = served.http.post("/hidden/", {"lines": [{"quantity": 9}]}, format="json")
    details = response.json()["data"]["details"]
    (other,) = details["problems"]
    assert {details["field"], other["pointer"]} == {"name", "/lines/0/quantity"}


def test_pages_of_a_view_without_a_tool_say_what_to_ask_next(serve):
    router = SimpleRouter()
    router.register("products", Products)
    other = answering(lambda request: Response({}))
    served = serve(path("other/", other), path("", include(router.urls)), EXCLUDE=["/products/*"])
    pagination = served.get("/products/?limit=2")["meta"]["pagination"]
    assert pagination["next"] == {"limit": "2", "offset": "2"}


def test_project_wide_every_response_has_the_envelope(serve, monkeypatch):
    monkeypatch.setattr(APIView, "renderer_classes", [EnvelopeJSONRenderer, JSONRenderer])
    thing = serve(answering(lambda request: Response({"a": 1})), ENVELOPE_CLASS=OkEnvelope)
    assert thing.get()["ok"] is True
    assert thing.read("ok")["data"] == {"a": 1}


def test_the_envelope_of_the_tool_is_that_of_the_renderer(serve):
    @mcp_tool(envelope_class=StatusEnvelope)
    class Thing(Ordering):
        def get(self, request) -> Response:
            return Response({})

    assert serve(Thing.as_view()).get()["status"] == "success"


def test_a_response_without_a_body_has_none(serve):
    view = enveloped(answering(lambda request: Response(status=204)), "response_v2")
    assert serve(view).http.get("/thing/").content == b""


@pytest.mark.parametrize("envelope", STRUCTURED)
@pytest.mark.parametrize("first", ["http", "tool"])
def test_a_cached_response_is_not_wrapped_twice(serve, envelope, first):
    @method_decorator(cache_page(60), name="dispatch")
    class Cached(APIView):
        permission_classes = []
        renderer_classes = [renderer(envelope)]

        def get(self, request) -> Response:
            return Response({"a": 1})

    thing = serve(Cached.as_view())
    if first == "http":
        thing.get()
    bodies = [thing.read(envelope), thing.read(envelope)]
    assert [body["data"] for body in bodies] == [{"a": 1}, {"a": 1}]


def test_a_callers_other_renderers_still_work(serve):
    view = answering(lambda request: Response({"a": 1}))
    view.cls.renderer_classes = [EnvelopeJSONRenderer, JSONRenderer]
    thing = serve(view)
    thing.http.get("/thing/", headers={"accept": "application/json"})
    assert thing.read()["data"] == {"a": 1}
