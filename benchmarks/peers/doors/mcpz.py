"""django-mcpz: a function for each tool, as its documentation shows.

It does not use REST framework: the functions do the filters, pages, permissions and errors, and
write rows by the project's serializers. The four tools that are called are written by hand. The
others are only listed: their parameters are made from the serializers, where a user writes each by
hand.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django_mcpz.server import MCPServer, ToolError
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed

from benchmarks.peers.authentication import BearerAuthentication
from benchmarks.peers.doors import base
from benchmarks.peers.project import Endpoint, find_endpoints
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
TYPES = {
    serializers.IntegerField: int,
    serializers.FloatField: float,
    serializers.BooleanField: bool,
    serializers.ListField: list,
    serializers.DictField: dict,
}


def make_parameters(endpoint: Endpoint) -> type[msgspec.Struct]:
    """Return an endpoint's parameters: the keys of its path and its serializer's fields."""
    fields: list[Any] = [(key, int) for key in endpoint.keys]
    serializer_class = getattr(endpoint.view, "serializer_class", None)
    if serializer_class and endpoint.method in ("post", "put", "patch"):
        optional = []
        for name, field in serializer_class().fields.items():
            if (
                field.read_only
                or isinstance(field, serializers.HiddenField)
                or name in endpoint.keys
            ):
                continue
            kind = next((TYPES[each] for each in type(field).__mro__ if each in TYPES), str)
            text = str(field.help_text or field.label or name)
            annotated = Annotated[kind, msgspec.Meta(description=text)]
            if field.required and endpoint.method != "patch":
                fields.append((name, annotated))
            else:
                optional.append((name, annotated | None, None))
        fields += optional
    elif endpoint.action == "list":
        fields += [("page", int, 1), ("page_size", int, 20)]
    return msgspec.defstruct(f"{endpoint.name}_parameters", fields)


def listed_only(request: HttpRequest, params: Any) -> None:
    raise ToolError("This tool is listed and never called.")


class Door(base.Door):
    version = version("django-mcpz")

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return [path("mcp", server)]

    def __init__(self) -> None:
        super().__init__()
        known = set()
        if not settings.TOOLS:
            for function in BY_HAND:
                known.add(function.__name__)
                server.tool(description=f"{function.__name__} of the shop.")(function)
        for endpoint in find_endpoints():
            # A project with a tool for PATCH rarely writes one for PUT.
            if endpoint.name not in known and endpoint.method != "put":
                known.add(endpoint.name)
                text = " ".join((endpoint.view.__doc__ or endpoint.name).split())
                schema = make_parameters(endpoint)
                server.tool(name=endpoint.name, description=text, input_schema=schema)(listed_only)
