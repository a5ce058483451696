"""Ways of a list to leave rows out, or to mask them, after its queryset was filtered.

`hide` leaves the rows out whose names begin with "hid". Each way is a mixin of a viewset.
"""

from __future__ import annotations

import functools
import json
from types import FunctionType
from typing import Any

from django.contrib.auth.models import Group
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework import pagination, renderers, serializers, viewsets
from rest_framework.mixins import ListModelMixin
from rest_framework.utils.encoders import JSONEncoder


def hide(rows: Any) -> Any:
    def name(row: Any) -> str:
        return row["name"] if isinstance(row, dict) else row.name

    return [row for row in rows if not name(row).startswith("hid")]


def hide_in(response: Any) -> Any:
    data = response.data
    if isinstance(data, list):
        response.data = hide(data)
    elif isinstance(data, dict) and "results" in data:
        response.data = {**data, "results": hide(data["results"])}
    return response


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class: Any = GroupSerializer
    authentication_classes: list[type] = []
    permission_classes: list[type] = []


class Pages(pagination.PageNumberPagination):
    page_size = 100


class HidingPages(Pages):
    def paginate_queryset(self, queryset, request, view=None):
        return super().paginate_queryset(queryset.exclude(name__startswith="hid"), request, view)


class HidingPaginator(Paginator):
    def page(self, number):
        return self._get_page(hide(self.object_list), number, self)


class InnerPages(Pages):
    django_paginator_class = HidingPaginator


class HidingRenderer(renderers.JSONRenderer):
    def render(self, data, *args, **kwargs):
        return super().render(hide(data) if isinstance(data, list) else data, *args, **kwargs)


class HidingEncoder(JSONEncoder):
    def encode(self, o):
        return super().encode(hide(o) if isinstance(o, list) else o)

    def iterencode(self, o, *args, **kwargs):
        return super().iterencode(hide(o) if isinstance(o, list) else o, *args, **kwargs)


class EncodingRenderer(renderers.JSONRenderer):
    encoder_class = HidingEncoder


class HidingListSerializer(serializers.ListSerializer):
    def to_representation(self, data):
        return super().to_representation(hide(data))


class EarlyListSerializer(serializers.ListSerializer):
    def __init__(self, instance=None, **kwargs):
        super().__init__(None if instance is None else hide(instance), **kwargs)


class HidingQuerySet(QuerySet):
    def __iter__(self):
        return iter(hide(super().__iter__()))


class MaskedId(serializers.IntegerField):
    def to_representation(self, value):
        is_hidden = Group.objects.get(pk=value).name.startswith("hid")
        return None if is_hidden else super().to_representation(value)


def make_serializer(**members: Any) -> type:
    meta = {n: members.pop(n) for n in ("list_serializer_class", "fields") if n in members}
    Meta = type("Meta", (GroupSerializer.Meta,), meta)
    return type("Own", (GroupSerializer,), {"Meta": Meta, **members})


def hide_many(cls, *args, **kwargs):
    rows = hide(args[0]) if args else args
    return serializers.ListSerializer(rows, child=cls(), context=kwargs.get("context", {}))


def new_hiding(cls, *args, **kwargs):
    if kwargs.pop("many", False):
        return hide_many(GroupSerializer, *args, **kwargs)
    return serializers.ModelSerializer.__new__(cls, *args, **kwargs)


def mask_row(self, row):
    return {} if row.name.startswith("hid") else super(GroupSerializer, self).to_representation(row)


def wrap_list(handler: Any) -> Any:
    @functools.wraps(handler)
    def respond(self, *args, **kwargs):
        return hide_in(handler(self, *args, **kwargs))

    return respond


def copy_list() -> Any:
    return FunctionType(ListModelMixin.list.__code__, ListModelMixin.list.__globals__, "list")


class Ways:
    class InPaginator:
        pagination_class = HidingPages

    class InDjangoPaginator:
        pagination_class = InnerPages

    class InChosenPaginator:
        def get_queryset(self):
            self.pagination_class = HidingPages
            return super().get_queryset()

    class InKeptPaginator:
        _paginator = HidingPages()

    class InPaginatorProperty:
        @functools.cached_property
        def paginator(self):
            return HidingPages()

    class InPaginateQueryset:
        pagination_class = Pages

        def paginate_queryset(self, queryset):
            return hide(super().paginate_queryset(queryset))

    class InPaginatedResponse:
        pagination_class = Pages

        def get_paginated_response(self, data):
            return super().get_paginated_response(hide(data))

    class InGetSerializer:
        def get_serializer(self, *args, **kwargs):
            args = (hide(args[0]),) if kwargs.get("many") else args
            return super().get_serializer(*args, **kwargs)

    class InAttribute:
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            own = self.get_serializer
            self.get_serializer = lambda rows, **kw: own(hide(rows), **kw)

    class InAttributeOfInitial:
        def initial(self, request, *args, **kwargs):
            super().initial(request, *args, **kwargs)
            own = self.get_serializer
            self.get_serializer = lambda rows, **kw: own(hide(rows), **kw)

    class InHandlerAttribute:
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.list = lambda *args, **kw: hide_in(type(self).list(self, *args, **kw))

    class InList:
        def list(self, request, *args, **kwargs):
            return hide_in(super().list(request, *args, **kwargs))

    class InDecoratedList:
        list = wrap_list(copy_list())

    class InDispatch:
        def dispatch(self, request, *args, **kwargs):
            response = super().dispatch(request, *args, **kwargs)
            return hide_in(response)

    class InInitializeRequest:
        def initialize_request(self, request, *args, **kwargs):
            own = self.get_serializer
            vars(self)["get_serializer"] = lambda rows, **kw: own(hide(rows), **kw)
            return super().initialize_request(request, *args, **kwargs)

    class InFinalizeResponse:
        def finalize_response(self, request, response, *args, **kwargs):
            return super().finalize_response(request, hide_in(response), *args, **kwargs)

    class InRenderer:
        renderer_classes = [HidingRenderer]

    class InEncoder:
        renderer_classes = [EncodingRenderer]

    class InChosenRenderer:
        def initial(self, request, *args, **kwargs):
            super().initial(request, *args, **kwargs)
            request.accepted_renderer = HidingRenderer()

    class InListSerializer:
        serializer_class = make_serializer(list_serializer_class=HidingListSerializer)

    class InListSerializerInit:
        serializer_class = make_serializer(list_serializer_class=EarlyListSerializer)

    class InManyInit:
        serializer_class = make_serializer(many_init=classmethod(hide_many))

    class InNew:
        serializer_class = make_serializer(__new__=new_hiding)

    class InRow:
        """Shows an empty object for a hidden row."""

        serializer_class = make_serializer(to_representation=mask_row)

    class InKey:
        """Shows the row, and not its key."""

        serializer_class = make_serializer(id=MaskedId(read_only=True))

    class WithoutKey:
        serializer_class = make_serializer(fields=["name"])

    class InQuerySet:
        def get_queryset(self):
            return HidingQuerySet(Group).order_by("pk")


WAYS = [way for name, way in vars(Ways).items() if not name.startswith("_")]


def decorate(callback: Any) -> Any:
    @functools.wraps(callback)
    def respond(request, *args, **kwargs):
        return hide_in(callback(request, *args, **kwargs))

    return respond


class HidingMiddleware:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        response = self.get_response(request)
        if not request.path.startswith("/groups") or response.status_code != 200:
            return response
        data = json.loads(response.content)
        return HttpResponse(json.dumps(hide(data)), content_type="application/json")
