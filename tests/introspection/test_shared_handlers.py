"""One handler for several methods."""

from __future__ import annotations

from django.contrib.auth.models import Group
from rest_framework import filters, pagination, serializers, views, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response

from drf_mcp import call_context
from tests.introspection.inspected import describe, described, view_of


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class NoteSerializer(serializers.Serializer):
    text = serializers.CharField()


class Groups(viewsets.GenericViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    pagination_class = pagination.LimitOffsetPagination
    filter_backends = [filters.SearchFilter]
    search_fields = ["name"]

    def add(self, request):
        serializer = NoteSerializer(data=request.data)
        return Response(serializer.is_valid())

    def page(self):
        return Response(self.paginate_queryset(self.filter_queryset(self.get_queryset())))

    @action(detail=False, methods=["get", "post", "delete"])
    def notes(self, request):
        if request.method == "GET":
            return self.page()
        return self.add(request) if request.method == "POST" else Response()


class Notes(views.APIView):
    def handle(self, request):
        return Response(NoteSerializer(data=request.data).is_valid())

    post = delete = handle


@api_view(["POST", "DELETE"])
def notes(request):
    return Response(NoteSerializer(data=request.data).is_valid())


def describe_notes(view_class, method, action=None):
    view = view_of(view_class, method, action)
    if action is not None:
        view.action_map = dict.fromkeys(["get", "post", "delete"], action)
    return describe(view, method, {})


def test_each_method_of_a_handler_that_lists_has_its_filters(subtests):
    for method in ["GET", "POST"]:
        with subtests.test(method=method):
            names = [parameter.name for parameter in describe_notes(Groups, method, "notes").query]
            assert names == ["search", "limit", "offset"]


def test_a_body_that_a_delete_shares_with_other_methods_is_optional_in_the_delete():
    """The handler may read the body for the other methods only."""
    for view_class, handler in [(Groups, "notes"), (Notes, None), (notes.cls, None)]:
        required = {
            method: [
                field.required for field in describe_notes(view_class, method, handler).body.fields
            ]
            for method in ("POST", "DELETE")
        }
        assert required == {"POST": [True], "DELETE": [False]}, view_class


def test_a_handler_without_a_body_takes_the_fields_that_it_asks_the_user_for(subtests):
    class Asking(views.APIView):
        def delete(self, request):
            return Response(call_context(request).ask(NoteSerializer, "Why?"))

        get = delete

    for method in ("GET", "DELETE"):
        with subtests.test(method=method):
            body = described(Asking, method).body
            assert [(field.name, field.required) for field in body.fields] == [("text", False)]
