"""Asynchronous actions with the names that packages give them are standard actions."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework import filters, generics, mixins, pagination, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Twins:
    """What a package for asynchronous views adds to REST framework's mixins."""

    async def alist(self, *args, **kwargs):
        queryset = await self.afilter_queryset(self.get_queryset())
        page = await self.apaginate_queryset(queryset)
        return await self.get_apaginated_response(self.get_serializer(page, many=True).data)

    async def aretrieve(self, request, *args, **kwargs):
        return Response(self.get_serializer(await self.aget_object()).data)

    async def acreate(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        return Response(serializer.is_valid())

    async def aget_object(self):
        return (await self.afilter_queryset(self.get_queryset())).get(**self.kwargs)

    async def afilter_queryset(self, queryset):
        return await sync_to_async(self.filter_queryset)(queryset)

    async def apaginate_queryset(self, queryset):
        return await sync_to_async(self.paginate_queryset)(queryset)

    async def get_apaginated_response(self, data):
        return self.get_paginated_response(data)


class Attributes:
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    pagination_class = type("Pages", (pagination.PageNumberPagination,), {"page_size": 2})
    filter_backends = [filters.SearchFilter]
    search_fields = ["name"]


class Groups(Attributes, Twins, viewsets.GenericViewSet):
    @action(detail=False)
    def alist_all(self, request):
        return Response()


class Listing(Attributes, Twins, mixins.ListModelMixin, generics.GenericAPIView):
    async def get(self, request, *args, **kwargs):
        return await self.alist(request, *args, **kwargs)


@pytest.fixture
def tools(tools_of):
    return tools_of(
        path("groups/", Groups.as_view({"get": "alist", "post": "acreate"})),
        path("groups/<int:pk>/", Groups.as_view({"get": "aretrieve"})),
        path("listing/", Listing.as_view()),
    )


def arguments(tool) -> set[str]:
    return {*tool.input_schema["properties"]} - {"fields"}


def test_they_are_named_like_standard_actions(tools):
    assert {"groups_list", "groups_create", "groups_retrieve", "listing_list"} <= {*tools}


def test_a_list_has_filters_and_pages(tools):
    assert arguments(tools["groups_list"]) == {"search", "page"}
    assert arguments(tools["listing_list"]) == {"search", "page"}


def test_create_is_not_destructive(tools):
    assert tools["groups_create"].annotations["destructiveHint"] is False
    assert arguments(tools["groups_create"]) == {"name"}
