"""The report of ``mcp_tools findings``: causes by rank, at lines of the project."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from django.utils.module_loading import import_string
from django_filters import CharFilter
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from rest_framework import serializers
from rest_framework.generics import CreateAPIView, ListAPIView
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp import mcp_tool
from drf_mcp.contrib.operators.lint import CAUSES, find_all
from drf_mcp.exposure import registry
from example_project.shop.models import Customer

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
PLACE = re.compile(r"^     (\S+\.py):(\d+)(?:  (.*))?$")


class Bare(serializers.Serializer):
    colour = serializers.CharField()
    kind = serializers.ChoiceField(["a", "b"])
    flag = serializers.BooleanField()


class Takes(APIView):
    """Take a few things."""

    serializer_class = Bare

    def post(self, request) -> Response:
        """Take a few things."""
        return Response()


class AllRows(ListAPIView):
    """Some groups of people."""

    queryset = Group.objects.all()
    serializer_class = Bare
    pagination_class = None


class Base(APIView):
    def get(self, request) -> Response:
        """Say something about any of them."""
        return Response()


class Heir(Base):
    pass


class Open(APIView):
    permission_classes = []

    def post(self, request) -> Response:  # open
        return Response(request.data)


class Failing(CreateAPIView):
    """Make a group of people."""

    def get_serializer_class(self):
        return self.request.user.no_such_attribute


class Stock(ModelViewSet):
    """
    This viewset automatically provides `list`, `create`, `retrieve`, `update` and `destroy`
    actions.
    """

    queryset = Group.objects.all()
    serializer_class = Bare


class Computing(AllRows):
    """Reads two query parameters, and computes the name of one of them."""

    def get_queryset(self):
        query = self.request.query_params
        name = query.get("name", query.get(self.request.user.username))
        return super().get_queryset().filter(name=name)


class DeclaredFilter(FilterSet):
    name = CharFilter()


class GroupFilter(FilterSet):
    class Meta:
        model = Group
        fields = ["name"]


class Filtered(AllRows):
    """Some groups of people."""

    filter_backends = [DjangoFilterBackend]
    filterset_class = GroupFilter


class Declared(Filtered):
    """Some groups of people."""

    filterset_class = DeclaredFilter


class Listed(AllRows):
    """Some groups of people."""

    def get_serializer_context(self):
        return {"name": "not of the filter"}

    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["name"]


class Lost(AllRows):
    """Some groups of people."""

    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["name"]
    queryset, serializer_class = None, Bare

    def get_queryset(self):
        return self.request.tenant.groups


class Named(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["first_name"]


class Shown(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["name"]


@pytest.fixture
def findings(expose):
    """Serve views at paths of their names, and return the findings about them."""

    def found(*views, **mcp_settings) -> list:
        paths = [path(f"{view.__name__.lower()}/", as_view(view)) for view in views]
        expose(*paths, EXCLUDE=["content_retrieve"], **mcp_settings)
        return find_all(registry.tools())

    return found


def as_view(view):
    return view.as_view({"get": "list", "post": "create"}) if view is Stock else view.as_view()


def line_of(text: str, source: Path = Path(__file__)) -> str:
    lines = source.read_text().splitlines()
    return f"{source.relative_to(ROOT)}:{lines.index(text) + 1}"


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("view", "cause", "line", "message"),
    [
        (Failing, "open-body", "        return self.request.user.no_such_attribute", "no_such"),
        (Open, "open-body", "class Open(APIView):", "without a known serializer"),
        (Open, "no-description", "class Open(APIView):", "Nothing was written about open."),
        (Stock, "stock-docstring", "class Stock(ModelViewSet):", "of stock_list, stock_create"),
        (Heir, "inherited-description", "class Heir(Base):", "of heir is inherited from Base."),
        (Takes, "no-help-text", "    colour = serializers.CharField()", "`colour` of takes"),
        (Takes, "undeclared-effect", "    def post(self, request) -> Response:", "Whether takes"),
        (AllRows, "no-pages", "class AllRows(ListAPIView):", "every row at once"),
        (Computing, "lost-arguments", "class Computing(AllRows):", "self.request.user.username"),
        (Lost, "lost-arguments", "class Lost(AllRows):", "filterset_fields"),
    ],
)
def test_a_finding_points_at_the_line_to_change(findings, view, cause, line, message):
    found = [finding for finding in findings(view) if finding.cause == cause]
    assert len(found) == 1
    assert message in found[0].message
    assert found[0].place == line_of(line)


@pytest.mark.parametrize(
    ("view", "line", "remedy"),
    [
        (Declared, "    name = CharFilter()", "NAME = filters.CharFilter"),
        (Filtered, "class GroupFilter(FilterSet):", "Declare the filter in a FilterSet"),
        (Listed, "class Listed(AllRows):", "Declare the filter in a FilterSet"),
        (Computing, "class Computing(AllRows):", '@mcp_tool(query={"NAME":'),
    ],
)
def test_an_argument_without_a_description_is_found_at_its_line_or_class(
    findings, view, line, remedy
):
    (found,) = [f for f in findings(view) if f.cause == "no-help-text"]
    assert (found.place, remedy in found.remedy) == (line_of(line), True)


def test_a_field_of_a_model_is_at_the_line_of_the_model_or_else_of_the_serializer(findings):
    own = type("Own", (CreateAPIView,), {"serializer_class": Shown, "__doc__": "Customers."})
    foreign = type("Foreign", (CreateAPIView,), {"serializer_class": Named, "__doc__": "Users."})
    found = {f.subject: f for f in findings(own, foreign) if f.cause == "no-help-text"}
    assert found["Customer.name"].place.startswith("example_project/shop/models.py:")
    assert found["Named.first_name"].place == line_of("class Named(serializers.ModelSerializer):")
    assert "extra_kwargs" in found["Named.first_name"].remedy


def test_following_the_remedy_removes_the_finding(findings):
    class Better(serializers.Serializer):
        colour = serializers.CharField(help_text="Which colour.")

    mended = type("Mended", (Takes,), {"serializer_class": Better})
    words = {"name": {"type": "string", "description": "Whose name."}}
    declared = mcp_tool(query=words)(type("Declared", (Computing,), {"__doc__": "Some groups."}))
    assert [f.cause for f in findings(mended, declared) if f.cause == "no-help-text"] == []


def test_choices_and_booleans_need_no_description(findings):
    found = [finding for finding in findings(Takes) if finding.cause == "no-help-text"]
    assert {finding.subject for finding in found} == {"Bare.colour"}


@pytest.mark.parametrize(
    "hint", [{"destructive": True}, {"destructive": False}, {"read_only": True}]
)
def test_an_action_that_declares_its_effect_is_no_finding(findings, hint):
    declared = mcp_tool(**hint)(type("Declared", (Takes,), {}))
    assert "undeclared-effect" not in {f.cause for f in findings(declared, Failing, Stock)}


def test_the_example_declares_the_effect_of_each_action():
    assert "undeclared-effect" not in {each.cause for each in find_all(registry.tools())}


def test_a_key_with_the_name_of_its_list_needs_no_description(findings):
    groups = type("Groups", (AllRows,), {"__doc__": "Groups."})
    meta = type("Meta", (), {"model": User, "fields": ["groups"]})
    serializer = type("Joining", (serializers.ModelSerializer,), {"Meta": meta})
    joins = type("Joins", (CreateAPIView,), {"serializer_class": serializer, "__doc__": "Joins."})
    subjects = {f.subject for f in findings(groups, joins) if f.cause == "no-help-text"}
    assert "Joining.groups" not in subjects


def test_one_cause_is_one_finding_for_all_of_its_tools(findings):
    views = [type(f"Takes{number}", (Takes,), {}) for number in range(6)]
    (found,) = [f for f in findings(*views) if f.cause == "no-help-text"]
    assert found.tools == tuple(f"takes{number}" for number in range(6))


def test_a_computed_name_that_views_inherit_is_one_finding(findings):
    namespace = {"__doc__": "Some groups.", "__module__": __name__}
    views = [type(f"Inherits{n}", (Computing,), namespace) for n in range(3)]
    found = [f for f in findings(*views) if f.cause == "lost-arguments"]
    assert [f.tools for f in found] == [("inherits0_list", "inherits1_list", "inherits2_list")]


def test_failures_in_one_function_of_a_library_are_one_finding(findings):
    fails = staticmethod(partial(import_string, "nowhere.tenant"))
    members = {"get_serializer_class": fails}
    views = [type(f"Needs{n}", (CreateAPIView,), members) for n in range(3)]
    found = [f for f in findings(*views) if f.cause == "open-body"]
    assert {f.tools for f in found} == {("needs0_create", "needs1_create", "needs2_create")}
    assert len({f.subject for f in found}) == 1


@pytest.mark.slow
def test_the_report_of_the_example_fits_the_screen_and_points_at_its_lines(subtests, printed):
    for columns in [60, 80, 120]:
        with subtests.test(columns=columns):
            lines = printed("findings", columns=columns).splitlines()
            assert max(map(len, lines)) <= columns
            assert len(lines) < 60
            places = [match for match in map(PLACE.match, lines) if match]
            assert places
            for match in places:
                source = ROOT / match[1]
                assert match[1].startswith("example_project/")
                assert source.read_text().splitlines()[int(match[2]) - 1].strip()


def test_the_causes_of_the_report_are_numbered_by_rank(printed, findings):
    findings(Stock, Open, Takes, AllRows, Failing)
    titles = {cause.title: rank for rank, cause in enumerate(CAUSES)}
    headings = re.findall(r"^(\d+)\. (.*) \(\d+ places?.*\)$", printed("findings"), re.MULTILINE)
    assert [int(number) for number, _ in headings] == list(range(1, len(headings) + 1))
    ranks = [titles[title] for _, title in headings]
    assert len(ranks) > 4
    assert all(first < second for first, second in pairwise(ranks))


@pytest.mark.slow
def test_the_json_report_has_every_member_of_a_finding(printed):
    data = json.loads(printed("findings", "--json"))
    keys = {"cause", "place", "subject", "message", "remedy", "tools"}
    assert data["findings"]
    assert all(set(finding) == keys for finding in data["findings"])
    places = {(finding["cause"], finding["place"]) for finding in data["findings"]}
    last = printed("findings").splitlines()[-1]
    assert last.startswith(f"{len(places)} places to mend, of ")


def test_a_report_without_findings_says_so(printed, expose):
    class Tidy(APIView):
        """Say how the weather is."""

        def get(self, request) -> Response:
            return Response()

    expose(path("tidy/", Tidy.as_view()), EXCLUDE=["content_retrieve"])
    assert "Nothing to mend." in printed("findings")
