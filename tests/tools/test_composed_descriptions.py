"""Descriptions and titles of tools whose views have none."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.db import models
from django.urls import path
from rest_framework import filters, generics, pagination, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.routers import SimpleRouter


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


class Lids(models.Model):  # noqa: DJ008 - never stored
    class Meta:
        app_label = "composed"
        managed = False


class OldJar(models.Model):  # noqa: DJ008 - never stored
    class Meta:
        app_label = "composed"
        managed = False
        verbose_name = "jar"


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


def test_the_description_of_a_list_names_its_filters(jars):
    assert jars(Jars)["jars_list"].description == (
        "Find, show or count jars by size (small, large), filled at, open. Jars that were filled "
        "by hand. Broken ones are not among them."
    )


def test_other_tools_of_a_view_do_not_repeat_its_docstring(jars):
    cases = [
        ("jars_create", "Add or register a new jar."),
        ("jars_retrieve", "Get or show one jar."),
        ("jars_update", "Replace or change a jar."),
        ("jars_partial_update", "Change, edit or mark a jar."),
        ("jars_destroy", "Delete or remove a jar."),
    ]
    found = [jars(Jars)[name].description for name, _ in cases]
    assert found == [description for _, description in cases]


@pytest.mark.parametrize(
    ("paginator", "verbs"),
    [
        (None, "Find, show or count jars"),
        (pagination.LimitOffsetPagination, "Find, show or count jars"),
        (pagination.CursorPagination, "Find or show jars"),
        (pagination.BasePagination, "Find or show jars"),
    ],
)
def test_only_a_list_whose_answer_has_a_count_is_for_counting(tools_of, paginator, verbs):
    class Counted(generics.ListAPIView):
        queryset, serializer_class = Jar.objects.all(), JarSerializer
        pagination_class = paginator

    (tool,) = tools_of(path("jars/", Counted.as_view())).values()
    assert tool.description.startswith(verbs)


def test_search_and_ordering_name_their_fields(jars):
    arguments = jars(Jars)["jars_list"].input_schema["properties"]
    assert arguments["search"]["description"] == "Search in: label, shelf code."
    assert arguments["ordering"]["items"]["pattern"] == "^-?(filled_at|label)$"


def test_long_choices_are_cut_and_counted(jars):
    description = jars(Jars, filterset_fields=["colour"])["jars_list"].description
    assert "by colour (red, blue, green, black, white, brown and 2 more)" in description


class Reading(Jars):
    """Reads query parameters that do not filter when one object is retrieved."""

    filter_backends = []

    def get_queryset(self):
        jars = super().get_queryset()
        if self.request.query_params.get("expand"):
            jars = jars.select_related("shelf")
        return jars.filter(is_open=True) if self.request.query_params.get("archived") else jars


STOCK = [
    "This viewset automatically provides `list`, `create`, `retrieve`,\n    `update` actions.",
    "API endpoint that allows jars to be viewed or edited.",
    "A viewset for viewing and editing jar instances.",
    "A simple ViewSet for listing or retrieving jars.",
    "This viewset automatically provides `list` actions.\n\n    Additionally we also provide an "
    "extra `polish` action.",
    "CRUD operations for the Jar model",
]


def test_a_generated_docstring_is_not_used(jars):
    for docstring in STOCK:
        tools = jars(Jars, filter_backends=[], __doc__=docstring)
        assert tools["jars_list"].description == "Find, show or count jars.", docstring


def test_sections_of_a_class_docstring_belong_to_their_actions(jars):
    docstring = """Jars by hand.

    destroy:
    Throw a jar away.

    note: not an action."""
    tools = jars(Jars, filter_backends=[], __doc__=docstring)
    assert tools["jars_list"].description == "Find, show or count jars. Jars by hand."
    assert tools["jars_destroy"].description == "Throw a jar away.\n\nnote: not an action."


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


def test_titles_of_actions_with_several_objects_say_so(tools_of):
    actions = {"put": "bulk_update", "patch": "partial_bulk_update", "delete": "bulk_destroy"}
    own = type("Own", (Jars,), dict.fromkeys(actions.values(), lambda self, request: None))
    tools = tools_of(path("jars/", own.as_view(actions, detail=False))).values()
    assert {tool.title: tool.description for tool in tools} == {
        "Update several jars": "Update or change several jars in one call.",
        "Change fields of several jars": "Change, edit or mark several jars in one call.",
        "Delete several jars": "Delete or remove several jars in one call.",
    }


def test_a_class_that_is_named_in_the_plural_has_a_singular(tools_of):
    view = type("Own", (Jars,), {"queryset": Lids.objects.all(), "filter_backends": []})
    tools = tools_of(path("lids/", view.as_view({"get": "list", "post": "create"})))
    assert [tool.title for tool in tools.values()] == ["List lids", "Create a lid"]


def test_a_tool_below_a_parent_names_the_parent(tools_of):
    for kwarg in ["shelf_pk", "shelf_code", "parent_lookup_shelf__code"]:
        router = SimpleRouter()
        router.register(rf"shelves/(?P<{kwarg}>[^/.]+)/jars", Jars, basename="jar")
        tools = tools_of(*router.urls)
        names = {name.rpartition("_jars_")[2]: tool for name, tool in tools.items()}
        assert names["list"].title == "List jars of a shelf", kwarg
        assert names["create"].description == "Add or register a new jar of a shelf.", kwarg
        assert names["partial_update"].title == "Change fields of a jar of a shelf", kwarg


class JarDetail(generics.RetrieveDestroyAPIView):
    queryset = Jar.objects.all()
    serializer_class = JarSerializer


def test_what_a_view_below_an_object_gets_is_not_that_object(tools_of):
    tools = tools_of(path("jars/<int:pk>/next/", JarDetail.as_view()))
    assert tools["jars_next_retrieve"].description == "Next of a jar."
    assert tools["jars_next_destroy"].description == "Delete the next of a jar."


class OldJars(Jars):
    queryset = OldJar.objects.all()


def test_tools_that_do_the_same_under_two_paths_say_their_path(tools_of):
    tools = tools_of(
        path("api/attic/jars/", OldJars.as_view({"post": "create"})),
        path("api/cellar/jars/", Jars.as_view({"post": "create"})),
        path("api/cellar/jars/<int:pk>/", Jars.as_view({"get": "retrieve"})),
    )
    assert tools["attic_jars_create"].description.endswith(" Path: api/attic/jars.")
    assert "Path" not in tools["cellar_jars_retrieve"].description


# --- Options are no filters -----------------------------------------------------------------------


class Brief(JarSerializer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        request = self.context.get("request")
        if request is not None and request.query_params.get("brief"):
            self.fields.pop("label")


class Cut(pagination.PageNumberPagination):
    page_size = 5

    def paginate_queryset(self, queryset, request, view=None):
        if request.query_params.get("everything"):
            return None
        return super().paginate_queryset(queryset, request, view)


class Optional(viewsets.ReadOnlyModelViewSet):
    serializer_class = Brief
    pagination_class = Cut

    def get_queryset(self):
        return Jar.objects.filter(size=self.request.query_params.get("size"))

    def get_serializer_context(self):
        flat = self.request.query_params.get("no_depth")
        return {**super().get_serializer_context(), "flat": flat}


def test_only_what_chooses_rows_is_named_as_a_filter(tools_of):
    router = SimpleRouter()
    router.register("jars", Optional, basename="jars")
    tool = tools_of(*router.urls)["jars_list"]
    assert {"brief", "everything", "no_depth", "size"} <= tool.input_schema["properties"].keys()
    assert tool.description.startswith("Find, show or count jars by size.")


class Counted(viewsets.GenericViewSet):
    queryset = Jar.objects.all()
    serializer_class = JarSerializer

    @action(detail=False)
    def totals(self, request):
        return request.query_params.get("by")

    @action(detail=False)
    def stats(self, request):
        return self.get_paginated_response(self.paginate_queryset(self.filter_queryset([])))

    @action(detail=False)
    def opened(self, request):
        return self.get_paginated_response(self.paginate_queryset(self.filter_queryset([])))

    @action(detail=True, methods=["post"])
    def is_open(self, request, pk=None):
        return None

    @action(detail=True, methods=["post"])
    def put_on_shelf(self, request, pk=None):
        return None


@pytest.fixture
def counted(tools_of):
    router = SimpleRouter()
    router.register("jars", Counted, basename="jars")
    return tools_of(*router.urls)


def test_a_preposition_is_no_noun_of_a_filter(counted):
    assert counted["jars_totals"].description == "Totals of jars."


def test_titles_of_answers_and_of_flags_read_as_english(counted):
    assert counted["jars_stats"].title == "Stats of jars"
    assert counted["jars_opened"].title == "Opened jars"
    assert counted["jars_is_open"].title == "Set whether a jar is open"
    assert counted["jars_put_on_shelf"].title == "Put a jar on shelf"


def test_a_label_that_repeats_the_name_of_its_argument_is_left_out(tools_of):
    item = django_filters.DateFilter(field_name="filled_at", lookup_expr="gt", label="Filled at")
    filters_class = type("Dates", (django_filters.FilterSet,), {"filled_at_after": item})
    jars = type("Dated", (Jars,), {"filterset_class": filters_class, "filterset_fields": None})
    tool = tools_of(path("jars/", jars.as_view({"get": "list"})))["jars_list"]
    assert "description" not in tool.input_schema["properties"]["filled_at_after"]


def test_an_ordering_offers_no_methods_and_properties_of_the_model(tools_of):
    class Sized(serializers.ModelSerializer):
        size_name = serializers.CharField(source="get_size_display", read_only=True)

        class Meta:
            model = Jar
            fields = ["label", "size_name"]

    members = {"serializer_class": Sized, "ordering_fields": None}
    jars = type("Ordered", (Jars,), members)
    tool = tools_of(path("jars/", jars.as_view({"get": "list"})))["jars_list"]
    assert tool.input_schema["properties"]["ordering"]["items"]["pattern"] == "^-?(label)$"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Numbers separated by commas: A,B", "Numbers."),
        ("Comma-separated list of ids", "ids."),
        ("Some of them. Values may be separated by commas.", "Some of them."),
    ],
)
def test_an_array_is_described_without_commas(tools_of, text, said):
    item = django_filters.BaseInFilter(field_name="label", lookup_expr="in", help_text=text)
    filters_class = type("Several", (django_filters.FilterSet,), {"label_in": item})
    jars = type("Chosen", (Jars,), {"filterset_class": filters_class, "filterset_fields": None})
    tool = tools_of(path("jars/", jars.as_view({"get": "list"})))["jars_list"]
    described = tool.input_schema["properties"]["label_in"]
    assert described["type"] == "array"
    assert described["description"] == said
