"""Projects with many tools and several kinds of permissions, and their callers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from django.contrib.auth.models import Permission, User
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.authtoken.models import Token
from rest_framework.permissions import BasePermission, DjangoModelPermissions, IsAuthenticated
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from benchmarks.comparing import Cost, function_calls, seconds, statements
from benchmarks.requests import Client, Request, Server
from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.settings import mcp_settings
from drf_mcp.views import MCPView
from example_project.shop.models import Customer, Order
from example_project.shop.serializers import CustomerSerializer, OrderSerializer

MODELS = ((Order, OrderSerializer), (Customer, CustomerSerializer))
TOOLS_PER_VIEWSET = 4
TIMES = 5


class OneQuery(BasePermission):
    """Runs one query each time, as a permission by membership does."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return bool(User.objects.filter(pk=request.user.pk, is_active=True).exists())


ASKED_ANEW = "of one query"
PERMISSIONS: Mapping[str, type[BasePermission]] = {
    "`IsAuthenticated`": IsAuthenticated,
    "`DjangoModelPermissions`": DjangoModelPermissions,
    ASKED_ANEW: OneQuery,
}


@dataclass(frozen=True)
class Listing:
    """The cost of a project's lists.

    Attributes:
        name: the name of the permissions.
        tools: how many tools there are.
        content: the bytes of the longest list.
        later: the cost of a later list of one caller.
        stored: the cost of a view with the same authentication that sends the same bytes.
        first: the costs of the first list of each caller, after the tools were described.
        last: the costs of the second list of each caller.
    """

    name: str
    tools: int
    content: bytes
    later: Cost
    stored: Cost
    first: Sequence[Cost]
    last: Sequence[Cost]

    @property
    def ratio(self) -> float:
        """The function calls as a multiple of those for the stored bytes."""
        return self.later.calls / self.stored.calls

    @property
    def row(self) -> str:
        """The row of the table, with the mean of the first lists."""
        count = len(self.first)
        cells = (
            self.name,
            self.tools,
            len(self.content),
            self.later.calls,
            self.stored.calls,
            f"{self.ratio:.3f}",
            self.later.statements,
            self.stored.statements,
            f"{min(self.later.seconds) * 1000:.2f}",
            f"{min(self.stored.seconds) * 1000:.2f}",
            sum(cost.calls for cost in self.first) // count,
            sum(cost.statements for cost in self.first) // count,
            f"{sum(min(cost.seconds) for cost in self.first) / count * 1000:.2f}",
        )
        return f"| {' | '.join(map(str, cells))} |"


class Project:
    """A project with this many tools, a multiple of four, and one kind of permission.

    Args:
        name: one of `PERMISSIONS`.
    """

    def __init__(self, name: str, tools: int) -> None:
        self.name = name
        self.tools = tools
        self.server = Server()
        self.content = b""

    @property
    def urlconf(self) -> ModuleType:
        """The URLconf: the tools, the endpoint, and a view that sends the bytes of a list."""
        router = SimpleRouter()
        for number in range(self.tools // TOOLS_PER_VIEWSET):
            model, serializer_class = MODELS[number % 2]
            members = {
                "__doc__": f"Things of kind {number}.",
                "queryset": model._default_manager.all(),
                "serializer_class": serializer_class,
                "permission_classes": [PERMISSIONS[self.name]],
                "http_method_names": ["get", "post", "delete"],
            }
            viewset = type(f"Things{number}", (ModelViewSet,), members)
            router.register(f"things-{number}", viewset, basename=f"things-{number}")
        module = ModuleType(f"benchmarks.listing.project_of_{self.tools}")
        module.urlpatterns = [  # type: ignore[attr-defined]
            path("mcp", MCPView.as_view()),
            path("api/", include(router.urls)),
            path("stored/", csrf_exempt(self.send_stored)),
        ]
        return module

    def send_stored(self, request: HttpRequest) -> HttpResponse:
        """Answer with the bytes of the list, with the authentication of the endpoint."""
        classes = resolve_authentication_classes()
        Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES).authenticate()
        json.loads(request.body)
        return HttpResponse(self.content, content_type="application/json")

    def measure(self, callers: int) -> Listing:
        """Return the cost of one caller's later list, and of the lists of this many callers."""
        clients = make_clients(callers)
        # Without the archive, which has a tool of its own.
        served = {"EXPOSE": "urlconf", "ARCHIVE_CLASS": None}
        with override_settings(ROOT_URLCONF=self.urlconf, DRF_MCP=served):
            asked = clients[0].listing()
            self.content = self.send(asked)
            later = self.find_cost(asked, TIMES)
            stored = self.find_cost(clients[0].plain("POST", "/stored/", body=asked.body), TIMES)
            first = [self.find_cost(client.listing()) for client in clients]
            last = [self.find_cost(client.listing()) for client in clients]
        return Listing(self.name, self.tools, self.content, later, stored, first, last)

    def send(self, request: Request) -> bytes:
        """Send a request outside a transaction, since nothing is cached within one."""
        request.before()
        status, content = self.server.answer(request.environment())
        if status != 200 or b'"error"' in content[:100]:
            raise RuntimeError(content[:500])
        return content

    def find_cost(self, request: Request, times: int = 1) -> Cost:
        """Return the cost of a request that was sent once before."""
        self.send(request)

        def find(measure: Callable[[Callable[[], Any]], Any]) -> Any:
            request.before()
            return measure(partial(self.server.answer, request.environment()))

        times = [find(seconds) for _ in range(times)]
        return Cost(find(function_calls), find(statements), times)


def make_clients(count: int) -> list[Client]:
    """Return this many clients: a superuser's first, then those of other users."""
    rights = list(Permission.objects.filter(content_type__app_label="shop"))
    clients = []
    for number in range(count):
        user, _ = User.objects.get_or_create(
            username=f"caller-{number}", defaults={"is_superuser": number == 0}
        )
        # The first user has every second permission, the next user every third.
        user.user_permissions.set(rights[:: number + 1])
        clients.append(Client(Token.objects.get_or_create(user=user)[0].key))
    return clients
