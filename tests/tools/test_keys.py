"""The key of an object is an argument with the name that rows have for it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp import mcp_tool
from drf_mcp.errors import ArgumentsRefused


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class EveryField(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = "__all__"


class AllButName(serializers.ModelSerializer):
    class Meta:
        model = Group
        exclude = ["name", "permissions"]


class WithoutKey(serializers.ModelSerializer):
    class Meta:
        model = Group
        exclude = ["id"]


class Linked(serializers.HyperlinkedModelSerializer):
    class Meta:
        model = Group
        fields = "__all__"


class Numbered(serializers.ModelSerializer):
    number = serializers.IntegerField(source="pk", read_only=True)

    class Meta:
        model = Group
        fields = ["number", "name"]


class MadeUpKey(serializers.ModelSerializer):
    id = serializers.SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "name"]

    def get_id(self, group) -> str:
        return f"group {group.name}"


class WritableKey(serializers.ModelSerializer):
    id = serializers.IntegerField()

    class Meta:
        model = Group
        fields = ["id", "name"]


class Renaming(serializers.Serializer):
    to = serializers.CharField()


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes = []

    @action(detail=True, methods=["post"], serializer_class=Renaming)
    def rename(self, request, pk):
        group = self.get_object()
        group.name = request.data["to"]
        group.save()
        return Response(GroupSerializer(group).data)


def with_serializer(serializer, **members):
    return type("Groups", (Groups,), {"serializer_class": serializer, **members})


@pytest.fixture
def tools(tools_of):
    def tools(view=Groups, prefix="groups", **mcp_settings):
        router = SimpleRouter()
        router.register(prefix, view, basename="groups")
        return tools_of(*router.urls, **mcp_settings)

    return tools


def names_of(tool):
    return list(tool.input_schema["properties"])


def test_the_key_has_the_name_of_rows(tools):
    for name in ["retrieve", "update", "partial_update", "destroy", "rename"]:
        tool = tools()[f"groups_{name}"]
        assert names_of(tool)[0] == "id", name
        assert "id" in tool.input_schema["required"], name


def test_the_key_has_the_name_of_the_field_for_the_looked_up_value(tools):
    for serializer, name in [
        (EveryField, "id"),
        (AllButName, "id"),
        (Numbered, "number"),
        (WithoutKey, "pk"),
        (Linked, "pk"),
        (MadeUpKey, "pk"),
        (serializers.Serializer, "pk"),
    ]:
        assert names_of(tools(with_serializer(serializer))["groups_destroy"]) == [name]


def test_keys_of_parents_keep_the_names_of_the_url(tools):
    tool = tools(prefix=r"users/(?P<user_pk>\d+)/groups")["users_groups_retrieve"]
    assert names_of(tool)[:2] == ["user_pk", "id"]
    tool = tools(prefix=r"users/(?P<id>\d+)/groups")["users_groups_retrieve"]
    assert names_of(tool)[:2] == ["id", "pk"]


def test_the_body_names_the_new_value_of_a_key_that_it_writes(tools):
    found = tools(with_serializer(WritableKey))
    assert names_of(found["groups_partial_update"])[:3] == ["id", "new_id", "name"]
    assert names_of(found["groups_create"])[:2] == ["id", "name"]
    for key in "id", "pk":
        call = found["groups_partial_update"].bind({key: 1, "new_id": 2})
        assert (call.kwargs, call.body) == ({"pk": 1}, b'{"id":2}')


def test_an_error_points_to_the_new_value_of_the_key(tools):
    tool = tools(with_serializer(WritableKey))["groups_partial_update"]
    call = tool.bind({"id": 1, "new_id": "many"})
    assert tool.pointers(call).pointer(["id"]) == "/new_id"


class ByComparison(Groups):
    lookup_field = "name__iexact"


def test_a_key_looked_up_with_a_comparison_has_the_name_of_the_field(tools):
    class WithoutName(ByComparison):
        serializer_class = AllButName

    for view in ByComparison, WithoutName:
        tool = tools(view)["groups_destroy"]
        assert names_of(tool) == ["name"]
        assert tool.bind({"name": "a"}).kwargs == {"name__iexact": "a"}


def test_several_keys_are_ids(tools):
    class Many(Groups):
        @mcp_tool(many=True)
        def retrieve(self, request, *args, **kwargs):
            return super().retrieve(request, *args, **kwargs)

    assert names_of(tools(Many)["groups_retrieve"])[0] == "ids"


# --- The name in the URL is accepted ------------------------------------------------------


def test_the_name_in_the_url_is_accepted(tools):
    tool = tools()["groups_partial_update"]
    call = tool.bind({"pk": 7, "name": "a"})
    assert call == tool.bind({"id": 7, "name": "a"})
    assert call.kwargs == {"pk": 7}


def test_both_names_with_different_values_are_refused(tools):
    with pytest.raises(ArgumentsRefused) as caught:
        tools()["groups_destroy"].bind({"pk": 7, "id": 8})
    (problem,) = caught.value.problems
    assert (problem.code, problem.pointer) == ("conflicting", "/pk")
    assert problem.message == "'pk' is another name of 'id', and their values differ."
    assert problem.remediation == "Send 'id' alone."


@pytest.mark.django_db
def test_an_object_is_changed_by_the_key_of_its_row(expose, agent_of):
    Group.objects.create(name="before")
    router = SimpleRouter()
    router.register("groups", Groups, basename="groups")
    expose(*router.urls)
    row = agent_of(None).call("groups_list").data["results"][0]
    renamed = agent_of(None).call("groups_rename", id=row["id"], to="after")
    assert renamed.data == {**row, "name": "after"}
