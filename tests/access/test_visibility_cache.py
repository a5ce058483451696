"""The visibility cache: whose entries it has, and when they are dropped."""

from __future__ import annotations

import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import OperationalError, connection, transaction
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rest_framework.authentication import BaseAuthentication, TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import (
    BasePermission,
    DjangoModelPermissions,
    DjangoModelPermissionsOrAnonReadOnly,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet

from drf_mcp.access import visibility_cache
from drf_mcp.access.scopes import HasScopes
from drf_mcp.access.visibility_cache import clear_visibility_cache
from drf_mcp.dispatch.visibility import get_permission_check
from drf_mcp.tools import registry
from tests.agents import Agent
from tests.server.views import Word

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


class Asked(BasePermission):
    asked: list = []

    def has_permission(self, request, view) -> bool:
        self.asked.append(request.user)
        return User.objects.filter(username=request.user.username, is_staff=True).exists()


class Declared(Asked):
    list_cache = True


class Changed(Declared):
    def has_permission(self, request, view) -> bool:
        return super().has_permission(request, view) and "X-Key" in request.headers


@pytest.fixture(autouse=True)
def empty_cache(request, monkeypatch):
    clear_visibility_cache()
    monkeypatch.setattr(Asked, "asked", [])
    # Rows that may still be rolled back are not cached, which is every row of most tests.
    if not request.node.get_closest_marker("django_db").kwargs.get("transaction"):
        monkeypatch.setattr(visibility_cache, "is_committed", lambda: True)
    yield
    visibility_cache.visibility_cache.clear()


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


def permission(action: str) -> Permission:
    return Permission.objects.get(codename=f"{action}_group")


@contextmanager
def querying_only_authentication():
    """Allow queries only for authentication and the audit."""
    with CaptureQueriesContext(connection) as captured:
        yield
    statements = [query["sql"] for query in captured]
    assert statements
    assert [s for s in statements if "authtoken" not in s and "audit" not in s] == []


# --- What is cached -----------------------------------------------------------------------------


def test_the_second_list_queries_only_authentication(serve):
    serve()
    agent = make_agent("anne")
    assert names(agent) == READS
    with querying_only_authentication():
        assert names(agent) == READS


def test_a_class_of_the_project_is_asked_at_each_list(serve):
    serve(Asked)
    agent = make_agent("anne", is_staff=True)
    assert len(names(agent)) == len(Asked.asked) == 5
    names(agent)
    assert len(Asked.asked) == 10


def test_a_class_with_list_cache_is_asked_once(serve):
    serve(Declared)
    agent = make_agent("anne", is_staff=True)
    assert len(names(agent)) == len(Asked.asked) == 5
    with querying_only_authentication():
        names(agent)
    assert len(Asked.asked) == 5


def test_a_subclass_with_another_check_is_asked_at_each_list(serve):
    serve(Changed)
    agent = make_agent("anne", is_staff=True)
    assert names(agent) == set()
    agent.http.defaults["HTTP_X_KEY"] = "1"
    assert len(names(agent)) == 5


def test_list_cache_false_on_a_subclass_asks_at_each_list(serve):
    anew = type("Anew", (IsAdminUser,), {"list_cache": False})
    serve(anew)
    agent = make_agent("anne", is_staff=True)
    assert len(names(agent)) == 5
    User.objects.update(is_staff=False)
    assert names(agent) == set()


def test_pages_are_cached_too(serve):
    serve(Declared, TOOLS_PAGE_SIZE=2)
    agent = make_agent("anne", is_staff=True)
    first = agent.result("tools/list")
    assert len(Asked.asked) == 3
    second = agent.result("tools/list", cursor=first["nextCursor"])
    assert (len(first["tools"]), len(second["tools"]), len(Asked.asked)) == (2, 2, 5)
    assert agent.result("tools/list")["tools"] == first["tools"]
    assert len(Asked.asked) == 5


def test_composed_classes_of_rest_framework_are_cached(serve):
    serve(IsAdminUser | DjangoModelPermissions, ~IsAdminUser)
    agent = make_agent("anne")
    assert names(agent) == READS
    with querying_only_authentication():
        assert names(agent) == READS


def test_instructions_use_the_cache_of_the_list(serve):
    serve(Declared)
    agent = make_agent("anne", is_staff=True)
    names(agent)
    assert "groups" in agent.result("server/discover")["instructions"]
    assert len(Asked.asked) == 5


# --- Whose entry it is --------------------------------------------------------------------------


def test_an_entry_depends_on_user_credential_authenticator_tenant_and_host():
    def identify(**changed):
        usual = {"user": 1, "auth": None, "by": BaseAuthentication, "tenant": None}
        facts = {**usual, "host": "a.example", "credential": "Token a", **changed}
        request = RequestFactory().post("/mcp", headers={"host": facts["host"]})
        request.META["HTTP_AUTHORIZATION"] = facts["credential"]
        request.tenant = facts["tenant"]
        known = SimpleNamespace(user=User(pk=facts["user"]), auth=facts["auth"], _request=request)
        known.successful_authenticator = facts["by"]()
        return visibility_cache.find_identity(known)

    others = [
        {"user": 2},
        {"auth": Group(pk=1)},
        {"auth": Group(pk=2)},
        {"by": TokenAuthentication},
        {"tenant": "second"},
        {"host": "b.example"},
        {"credential": "Token b"},
    ]
    identities = [identify(), *(identify(**changed) for changed in others)]
    assert len({*identities}) == len(identities)
    assert identify() == identities[0]


class Tenants:
    """Sets the tenant from a header, and nothing else."""

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request):
        request.tenant = Tenant(request.headers.get("X-Tenant"))
        return self.get_response(request)


class Tenant:
    def __init__(self, schema_name: str | None) -> None:
        self.schema_name = schema_name


class InTenant(Declared):
    """Allows the first tenant alone, as a table of roles by tenant would."""

    list_cache = True

    def has_permission(self, request, view) -> bool:
        return super().has_permission(request, view) and request.tenant.schema_name == "first"


@pytest.mark.parametrize("tenants", [("first", "second"), ("second", "first")])
def test_each_tenant_of_a_caller_has_an_entry(serve, settings, tenants):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.access.test_visibility_cache.Tenants"]
    serve(InTenant)
    agent = make_agent("anne", is_staff=True)
    seen = {}
    for _ in range(2):
        for tenant in tenants:
            agent.http.defaults["HTTP_X_TENANT"] = tenant
            seen[tenant] = len(names(agent))
    assert seen == {"first": 5, "second": 0}
    assert len(Asked.asked) == 10


def test_each_caller_has_an_entry(serve):
    serve(DjangoModelPermissionsOrAnonReadOnly)
    plain, other, nobody = make_agent("anne"), make_agent("ben", is_superuser=True), Agent(Client())
    for _ in range(2):
        assert (names(plain), len(names(other)), names(nobody)) == (READS, 5, READS)


def test_a_view_that_ignores_model_permissions_is_listed_for_every_user(serve, monkeypatch):
    monkeypatch.setattr(Groups, "_ignore_model_permissions", True, raising=False)
    serve()
    assert len(names(make_agent("anne"))) == 5


class Key:
    def __init__(self, reads: bool) -> None:
        self.reads = reads


class KeyAuthentication(BaseAuthentication):
    header = "Authorization"

    def authenticate(self, request) -> tuple | None:
        text = request.headers.get(self.header)
        return text and (User.objects.get(username="anne"), Key(text == "reads"))

    def authenticate_header(self, request) -> str:
        return "Key"


class OtherHeader(KeyAuthentication):
    header = "X-Key"


class ByKey(BasePermission):
    list_cache = True

    def has_permission(self, request, view) -> bool:
        return request.method == "GET" or not request.auth.reads


@pytest.mark.parametrize(
    ("authentication", "header"), [(KeyAuthentication, "authorization"), (OtherHeader, "x-key")]
)
def test_each_credential_of_a_user_has_an_entry(serve, monkeypatch, authentication, header):
    """Without a difference in the Authorization header, nothing is cached."""
    User.objects.create(username="anne")
    monkeypatch.setattr(Groups, "authentication_classes", [authentication])
    serve(ByKey, AUTHENTICATION_CLASSES=[f"{__name__}.{authentication.__name__}"])
    reads, writes = (Agent(Client(headers={header: key})) for key in ("reads", "writes"))
    for _ in range(2):
        assert (names(reads), len(names(writes))) == (READS, 5)


class ByName(BaseAuthentication):
    def authenticate(self, request) -> tuple | None:
        name = request.headers.get("X-Name")
        return name and (User.objects.get(username=name), None)


def test_an_entry_is_of_the_user_that_the_view_authenticates(serve, monkeypatch):
    monkeypatch.setattr(Groups, "authentication_classes", [ByName])
    serve(IsAdminUser)
    User.objects.create(username="boss", is_staff=True)
    agent = make_agent("anne")
    authorization = agent.http.defaults["HTTP_AUTHORIZATION"]

    def find_seen(**headers) -> int:
        return len(names(Agent(Client(headers={"authorization": authorization, **headers}))))

    for _ in range(2):
        assert [find_seen(), find_seen(**{"x-name": "boss"}), find_seen(**{"x-name": "anne"})] == [
            0,
            5,
            0,
        ]


class Scoped(HasScopes):
    required_scopes = ("read",)


class Mapped(DjangoModelPermissions):
    perms_map = {**DjangoModelPermissions.perms_map, "GET": ["auth.view_group"]}


class Computed(DjangoModelPermissions):
    perms_map = property(lambda self: {})


class OwnRows(IsAuthenticated):
    def is_owner(self, user) -> bool: ...

    def has_object_permission(self, request, view, obj) -> bool: ...


class DeclaredOwnRows(Declared):
    def has_object_permission(self, request, view, obj) -> bool: ...


class Helped(Declared):
    def find_members(self) -> list: ...


class Made(IsAuthenticated):
    def __init__(self) -> None: ...


@pytest.mark.parametrize(
    ("permission_class", "is_kept"),
    [
        (IsAuthenticated, True),
        (Mapped, True),
        (OwnRows, True),
        (Declared, True),
        (DeclaredOwnRows, True),
        (IsAdminUser & (Declared | ~DjangoModelPermissions), True),
        (Asked, False),
        (Changed, False),
        (Helped, False),
        (Computed, False),
        (Made, False),
        (Scoped, False),
        (IsAdminUser & (Asked | ~DjangoModelPermissions), False),
        (lambda: IsAuthenticated(), False),
    ],
)
def test_only_permission_classes_with_a_known_check_are_cached(serve, permission_class, is_kept):
    serve(permission_class)
    questions = {get_permission_check(tool).is_cacheable for tool in registry.tools().values()}
    assert questions == {is_kept}


def test_the_toolset_of_a_request_does_not_change_the_next_list(serve):
    serve(TOOLSETS={"reading": ["groups_list"]})
    agent = make_agent("anne", is_superuser=True)
    assert len(names(agent)) == 5
    agent.http.defaults["HTTP_MCP_TOOLSETS"] = "reading"
    assert names(agent) == {"groups_list"}
    del agent.http.defaults["HTTP_MCP_TOOLSETS"]
    assert len(names(agent)) == 5


# --- When entries are dropped -------------------------------------------------------------------


CHANGES = {
    "permission of the user": lambda user: user.user_permissions.add(permission("add")),
    "permission of the group": lambda user: user.groups.get().permissions.add(permission("add")),
    "group of the user": lambda user: user.groups.add(Group.objects.get(name="adders")),
    "user of the group": lambda user: Group.objects.get(name="adders").user_set.add(user),
    "the user's own row": lambda user: User(pk=user.pk, username="anne", is_superuser=True).save(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_with_a_signal_is_seen_at_once(serve, change):
    serve()
    agent = make_agent("anne")
    user = User.objects.get(username="anne")
    user.groups.add(Group.objects.create(name="readers"))
    Group.objects.create(name="adders").permissions.add(permission("add"))
    assert "groups_create" not in names(agent)
    CHANGES[change](user)
    assert "groups_create" in names(agent)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
def test_a_change_is_seen_in_its_transaction_and_afterwards_if_it_is_committed(serve, commits):
    serve()
    agent = make_agent("anne")
    key = str(User.objects.get(username="anne").pk)
    assert names(agent) == READS
    before = visibility_cache.visibility_cache.users[key]
    with transaction.atomic():
        User.objects.get(pk=key).user_permissions.add(permission("add"))
        # Another worker's thread, which still reads the old rows, may store this.
        visibility_cache.visibility_cache.users[key] = before
        assert "groups_create" in names(agent)
        transaction.set_rollback(not commits)
    assert ("groups_create" in names(agent)) == commits


def test_a_sign_in_does_not_clear_the_cache(serve):
    serve(Declared)
    agent = make_agent("anne", is_staff=True)
    names(agent)
    user = User.objects.get(username="anne")
    user.save(update_fields=["last_login"])
    names(agent)
    assert len(Asked.asked) == 5


def test_a_change_without_a_signal_is_seen_when_the_entry_expires(serve, monkeypatch):
    serve(LIST_CACHE_TTL=30)
    agent = make_agent("anne")
    assert names(agent) == READS
    User.objects.update(is_superuser=True)
    assert names(agent) == READS
    later = time.monotonic() + 30
    monkeypatch.setattr(visibility_cache.time, "monotonic", lambda: later)
    assert len(names(agent)) == 5


def test_the_cache_can_be_cleared_for_a_user_and_for_all(serve):
    serve()
    anne, ben = make_agent("anne"), make_agent("ben")
    assert names(anne) == names(ben) == READS
    User.objects.update(is_superuser=True)
    clear_visibility_cache(User.objects.get(username="anne"))
    assert (len(names(anne)), names(ben)) == (5, READS)
    clear_visibility_cache()
    assert len(names(ben)) == 5


@pytest.mark.parametrize("seconds", [{"LIST_CACHE_TTL": 0}, {"LIST_TTL": 0}])
def test_zero_seconds_disable_the_cache(serve, seconds):
    serve(**seconds)
    agent = make_agent("anne")
    assert names(agent) == READS
    User.objects.update(is_superuser=True)
    assert len(names(agent)) == 5


def test_a_call_checks_permissions_in_spite_of_the_cache(serve):
    serve()
    agent = make_agent("anne", is_superuser=True)
    assert "groups_create" in names(agent)
    User.objects.update(is_superuser=False)
    assert "groups_create" in names(agent)
    assert agent.call("groups_create", name="x").code == "FORBIDDEN"


def test_narrowings_are_applied_at_each_list(serve, settings):
    serve()
    agent = make_agent("anne", is_superuser=True)
    assert len(names(agent)) == 5
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": True}
    assert names(agent) == READS


def test_the_answer_of_a_failing_permission_is_not_cached(serve, monkeypatch):
    serve(Declared)
    agent = make_agent("anne")

    def fail(self, request, view) -> bool:
        raise OperationalError("gone")

    with monkeypatch.context() as broken:
        broken.setattr(Declared, "has_permission", fail)
        assert len(names(agent)) == 5
    assert names(agent) == set()


def test_the_cache_has_a_maximum_of_users(serve, monkeypatch):
    monkeypatch.setattr(visibility_cache, "MAX_USERS", 2)
    serve()
    for name in ("anne", "ben", "carl"):
        names(make_agent(name))
    assert len(visibility_cache.visibility_cache.users) == 2


@pytest.mark.slow
def test_lists_equal_those_of_a_server_without_the_cache(serve, settings):
    """The lists also have exactly the tools that can be called."""
    serve(DjangoModelPermissionsOrAnonReadOnly)
    agents = [make_agent("anne"), make_agent("ben"), Agent(Client())]
    users = list(User.objects.order_by("username"))
    group = Group.objects.create(name="all")
    moments = [
        *(lambda u=u: u.groups.add(group) for u in users),
        *(lambda u=u: u.groups.clear() for u in users),
        *(lambda a=a: group.permissions.add(permission(a)) for a in ("add", "change", "delete")),
        lambda: group.permissions.set([permission("delete")]),
        lambda: users[0].user_permissions.add(permission("change")),
        lambda: users[0].user_permissions.clear(),
        lambda: (setattr(users[1], "is_active", not users[1].is_active), users[1].save()),
    ]

    @hypothesis_settings(max_examples=5, deadline=None)
    @given(st.lists(st.sampled_from(moments), min_size=1, max_size=4))
    def hold(steps) -> None:
        for step in steps:
            step()
            with_memory = [find_listed(agent) for agent in agents]
            with pytest.MonkeyPatch.context() as forgetful:
                forgetful.setattr("drf_mcp.dispatch.visibility.can_cache", lambda: False)
                assert with_memory == [find_listed(agent) for agent in agents]
        for agent, listed in zip(agents, with_memory, strict=True):
            for tool, arguments in {"groups_create": {}, "groups_destroy": {"pk": 0}}.items():
                if listed is not None:
                    refused = agent.call(tool, **arguments).code in ("FORBIDDEN", "UNAUTHORIZED")
                    assert refused is (tool not in listed)

    hold()


def find_listed(agent: Agent) -> set[str] | None:
    # None for a user who can no longer sign in.
    message, headers = agent.frame("tools/list", {})
    response = agent.post(message, headers)
    tools = response.json().get("result", {}).get("tools")
    return None if tools is None else {tool["name"] for tool in tools}


# --- What a question does -----------------------------------------------------------------------


def test_model_permissions_are_checked_without_making_the_queryset(serve, monkeypatch):
    made = []
    monkeypatch.setattr(Groups, "get_queryset", lambda self: made.append(self))
    serve(IsAuthenticated, DjangoModelPermissions)
    agent = make_agent("anne")
    names(agent)
    made.clear()
    clear_visibility_cache()
    assert names(agent) == READS
    assert made == []


class Custom(DjangoModelPermissions):
    def has_permission(self, request, view) -> bool:
        return super().has_permission(request, view)


class Looking(DjangoModelPermissions):
    def has_permission(self, request, view) -> bool:
        return self._queryset(view).filter(name="x").exists()


def test_a_subclass_of_model_permissions_is_checked_without_making_the_queryset(serve, monkeypatch):
    made = []
    monkeypatch.setattr(Groups, "get_queryset", lambda self: made.append(self))
    serve(Custom)
    agent = make_agent("anne")
    names(agent)
    made.clear()
    assert names(agent) == READS
    assert made == []


def test_a_class_of_the_project_can_query_the_rows_of_the_view(serve):
    serve(Looking)
    agent = make_agent("anne")
    assert names(agent) == set()
    Group.objects.create(name="x")
    assert len(names(agent)) == 5


def test_a_permission_finds_media_type_and_version_on_the_request(serve):
    looked = []

    class Looks(BasePermission):
        def has_permission(self, request, view) -> bool:
            looked.append((request.accepted_media_type, request.version))
            return True

    serve(Looks)
    names(make_agent("anne"))
    assert set(looked) == {("application/json", None)}


def test_no_view_is_made_for_a_tool_without_permission_checks(expose, monkeypatch):
    expose(path("word/", Word.as_view(permission_classes=[BasePermission])))
    agent = Agent(Client())
    assert names(agent) == {"word"}
    monkeypatch.setattr(Word, "__init__", lambda self, **kwargs: pytest.fail("made"))
    assert agent.result("tools/list")["cacheScope"] == "public"
