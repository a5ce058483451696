"""Secrets in error messages and rows, and a view that fails in every way.

The URLconf of the fuzzed project.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.urls import path
from rest_framework import serializers
from rest_framework.authtoken.models import Token
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from example_project.shop.models import Customer, Ticket
from example_project.urls import urlpatterns as example_urls

IN_AN_EXCEPTION = "pl4nted-in-an-exception"
IN_SQL = "pl4nted_in_sql"
IN_A_ROW = "pl4nted-in-a-row-of-bob"
SENT = "pl4nted-in-a-password"
FAILURES = ("raise", "sql", "unique", "key", "recursion", "lazy", "unwritable", "system")


class FailingSerializer(serializers.Serializer):
    """The kind of the failure, and a secret that no answer may contain."""

    how = serializers.ChoiceField(choices=FAILURES)
    password = serializers.CharField(write_only=True, max_length=4, required=False)
    api_key = serializers.IntegerField(required=False)


class Unwritable:
    """An object that JSON cannot represent, and whose `__str__` raises."""

    def __repr__(self) -> str:
        return IN_AN_EXCEPTION

    def __str__(self) -> str:
        raise RuntimeError(IN_AN_EXCEPTION)


@mcp_tool(name="planted_failure")
class FailingView(APIView):
    """Fails as requested, with a secret in each error message."""

    permission_classes = [IsAuthenticated]
    serializer_class = FailingSerializer

    def post(self, request: Any) -> Response:
        """Fail."""
        serializer = self.serializer_class(data=request.data)
        serializer.is_valid(raise_exception=True)
        return getattr(self, f"fail_{serializer.validated_data['how']}")()

    def fail_raise(self) -> Response:
        raise RuntimeError(f"{IN_AN_EXCEPTION} at {__file__}")

    def fail_sql(self) -> Response:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {IN_SQL}")
        return Response()

    def fail_unique(self) -> Response:
        with transaction.atomic():
            User.objects.create(username="alice", first_name=IN_AN_EXCEPTION)
        return Response()

    def fail_key(self) -> Response:
        return Response({}[IN_AN_EXCEPTION])

    def fail_recursion(self) -> Response:
        return self.fail_recursion()

    def fail_lazy(self) -> Response:
        # The query runs when the answer is encoded.
        return Response(User.objects.extra(where=[f"{IN_SQL} = 1"]).values())

    def fail_unwritable(self) -> Response:
        return Response({"answer": Unwritable()})

    def fail_system(self) -> Response:
        raise OSError(13, "Permission denied", f"/etc/{IN_AN_EXCEPTION}")


urlpatterns = [*example_urls, path("api/planted/", FailingView.as_view())]


def plant_rows() -> None:
    """Give bob rows that only bob and staff may read."""
    bob = User.objects.get(username="bob")
    customer = Customer.objects.create(
        name=IN_A_ROW, email=f"{IN_A_ROW}@mail.example", country="DE", owner=bob
    )
    Ticket.objects.create(customer=customer, subject=IN_A_ROW, body=IN_A_ROW, opened_by=bob)


def find_secrets() -> list[str]:
    """Return the texts that no answer may contain."""
    hashes = User.objects.values_list("password", flat=True)
    tokens = Token.objects.values_list("key", flat=True)
    return [IN_AN_EXCEPTION, IN_SQL, SENT, settings.SECRET_KEY, *hashes, *tokens]
