"""Output schemas: described if only REST framework's code makes the answer, else open."""

from __future__ import annotations

import json

from django.contrib.auth.models import Group, User
from rest_framework import generics, renderers, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from tests.introspection.inspected import bare, described


class GroupSerializer(serializers.ModelSerializer):
    """Groups."""

    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(viewsets.ModelViewSet):
    """Only REST framework's code."""

    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes = []
    pagination_class = None
    filter_backends = []

    @action(detail=False)
    def names(self, request):
        return Response(["a"])


def groups(**attributes):
    """Return a subclass with other attributes."""
    return type("OwnGroups", (Groups,), attributes)


GROUP = {
    "type": "object",
    "properties": {"id": {"type": ["integer", "null"]}, "name": {"type": ["string", "null"]}},
}


def test_a_stock_action_has_the_schema_of_its_serializer(subtests):
    for name, expected in [
        ("list", {"type": "array", "items": GROUP}),
        ("retrieve", GROUP),
        ("create", GROUP),
        ("update", GROUP),
        ("partial_update", GROUP),
        ("destroy", {}),
    ]:
        with subtests.test(name=name, expected=expected):
            assert bare(described(Groups, action=name).output) == expected


def test_an_extra_action_is_open():
    assert described(Groups, "GET", "names").output == {}


def test_a_stock_generic_view_has_the_schema_of_its_serializer(subtests):
    for view, method, expected in [
        (generics.RetrieveUpdateDestroyAPIView, "GET", GROUP),
        (generics.RetrieveUpdateDestroyAPIView, "PATCH", GROUP),
        (generics.RetrieveUpdateDestroyAPIView, "DELETE", {}),
        (generics.ListCreateAPIView, "GET", {"type": "array", "items": GROUP}),
        (generics.ListCreateAPIView, "POST", GROUP),
    ]:
        with subtests.test(view=view, method=method, expected=expected):
            attributes = {
                "serializer_class": GroupSerializer,
                "queryset": Group.objects.all(),
                "pagination_class": None,
            }
            assert bare(described(type("Own", (view,), attributes), method).output) == expected


class Wrapping(renderers.JSONRenderer):
    """Wraps the data."""

    def render(self, data, *args, **kwargs):
        return super().render({"id": data}, *args, **kwargs)


class Encoding(renderers.JSONRenderer):
    """Encodes values with another encoder."""

    encoder_class = json.JSONEncoder


class Shouting(GroupSerializer):
    """Overrides data."""

    @property
    def data(self):
        return [super().data]


def choose_by_caller(self):
    return GroupSerializer if self.request.user.is_staff else Shouting


def choose_elsewhere(self):
    return GroupSerializer if self.is_staff() else Shouting


def test_an_answer_that_a_project_may_change_is_open(subtests):
    for attributes in [
        {"retrieve": lambda self, request, pk: Response("a")},
        {"finalize_response": lambda self, request, response, *args, **kwargs: response},
        {"dispatch": lambda self, request, *args, **kwargs: Response()},
        {"get_serializer": lambda self, *args, **kwargs: GroupSerializer(many=True)},
        {"get_serializer_class": choose_by_caller},
        {"get_serializer_class": choose_elsewhere, "is_staff": lambda self: True},
        {"renderer_classes": [Wrapping]},
        {"renderer_classes": [Encoding]},
        {"renderer_classes": [renderers.TemplateHTMLRenderer]},
        {"serializer_class": Shouting},
        {"serializer_class": serializers.BaseSerializer},
    ]:
        with subtests.test(attributes=attributes):
            assert described(groups(**attributes), action="retrieve").output == {}


def test_a_handler_that_calls_a_stock_action_is_open():
    class Own(generics.ListAPIView):
        queryset = User.objects.all()
        serializer_class = GroupSerializer

        def get(self, request, *args, **kwargs):
            return Response({"data": self.list(request).data})

    assert described(Own, "GET").output == {}
