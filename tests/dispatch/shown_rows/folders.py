"""Folders with sheets of several owners, and views that show callers their own rows."""

from __future__ import annotations

from django.db import models
from rest_framework import serializers, viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response


class Folder(models.Model):
    name = models.CharField(max_length=40)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return self.name


class Sheet(models.Model):
    folder = models.ForeignKey(Folder, models.CASCADE, related_name="sheets")
    slug = models.SlugField()
    owner = models.CharField(max_length=20)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return self.slug


class Lien(models.Model):
    folder = models.ForeignKey(Folder, models.PROTECT)
    owner = models.CharField(max_length=20)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return f"Lien {self.pk}"


MODELS = (Folder, Sheet, Lien)


class FolderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Folder
        fields = ["id", "name"]


class SheetSerializer(serializers.ModelSerializer):
    class Meta:
        model = Sheet
        fields = ["id", "slug", "owner"]


class LienSerializer(serializers.ModelSerializer):
    class Meta:
        model = Lien
        fields = ["id", "owner"]


class FolderViewSet(viewsets.ModelViewSet):
    queryset = Folder.objects.order_by("pk")
    serializer_class = FolderSerializer
    authentication_classes = [TokenAuthentication]


class OfOwner(BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        return queryset.filter(owner=request.user.get_username())


class TwoAPage(PageNumberPagination):
    page_size = 2


class OwnListSerializer(serializers.ListSerializer):
    """Leaves out rows of other owners."""

    def to_representation(self, data):
        owner = self.context["request"].user.get_username()
        return super().to_representation([row for row in data if row.owner == owner])


class Listed:
    """Mixins for a view set: each lists the rows of the caller in its own way."""

    class Stock:
        """Filters by REST framework's filter backends."""

        filter_backends = [OfOwner]

    class Paged(Stock):
        pagination_class = TwoAPage

    class Handler:
        """Filters in its handler and not in its queryset."""

        def list(self, request, *args, **kwargs) -> Response:
            rows = self.get_queryset().filter(owner=request.user.get_username())
            return Response(self.get_serializer(rows, many=True).data)

    class Wrapped:
        def list(self, request, *args, **kwargs) -> Response:
            rows = self.get_queryset().filter(owner=request.user.get_username())
            return Response({"rows": self.get_serializer(rows, many=True).data})

    class PagedHandler:
        pagination_class = TwoAPage

        def list(self, request, *args, **kwargs) -> Response:
            rows = self.get_queryset().filter(owner=request.user.get_username())
            page = self.paginate_queryset(rows)
            return self.get_paginated_response(self.get_serializer(page, many=True).data)

    class Pagination:
        """Filters while it paginates."""

        def paginate_queryset(self, queryset):
            return list(queryset.filter(owner=self.request.user.get_username()))

        def get_paginated_response(self, data) -> Response:
            return Response(data)

    class Handwritten:
        """Answers with rows that no serializer wrote."""

        def list(self, request, *args, **kwargs) -> Response:
            rows = self.get_queryset().filter(owner=request.user.get_username())
            return Response([{"id": row.pk} for row in rows])

    class Leaving:
        """Filters in a list serializer."""

        def get_serializer_class(self):
            own = super().get_serializer_class()
            meta = type("Meta", (own.Meta,), {"list_serializer_class": OwnListSerializer})
            return type(own.__name__, (own,), {"Meta": meta})

    class Refusing:
        def list(self, request, *args, **kwargs) -> Response:
            return Response({"detail": "Not for you."}, status=403)

    class Raising:
        def list(self, request, *args, **kwargs) -> Response:
            raise PermissionDenied

    class Failing:
        def list(self, request, *args, **kwargs) -> Response:
            raise LookupError("secret")

    class Missing:
        """Has no list."""

        http_method_names = ["put"]


def make_view(way: type, model: type[models.Model], serializer: type) -> type:
    members = {
        "queryset": model.objects.order_by("pk"),
        "serializer_class": serializer,
        "authentication_classes": [TokenAuthentication],
    }
    return type(f"{model.__name__}ViewSet", (way, viewsets.ModelViewSet), members)
