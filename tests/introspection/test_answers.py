"""The schemas of answers that the project's own handlers make of a serializer."""

from __future__ import annotations

from django.contrib.auth.models import Group
from rest_framework import generics, pagination, serializers, views, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from tests.introspection.inspected import described


class Rows(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Card(serializers.Serializer):
    title = serializers.CharField()


class Pages(pagination.PageNumberPagination):
    page_size = 5


class Groups(viewsets.GenericViewSet):
    queryset = Group.objects.all()
    serializer_class = Rows
    filter_backends = []
    pagination_class = Pages

    @action(detail=True)
    def made(self, request, pk):
        return Response(Card(self.get_object()).data)

    @action(detail=True)
    def views_own(self, request, pk):
        serializer = self.get_serializer(self.get_object())
        return Response(serializer.data)

    @action(detail=True)
    def refusing(self, request, pk):
        if request.user.is_staff:
            return Response({"detail": "No."}, status=409)
        data = Card(self.get_object()).data
        return Response(data, status=200)

    @action(detail=False)
    def several(self, request):
        return Response(Card(self.get_queryset(), many=True).data)

    @action(detail=False)
    def paged(self, request):
        page = self.paginate_queryset(self.get_queryset())
        if page is not None:
            return self.get_paginated_response(self.get_serializer(page, many=True).data)
        return Response(self.get_serializer(self.get_queryset(), many=True).data)

    @action(detail=True)
    def changed(self, request, pk):
        data = Card(self.get_object()).data
        data["more"] = 1
        return Response(data)

    @action(detail=True)
    def either(self, request, pk):
        if request.user.is_staff:
            return Response(Card(self.get_object()).data)
        return Response(Rows(self.get_object()).data)

    @action(detail=True)
    def with_status(self, request, pk):
        return Response(Card(self.get_object()).data, status=self.find_status())

    @action(detail=True)
    def own_arguments(self, request, pk):
        return Response(Card(self.get_object(), style="short").data)

    def find_status(self):
        return int(self.request.user.username)


def output(name):
    return described(Groups, "GET", name).output


def test_the_data_of_one_serializer_is_the_answer():

    assert set(output("made")["properties"]) == {"title"}
    assert set(output("views_own")["properties"]) == {"id", "name"}
    assert set(output("refusing")["properties"]) == {"title"}
    assert set(output("several")["items"]["properties"]) == {"title"}


def test_pages_of_one_serializer_are_the_answer():
    schema = output("paged")["properties"]
    assert {"count", "next", "results"} <= set(schema)
    assert set(schema["results"]["items"]["properties"]) == {"id", "name"}


def test_an_answer_that_code_may_change_is_open():
    names = ("changed", "either", "with_status", "own_arguments")
    assert {name: output(name) for name in names} == {name: {} for name in names}


def test_the_answer_of_a_plain_view_is_known():
    class Plain(views.APIView):
        def get(self, request):
            return Response(Card(request.user).data)

    assert set(described(Plain, "GET").output["properties"]) == {"title"}


def test_a_generic_view_whose_own_handler_ends_in_the_inherited_one_answers_as_that():
    class Cards(generics.CreateAPIView):
        serializer_class = Card

        def create(self, request, *args, **kwargs):
            self.started = True
            return super().create(request, *args, **kwargs)

    assert list(described(Cards, "POST").output["properties"]) == ["title"]
