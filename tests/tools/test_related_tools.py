"""The description of a relation names the tool that lists its objects."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
from django.contrib.auth.models import Group, User
from django.db import models
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
    """Groups in the trash."""

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


class Teams(Users):
    serializer_class = type(
        "TeamsSerializer",
        (UserSerializer,),
        {
            "teams": serializers.PrimaryKeyRelatedField(
                source="groups", many=True, queryset=Group.objects.all()
            ),
            "Meta": type("Meta", (), {"model": User, "fields": ["username", "teams"]}),
        },
    )


def describe_teams(tools) -> str:
    return tools["users_create"].input_schema["properties"]["teams"]["items"]["description"]


def test_a_list_of_the_view_that_has_single_objects_is_preferred(tools_of):
    router = SimpleRouter()
    router.register("groups", Groups)
    patterns = [path("trash/", Trash.as_view()), path("users/", Teams.as_view()), *router.urls]
    assert describe_teams(tools_of(*patterns)).endswith("From groups_list.")


# --- Nested lists, generic relations, columns ---------------------------------------------------


class Shelf(models.Model):  # noqa: DJ008 - never stored
    code = models.SlugField(unique=True)

    class Meta:
        app_label = "finders"
        managed = False


class Volume(models.Model):  # noqa: DJ008 - never stored
    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE)

    class Meta:
        app_label = "finders"
        managed = False


class Lending(models.Model):  # noqa: DJ008 - never stored
    volume = models.ForeignKey(Volume, on_delete=models.CASCADE)

    class Meta:
        app_label = "finders"
        managed = False


def viewset(model, *fields, **members):
    meta = type("Meta", (), {"model": model, "fields": fields})
    own = {"Meta": meta, **members.pop("declared", {})}
    serializer = type(f"{model.__name__}Serializer", (serializers.ModelSerializer,), own)
    members = {"queryset": model.objects.all(), "serializer_class": serializer, **members}
    return type(f"{model.__name__}s", (viewsets.ModelViewSet,), members)


Shelves = viewset(Shelf, "code", lookup_field="code")
Volumes = viewset(Volume, "id")
SHELVED = r"shelves/(?P<shelf_code>[^/.]+)/volumes"


def register(**viewsets_by_route):
    router = SimpleRouter()
    for route, view in viewsets_by_route.items():
        router.register(SHELVED if route == "shelved" else route, view, basename=route)
    return router.urls


def words(tool, name) -> str:
    return tool.input_schema["properties"][name].get("description", "")


def test_the_key_of_a_parent_names_the_list_of_parents(tools_of):
    tools = tools_of(*register(shelves=Shelves, shelved=Volumes))
    found = words(tools["shelves_volumes_list"], "shelf_code")
    assert found == "From shelves_list."


def test_the_key_of_an_object_does_not_name_the_list_of_its_own_view(tools_of):
    for name in ["shelves_retrieve", "shelves_destroy"]:
        tools = tools_of(*register(shelves=Shelves, shelved=Volumes))
        assert "From" not in words(tools[name], "code")


def test_a_filter_by_the_key_of_another_object_names_its_list(tools_of):
    for field_name, tool in [
        ("volume_id", "volumes_list"),
        ("volume", "volumes_list"),
        ("volume__shelf", "shelves_list"),
        ("volume__shelf__code", "shelves_list"),
    ]:
        item = django_filters.CharFilter(field_name=field_name)
        meta = type("Meta", (), {"model": Lending, "fields": ()})
        filters = type("Filters", (django_filters.FilterSet,), {"which": item, "Meta": meta})
        backends = [django_filters.DjangoFilterBackend]
        lendings = viewset(Lending, "volume", filter_backends=backends, filterset_class=filters)
        tools = tools_of(*register(shelves=Shelves, volumes=Volumes, lendings=lendings))
        assert words(tools["lendings_list"], "which").endswith(f"From {tool}.")
