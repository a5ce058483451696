"""Endpoints with tags, of which some read and some write, and an authentication that narrows."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.exposure import mcp_tool, mcp_viewset

# The handlers that ran, in order.
RAN: list[str] = []


def answer(text: str) -> Response:
    RAN.append(text)
    return Response({"ran": text})


class Credential:
    def __init__(self, narrowing: Narrowing | None) -> None:
        self.narrowing = narrowing


class Badge(BaseAuthentication):
    """Takes ``Badge NAME``, where NAME is one of the narrowings."""

    narrowings: dict[str, Any] = {
        "reads": Narrowing("the badge", read_only=True),
        "stock": Narrowing("the badge", ("tag:stock",)),
        "nothing": Narrowing("the badge", ()),
        "all": None,
    }

    def authenticate(self, request):
        scheme, _, name = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != "Badge":
            return None
        return User(username=name, is_staff=name == "all"), Credential(self.narrowings[name])

    def authenticate_header(self, request) -> str:
        return "Badge"


@mcp_viewset(tags=["billing"])
class InvoiceViewSet(ViewSet):
    authentication_classes = [Badge]
    permission_classes: list[type] = []

    def list(self, request):
        return answer("invoices_list")

    def create(self, request):
        return answer("invoices_create")

    def retrieve(self, request, pk):
        return answer("invoices_retrieve")

    def update(self, request, pk):
        return answer("invoices_update")

    def partial_update(self, request, pk):
        return answer("invoices_partial_update")

    def destroy(self, request, pk):
        return answer("invoices_destroy")


@mcp_tool(tags=["billing", "stock"], read_only=True)
class SearchView(APIView):
    """Find something."""

    authentication_classes = [Badge]
    permission_classes: list[type] = []

    def post(self, request):
        return answer("search")


@mcp_tool(tags=["stock"], read_only=False)
class CountView(APIView):
    """Count the stock again."""

    authentication_classes = [Badge]
    permission_classes: list[type] = []

    def get(self, request):
        return answer("count")


@mcp_tool(read_only=True)
class CleanView(APIView):
    """Clean up."""

    authentication_classes = [Badge]
    permission_classes: list[type] = []

    def delete(self, request):
        return answer("clean")


class StaffOnly:
    def has_permission(self, request, view) -> bool:
        return bool(request.user and request.user.is_staff)


@mcp_tool(tags=["stock"])
class SecretView(APIView):
    """Show what only staff may see."""

    authentication_classes = [Badge]
    permission_classes = [StaffOnly]

    def get(self, request):
        return answer("secret")


class Refusing(BaseThrottle):
    """Refuses every call."""

    def allow_request(self, request, view) -> bool:
        return False


class OtherBadge(Badge):
    """Another class, so that its views authenticate in another way than the endpoint."""
