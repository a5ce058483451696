"""Explanations of who may call a tool, without a call and without counting for throttles."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.http import HttpResponse
from django.urls import path
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.permissions import (
    AllowAny,
    BasePermission,
    DjangoModelPermissions,
    DjangoObjectPermissions,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.exposure import registry
from tests.management.library import Hourly

pytestmark = pytest.mark.django_db


class OnTuesdays(BasePermission):
    """A Tuesday."""

    def has_permission(self, request, view) -> bool:
        return False


class Spoken(BasePermission):
    message = "Say please."

    def has_permission(self, request, view) -> bool:
        return False


class Broken(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.data["secret"]


class Raising(BasePermission):
    def has_permission(self, request, view) -> bool:
        raise PermissionDenied("No.")


class EvenOnly(BasePermission):
    def has_object_permission(self, request, view, obj) -> bool:
        return obj.name in ("2", "4")


class Post(APIView):
    def post(self, request) -> Response:
        return Response()


class OneGroup(RetrieveAPIView):
    queryset = Group.objects.order_by("pk")
    serializer_class = Serializer


class OneGroupChanged(OneGroup):
    http_method_names = ["put"]

    def put(self, request, pk) -> Response:
        return Response()


class OwnGroups(ListAPIView):
    serializer_class = Serializer
    permission_classes = []

    def get_queryset(self):
        return self.request.user.groups.all()


class Nested(OwnGroups):
    def get_queryset(self):
        return Group.objects.filter(pk=self.kwargs["parent"])


class NamedOne:
    def filter_queryset(self, request, queryset, view):
        return queryset.filter(name="1")


class Filtered(ListAPIView):
    queryset = Group.objects.order_by("pk")
    serializer_class = Serializer
    permission_classes = []
    filter_backends = [NamedOne]


@pytest.fixture
def dora() -> User:
    return User.objects.create(username="dora")


@pytest.fixture
def explain(expose, dora):
    def ask(view, user=dora, route="thing/", **attributes) -> PermissionTrace:
        view = type(view.__name__, (view,), attributes)
        expose(path(route, view.as_view()))
        tool = next(iter(registry.tools().values()))
        return PermissionTrace(tool, user)

    return ask


def guarded(*classes):
    return {"permission_classes": list(classes)}


@pytest.mark.parametrize(
    ("user", "classes", "allows", "verdict"),
    [
        (True, [IsAuthenticated], True, "dora may call thing."),
        (True, [Raising], False, "Raising refuses: No."),
        (True, [Broken], None, "cannot be asked without a call"),
        (False, [IsAuthenticated], False, "An anonymous caller may not call thing"),
    ],
)
def test_the_permissions_of_a_view_decide(explain, dora, user, classes, allows, verdict):
    explanation = explain(Post, user=dora if user else None, **guarded(*classes))
    assert explanation.allows is allows
    assert verdict in explanation.verdict
    assert [step.kind for step in explanation.steps] == ["endpoint", "permission"]


def test_an_inactive_user_is_refused_by_the_endpoint(explain, dora):
    dora.is_active = False
    explanation = explain(Post, **guarded(IsAuthenticated))
    assert explanation.allows is False
    assert "authentication refuses: " in explanation.verdict


@pytest.mark.parametrize(
    ("classes", "needed"),
    [
        ([IsAdminUser], "a user with is_staff"),
        ([AllowAny, OnTuesdays], "A Tuesday"),
        ([Spoken], "Say please"),
        ([IsAdminUser | OnTuesdays], "a user with is_staff or A Tuesday"),
        ([IsAdminUser & OnTuesdays], "a user with is_staff and A Tuesday"),
        ([~IsAuthenticated], "a caller whom IsAuthenticated refuses"),
    ],
)
def test_a_refusal_names_what_the_user_needs(explain, classes, needed):
    explanation = explain(Post, **guarded(*classes))
    assert explanation.allows is False
    assert explanation.verdict.endswith(f"Needed: {needed}.")


def test_the_model_permissions_that_are_missing_are_named(explain, dora):
    explanation = explain(OneGroup, route="thing/<int:pk>/", **guarded(DjangoModelPermissions))
    assert explanation.allows is True

    explanation = explain(
        OneGroupChanged, route="thing/<int:pk>/", **guarded(DjangoModelPermissions)
    )
    assert explanation.verdict.endswith("Needed: the permission auth.change_group.")
    dora.user_permissions.add(Permission.objects.get(codename="change_group"))
    # A user object caches its permissions.
    dora = User.objects.get(pk=dora.pk)
    permissions = guarded(DjangoModelPermissions)
    assert (
        explain(OneGroupChanged, user=dora, route="thing/<int:pk>/", **permissions).allows is True
    )


class OfTenant(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.tenant == "acme"


def set_tenant(get_response):
    def respond(request):
        request.tenant = "acme"
        return get_response(request)

    return respond


def refuse_path(get_response):
    return lambda request: HttpResponse(status=403)


@pytest.mark.parametrize(
    ("middleware", "allows", "words"),
    [
        ("set_tenant", True, "dora may call thing."),
        ("refuse_path", None, "CALL_MIDDLEWARE cannot be asked here"),
    ],
)
def test_permissions_are_checked_inside_call_middleware(expose, dora, middleware, allows, words):
    view = type("Thing", (Post,), guarded(OfTenant))
    expose(path("thing/", view.as_view()), CALL_MIDDLEWARE=[f"{__name__}.{middleware}"])
    trace = PermissionTrace(registry.tool("thing"), dora)
    assert (trace.allows, words in trace.verdict) == (allows, True)


def test_a_throttle_shows_the_calls_left_and_counts_none(explain, dora):
    for _ in range(3):
        (_, throttle) = explain(Post, throttle_classes=[Hourly], permission_classes=[]).steps
        assert throttle.says == "has 2 of 2 calls left per hour"


def test_a_throttle_with_nothing_left_refuses(explain, dora):
    explain(Post, throttle_classes=[Hourly], permission_classes=[])
    tool = next(iter(registry.tools().values()))
    history = [Hourly().timer()] * 2
    Hourly.cache.set(f"hourly-{dora.pk}", history, 3600)
    explanation = PermissionTrace(tool, dora)
    assert explanation.allows is False
    assert "Needed: to wait" in explanation.verdict


def test_a_throttle_without_a_rate_is_not_run(explain):
    class Never(BaseThrottle):
        def allow_request(self, request, view) -> bool:
            raise AssertionError("asked")

    assert explain(Post, throttle_classes=[Never], permission_classes=[]).allows is True


def test_a_queryset_that_hides_rows_is_named_with_their_number(explain, dora):
    dora.groups.add(Group.objects.create(name="hers"))
    Group.objects.create(name="others")
    explanation = explain(OwnGroups)
    assert explanation.allows is None
    assert "OwnGroups.get_queryset shows 1 of 2 groups" in explanation.verdict


def test_a_filter_backend_that_hides_rows_is_named_with_their_number(explain):
    Group.objects.bulk_create([Group(name="1"), Group(name="2")])
    assert "NamedOne shows 1 of 2 groups" in explain(Filtered).verdict


def test_a_queryset_that_depends_on_the_path_is_left_open(explain):
    explanation = explain(Nested, route="thing/<int:parent>/")
    assert "depends on parent" in explanation.verdict


def test_object_permissions_are_checked_for_the_rows(explain):
    Group.objects.create(name="1")
    assert explain(OneGroup, route="thing/<int:pk>/", **guarded(EvenOnly)).allows is False
    Group.objects.bulk_create([Group(name=str(number)) for number in (0, 2, 3, 4)])
    explanation = explain(OneGroup, route="thing/<int:pk>/", **guarded(EvenOnly))
    assert "EvenOnly.has_object_permission allows 2 of 5 groups" in explanation.verdict


def test_object_permissions_of_django_name_what_is_missing(explain):
    Group.objects.create(name="1")

    class Changing(DjangoObjectPermissions):
        perms_map = {"GET": ["%(app_label)s.change_%(model_name)s"]}

        def has_permission(self, request, view) -> bool:
            return True

    explanation = explain(OneGroup, route="thing/<int:pk>/", **guarded(Changing))
    assert explanation.verdict.endswith("Needed: the permission auth.change_group.")


@pytest.mark.slow
def test_every_tool_can_be_explained_for_every_user():
    users = [None, *User.objects.all()]
    for tool in registry.tools().values():
        for user in users:
            assert PermissionTrace(tool, user).verdict.endswith(".")
