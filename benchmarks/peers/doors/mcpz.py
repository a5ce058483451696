"""django-mcpz: a function for each tool, as its documentation shows.

It does not use REST framework: the functions do the filters, pages, permissions and errors, and
write rows by the project's serializers. Only the four tools that are called are written.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django_mcpz.server import MCPServer, ToolError
from rest_framework.exceptions import AuthenticationFailed

from benchmarks.peers.authentication import BearerAuthentication
from benchmarks.peers.doors import base
from example_project.shop.filters import CustomerFilter
from example_project.shop.models import Customer, Ticket
from example_project.shop.serializers import CustomerSerializer


def authenticate(request: HttpRequest) -> HttpResponse | None:
    """Accept REST framework's tokens."""
    try:
        found = BearerAuthentication().authenticate(request)  # type: ignore[arg-type]
    except AuthenticationFailed:
        found = None
    if found is None:
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    request.user = found[0]
    return None


server = MCPServer(name="shop", version="1.0.0", auth=authenticate)


class Key(msgspec.Struct):
    id: int


class CustomerPage(msgspec.Struct):
    tier: list[str] | None = None
    country: str | None = None
    page: int = 1
    page_size: int = 20


class NewCustomer(msgspec.Struct):
    name: str
    email: str
    country: str
    tier: str = "standard"


def find_customers(request: HttpRequest) -> Any:
    return Customer.objects.select_related("owner").visible_to(request.user)


def customers_retrieve(request: HttpRequest, params: Key) -> dict[str, Any]:
    customer = find_customers(request).filter(pk=params.id).first()
    if customer is None:
        raise ToolError("No Customer matches the given query.")
    return dict(CustomerSerializer(customer, context={"request": request}).data)


def customers_list(request: HttpRequest, params: CustomerPage) -> dict[str, Any]:
    data = {name: value for name, value in msgspec.structs.asdict(params).items() if value}
    found = CustomerFilter(data, queryset=find_customers(request)).qs
    start = (params.page - 1) * params.page_size
    rows = found[start : start + params.page_size]
    serializer = CustomerSerializer(rows, many=True, context={"request": request})
    return {"count": found.count(), "results": serializer.data}


def customers_create(request: HttpRequest, params: NewCustomer) -> dict[str, Any]:
    data = msgspec.structs.asdict(params)
    serializer = CustomerSerializer(data=data, context={"request": request})
    if not serializer.is_valid():
        raise ToolError(json.dumps(serializer.errors))
    serializer.save()
    return dict(serializer.data)


def tickets_destroy(request: HttpRequest, params: Key) -> None:
    ticket = Ticket.objects.select_related("opened_by").filter(pk=params.id).first()
    if ticket is None:
        raise ToolError("No Ticket matches the given query.")
    user: Any = request.user
    if not user.is_staff and ticket.opened_by_id != user.pk:
        raise ToolError("Only the user who opened this ticket, or staff, may do that.")
    ticket.delete()


BY_HAND = (customers_retrieve, customers_list, customers_create, tickets_destroy)


class Door(base.Door):
    version = version("django-mcpz")
    by_hand = True

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return [path("mcp", server)]

    def __init__(self) -> None:
        super().__init__()
        for function in BY_HAND:
            server.tool(description=f"{function.__name__} of the shop.")(function)
