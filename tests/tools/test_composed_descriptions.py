"""Descriptions and titles of tools for which the project wrote none."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.db import models
from django.urls import path
from rest_framework import filters, generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.routers import SimpleRouter

from drf_mcp.tools import mcp_viewset


class Shelf(models.Model):  # noqa: DJ008 - never stored
    code = models.SlugField(unique=True)

    class Meta:
        app_label = "composed"
        managed = False


class Jar(models.Model):  # noqa: DJ008 - never stored
    class Size(models.TextChoices):
        SMALL = "small"
        LARGE = "large"

    class Colour(models.TextChoices):
        RED = "red"
        BLUE = "blue"
        GREEN = "green"
        BLACK = "black"
        WHITE = "white"
        BROWN = "brown"
        PINK = "pink"
        GREY = "grey"

    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE)
    label = models.CharField(max_length=80)
    size = models.CharField(max_length=10, choices=Size.choices)
    colour = models.CharField(max_length=10, choices=Colour.choices, blank=True)
    filled_at = models.DateField(null=True)
    is_open = models.BooleanField(default=False)
    photo = models.ImageField(blank=True)
    status = models.CharField(max_length=10, blank=True)

    class Meta:
        app_label = "composed"
        managed = False


class JarSerializer(serializers.ModelSerializer):
    class Meta:
        model = Jar
        fields = ["id", "shelf", "label", "size", "filled_at"]


class Jars(viewsets.ModelViewSet):
    """Jars that were filled by hand.

    Broken ones are not among them.
    """

    queryset = Jar.objects.all()
    serializer_class = JarSerializer
    filter_backends = [
        django_filters.DjangoFilterBackend,
        filters.SearchFilter,
        filters.OrderingFilter,
    ]
    filterset_fields = {
        "size": ["exact"],
        "filled_at": ["gte", "lte", "isnull"],
        "is_open": ["exact"],
    }
    search_fields = ["label", "^shelf__code"]
    ordering_fields = ["filled_at", "label"]


@pytest.fixture
def jars(tools_of):
    def tools(viewset, *bases, **members):
        members.setdefault("__module__", __name__)
        own = type("Own", (*bases, viewset), members) if bases or len(members) > 1 else viewset
        router = SimpleRouter()
        router.register("jars", own, basename="jar")
        return tools_of(*router.urls)

    return tools


def test_a_list_tells_what_narrows_it(jars):
    assert jars(Jars)["jars_list"].description == (
        "Find, show or count jars by size (small, large), filled at, open. Jars that were filled "
        "by hand. Broken ones are not among them."
    )


def test_the_others_do_not_repeat_what_the_view_is_about(jars):
    cases = [
        ("jars_create", "Add or register a new jar."),
        ("jars_retrieve", "Get or show one jar."),
        ("jars_update", "Replace or change a jar."),
        ("jars_partial_update", "Change, edit or mark a jar."),
        ("jars_destroy", "Delete or remove a jar."),
    ]
    found = [jars(Jars)[name].description for name, _ in cases]
    assert found == [description for _, description in cases]


def test_a_view_without_a_list_is_introduced_by_its_first_tool(jars):
    bases = (mixins.UpdateModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet)
    members = {"queryset": Jar.objects.all(), "serializer_class": JarSerializer}
    tools = jars(type("Shown", bases, {**members, "__doc__": "Jars on show.", "__module__": "x"}))
    introduced = {name for name in tools if tools[name].description.endswith("Jars on show.")}
    assert introduced == {"jars_retrieve"}


def test_where_no_list_tells_what_is_known_of_an_object_its_tool_does(jars):
    bases = (mixins.RetrieveModelMixin, viewsets.GenericViewSet)
    members = {"queryset": Jar.objects.all(), "serializer_class": JarSerializer}
    tools = jars(type("Shown", bases, members))
    description = "Get or show one jar: shelf, label, size, filled at."
    assert tools["jars_retrieve"].description == description


def test_the_arguments_that_search_and_sort_say_what(jars):
    arguments = jars(Jars)["jars_list"].input_schema["properties"]
    assert arguments["search"]["description"] == "Search in: label, shelf code."
    assert arguments["ordering"]["items"]["pattern"] == "^-?(filled_at|label)$"


def test_a_view_whose_list_is_no_tool_is_introduced_by_another(tools_of):
    exposed = mcp_viewset(actions=["destroy", "retrieve"])(
        type("Some", (Jars,), {"__doc__": "Jars on show.", "__module__": __name__})
    )
    router = SimpleRouter()
    router.register("jars", exposed, basename="jar")
    tools = tools_of(*router.urls, EXPOSE="explicit")
    assert tools["jars_retrieve"].description.endswith("Jars on show.")


def test_long_choices_and_many_filters_are_counted(jars):
    description = jars(Jars, filterset_fields=["colour"])["jars_list"].description
    assert "by colour (red, blue, green, black, white, brown and 2 more)" in description


class Reading(Jars):
    """Reads parameters beside one object, which narrow nothing."""

    filter_backends = []

    def get_queryset(self):
        jars = super().get_queryset()
        if self.request.query_params.get("expand"):
            jars = jars.select_related("shelf")
        return jars.filter(is_open=True) if self.request.query_params.get("archived") else jars


def test_what_is_read_beside_one_object_is_no_filter_of_it(jars):
    tools = jars(Reading)
    assert "archived" in tools["jars_destroy"].input_schema["properties"]
    assert tools["jars_list"].description.startswith("Find, show or count jars by archived.")
    for name in ("jars_retrieve", "jars_partial_update", "jars_destroy"):
        assert "archived" not in tools[name].description


def test_pages_are_no_filters(jars):
    from rest_framework.pagination import PageNumberPagination

    paged = type("Paged", (PageNumberPagination,), {"page_size": 5})
    members = {"filter_backends": [], "pagination_class": paged}
    assert jars(Jars, **members)["jars_list"].description == "Find, show or count jars."


STOCK = [
    "This viewset automatically provides `list`, `create`, `retrieve`,\n    `update` actions.",
    "API endpoint that allows jars to be viewed or edited.",
    "A viewset for viewing and editing jar instances.",
    "A simple ViewSet for listing or retrieving jars.",
    "This viewset automatically provides `list` actions.\n\n    Additionally we also provide an "
    "extra `polish` action.",
    "CRUD operations for the Jar model",
]


def test_a_stock_docstring_is_never_sent(jars):
    for docstring in STOCK:
        tools = jars(Jars, filter_backends=[], __doc__=docstring)
        assert tools["jars_list"].description == "Find, show or count jars.", docstring


def test_a_sentence_beside_a_stock_one_is_sent(jars):
    docstring = f"{STOCK[0]} Jars are washed twice."
    tools = jars(Jars, filter_backends=[], __doc__=docstring)
    assert tools["jars_list"].description == "Find, show or count jars. Jars are washed twice."


def test_a_docstring_of_an_action_that_repeats_its_name_gives_way(jars):
    class Repeated(Jars):
        def destroy(self, request, *args, **kwargs):
            """Delete a jar."""

        def create(self, request, *args, **kwargs):
            """Put a jar aside, with its label."""

    tools = jars(Repeated)
    assert tools["jars_destroy"].description == "Delete or remove a jar."
    assert tools["jars_create"].description == "Put a jar aside, with its label."


def test_sections_of_a_class_docstring_are_about_their_actions(jars):
    docstring = """Jars by hand.

    destroy:
    Throw a jar away.

    note: not an action."""
    tools = jars(Jars, filter_backends=[], __doc__=docstring)
    assert tools["jars_list"].description == "Find, show or count jars. Jars by hand."
    assert tools["jars_destroy"].description == "Throw a jar away.\n\nnote: not an action."


def test_a_title_of_the_views_own_initkwargs_is_no_docstring(tools_of):
    view = generics.ListAPIView.as_view(
        queryset=Jar.objects.all(), serializer_class=JarSerializer, filter_backends=[]
    )
    assert tools_of(path("jars/", view))["jars_list"].description == "Find, show or count jars."


class Acted(Jars):
    filter_backends = []

    @action(detail=True)
    def summary(self, request, pk=None): ...

    @action(detail=True)
    def download(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def photo(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def status(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def mark_as_washed(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def open_jar(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def add_lid(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def put_back(self, request, pk=None): ...

    @action(detail=True, methods=["post"])
    def set_label(self, request, pk=None): ...

    @action(detail=False)
    def figures(self, request): ...

    @action(detail=False)
    def oldest(self, request):
        return self.get_serializer(self.get_queryset(), many=True)

    @action(detail=False, methods=["post"])
    def wash(self, request): ...

    @action(detail=True)
    def next(self, request, pk=None): ...


@pytest.mark.slow
def test_titles_of_actions_read_as_english(jars):
    for name, title in [
        ("summary", "Summary of a jar"),
        ("download", "Download a jar"),
        ("photo", "Upload the photo of a jar"),
        ("status", "Set the status of a jar"),
        ("mark_as_washed", "Mark a jar as washed"),
        ("open_jar", "Open a jar"),
        ("add_lid", "Add lid of a jar"),
        ("put_back", "Put back a jar"),
        ("set_label", "Set label of a jar"),
        ("figures", "Figures of jars"),
        ("oldest", "Oldest jars"),
        ("wash", "Wash jars"),
        ("next", "Next of a jar"),
    ]:
        tool = jars(Acted)[f"jars_{name}"]
        assert tool.title == title
        assert tool.description == f"{title}."


def test_a_tool_below_a_parent_names_the_parent(tools_of):
    for kwarg in ["shelf_pk", "shelf_code", "parent_lookup_shelf__code"]:
        router = SimpleRouter()
        router.register(rf"shelves/(?P<{kwarg}>[^/.]+)/jars", Jars, basename="jar")
        tools = tools_of(*router.urls)
        names = {name.rpartition("_jars_")[2]: tool for name, tool in tools.items()}
        assert names["list"].title == "List jars of a shelf", kwarg
        assert names["create"].description == "Add or register a new jar of a shelf.", kwarg
        assert names["partial_update"].title == "Change fields of a jar of a shelf", kwarg


def test_a_parents_key_whose_name_says_all_has_no_words(tools_of):
    for kwarg in ["shelf_code", "shelf_pk", "shelf_id"]:
        router = SimpleRouter()
        router.register(rf"shelves/(?P<{kwarg}>[^/.]+)/jars", Jars, basename="jar")
        key = tools_of(*router.urls)["shelves_jars_list"].input_schema["properties"][kwarg]
        assert "description" not in key, kwarg
