"""``assert_parity`` passes if a tool and its view agree, and fails otherwise."""

from __future__ import annotations

import itertools

import pytest
from django.contrib.auth.models import Group, User
from django.core.validators import FileExtensionValidator
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework import generics, serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import registry
from drf_mcp.renderers import EnvelopeJSONRenderer
from drf_mcp.test import MCPClient, assert_parity, assert_tool_parity
from drf_mcp.test.requests import VOLATILE, is_equal, keep_stable_value, sample_arguments
from example_project.shop.models import Order

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> MCPClient:
    client = MCPClient()
    client.force_authenticate(User.objects.get(username="alice"))
    return client


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Open(APIView):
    """A view without permissions."""

    permission_classes = []


class Different(Open):
    def get(self, request) -> Response:
        return Response({"tool": getattr(request._request, "is_mcp_request", False)})


class DenyingTools(Open):
    def get(self, request) -> Response:
        return Response(status=403 if getattr(request._request, "is_mcp_request", False) else 200)


class WritingForTools(Open):
    def post(self, request) -> Response:
        if getattr(request._request, "is_mcp_request", False):
            Group.objects.create(name="x")
        return Response({})


class Changing(Open):
    numbers = itertools.count()

    def get(self, request) -> Response:
        return Response({"now": timezone.now(), "number": next(self.numbers), "same": [1]})


class Picture(Open):
    def get(self, request) -> HttpResponse:
        return HttpResponse(b"\x89PNG", content_type="image/png")


class DifferentPicture(Open):
    def get(self, request) -> HttpResponse:
        tool = getattr(request._request, "is_mcp_request", False)
        return HttpResponse(b"\x89PNG" + (b"1" if tool else b"2"), content_type="image/png")


class Crash(Open):
    def get(self, request) -> Response:
        raise RuntimeError("broken")


class TextRenderer(BaseRenderer):
    media_type, format = "text/plain", "txt"

    def render(self, data, accepted_media_type=None, renderer_context=None) -> bytes:
        return str(data).encode()


class TextFirst(Open):
    """Render text unless the client accepts JSON only."""

    renderer_classes = [TextRenderer, JSONRenderer]

    def get(self, request) -> Response:
        return Response({"a": 1})


class StartingSession(Open):
    def get(self, request) -> Response:
        request.session["seen"] = True
        return Response({})


class Enveloped(Open):
    renderer_classes = [EnvelopeJSONRenderer]

    def get(self, request) -> Response:
        return Response({"a": 1})


class Groups(generics.ListCreateAPIView):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = []


@pytest.fixture
def expose_thing(expose):
    def expose_view(view) -> None:
        expose(path("thing/", view.as_view()))

    return expose_view


def test_the_same_request_has_parity(client):
    assert_parity(client, "customers_list", {"page": 2}, "GET", "/api/customers/?page=2")


def test_a_write_has_parity_and_is_rolled_back(client):
    order = Order.objects.filter(status="paid", customer__owner__username="alice").first()
    path, body = f"/api/orders/{order.pk}/refund/", {"reason": "late"}
    assert_parity(client, "orders_refund", {"pk": order.pk, **body}, "POST", path, body)
    order.refresh_from_db()
    assert order.status == "paid"


def test_a_denied_request_has_parity(client):
    assert_parity(client, "customers_deactivate", {"pk": 1}, "POST", "/api/customers/1/deactivate/")


@pytest.mark.parametrize(
    ("arguments", "path", "part"),
    [
        ({"page": 2}, "/api/customers/?page=1", "data"),
        ({"page": 99}, "/api/customers/", "status"),
        ({}, "/api/customers/?page=99", "status"),
    ],
)
def test_another_request_has_no_parity(client, arguments, path, part):
    with pytest.raises(AssertionError, match=f"{part} differs"):
        assert_parity(client, "customers_list", arguments, "GET", path)


@pytest.mark.parametrize(
    ("view", "method", "part"),
    [
        (Different, "GET", "data"),
        (DenyingTools, "GET", "status"),
        (WritingForTools, "POST", "writes"),
        (DifferentPicture, "GET", "content"),
    ],
)
def test_a_view_that_treats_tools_differently_has_no_parity(expose_thing, view, method, part):
    expose_thing(view)
    with pytest.raises(AssertionError, match=f"{part} differs"):
        assert_parity(MCPClient(), "thing", {}, method, "/thing/")


@pytest.mark.parametrize("view", [Changing, Picture, Crash, Enveloped, TextFirst])
def test_a_view_that_treats_tools_like_others_has_parity(expose_thing, view):
    expose_thing(view)
    assert_tool_parity(MCPClient(), "thing")


def test_writes_to_ignored_tables_are_not_compared(expose_thing):
    expose_thing(WritingForTools)
    with pytest.raises(AssertionError, match="writes differs"):
        assert_tool_parity(MCPClient(), "thing", ignored_writes=["auth_user"])
    assert_tool_parity(MCPClient(), "thing", ignored_writes=["auth_group"])


def test_a_session_that_is_rolled_back_leaves_no_cookie(expose_thing):
    expose_thing(StartingSession)
    client = MCPClient()
    assert_tool_parity(client, "thing")
    assert not client.cookies


def test_created_rows_have_parity_although_their_keys_differ(expose_thing):
    expose_thing(Groups)
    assert_parity(MCPClient(), "thing_create", {"name": "a"}, "POST", "/thing/", {"name": "a"})
    assert not Group.objects.exists()


def test_the_failure_names_permission_classes_if_only_the_endpoint_refuses(db):
    with pytest.raises(AssertionError, match="PERMISSION_CLASSES"):
        assert_parity(MCPClient(), "products_list", {}, "GET", "/api/products/")


def test_a_caller_whom_both_refuse_has_parity(db):
    assert_parity(MCPClient(), "stats", {}, "GET", "/api/stats/")


def test_an_unknown_tool_has_no_parity(client):
    with pytest.raises(AssertionError, match="Unknown tool"):
        assert_parity(client, "no_such", {}, "GET", "/api/stats/")


def test_samples_use_rows_that_the_user_may_see():
    alice = User.objects.get(username="alice")
    arguments = sample_arguments(registry.tool("customers_retrieve"), alice)
    assert alice.customers.filter(pk=arguments["id"]).exists()


def test_samples_use_parents_and_related_rows():
    arguments = sample_arguments(registry.tool("customers_orders_retrieve"))
    assert Order.objects.filter(pk=arguments["id"], customer=arguments["customer_pk"]).exists()
    lines = sample_arguments(registry.tool("orders_create"))["lines"]
    assert isinstance(lines[0]["product"], str)
    assert lines[0]["product"] != "text"


class Files(serializers.Serializer):
    image = serializers.ImageField()
    sheet = serializers.FileField(validators=[FileExtensionValidator(["xml", "csv"])])
    notes = serializers.ListField(child=serializers.FileField())


class Upload(Open):
    serializer_class = Files

    def get_serializer(self, **kwargs) -> Files:
        return Files(**kwargs)

    def post(self, request) -> Response:
        """Return the names of the files."""
        files = self.get_serializer(data=request.data)
        files.is_valid(raise_exception=True)
        names = [files.validated_data[name].name for name in ("image", "sheet")]
        return Response([*names, *(note.name for note in files.validated_data["notes"])])


def test_samples_of_files_have_an_accepted_type(expose_thing):
    expose_thing(Upload)
    client = MCPClient()
    arguments = sample_arguments(registry.tool("thing"))
    names = client.call_tool("thing", arguments).data["results"]
    assert names == ["sample.png", "sample.xml", "sample.txt"]
    assert_tool_parity(client, "thing")


def test_arguments_that_no_http_request_has_fail(expose_thing):
    expose_thing(Upload)
    with pytest.raises(AssertionError, match=r"no HTTP request matches .* image: The file is not"):
        assert_tool_parity(MCPClient(), "thing", {"image": 1, "sheet": "", "notes": []})


def test_values_that_differ_between_two_runs_are_not_compared():
    expected = keep_stable_value({"a": 1, "b": [1, {"c": 2}]}, {"a": 2, "b": [1, {"c": 3}]})
    assert expected == {"a": VOLATILE, "b": [1, {"c": VOLATILE}]}
    assert is_equal(expected, {"a": "x", "b": [1, {"c": None}]})
    assert not is_equal(expected, {"a": "x", "b": [2, {"c": None}]})
    assert not is_equal(expected, {"a": "x"})
