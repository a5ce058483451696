"""Views with answers of every kind that exceed a result, for `test_promises`."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import LogEntry
from django.http import HttpResponse
from django.urls import path
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.serializers import CharField, ModelSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from drf_mcp.exceptions import SoftFailure

WORDS = "as long as a note about a visit is, " * 8


class MayRead(BasePermission):
    """Refuses a caller whose name says that they have left."""

    def has_permission(self, request, view) -> bool:
        return request.user.is_authenticated and request.user.last_name != "Former"


class EntrySerializer(ModelSerializer):
    """An entry with its mark."""

    note = CharField(source="object_repr")

    class Meta:
        model = LogEntry
        fields = ["id", "note"]


def get_entries(request) -> Any:
    return LogEntry.objects.filter(user=request.user).order_by("-pk")


def make_text(rows: Any) -> str:
    return "\n".join(row.object_repr for row in rows)


def make_file(rows: Any) -> HttpResponse:
    headers = {"Content-Disposition": 'attachment; filename="notes.csv"'}
    return HttpResponse(make_text(rows), content_type="text/csv", headers=headers)


def refuse(rows: Any) -> None:
    raise SoftFailure("Not today.", data={"items": serialize(rows)})


def serialize(rows: Any) -> Any:
    return EntrySerializer(rows, many=True).data


# The answers of a project's own handler; `answers` has all kinds.
ANSWERS: dict[str, Any] = {
    "serialized": lambda rows: Response(serialize(rows)),
    "texts": lambda rows: Response([row.object_repr for row in rows]),
    "soft failure": refuse,
    "file": make_file,
}


class Twenty(PageNumberPagination):
    """Pages of twenty."""

    page_size = 20


class Listed(ListAPIView):
    """A page from REST framework's own handler."""

    permission_classes = [MayRead]
    serializer_class = EntrySerializer
    pagination_class = Twenty

    def get_queryset(self):
        return get_entries(self.request)


def make_patterns(answer: str) -> list[Any]:
    """Return the URLs of handlers of every kind with this answer."""
    give = ANSWERS[answer]

    class Overridden(Listed):
        """A list whose handler wraps REST framework's."""

        def list(self, request, *args, **kwargs):
            super().list(request, *args, **kwargs)
            return give(self.paginate_queryset(self.filter_queryset(self.get_queryset())))

    class Actions(GenericViewSet):
        """An action."""

        permission_classes = [MayRead]
        serializer_class = EntrySerializer

        def get_queryset(self):
            return get_entries(self.request)

        @action(detail=False)
        def recent(self, request):
            return give(self.get_queryset()[:20])

    class Plain(APIView):
        """A view without a queryset."""

        permission_classes = [MayRead]

        def get(self, request):
            return give(get_entries(request)[:20])

    @api_view()
    @permission_classes([MayRead])
    def function(request):
        return give(get_entries(request)[:20])

    return [
        path("stock/", Listed.as_view()),
        path("overridden/", Overridden.as_view()),
        path("actions/recent/", Actions.as_view({"get": "recent"})),
        path("plain/", Plain.as_view()),
        path("function/", function),
    ]


HANDLERS = {
    "stock": "stock_list",
    "overridden list()": "overridden_list",
    "action": "actions_recent",
    "APIView": "plain",
    "function": "function",
}
