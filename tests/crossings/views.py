"""One resource, notes, in each kind of view that REST framework has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.shortcuts import get_object_or_404
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.decorators import action, api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView, exception_handler

from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.envelopes import success_response
from drf_mcp.exceptions import SoftFailure
from example_project.shop.models import Customer, Ticket
from tests.crossings.drawing import ON
from tests.crossings.formats import Hours, OwnRenderer, choose_formats

AUTHENTICATION = [AgentTokenAuthentication, TokenAuthentication]
STAMP = "tests.crossings.views.StampMiddleware"


class StampMiddleware:
    """Sets the attribute that the permission of the views requires."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        if "/notes/" in request.path_info:
            request.tenant = "shop"
        return self.get_response(request)


class IsStamped(IsAuthenticated):
    """Allows users; where the middleware is installed, only with its attribute."""

    def has_permission(self, request: Any, view: Any) -> bool:
        is_stamped = STAMP not in settings.MIDDLEWARE or request.tenant == "shop"
        return is_stamped and super().has_permission(request, view)


class NoteSerializer(serializers.ModelSerializer):
    note_text = serializers.CharField(source="body")
    hours = serializers.SerializerMethodField()
    version = serializers.SerializerMethodField()

    class Meta:
        model = Ticket
        fields = ["id", "subject", "note_text", "priority", "hours", "version"]

    def get_hours(self, note: Any) -> Any:
        renderer = self.context["request"].accepted_renderer
        return Hours() if isinstance(renderer, OwnRenderer) else Decimal("1.50")

    def get_version(self, note: Any) -> str | None:
        version: str | None = self.context["request"].version
        return version


class FiledNoteSerializer(NoteSerializer):
    """A note whose text is uploaded as a file."""

    note_text = serializers.CharField(source="body", read_only=True)
    text_file = serializers.FileField(write_only=True)

    class Meta(NoteSerializer.Meta):
        fields = [*NoteSerializer.Meta.fields, "text_file"]

    def validate(self, attributes: Any) -> Any:
        if file := attributes.pop("text_file", None):
            attributes["body"] = f"{file.name}: {file.read().decode()}"
        return attributes


def find_notes(request: Any) -> Any:
    """Return the notes that a user may see; those of a customer if the path names one."""
    rows, kwargs = Ticket.objects.order_by("pk"), request.parser_context["kwargs"]
    rows = rows if request.user.is_staff else rows.filter(opened_by=request.user)
    return rows.filter(customer=kwargs["customer_pk"]) if "customer_pk" in kwargs else rows


def make_serializer(request: Any, *args: Any, **kwargs: Any) -> Any:
    view = request.parser_context["view"]
    return view.serializer_class(*args, context={"request": request, "view": view}, **kwargs)


def answer_list(request: Any) -> Response:
    rows, view = find_notes(request), request.parser_context["view"]
    if view.pagination_class is not None:
        paginator = getattr(view, "paginator", None) or view.pagination_class()
        page = paginator.paginate_queryset(rows, request, view)
        return paginator.get_paginated_response(make_serializer(request, page, many=True).data)
    # `asdict` copies lists, but cannot copy those of a serializer.
    return ANSWERS[settings.NOTES_ANSWER]([*make_serializer(request, rows, many=True).data])


def answer_in_envelope(rows: Any) -> Response:
    """Answer in an envelope that the package knows."""
    return Response(asdict(success_response({"results": rows})))


def answer_softly(rows: Any) -> Response:
    """Answer with a soft failure, and the rows."""
    raise SoftFailure("Not all are new.", "stale", data={"results": rows})


ANSWERS = {"rows": Response, "own envelope": answer_in_envelope, "soft failure": answer_softly}


def answer_create(request: Any) -> Response:
    serializer = make_serializer(request, data=request.data)
    serializer.is_valid(raise_exception=True)
    create(serializer, request)
    return Response(serializer.data, status=201)


def create(serializer: Any, request: Any) -> None:
    # The key does not depend on rows that were rolled back.
    key, customer = Ticket.objects.latest("pk").pk + 1, Customer.objects.earliest("pk")
    serializer.save(pk=key, opened_by=request.user, customer=customer)


def answer_one(request: Any, pk: int) -> Response:
    return Response(make_serializer(request, get_object_or_404(find_notes(request), pk=pk)).data)


def answer_change(request: Any, pk: int) -> Response:
    note = get_object_or_404(find_notes(request), pk=pk)
    serializer = make_serializer(request, note, data=request.data, partial=True)
    serializer.is_valid(raise_exception=True)
    serializer.save()
    return Response(serializer.data)


def answer_delete(request: Any, pk: int) -> Response:
    get_object_or_404(find_notes(request), pk=pk).delete()
    return Response(status=204)


def answer_error(exc: Exception, context: Any) -> Response | None:
    """Answer an error with a body of the project, whose code comes before its message."""
    response = exception_handler(exc, context)
    if response is not None:
        response.data = {"error": {"code": "E17", "errors": response.data}}
    return response


class Common:
    authentication_classes = AUTHENTICATION
    permission_classes = [IsStamped]
    serializer_class: Any = NoteSerializer
    pagination_class: Any = None


class Stock(Common, viewsets.ModelViewSet):
    """Notes, by REST framework's own handlers."""

    queryset = Ticket.objects.order_by("pk")
    http_method_names = ["get", "post", "patch", "delete"]

    def get_queryset(self) -> Any:
        return find_notes(self.request)

    def perform_create(self, serializer: Any) -> None:
        create(serializer, self.request)


class Overridden(Stock):
    """Notes, by handlers of the project, which filter the rows themselves."""

    def get_queryset(self) -> Any:
        return Ticket.objects.order_by("pk")

    def list(self, request, *args, **kwargs):
        return answer_list(request)

    def create(self, request, *args, **kwargs):
        return answer_create(request)

    def retrieve(self, request, *args, pk=None, **kwargs):
        return answer_one(request, pk)

    def partial_update(self, request, *args, pk=None, **kwargs):
        return answer_change(request, pk)

    def destroy(self, request, *args, pk=None, **kwargs):
        return answer_delete(request, pk)


class Actions(Common, viewsets.GenericViewSet):
    """Notes, by actions."""

    queryset = Ticket.objects.order_by("pk")

    @action(detail=False, url_path="all")
    def browse(self, request, **kwargs):
        return answer_list(request)

    @browse.mapping.post
    def add(self, request, **kwargs):
        return answer_create(request)

    @action(detail=True, url_path="one")
    def look(self, request, pk=None, **kwargs):
        return answer_one(request, pk)

    @look.mapping.patch
    def change(self, request, pk=None, **kwargs):
        return answer_change(request, pk)

    @look.mapping.delete
    def remove(self, request, pk=None, **kwargs):
        return answer_delete(request, pk)


class Plain(Common, APIView):
    """Notes, by an APIView."""

    def get(self, request, **kwargs):
        return answer_list(request)

    def post(self, request, **kwargs):
        return answer_create(request)


class PlainOne(Common, APIView):
    """One note, by an APIView."""

    def get(self, request, pk, **kwargs):
        return answer_one(request, pk)

    def patch(self, request, pk, **kwargs):
        return answer_change(request, pk)

    def delete(self, request, pk, **kwargs):
        return answer_delete(request, pk)


Handlers = Mapping[str, Callable[..., Response]]
EVERY: Handlers = {"GET": answer_list, "POST": answer_create}
ONE: Handlers = {"GET": answer_one, "PATCH": answer_change, "DELETE": answer_delete}


def make_function(handlers: Handlers, name: str, attributes: Mapping[str, Any]) -> Any:
    def notes(request, pk=None, **kwargs):
        return handlers[request.method](request, *filter(None, [pk]))

    notes.__name__ = name
    for decorate in (permission_classes([IsStamped]), authentication_classes(AUTHENTICATION)):
        notes = decorate(notes)
    function = api_view(list(handlers))(notes)
    for attribute, value in attributes.items():
        setattr(function.cls, attribute, value)
    return function


def make_asynchronous(view_class: Any, **attributes: Any) -> Any:
    # Like packages of asynchronous views: a coroutine with the attributes of REST framework's
    # callback.
    plain = view_class.as_view(**attributes)

    async def callback(request, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(plain)(request, *args, **kwargs)

    callback.cls, callback.initkwargs, callback.csrf_exempt = view_class, attributes, True  # type: ignore[attr-defined]
    return callback


VIEWSETS = {"viewset": Stock, "overridden list": Overridden, "action": Actions}


def make_urls(case: Mapping[str, str]) -> Sequence[Any]:
    """Return the patterns of the notes by a case's kind of view."""
    kind, attributes = case["view"], choose_formats(case)
    files = case["parser"] == "files"
    attributes["serializer_class"] = FiledNoteSerializer if files else NoteSerializer
    if kind in VIEWSETS:
        router = SimpleRouter()
        router.register("notes", type("Notes", (VIEWSETS[kind],), attributes), basename="note")
        return router.urls
    if kind == "function":
        every = make_function(EVERY, "notes", attributes)
        one = make_function(ONE, "note", attributes)
    else:
        make = make_asynchronous if kind == "async" else lambda cls, **own: cls.as_view(**own)
        every, one = make(Plain, **attributes), make(PlainOne, **attributes)
    return [path("notes/", every), path("notes/<int:pk>/", one)]


@dataclass(frozen=True)
class Notes:
    """The notes of a case.

    Attributes:
        urls: their URLs.
        every: the route's path of all notes.
        one: the route's path of one note.
        kwargs: the path arguments except the key of a note.
        query: the query parameters of each request.
    """

    urls: Sequence[Any]
    every: str
    one: str
    kwargs: Mapping[str, Any]
    query: Mapping[str, Any]

    @classmethod
    def of(cls, case: Mapping[str, str]) -> Notes:
        before, kwargs = "", {}
        if case["versioning"] == "path":
            before, kwargs["version"] = "<str:version>/", "v2"
        if case["nested"] == ON:
            before += "customers/<int:customer_pk>/"
            kwargs["customer_pk"] = Customer.objects.earliest("pk").pk
        urls = [path(before, include(list(make_urls(case))))]
        start = f"/{before}notes/".replace("<str:", "{").replace("<int:", "{").replace(">", "}")
        own = {"action": ("all/", "{pk}/one/")}
        every, one = own.get(case["view"], ("", "{pk}/"))
        query = {"version": "v2"} if case["versioning"] == "query" else {}
        return cls(urls, start + every, start + one, kwargs, query)
