"""The description of a relation names the tool that lists its objects."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.urls import path
from rest_framework import generics, mixins, serializers, viewsets
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


def test_a_list_at_the_path_of_single_objects_is_preferred(tools_of):
    patterns = [
        path("trash/", Trash.as_view()),
        path("users/", Teams.as_view()),
        path("groups/", type("All", (Trash,), {"queryset": Group.objects.all()}).as_view()),
        path("groups/<int:pk>/", OneGroup.as_view()),
    ]
    assert describe_teams(tools_of(*patterns)).endswith("From groups_list.")


def test_without_a_preferred_list_the_first_is_named(tools_of):
    patterns = [path("trash/", Trash.as_view()), path("users/", Teams.as_view())]
    assert describe_teams(tools_of(*patterns)).endswith("From trash_list.")


def test_an_argument_with_the_name_of_the_list_does_not_name_it(tools_of):
    for name, is_named in [("groups", False), ("groups_ids", False), ("teams", True)]:
        source = {} if name == "groups" else {"source": "groups"}
        keys = serializers.PrimaryKeyRelatedField(many=True, queryset=Group.objects.all(), **source)
        meta = type("Meta", (), {"model": User, "fields": ["username", name]})
        serializer = type("Named", (serializers.ModelSerializer,), {"Meta": meta, name: keys})
        router = SimpleRouter()
        router.register("groups", Groups)
        users = type("Named", (Users,), {"serializer_class": serializer}).as_view()
        tool = tools_of(path("users/", users), *router.urls)["users_create"]
        items = tool.input_schema["properties"][name]["items"]
        assert items == {
            "type": "integer",
            **({"description": "From groups_list."} if is_named else {}),
        }


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


class Remark(models.Model):  # noqa: DJ008 - never stored
    content_type = models.ForeignKey(ContentType, on_delete=models.CASCADE)
    object_id = models.PositiveIntegerField()
    about = GenericForeignKey("content_type", "object_id")

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


def test_a_nested_list_is_named_with_its_path_argument(tools_of):
    routes = register(shelves=Shelves, shelved=Volumes, lendings=viewset(Lending, "volume"))
    tools = tools_of(*routes)
    found = words(tools["lendings_create"], "volume")
    assert found.endswith("From shelves_volumes_list by shelf_code.")


def test_the_key_of_a_parent_names_the_list_of_parents(tools_of):
    tools = tools_of(*register(shelves=Shelves, shelved=Volumes))
    found = words(tools["shelves_volumes_list"], "shelf_code")
    assert found == "From shelves_list."


def test_the_key_of_an_object_does_not_name_the_list_of_its_own_view(tools_of):
    for name in ["shelves_retrieve", "shelves_destroy"]:
        tools = tools_of(*register(shelves=Shelves, shelved=Volumes))
        assert "From" not in words(tools[name], "code")


def test_the_key_of_an_object_without_a_list_in_its_view_names_another_list(tools_of):
    bases = (mixins.DestroyModelMixin, viewsets.GenericViewSet)
    discarded = type("Discarded", bases, {"queryset": Volume.objects.all()})
    tools = tools_of(*register(volumes=Volumes, discarded=discarded))
    assert words(tools["discarded_destroy"], "pk").endswith("From volumes_list.")


def test_the_key_of_a_generic_relation_names_the_lists_of_all_types(tools_of):
    remarks = viewset(Remark, "content_type", "object_id")
    tools = tools_of(*register(shelves=Shelves, volumes=Volumes, remarks=remarks))
    assert words(tools["remarks_create"], "object_id").startswith(
        "Key of an object of the type in content_type, found with the list of that type: "
        "shelves_list, volumes_list, remarks_list."
    )


def test_the_column_of_a_foreign_key_is_a_relation(tools_of):
    declared = {"holder": serializers.IntegerField(source="volume_id")}
    lendings = viewset(Lending, "holder", declared=declared)
    tools = tools_of(*register(volumes=Volumes, lendings=lendings))
    assert words(tools["lendings_create"], "holder") == "From volumes_list."


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


def test_a_filter_by_part_of_a_text_names_no_list(tools_of):
    item = django_filters.CharFilter(field_name="volume__shelf__code", lookup_expr="icontains")
    meta = type("Meta", (), {"model": Lending, "fields": ()})
    filters = type("Filters", (django_filters.FilterSet,), {"which": item, "Meta": meta})
    backends = [django_filters.DjangoFilterBackend]
    lendings = viewset(Lending, "volume", filter_backends=backends, filterset_class=filters)
    tools = tools_of(*register(shelves=Shelves, volumes=Volumes, lendings=lendings))
    assert "From" not in words(tools["lendings_list"], "which")
