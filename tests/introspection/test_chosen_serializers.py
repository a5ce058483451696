"""Serializers that a view chooses by the call: all of them are described."""

from __future__ import annotations

import enum

import pytest
from django.contrib.auth.models import Group
from rest_framework import generics, serializers, views, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response

from drf_mcp.describers import Describer, Inspection, PathKwarg
from tests.introspection.inspected import by_name, described, view_of


class Card(serializers.Serializer):
    kind, number = serializers.CharField(), serializers.CharField()


class Iban(serializers.Serializer):
    kind, iban = serializers.CharField(), serializers.CharField()


class Cash(serializers.Serializer):
    kind = serializers.CharField()
    drawer = serializers.IntegerField(required=False)


class Kind(enum.Enum):
    CARD = "card"
    IBAN = "iban"


KINDS = {"card": Card, "iban": Iban, "cash": Cash}
BY_ENUM = {Kind.CARD: Card, Kind.IBAN: Iban}
EITHER = {"kind": True, "number": False, "iban": False}
ALL = {**EITHER, "drawer": False}


class Pays(generics.CreateAPIView):
    def get_serializer_class(self):
        return Iban if self.choose() else Card

    def choose(self):
        raise NotImplementedError


class Pay(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = Card


def required(schema):
    return {name: field.required for name, field in by_name(schema.body.fields).items()}


def required_of(schema, names):
    """The same, without other members that the choosing code reads."""
    return {name: is_required for name, is_required in required(schema).items() if name in names}


def by_choice(choose, base=Pays, method="POST", **options):
    return described(type("View", (base,), {"choose": choose}), method, **options)


class Ways:
    """By a value of the call."""

    def get(self):
        return self.request.data.get("kind") == "iban"

    def item(self):
        return self.request.data["kind"] == "iban"

    def membership(self):
        return "iban" in self.request.data

    def default(self):
        return (self.request.data or {}).get("kind") in ("iban", "sepa")

    def beginning(self):
        return self.request.data.get("kind", "").startswith("ib")

    def case(self):
        return self.request.data.get("kind", "").lower() == "iban"

    def form(self):
        return self.request.POST.get("kind") == "iban"

    def query(self):
        return self.request.query_params.get("kind") == "iban"

    def item_of_query(self):
        return self.request.GET["kind"] == "iban"

    def header(self):
        return self.request.headers.get("X-Kind") == "iban"

    def header_of_server(self):
        return self.request.META.get("HTTP_X_KIND") == "iban"

    def enumeration(self):
        return Kind(self.request.data.get("kind", "card")) is Kind.IBAN

    def size(self):
        return int(self.request.data.get("amount", 0)) > 500

    def truth(self):
        return bool(self.request.data.get("is_iban"))

    def count(self):
        return len(self.request.data.getlist("kind")) > 0

    def alternative(self):
        return self.request.data.get("a") == "b" or self.request.data.get("kind") == "iban"

    def exception(self):
        try:
            return self.request.data["kind"] == "iban"
        except KeyError:
            return False


@pytest.mark.parametrize("way", [name for name in vars(Ways) if not name.startswith("_")])
def test_a_choice_between_two_serializers(way):
    schema = by_choice(vars(Ways)[way])
    assert schema.body.kind == "object"
    assert schema.body.opened_by
    assert required_of(schema, EITHER) == EITHER
    assert "test_chosen_serializers.py" in schema.body.opened_by
    assert schema.findings == ()


def test_a_choice_by_a_kwarg_of_the_url():
    kwarg = PathKwarg("kind", pattern="card|iban")

    class View(Pays):
        def choose(self):
            return self.kwargs["kind"] == "iban"

    schema = described_with(View, "POST", kind=kwarg)
    assert required(schema) == EITHER
    assert schema.body.opened_by


def described_with(view_class, method, **kwargs):
    view = view_of(view_class, method)
    view.kwargs = dict.fromkeys(kwargs, "0")
    return Describer(Inspection(view, method), kwargs).describe()


class Tables:
    kinds = KINDS

    def by_item(self):
        return KINDS[self.request.data["kind"]]

    def by_get(self):
        return KINDS.get(self.request.data.get("kind"), Card)

    def by_attribute(self):
        return self.kinds[self.request.data.get("kind", "cash")]

    def by_literal(self):
        return {"card": Card, "iban": Iban}.get(self.request.data.get("kind"), Cash)


@pytest.mark.parametrize("way", [name for name in vars(Tables) if name.startswith("by_")])
def test_a_table_of_serializers(way):
    members = {"get_serializer_class": vars(Tables)[way], "kinds": KINDS}
    schema = described(type("View", (generics.CreateAPIView,), members), "POST")
    assert required(schema) == ALL


def test_a_table_by_the_members_of_an_enumeration():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            return BY_ENUM[Kind(self.request.data["kind"])]

    assert required(described(View, "POST")) == EITHER


def test_a_match_statement():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            match self.request.data.get("kind"):
                case "iban":
                    return Iban
                case "cash" | "coins":
                    return Cash
                case _:
                    return Card

    assert required(described(View, "POST")) == ALL


def test_a_method_that_the_choice_calls():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            return self.pick(self.get_kind())

        def get_kind(self):
            return self.request.data.get("kind")

        def pick(self, kind):
            return Iban if kind == "iban" else Card

    assert required(described(View, "POST")) == EITHER


def test_what_a_value_requires_is_said():
    fields = by_name(by_choice(Ways.get).body.fields)
    assert fields["iban"].schema["description"] == "Required where kind is iban."


def test_a_choice_that_a_documentation_flag_hides():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            if getattr(self, "swagger_fake_view", False):
                return Card
            return KINDS[self.request.data["kind"]]

    schema = described(View, "POST")
    assert required(schema) == ALL
    assert schema.body.opened_by


def test_a_get_serializer_that_chooses():
    class View(generics.CreateAPIView):
        serializer_class = Card

        def get_serializer(self, *args, **kwargs):
            kind = kwargs.get("data", {}).get("kind")
            return (Iban if kind == "iban" else Card)(*args, context={}, **kwargs)

    assert required(described(View, "POST")) == EITHER


def test_fields_that_are_chosen_by_the_data():
    class Company(serializers.Serializer):
        name = serializers.CharField()

        def get_fields(self):
            made = super().get_fields()
            if self.context["request"].data.get("type") == "company":
                made["vat"] = serializers.CharField()
            return made

    schema = described(type("V", (generics.CreateAPIView,), {"serializer_class": Company}), "POST")
    assert required(schema) == {"name": True, "vat": False, "type": False}
    assert schema.body.opened_by


def test_fields_that_init_makes_optional_by_the_data():
    class Company(serializers.Serializer):
        name, vat = serializers.CharField(), serializers.CharField()

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if kwargs.get("data", {}).get("type") == "person":
                self.fields["vat"].required = False

    schema = described(type("V", (generics.CreateAPIView,), {"serializer_class": Company}), "POST")
    assert required(schema) == {"name": True, "vat": False, "type": False}


def test_fields_that_a_nested_serializer_chooses():
    class Line(serializers.Serializer):
        price = serializers.IntegerField()

        def get_fields(self):
            made = super().get_fields()
            if self.context["request"].data.get("type") == "gift":
                made["greeting"] = serializers.CharField()
            return made

    class Order(serializers.Serializer):
        lines = Line(many=True)

    schema = described(type("V", (generics.CreateAPIView,), {"serializer_class": Order}), "POST")
    assert required(schema) == {"lines": True, "type": False}
    assert schema.body.opened_by


class Dynamic(serializers.Serializer):
    """As a mixin for ``?fields=`` does."""

    name, text = serializers.CharField(), serializers.CharField()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        request = self.context.get("request")
        names = request.query_params.get("fields") if request else None
        for name in set(self.fields) - set(names.split(",")) if names else ():
            self.fields.pop(name)


def test_fields_that_the_query_takes_away_are_no_alternative():
    schema = described(type("V", (generics.CreateAPIView,), {"serializer_class": Dynamic}), "POST")
    assert required(schema) == {"name": True, "text": True}
    assert not schema.body.opened_by


class Plain(serializers.Serializer):
    text = serializers.CharField()


class Internal(Plain):
    secret = serializers.CharField()


class GroupsOnly(generics.CreateAPIView):
    def get_serializer_class(self):
        if self.request.user.groups.filter(name="staff").exists():
            return Internal
        return Plain


@pytest.mark.django_db
def test_a_choice_by_the_groups_of_the_caller():
    schema = described(GroupsOnly, "POST")
    assert required(schema) == {"text": True, "secret": False}


def test_a_choice_by_the_caller_alone_is_known():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            return Internal if self.request.user.is_staff else Plain

    schema = described(View, "POST")
    assert required(schema) == {"text": True, "secret": False}
    assert not schema.body.opened_by


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_choice_by_the_object(method):
    class View(generics.UpdateAPIView):
        queryset = Group.objects.all()

        def get_serializer_class(self):
            return Internal if self.get_object().name == "x" else Plain

    schema = described_with(View, method, pk=PathKwarg("pk"))
    assert required(schema) == {"text": method == "PUT", "secret": False}
    assert schema.body.opened_by


@pytest.mark.django_db
def test_a_choice_by_rows_writes_nothing():
    class View(generics.CreateAPIView):
        def get_serializer_class(self):
            made, _ = Group.objects.get_or_create(name=self.request.data.get("kind", "x"))
            return Internal if made.pk == 5 else Plain

    schema = described(View, "POST")
    assert not Group.objects.exists()
    assert required(schema) == {"text": True, "secret": False, "kind": False}


def test_an_action_has_no_members_of_other_actions():
    class View(Pay):
        def get_serializer_class(self):
            if self.action == "update":
                return Internal
            if self.request.user.groups.filter(name="x").exists():
                return Plain
            return Card

    names = set(required(described(View, action="create")))
    assert names == {"kind", "number", "text"}


# --- Handlers that choose are read, and never run


class Ran(Exception):
    pass


def test_a_handler_that_makes_one_of_two_serializers():
    class View(Pay):
        def create(self, request):
            if request.data.get("kind") == "iban":
                serializer = Iban(data=request.data)
            else:
                serializer = self.get_serializer(data=request.data)
            serializer.is_valid(raise_exception=True)
            raise Ran

    schema = described(View, action="create")
    assert required(schema) == EITHER
    assert schema.body.opened_by


def test_a_function_that_makes_one_of_two_serializers():
    @api_view(["POST"])
    def pay(request):
        if request.data["kind"] == "iban":
            Iban(data=request.data).is_valid(raise_exception=True)
        else:
            Card(data=request.data).is_valid(raise_exception=True)
        raise Ran

    assert required(described(pay.cls, "POST")) == EITHER


@pytest.mark.parametrize("method", ["post", "put", "patch"])
def test_a_variable_that_holds_one_of_two_classes(method):
    def handle(self, request):
        serializer_class = Iban if request.data.get("kind") == "iban" else Card
        serializer = serializer_class(data=request.data)
        serializer.is_valid(raise_exception=True)
        raise Ran

    view = type("View", (views.APIView,), {method: handle})
    schema = described(view, method.upper())
    assert required(schema) == EITHER


def test_a_table_of_classes_in_a_handler():
    class View(views.APIView):
        def post(self, request):
            serializer = KINDS[request.data["kind"]](data=request.data)
            serializer.is_valid(raise_exception=True)
            raise Ran

    assert required(described(View, "POST")) == ALL


def test_branches_that_assign_one_of_two_classes():
    class View(Pay):
        @action(detail=False, methods=["post"])
        def pay(self, request):
            chosen = Card
            if request.data.get("kind") == "iban":
                chosen = Iban
            serializer = chosen(data=request.data)
            serializer.is_valid(raise_exception=True)
            return Response(serializer.data)

    assert required(described(View, "POST", "pay")) == EITHER


def test_a_method_that_gives_a_handler_one_of_two_classes():
    class View(views.APIView):
        def pick(self, kind):
            return Iban if kind == "iban" else Card

        def post(self, request):
            serializer_class = self.pick(request.data.get("kind"))
            serializer = serializer_class(data=request.data)
            serializer.is_valid(raise_exception=True)
            return Response(serializer.data)

    assert required(described(View, "POST")) == EITHER


def test_one_object_or_a_list_by_the_query():
    class View(generics.CreateAPIView):
        serializer_class = Card

        def get_serializer(self, *args, **kwargs):
            if self.request.query_params.get("many") == "yes":
                kwargs["many"] = True
            return super().get_serializer(*args, **kwargs)

    body = described(View, "POST").body
    assert body.kind == "either"
    assert {field.name for field in body.fields} == {"kind", "number"}


# --- A choice that fails


def test_a_choice_that_fails_leaves_the_declared_serializer_and_an_open_body():
    class View(generics.CreateAPIView):
        serializer_class = Card

        def get_serializer_class(self):
            return self.request.tenant.serializer_class

    schema = described(View, "POST")
    assert required(schema) == {"kind": False, "number": False}
    assert schema.body.opened_by
    (finding,) = schema.findings
    assert "has no attribute 'tenant'" in finding.message
    assert "test_chosen_serializers.py" in finding.source
