"""A branch on swagger_fake_view describes an endpoint and is no gate."""

from __future__ import annotations

from rest_framework import generics, serializers, viewsets

from drf_mcp.introspection.source.overrides import is_same_for_every_request
from tests.introspection.inspected import bare, by_name, described


class Short(serializers.Serializer):
    """What the schema shows."""

    name = serializers.CharField()
    colour = serializers.ChoiceField(["red"])


class Long(Short):
    """What a request may send."""

    colour = serializers.ChoiceField(["red", "blue"], required=False)
    token = serializers.CharField(write_only=True)


class Choosing(generics.CreateAPIView):
    def get_serializer_class(self):
        return Short if getattr(self, "swagger_fake_view", False) else Long


class ByAttribute(generics.CreateAPIView):
    swagger_fake_view = False

    def get_serializer_class(self):
        return Short if self.swagger_fake_view is True else Long


def is_described(view):
    """Return True for a view that nobody asks."""
    return getattr(view, "swagger_fake_view", False)


class ByHelper(generics.CreateAPIView):
    def get_serializer_class(self):
        return Short if is_described(self) else Long


class ByMixin(generics.CreateAPIView):
    @property
    def is_described(self):
        return getattr(self, "swagger_fake_view", False)

    def chosen(self):
        return Short if self.is_described else Long

    def get_serializer(self, *args, **kwargs):
        kwargs.setdefault("context", self.get_serializer_context())
        return self.chosen()(*args, **kwargs)


class Dropping(Long):
    """Drops fields itself."""

    def get_fields(self):
        fields = super().get_fields()
        if getattr(self.context["view"], "swagger_fake_view", False):
            del fields["token"]
        return fields


class DroppingByContext(Long):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if getattr(kwargs["context"]["view"], "swagger_fake_view", False):
            self.fields.pop("token")


class Outer(serializers.Serializer):
    rows = Dropping(many=True)


def test_members_of_both_branches_are_listed(subtests):
    for view in [Choosing, ByAttribute, ByHelper, ByMixin]:
        with subtests.test(view=view):
            fields = by_name(described(view, "POST").body.fields)
            assert {name: field.listed for name, field in fields.items()} == dict.fromkeys(
                ["name", "colour", "token"], True
            )


def test_required_is_what_both_branches_require():
    fields = by_name(described(Choosing, "POST").body.fields)
    assert [name for name, field in fields.items() if field.required] == ["name"]


def test_choices_are_those_of_both_branches():
    colour = by_name(described(Choosing, "POST").body.fields)["colour"]
    assert bare(colour.schema)["enum"] == ["red", "blue"]


def test_a_serializer_that_drops_fields_itself_is_described_both_ways(subtests):
    for serializer_class in [Dropping, DroppingByContext]:
        with subtests.test(serializer_class=serializer_class):
            view = type("View", (generics.CreateAPIView,), {"serializer_class": serializer_class})
            assert set(by_name(described(view, "POST").body.fields)) == {"name", "colour", "token"}


def test_a_nested_serializer_that_drops_fields_is_described_both_ways():
    view = type("View", (generics.CreateAPIView,), {"serializer_class": Outer})
    (rows,) = described(view, "POST").body.fields
    assert set(rows.schema["items"]["properties"]) == {"name", "colour", "token"}
    assert rows.schema["items"]["required"] == ["name"]


def test_a_serializer_that_looks_into_its_context_is_not_shared():
    assert not is_same_for_every_request(DroppingByContext, "__init__")


class ForStaff(generics.CreateAPIView):
    """Gives callers different serializers, and the schema a third."""

    def get_serializer_class(self):
        if getattr(self, "swagger_fake_view", False):
            return Short
        return Long if self.request.user.is_staff else Named


class Named(serializers.Serializer):
    nickname = serializers.CharField()


def test_every_caller_is_asked_without_the_flag():
    fields = by_name(described(ForStaff, "POST").body.fields)
    assert set(fields) == {"name", "colour", "token", "nickname"}
    assert not any(field.required for field in fields.values())


class Failing(viewsets.ModelViewSet):
    """Needs what only a real request has."""

    def get_serializer_class(self):
        if getattr(self, "swagger_fake_view", False):
            return Short
        return self.request.organisation.serializer_class


def test_a_branch_that_cannot_be_followed_is_told_and_costs_nothing():
    schema = described(Failing, action="create")
    assert set(by_name(schema.body.fields)) == {"name", "colour"}
    (finding,) = schema.findings
    assert "swagger_fake_view" in finding.message
    assert "organisation" in finding.message
    assert "@mcp_tool(body=" in finding.remedy


class FailingWithoutFlag(Long):
    """Leaves out what it cannot choose without a tenant."""

    def get_fields(self):
        fields = super().get_fields()
        if getattr(self.context["view"], "swagger_fake_view", False):
            del fields["token"]
        else:
            fields["colour"].initial = self.context["request"].tenant.colour
        return fields


def test_where_a_serializer_needs_more_without_the_flag_its_class_is_described_as_well():
    """What only the schema leaves out may be sent."""
    attributes = {"serializer_class": FailingWithoutFlag}
    schema = described(type("View", (generics.CreateAPIView,), attributes), "POST")
    assert set(by_name(schema.body.fields)) == {"name", "colour", "token"}
    assert "tenant" in schema.findings[0].message


def test_reads_are_not_described_twice():
    assert described(Failing, action="list").findings == ()
