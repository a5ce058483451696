"""Bodies that a handler completes before its serializer reads them."""

from __future__ import annotations

from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from tests.introspection.inspected import described


class Host(serializers.Serializer):
    name = serializers.CharField()
    inventory = serializers.IntegerField()


class Hosts(generics.CreateAPIView):
    serializer_class = Host


class Unchanged(Hosts):
    def post(self, request, pk):
        if "name" in request.data:
            return Response(list(request.data.items()))
        return Response(self.get_serializer(data=request.data).is_valid())


class InAVariable(Hosts):
    def post(self, request, pk):
        data = request.data
        return Response(self.get_serializer(data=data).is_valid())


class ByKey(Hosts):
    def post(self, request, pk):
        data = request.data.copy()
        data["inventory"] = pk
        return Response(self.get_serializer(data=data).is_valid())


class InADisplay(Hosts):
    def post(self, request, pk):
        return Response(self.get_serializer(data={**request.data, "inventory": pk}).is_valid())


class ByOwnSerializer(Hosts):
    def post(self, request, pk):
        data = request.data.copy()
        data["inventory"] = pk
        return Response(Host(data=data).is_valid())


class InACopyWithMore(Hosts):
    def post(self, request, pk):
        return Response(self.get_serializer(data=dict(request.data, inventory=pk)).is_valid())


class AtTimes(Hosts):
    def post(self, request, pk):
        data = request.data
        if pk:
            data = {"name": "a", "inventory": pk}
        return Response(self.get_serializer(data=data).is_valid())


def required(view, **where) -> set[str]:
    return {field.name for field in described(view, "POST", **where).body.fields if field.required}


def test_a_body_that_the_handler_does_not_change_has_the_serializers_required_fields():
    assert required(Unchanged) == {"name", "inventory"}


CHANGING = [InAVariable, ByKey, InADisplay, InACopyWithMore, ByOwnSerializer, AtTimes]


def test_nothing_is_required_in_a_body_that_the_handler_may_complete(subtests):
    for view in CHANGING:
        with subtests.test(view=view):
            fields = described(view, "POST").body.fields
            assert {field.name: field.required for field in fields} == {
                "name": False,
                "inventory": False,
            }


class Reserving(viewsets.GenericViewSet):
    """Reads the body without its serializer, which is only for descriptions."""

    @action(detail=False, methods=["post"], serializer_class=Host)
    def by_keys(self, request):
        return Response([request.data.get("name"), request.data.get("inventory", 1)])

    @action(detail=False, methods=["post"], serializer_class=Host)
    def as_a_whole(self, request):
        return Response(reserve(request.data))


def reserve(body):
    return Host(data=body).is_valid()


def test_nothing_is_required_if_the_handler_reads_single_keys():
    view = type("View", (Reserving,), {"serializer_class": Host})
    assert required(view, action="by_keys") == set()


def test_fields_are_required_if_the_handler_passes_on_the_whole_body():
    view = type("View", (Reserving,), {"serializer_class": Host})
    assert required(view, action="as_a_whole") == {"name", "inventory"}
