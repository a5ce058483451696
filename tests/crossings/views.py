"""One resource, notes, by each kind of view that REST framework has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.shortcuts import get_object_or_404
from django.urls import path
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

AUTHENTICATION = [AgentTokenAuthentication, TokenAuthentication]
STAMP = "tests.crossings.views.StampMiddleware"


class StampMiddleware:
    """Puts onto each request for notes what the permission of the views looks at."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        if request.path_info.startswith("/notes/"):
            request.tenant = "shop"
        return self.get_response(request)


class IsStamped(IsAuthenticated):
    """Lets users in, where the middleware is installed only with what it puts onto requests."""

    def has_permission(self, request: Any, view: Any) -> bool:
        is_stamped = STAMP not in settings.MIDDLEWARE or request.tenant == "shop"
        return is_stamped and super().has_permission(request, view)


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Ticket
        fields = ["id", "subject", "body", "priority"]


def find_notes(request: Any) -> Any:
    rows = Ticket.objects.order_by("pk")
    return rows if request.user.is_staff else rows.filter(opened_by=request.user)


def answer_list(request: Any) -> Response:
    # `asdict` copies lists, which it cannot those of a serializer.
    rows = [*NoteSerializer(find_notes(request), many=True).data]
    return ANSWERS[getattr(settings, "NOTES_ANSWER", "rows")](rows)


def answer_in_envelope(rows: Any) -> Response:
    """Answer as the project's own REST API does, in an envelope that the package knows."""
    return Response(asdict(success_response({"results": rows})))


def answer_softly(rows: Any) -> Response:
    """Answer that there is a problem, and what was found all the same."""
    raise SoftFailure("Not all are new.", "stale", data={"results": rows})


ANSWERS = {"rows": Response, "own envelope": answer_in_envelope, "soft failure": answer_softly}


def answer_create(request: Any) -> Response:
    serializer = NoteSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    create(serializer, request)
    return Response(serializer.data, status=201)


def create(serializer: Any, request: Any) -> None:
    # A key that does not depend on what was rolled back before.
    key, customer = Ticket.objects.latest("pk").pk + 1, Customer.objects.earliest("pk")
    serializer.save(pk=key, opened_by=request.user, customer=customer)


def answer_change(request: Any, pk: int) -> Response:
    note = get_object_or_404(find_notes(request), pk=pk)
    serializer = NoteSerializer(note, data=request.data, partial=True)
    serializer.is_valid(raise_exception=True)
    serializer.save()
    return Response(serializer.data)


def answer_delete(request: Any, pk: int) -> Response:
    get_object_or_404(find_notes(request), pk=pk).delete()
    return Response(status=204)


def answer_error(exc: Exception, context: Any) -> Response | None:
    """Answer an error in a body of the project's own, its code before its words."""
    response = exception_handler(exc, context)
    if response is not None:
        response.data = {"error": {"code": "E17", "errors": response.data}}
    return response


class Common:
    authentication_classes = AUTHENTICATION
    permission_classes = [IsStamped]


class Stock(Common, viewsets.ModelViewSet):
    """Notes, as REST framework handles them."""

    serializer_class = NoteSerializer
    queryset = Ticket.objects.order_by("pk")
    http_method_names = ["get", "post", "patch", "delete"]

    def get_queryset(self) -> Any:
        return find_notes(self.request)

    def perform_create(self, serializer: Any) -> None:
        create(serializer, self.request)


class Overridden(Stock):
    """Notes, with handlers of the project's own, which alone know whose they are."""

    def get_queryset(self) -> Any:
        return Ticket.objects.order_by("pk")

    def list(self, request, *args, **kwargs):
        return answer_list(request)

    def create(self, request, *args, **kwargs):
        return answer_create(request)

    def partial_update(self, request, *args, pk=None, **kwargs):
        return answer_change(request, pk)

    def destroy(self, request, *args, pk=None, **kwargs):
        return answer_delete(request, pk)


class Actions(Common, viewsets.GenericViewSet):
    """Notes, by actions."""

    serializer_class = NoteSerializer
    queryset = Ticket.objects.order_by("pk")

    @action(detail=False, url_path="all")
    def browse(self, request):
        return answer_list(request)

    @browse.mapping.post
    def add(self, request):
        return answer_create(request)

    @action(detail=True, methods=["patch"], url_path="one")
    def change(self, request, pk=None):
        return answer_change(request, pk)

    @change.mapping.delete
    def remove(self, request, pk=None):
        return answer_delete(request, pk)


class Plain(Common, APIView):
    """Notes, by a plain view."""

    def get(self, request):
        return answer_list(request)

    def post(self, request):
        return answer_create(request)


class PlainOne(Common, APIView):
    """One note, by a plain view."""

    def patch(self, request, pk):
        return answer_change(request, pk)

    def delete(self, request, pk):
        return answer_delete(request, pk)


def make_function(methods: dict[str, Callable[..., Response]], name: str) -> Any:
    def notes(request, **kwargs):
        return methods[request.method](request, **kwargs)

    notes.__name__ = name
    for decorate in (permission_classes([IsStamped]), authentication_classes(AUTHENTICATION)):
        notes = decorate(notes)
    return api_view(list(methods))(notes)


FUNCTIONS = (
    make_function({"GET": answer_list, "POST": answer_create}, "notes"),
    make_function({"PATCH": answer_change, "DELETE": answer_delete}, "note"),
)


def make_asynchronous(view_class: Any) -> Any:
    # As packages of asynchronous views do: a coroutine with what REST framework's has.
    plain = view_class.as_view()

    async def callback(request, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(plain)(request, *args, **kwargs)

    callback.cls, callback.initkwargs, callback.csrf_exempt = view_class, {}, True  # type: ignore[attr-defined]
    return callback


def make_router(view_class: Any) -> Sequence[Any]:
    router = SimpleRouter()
    router.register("notes", view_class, basename="note")
    return router.urls


@dataclass(frozen=True)
class Kind:
    """A kind of view: its URLs, the path of all notes, and that of one."""

    urls: Sequence[Any]
    every: str
    one: str


KINDS = {
    "viewset": Kind(make_router(Stock), "/notes/", "/notes/{pk}/"),
    "overridden list": Kind(make_router(Overridden), "/notes/", "/notes/{pk}/"),
    "action": Kind(make_router(Actions), "/notes/all/", "/notes/{pk}/one/"),
    "APIView": Kind(
        [path("notes/", Plain.as_view()), path("notes/<int:pk>/", PlainOne.as_view())],
        "/notes/",
        "/notes/{pk}/",
    ),
    "function": Kind(
        [path("notes/", FUNCTIONS[0]), path("notes/<int:pk>/", FUNCTIONS[1])],
        "/notes/",
        "/notes/{pk}/",
    ),
    "async": Kind(
        [
            path("notes/", make_asynchronous(Plain)),
            path("notes/<int:pk>/", make_asynchronous(PlainOne)),
        ],
        "/notes/",
        "/notes/{pk}/",
    ),
}
