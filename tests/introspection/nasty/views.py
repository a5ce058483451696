"""Views that read their body, their query or their caller in many ways."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.http import HttpResponse, JsonResponse
from rest_framework import generics, permissions, serializers, views, viewsets
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import APIException
from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.response import Response
from rest_framework.versioning import QueryParameterVersioning, URLPathVersioning

from tests.introspection.nasty import fields

OPEN = [permissions.AllowAny]


class Echo(generics.GenericAPIView):
    """Answers with the data of its serializer."""

    permission_classes = OPEN
    authentication_classes: list[Any] = []

    def post(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)

    put = patch = post


def echo(serializer: Any, **attributes: Any) -> Any:
    """Return the callback of an `Echo` for a serializer, by default for POST only."""
    own = type(f"{serializer.__name__}Echo", (Echo,), {"serializer_class": serializer})
    attributes.setdefault("http_method_names", ["post"])
    for name, value in attributes.items():
        setattr(own, name, value)
    return own.as_view()


class Created(generics.CreateAPIView):
    """REST framework's own create without saving."""

    permission_classes = OPEN
    authentication_classes: list[Any] = []

    def perform_create(self, serializer):
        serializer.instance = serializer.validated_data


def created(serializer: Any) -> Any:
    """Return the callback of a `Created` for a serializer."""
    return type(f"{serializer.__name__}Created", (Created,), {}).as_view(
        serializer_class=serializer
    )


class Bulk(Echo):
    """Reads a list."""

    serializer_class = fields.Line
    http_method_names = ["post", "put", "patch", "delete"]

    def get_serializer(self, *args, **kwargs):
        return super().get_serializer(*args, many=True, **kwargs)

    def delete(self, request):
        return Response({"deleted": len(request.data)})


class Plain(views.APIView):
    """Reads its body without a serializer."""

    permission_classes = OPEN
    authentication_classes: list[Any] = []

    def post(self, request):
        return Response({"got": request.data})


class Reads(Plain):
    """Answers with query parameters that are not declared."""

    http_method_names = ["get"]

    def get(self, request, **kwargs):
        return Response({"query": request.query_params.dict(), "kwargs": kwargs})


class Named(Plain):
    """Makes its serializer in its handler."""

    def post(self, request):
        serializer = fields.Line(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


@api_view(["POST"])
@permission_classes(OPEN)
def function(request):
    return Response({"got": request.data})


@api_view(["GET"])
@permission_classes(OPEN)
def scalar(request):
    return Response(42)


class NoContent(Plain):
    def post(self, request):
        return Response(status=204)


class Bytes(Reads):
    def get(self, request):
        return HttpResponse(b"%PDF-1.4", content_type="application/pdf")


class Django(Reads):
    def get(self, request):
        return JsonResponse([1, 2], safe=False)


class Crashing(Echo):
    """Raises in get_serializer_class for users without a role."""

    http_method_names = ["post"]

    def get_serializer_class(self):
        return {"admin": fields.Line}[self.request.user.role]

    def post(self, request):
        return Response({"got": request.data})


class NoQueryset(generics.ListAPIView):
    """Raises in get_queryset for descriptions."""

    permission_classes = OPEN
    authentication_classes: list[Any] = []
    serializer_class = fields.GroupModel
    pagination_class = None

    def get_queryset(self):
        assert not getattr(self, "swagger_fake_view", False), "no caller"
        return Group.objects.all()


class BrokenHooks(NoQueryset):
    """Raises in a property that a description reads."""

    @property
    def filter_backends(self):
        raise RuntimeError("no filters")

    @property
    def paginator(self):
        return None

    def filter_queryset(self, queryset):
        return queryset


class Groups(generics.ListCreateAPIView):
    permission_classes = OPEN
    authentication_classes: list[Any] = []
    queryset = Group.objects.order_by("pk")
    serializer_class = fields.GroupModel


class Numbered(PageNumberPagination):
    page_size = 2
    page_size_query_param = "page[size]"
    max_page_size = 3


class Offset(LimitOffsetPagination):
    default_limit = 2


class Cursor(CursorPagination):
    page_size = 2
    ordering = "pk"


class Versions(Reads):
    versioning_class = URLPathVersioning

    def get(self, request, **kwargs):
        return Response({"version": request.version})


class ByQuery(Versions):
    versioning_class = type(
        "ByQuery", (QueryParameterVersioning,), {"allowed_versions": ["1", "2"]}
    )


class ByCaller(Echo):
    """Has other fields for staff than for other callers."""

    http_method_names = ["post"]

    def get_serializer_class(self):
        return StaffNote if self.request.user.is_staff else Note


class Note(serializers.Serializer):
    text = serializers.CharField()
    level = serializers.ChoiceField(["low"], required=False)


class StaffNote(Note):
    level = serializers.ChoiceField(["low", "high"], required=False)
    internal = serializers.CharField()


class Choosy(serializers.Serializer):
    """Has fields that depend on the caller."""

    text = serializers.CharField()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        user = self.context["request"].user
        self.fields["text"].required = user.is_staff
        if user.is_superuser:
            self.fields["secret"] = serializers.CharField(required=False)


class Forms(Echo):
    parser_classes = [FormParser, MultiPartParser]
    http_method_names = ["post"]


class JSONAlone(Echo):
    parser_classes = [JSONParser]
    http_method_names = ["post"]


class Teapot(APIException):
    status_code = 418
    default_code = "teapot"


class Refusing(Plain):
    def post(self, request):
        raise Teapot("Short and stout.")


class Doomed(Plain):
    def post(self, request):
        raise RuntimeError("on purpose")


class Sets(viewsets.ViewSet):
    """A view set without a serializer or a queryset."""

    permission_classes = OPEN
    authentication_classes: list[Any] = []

    def list(self, request):
        return Response([{"id": 1}])

    def retrieve(self, request, pk=None):
        return Response({"id": pk})

    def create(self, request):
        return Response({"got": request.data}, status=201)

    def destroy(self, request, pk=None):
        return Response(status=204)
