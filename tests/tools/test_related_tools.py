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
        fields = ["id", "name"]


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


Shelves = viewset(Shelf, "id", "code", lookup_field="code")
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
    assert found == "The code of a shelf, from shelves_list."


def test_the_key_of_an_object_does_not_name_the_list_of_its_own_view(tools_of):
    for name in ["shelves_retrieve", "shelves_destroy"]:
        tools = tools_of(*register(shelves=Shelves, shelved=Volumes))
        assert "From" not in words(tools[name], "code")


def test_a_filter_by_the_key_of_another_object_names_its_list(tools_of):
    for field_name, source in [
        ("volume_id", "From volumes_list."),
        ("volume", "From volumes_list."),
        ("volume__shelf", "From shelves_list."),
        ("volume__shelf__code", "Volume shelf code. From shelves_list."),
    ]:
        item = django_filters.CharFilter(field_name=field_name)
        meta = type("Meta", (), {"model": Lending, "fields": ()})
        filters = type("Filters", (django_filters.FilterSet,), {"which": item, "Meta": meta})
        backends = [django_filters.DjangoFilterBackend]
        lendings = viewset(Lending, "volume", filter_backends=backends, filterset_class=filters)
        tools = tools_of(*register(shelves=Shelves, volumes=Volumes, lendings=lendings))
        assert words(tools["lendings_list"], "which").endswith(source)


def test_a_list_without_the_key_in_its_rows_is_no_source(tools_of):
    lendings = viewset(Lending, "volume")
    keyless = viewset(Volume, "shelf")
    tools = tools_of(*register(volumes=keyless, lendings=lendings))
    assert "volumes_list" not in words(tools["lendings_create"], "volume")


def test_another_list_that_has_the_key_is_the_source(tools_of):
    keyless, lendings = viewset(Volume, "shelf"), viewset(Lending, "volume")
    tools = tools_of(*register(brief=keyless, volumes=Volumes, lendings=lendings))
    schema = tools["lendings_create"].arguments.schema["properties"]["volume"]
    assert schema.meaning.finder == "volumes_list"


def test_a_key_that_the_help_text_names_is_not_said_again(tools_of):
    field = serializers.SlugRelatedField(
        "code", queryset=Shelf.objects.all(), help_text="The code of the shelf"
    )
    volumes = viewset(Volume, "shelf", declared={"shelf": field})
    tools = tools_of(*register(shelves=Shelves, volumes=volumes))
    assert words(tools["volumes_create"], "shelf") == "The code of the shelf. From shelves_list."


# --- Many filters -------------------------------------------------------------------------------


def filtered(*lookups):
    backends = [django_filters.DjangoFilterBackend]
    chosen = {"id": lookups, "shelf": ["exact"]}
    return viewset(Volume, "id", filter_backends=backends, filterset_fields=chosen)


NUMBERS = ["exact", "gt", "gte", "lt", "lte"]


def test_lookups_are_listed_where_there_are_few_filters(tools_of):
    tools = tools_of(*register(volumes=filtered(*NUMBERS)))
    assert "id__gt" in tools["volumes_list"].input_schema["properties"]


def test_of_many_filters_only_the_first_is_listed_and_names_the_others(tools_of, monkeypatch):
    monkeypatch.setattr("drf_mcp.routes.related.MOST_FILTERS", 4)
    tool = tools_of(*register(volumes=filtered(*NUMBERS)))["volumes_list"]
    properties = tool.input_schema["properties"]
    assert not any("__" in name for name in properties)
    assert properties["id"]["description"] == "Also id__gt, __gte, __lt, __lte."
    assert tool.bind({"id__gte": 3}).query_string == "id__gte=3"
