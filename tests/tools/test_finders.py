"""Which list tool finds what a relation points at."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.urls import path
from rest_framework import generics, serializers, viewsets
from rest_framework.routers import SimpleRouter


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["username", "groups"]


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Trash(generics.ListAPIView):
    """Groups that were thrown away."""

    queryset = Group.objects.filter(name="")
    serializer_class = GroupSerializer


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


class OneGroup(generics.RetrieveAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


class Users(generics.CreateAPIView):
    serializer_class = UserSerializer


def finder(tools) -> str:
    return tools["users_create"].input_schema["properties"]["groups"]["items"]["description"]


def test_a_list_beside_single_objects_is_taken_first(tools_of):
    router = SimpleRouter()
    router.register("groups", Groups)
    patterns = [path("trash/", Trash.as_view()), path("users/", Users.as_view()), *router.urls]
    assert finder(tools_of(*patterns)).endswith("Find it with groups_list.")


def test_a_list_and_a_single_object_of_different_views_belong_together(tools_of):
    patterns = [
        path("trash/", Trash.as_view()),
        path("users/", Users.as_view()),
        path("groups/", type("All", (Trash,), {"queryset": Group.objects.all()}).as_view()),
        path("groups/<int:pk>/", OneGroup.as_view()),
    ]
    assert finder(tools_of(*patterns)).endswith("Find it with groups_list.")


def test_without_any_the_first_list_is_taken(tools_of):
    patterns = [path("trash/", Trash.as_view()), path("users/", Users.as_view())]
    assert finder(tools_of(*patterns)).endswith("Find it with trash_list.")
