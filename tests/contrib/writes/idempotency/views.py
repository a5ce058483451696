"""Views that write a row in each run, with every kind of outcome."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp import call_context, mcp_tool, mcp_viewset
from drf_mcp.contrib.writes.idempotency import IdempotencyKeyMixin
from drf_mcp.exceptions import SoftFailure, Unavailable

WAYS = ["done", "refused", "no", "crash", "unavailable", "commit_fails"]


class PaymentSerializer(serializers.Serializer):
    name = serializers.CharField()
    way = serializers.ChoiceField(WAYS, default="done")
    lines = serializers.ListField(child=serializers.JSONField(), required=False)


class Payments(APIView):
    """Pay, and write a row each time."""

    permission_classes = [IsAuthenticated]

    def get_serializer(self) -> PaymentSerializer:
        return PaymentSerializer()

    def pay(self, request) -> Group:
        serializer = PaymentSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        sent = serializer.validated_data
        row = Group.objects.create(name=f"{sent['name']} {Group.objects.count()}")
        if sent["way"] == "refused":
            raise ValidationError({"name": "Not this one."})
        if sent["way"] == "no":
            raise SoftFailure("The answer is no.")
        if sent["way"] == "unavailable":
            raise Unavailable()
        if sent["way"] == "crash":
            raise RuntimeError("crash")
        if sent["way"] == "commit_fails":
            transaction.on_commit(lambda: 1 / 0)
        return row

    def post(self, request) -> Response:
        row = self.pay(request)
        call_context(request).warn("It is late.", code="LATE")
        call_context(request).suggest("Have a look.")
        call_context(request).measure(paid=1)
        return Response({"row": row.name, "by": (n for n in [request.user.username])}, status=201)


class PlainPayments(Payments):
    http_method_names = ["post"]


@mcp_tool(name="pay_by_key", idempotency_key=True)
class KeyedPayments(PlainPayments):
    pass


@mcp_tool(name="pay_as_staff", idempotency_key=True)
class StaffPayments(PlainPayments):
    permission_classes = [IsAdminUser]


@mcp_tool(name="pay_by_header")
class HeaderPayments(IdempotencyKeyMixin, PlainPayments):
    pass


@mcp_tool(name="pay_by_required_header")
class RequiredHeaderPayments(HeaderPayments):
    idempotency_key_required = True


class RecordSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


@mcp_viewset(bulk=True)
class HeaderRecords(IdempotencyKeyMixin, ModelViewSet):
    """Take several rows in one call, each with its own header."""

    permission_classes = [IsAuthenticated]
    queryset = Group.objects.all()
    serializer_class = RecordSerializer
    idempotency_key_required = True


@mcp_tool(name="receipt", idempotency_key=True)
class Receipts(PlainPayments):
    """Pay, and answer with a file."""

    def post(self, request) -> HttpResponse:
        row = self.pay(request)
        content = f"\x89PNG {row.name}".encode("latin-1")
        return HttpResponse(content, content_type="image/png", status=201)


@mcp_tool(name="receipt_by_header")
class HeaderReceipts(IdempotencyKeyMixin, Receipts):
    pass


@mcp_tool(name="search_payments", idempotency_key=True, read_only=True)
class Search(PlainPayments):
    pass
