"""Which tools a list shows a caller."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import Group, User
from django.http import JsonResponse
from django.test import Client
from django.urls import include, path
from rest_framework.authentication import BaseAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import (
    AllowAny,
    BasePermission,
    DjangoModelPermissions,
    DjangoModelPermissionsOrAnonReadOnly,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from tests.agents import Agent

pytestmark = pytest.mark.django_db
READS = {"groups_list", "groups_retrieve"}
TOKENS = "rest_framework.authentication.TokenAuthentication"


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes = [DjangoModelPermissions]


class Nested(Groups):
    queryset = None

    def get_queryset(self):
        return Group.objects.filter(user=self.kwargs["user_pk"])


class Word(APIView):
    permission_classes = [IsAuthenticated]

    def get(self, request):
        return Response({"word": "a"})


@pytest.fixture
def serve(expose):
    def serve(*permission_classes, **mcp_settings) -> None:
        router = SimpleRouter()
        permissions = list(permission_classes or [DjangoModelPermissions])
        groups = type("Groups", (Groups,), {"permission_classes": permissions})
        router.register("groups", groups)
        mcp_settings = {"AUTHENTICATION_CLASSES": [TOKENS], "EXCLUDE": ["PUT *"], **mcp_settings}
        expose(path("", include(router.urls)), **mcp_settings)

    return serve


def make_agent(username: str, **fields) -> Agent:
    user = User.objects.create(username=username, **fields)
    return Agent(Client(headers={"authorization": f"Token {Token.objects.create(user=user)}"}))


def names(agent: Agent) -> set[str]:
    return {tool["name"] for tool in agent.result("tools/list")["tools"]}


# --- REST framework's own permissions -----------------------------------------------------------


def test_each_caller_sees_what_the_permissions_open(serve):
    serve(DjangoModelPermissionsOrAnonReadOnly)
    plain, other, nobody = make_agent("anne"), make_agent("ben", is_superuser=True), Agent(Client())
    assert (names(plain), len(names(other)), names(nobody)) == (READS, 5, READS)


def test_composed_permissions_are_asked_as_one(serve):
    serve(IsAdminUser | DjangoModelPermissions, ~IsAdminUser)
    assert names(make_agent("anne")) == READS
    assert names(make_agent("boss", is_staff=True)) == set()


def test_a_view_that_ignores_model_permissions_is_listed_for_every_user(serve, monkeypatch):
    monkeypatch.setattr(Groups, "_ignore_model_permissions", True, raising=False)
    serve()
    assert len(names(make_agent("anne"))) == 5


def test_tools_of_one_model_and_other_permissions_are_asked_apart(expose):
    admin = type("Admin", (Groups,), {"permission_classes": [IsAdminUser]})
    router = SimpleRouter()
    router.register("groups", Groups)
    router.register("own", admin, basename="own")
    expose(path("", include(router.urls)), AUTHENTICATION_CLASSES=[TOKENS])
    assert names(make_agent("anne")) == READS


class Mapped(DjangoModelPermissions):
    perms_map = {**DjangoModelPermissions.perms_map, "GET": ["auth.view_group"]}


@pytest.mark.parametrize(
    ("permission", "listed"), [(DjangoModelPermissions, READS), (Mapped, set())]
)
def test_a_nested_viewset_hides_what_model_permissions_refuse(expose, permission, listed):
    view = type("Rows", (Nested,), {"permission_classes": [permission]})
    router = SimpleRouter()
    router.register("groups", view, basename="groups")
    expose(path("users/<int:user_pk>/", include(router.urls)), AUTHENTICATION_CLASSES=[TOKENS])
    found = {name.removeprefix("users_") for name in names(make_agent("anne"))}
    assert found == listed


# --- Permissions of the project -----------------------------------------------------------------


class Looking(DjangoModelPermissions):
    def has_permission(self, request, view) -> bool:
        return self._queryset(view).filter(name="x").exists()


def test_a_permission_of_the_project_can_query_the_rows_of_the_view(serve):
    serve(Looking)
    agent = make_agent("anne")
    assert names(agent) == set()
    Group.objects.create(name="x")
    assert len(names(agent)) == 5


def test_a_permission_that_crashes_leaves_its_tools_in_the_list(serve):
    serve(type("Crashing", (BasePermission,), {"has_permission": lambda *args: 1 / 0}))
    assert len(names(make_agent("anne"))) == 5


# --- Who calls, and how -------------------------------------------------------------------------


class ByName(BaseAuthentication):
    def authenticate(self, request) -> tuple | None:
        name = request.headers.get("X-Name")
        return name and (User.objects.get(username=name), None)


def test_a_list_is_made_for_the_user_whom_the_view_authenticates(serve, monkeypatch):
    monkeypatch.setattr(Groups, "authentication_classes", [ByName])
    serve(IsAdminUser)
    User.objects.create(username="boss", is_staff=True)
    agent = make_agent("anne")
    assert names(agent) == set()
    agent.http.defaults["HTTP_X_NAME"] = "boss"
    assert len(names(agent)) == 5


class ByPath(BaseAuthentication):
    def authenticate(self, request):
        if request.path.startswith("/payroll/"):
            raise AuthenticationFailed("This key is not for payroll.")
        return User.objects.get_or_create(username="key")[0], None

    def authenticate_header(self, request):
        return "Key"


class Payroll(APIView):
    authentication_classes = [ByPath]
    permission_classes = [AllowAny]

    def get(self, request):
        return Response({"salary": 9})


def test_an_authenticator_that_reads_the_path_sees_the_path_of_the_tool(expose, agent_of, http_of):
    expose(path("payroll/", Payroll.as_view()), AUTHENTICATION_CLASSES=[f"{__name__}.ByPath"])
    assert http_of(None).get("/payroll/").status_code == 401
    agent = agent_of(None)
    (tool,) = agent.tools()
    response = agent.post(*agent.frame("tools/call", {"name": tool, "arguments": {}}))
    assert response.status_code == 401
    assert b"salary" not in response.content


# --- CALL_MIDDLEWARE ----------------------------------------------------------------------------


class Locked:
    """Refuses one path, and every path with a tenant that is no number."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        tenant = request.path.strip("/").partition("/")[0]
        if request.path == "/first/" or (request.path.count("/") > 2 and not tenant.isdigit()):
            return JsonResponse({"detail": "locked"}, status=403)
        request.tenant = "blue"
        return self.get_response(request)


class OfTenant(BasePermission):
    def has_permission(self, request, view) -> bool:
        return getattr(request, "tenant", "") == "blue"


@pytest.mark.parametrize("permission", [IsAuthenticated, OfTenant])
def test_middleware_that_refuses_one_path_hides_no_other_tool(expose, permission):
    view = type("Word", (Word,), {"permission_classes": [permission]})
    routes = [path(f"{name}/", view.as_view()) for name in ("first", "second", "third")]
    middleware = [f"{__name__}.Locked"]
    expose(*routes, CALL_MIDDLEWARE=middleware, AUTHENTICATION_CLASSES=[TOKENS])
    assert names(make_agent("anne")) == {"second", "third"}


@pytest.mark.parametrize(
    ("permission", "is_listed"), [(IsAuthenticated, True), (IsAdminUser, False)]
)
def test_where_middleware_refuses_placeholders_permissions_are_asked_alone(
    expose, permission, is_listed
):
    view = type("Word", (Word,), {"permission_classes": [permission]})
    middleware = [f"{__name__}.Locked"]
    route = path("<str:tenant>/words/", view.as_view())
    expose(route, CALL_MIDDLEWARE=middleware, AUTHENTICATION_CLASSES=[TOKENS])
    assert bool(names(make_agent("anne"))) is is_listed


class Tenants:
    """Looks a tenant up, and refuses the placeholder of one."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        name = request.path.strip("/").partition("/")[0]
        if not Group.objects.filter(name=name).exists():
            return JsonResponse({"detail": "no tenant"}, status=404)
        return self.get_response(request)


def test_middleware_that_refuses_placeholders_is_asked_once_for_all_tools_with_the_same(
    expose, django_assert_max_num_queries
):
    view = type("Word", (Word,), {"permission_classes": [IsAuthenticated]})
    routes = [path(f"<str:tenant>/words{number}/", view.as_view()) for number in range(9)]
    middleware = [f"{__name__}.Tenants"]
    expose(*routes, CALL_MIDDLEWARE=middleware, AUTHENTICATION_CLASSES=[TOKENS])
    agent = make_agent("anne")
    assert len(names(agent)) == 9
    with django_assert_max_num_queries(8):
        names(agent)


class Scoped:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        name = request.path.strip("/").partition("/")[0]
        request.group = Group.objects.filter(name=name).first()
        return self.get_response(request)


class InGroup(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.group is not None


def test_what_middleware_finds_by_a_placeholder_hides_no_tool(expose):
    view = type("Word", (Word,), {"permission_classes": [InGroup]})
    routes = [path(f"{name}/words/", view.as_view()) for name in ("<str:group>", "no-group")]
    expose(*routes, CALL_MIDDLEWARE=[f"{__name__}.Scoped"], AUTHENTICATION_CLASSES=[TOKENS])
    assert len(names(make_agent("anne"))) == 1


# --- Permissions that read what only a call knows -----------------------------------------------


def by_kwargs(request, view):
    return view.kwargs.get("pk") == 7


def by_resolver(request, view):
    return request.resolver_match.kwargs.get("pk") == 7


def by_copy(request, view):
    return {**view.kwargs}.get("pk") == 7


def by_body(request, view):
    return request.data.get("kind") == "a"


def by_form(request, view):
    return "kind" in request.POST


def by_query(request, view):
    return request.query_params.get("kind") == "a"


def by_raw_query(request, view):
    return bool(request.GET)


def by_object(request, view):
    return view.get_object().name == "a"


def by_path(request, view):
    return request.path.endswith("/7/")


def by_swallowing(request, view):
    try:
        return view.kwargs["pk"] == 7
    except KeyError:
        return False


def by_user(request, view):
    return request.user.is_staff


def by_names(request, view):
    return "parent" in view.kwargs or view.kwargs.get("parent") is not None


def by_header(request, view):
    return "X-Key" in request.headers


def make_permission(check) -> type:
    return type("Own", (BasePermission,), {"has_permission": lambda self, *args: check(*args)})


UNKNOWN = [by_kwargs, by_resolver, by_copy, by_query, by_raw_query, by_path, by_swallowing]


@pytest.fixture
def listed(expose):
    """Returns whether the list shows anne a tool with these permissions, by method."""

    def listed(*permissions, method="get", view=Groups, **members) -> bool:
        own = {"permission_classes": list(permissions), **members}
        actions = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
        made = type("Groups", (view,), own).as_view({method: actions[method]}, detail=True)
        expose(path("groups/<int:pk>/", made), AUTHENTICATION_CLASSES=[TOKENS])
        return bool(names(make_agent("anne")))

    return listed


@pytest.mark.parametrize("check", [*UNKNOWN, by_object])
def test_a_permission_that_reads_the_call_hides_no_tool(listed, check):
    assert listed(make_permission(check))


@pytest.mark.parametrize("check", [by_body, by_form])
def test_a_permission_that_reads_the_body_of_a_write_hides_no_tool(listed, check):
    assert listed(make_permission(check), method="patch")


@pytest.mark.parametrize("check", [by_user, by_names, by_header, by_body])
def test_a_refusal_that_reads_nothing_of_the_call_hides_the_tool(listed, check):
    # A GET has no body.
    assert not listed(make_permission(check))


def test_permissions_are_judged_one_by_one(listed):
    assert not listed(make_permission(by_kwargs), IsAdminUser)


@pytest.mark.parametrize(
    ("compose", "is_listed"),
    [
        (lambda unknown, refuses: unknown & refuses, False),
        (lambda unknown, refuses: unknown | refuses, True),
        (lambda unknown, refuses: ~unknown, True),
        (lambda unknown, refuses: ~refuses & unknown, True),
        (lambda unknown, refuses: ~(unknown | ~refuses), False),
    ],
)
def test_composed_permissions_have_three_values(listed, compose, is_listed):
    assert listed(compose(make_permission(by_kwargs), IsAdminUser)) is is_listed


class ChoosesPermissions(Groups):
    def get_permissions(self):
        return [AllowAny() if self.kwargs.get("pk") == 7 else IsAdminUser()]


class SetsTenant(Groups):
    def initial(self, request, *args, **kwargs):
        request.is_owner = kwargs["pk"] == 7
        super().initial(request, *args, **kwargs)


class LoadsTenant(Groups):
    def initial(self, request, *args, **kwargs):
        self.load_tenant()
        super().initial(request, *args, **kwargs)

    def load_tenant(self):
        self.request.is_owner = self.kwargs["pk"] == 7


class CompiledInitial:
    """A method without readable source, such as Cython makes."""

    def __get__(self, view, owner=None):
        return self if view is None else partial(self, view)

    def __call__(self, view, request, *args, **kwargs):
        request.is_owner = kwargs["pk"] == 7
        Groups.initial(view, request, *args, **kwargs)


class SetsTenantUnread(Groups):
    initial = CompiledInitial()


class LogsOnly(Groups):
    def initial(self, request, *args, **kwargs):
        request.seen = True
        super().initial(request, *args, **kwargs)


def by_attribute(request, view):
    return getattr(request, "is_owner", False)


def test_permissions_that_the_call_chooses_hide_no_tool(expose):
    made = ChoosesPermissions.as_view({"get": "retrieve"}, detail=True)
    expose(path("groups/<int:pk>/", made), AUTHENTICATION_CLASSES=[TOKENS])
    assert names(make_agent("anne"))


@pytest.mark.parametrize(
    ("view", "permission", "is_listed"),
    [
        (SetsTenant, make_permission(by_attribute), True),
        (LoadsTenant, make_permission(by_attribute), True),
        (SetsTenantUnread, make_permission(by_attribute), True),
        (SetsTenant, IsAdminUser, False),
        (LogsOnly, make_permission(by_attribute), False),
    ],
)
def test_where_an_earlier_step_reads_the_call_only_stock_permissions_hide(
    listed, view, permission, is_listed
):
    assert listed(permission, view=view) is is_listed
