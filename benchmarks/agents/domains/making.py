"""Viewsets as small projects write them: a model, its fields, filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.urls import include, path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter


class Pages(PageNumberPagination):
    page_size = 50


def make_serializer(
    of: type[models.Model], fields: Any = "__all__", read_only: tuple[str, ...] = ()
) -> type[serializers.ModelSerializer[Any]]:
    meta = type("Meta", (), {"model": of, "fields": fields, "read_only_fields": read_only})
    return type(f"{of.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta})


class ObjectViewSet(viewsets.ModelViewSet):
    """All actions of a model."""

    pagination_class = Pages
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def read(self) -> Any:
        """Return the validated data, by the serializer of the action."""
        serializer = self.get_serializer(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def change(self, **values: Any) -> Response:
        instance = self.get_object()
        for name, value in values.items():
            setattr(instance, name, value)
        instance.save()
        return Response(type(self).serializer_class(instance).data)


def make_viewset(
    of: type[models.Model],
    *,
    order: tuple[str, ...] = ("id",),
    filters: Any = (),
    search: Sequence[str] = (),
    read_only: tuple[str, ...] = (),
    base: Any = ObjectViewSet,
) -> Any:
    """Return a viewset of a model, with the backends for its filters and its search."""
    backends = [DjangoFilterBackend] if filters else []
    members = {
        "queryset": of.objects.order_by(*order),
        "serializer_class": make_serializer(of, read_only=read_only),
        "filter_backends": [*backends, SearchFilter] if search else backends,
        "filterset_fields": filters,
        "search_fields": search,
    }
    return type(f"{of.__name__}ViewSet", (base,), members)


def step(**options: Any) -> Any:
    """Return the decorator of an action on one object."""
    return action(detail=True, methods=["post"], **options)


def make_urls(*registered: tuple[str, type[viewsets.ViewSetMixin]]) -> list[Any]:
    router = SimpleRouter()
    for prefix, view_class in registered:
        router.register(prefix, view_class, basename=prefix.replace("/", "-"))
    return [path("", include("drf_mcp.urls")), path("api/", include(router.urls))]
