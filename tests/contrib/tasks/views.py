"""Views whose calls become tasks."""

from __future__ import annotations

import asyncio
import functools
import threading

from adrf.views import APIView as AsyncAPIView
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.generics import CreateAPIView
from rest_framework.permissions import DjangoModelPermissions, IsAuthenticated
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from drf_mcp.outcomes import Question

# What the views were called with, in the order of the calls.
SEEN: list[dict] = []
# With this number of rows the import writes before it defers.
WRITING = 77
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


class OncePerDay(UserRateThrottle):
    rate = "1/day"


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Approval(serializers.Serializer):
    approved_by = serializers.EmailField()


@mcp_tool(name="groups_create", task="optional")
class GroupView(CreateAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes = [DjangoModelPermissions]


@mcp_tool(name="report", task="optional")
class ReportView(APIView):
    """Shows the request as the view sees it."""

    permission_classes = [IsAuthenticated]

    def post(self, request):
        SEEN.append({"user": request.user.pk, "auth": request.auth})
        call_context(request).progress(3, 10)
        return Response(
            {
                "user": request.user.username,
                "url": request.build_absolute_uri("/x"),
                "language": request.META.get("HTTP_ACCEPT_LANGUAGE", ""),
                "tenant": request.META.get("HTTP_X_TENANT", ""),
                "authorization": request.META.get("HTTP_AUTHORIZATION", ""),
            }
        )


class TwicePerDay(OncePerDay):
    rate = "2/day"


@mcp_tool(name="audit_required", task="required")
class RequiredView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        return Response({"done": True})


@mcp_tool(name="rare", task="optional")
class RareView(APIView):
    throttle_classes = [OncePerDay]

    def post(self, request):
        return Response({"done": True})


@mcp_tool(name="rare_groups", task="optional", bulk="partial")
class RareGroupView(CreateAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    throttle_classes = [OncePerDay]


@mcp_tool(name="deferring_groups", task="optional", defers=True, bulk="partial")
class DeferringGroupView(CreateAPIView):
    """Defers a group named "slow", and allows two calls a day."""

    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    throttle_classes = [TwicePerDay]

    def perform_create(self, serializer):
        if serializer.validated_data["name"] == "slow":
            call_context(self.request).defer()
        serializer.save()


@mcp_tool(name="rare_deferring", task="optional", defers=True)
class RareDeferringView(RareView):
    def post(self, request):
        call_context(request).defer()
        return super().post(request)


@mcp_tool(name="import_rows", task="optional", defers=True, body={"rows": {"type": "integer"}})
class ImportView(APIView):
    """Validates the rows, and defers an import of more than 10."""

    def post(self, request):
        rows = request.data.get("rows", 0)
        if rows < 0:
            raise ValidationError({"rows": ["Not so few."]})
        context = call_context(request)
        by = context.ask(Approval, "Who approved it?")["approved_by"] if rows > 1000 else ""
        if rows == WRITING:
            Group.objects.create(name="too early")
        if rows > 10:
            context.defer()
        return Response({"rows": rows, "by": by})


@mcp_tool(name="deletion", task="optional")
class QuestionView(APIView):
    def post(self, request):
        by = call_context(request).ask(Approval, "Who approved it?")["approved_by"]
        return Response({"by": by})


@mcp_tool(name="two_questions", task="optional")
@api_view(["POST"])
def two_questions(request):
    questions = [Question(key, f"The {key} name?", FORM) for key in ("first", "second")]
    answers = call_context(request).collect(*questions)
    return Response({key: answer.content["name"] for key, answer in answers.items()})


@mcp_tool(name="stoppable", task="optional")
class StoppableView(APIView):
    """Is cancelled while it runs, and checks for it where ``looks`` is true."""

    looks = False

    def post(self, request):
        context = call_context(request)
        context.call.channel.cancel()
        if self.looks and context.cancelled:
            return Response({"partly": True})
        return Response({"done": True})


@mcp_tool(name="awaiting", task="optional")
class AwaitingView(AsyncAPIView):
    """An async view, which is cancelled while it waits."""

    async def post(self, request):
        threading.Timer(0.05, call_context(request).call.channel.cancel).start()
        await asyncio.sleep(30)


@mcp_tool(name="closed", task="optional")
class ClosedView(APIView):
    """A view whose decorator may refuse callers."""

    def post(self, request):
        return Response({"done": True})


def closing(view):
    @functools.wraps(view)
    def refuse_strangers(request, *args, **kwargs):
        if "X-Key" not in request.headers:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return refuse_strangers


class Panic(BaseException):
    pass


@mcp_tool(name="panic", task="optional")
class PanicView(APIView):
    def post(self, request):
        raise Panic


@mcp_tool(name="broken", task="optional")
class BrokenView(APIView):
    def post(self, request):
        raise RuntimeError("no")


@mcp_tool(name="user_delete", task="optional", confirm=True)
class DeletionView(APIView):
    def delete(self, request, pk):
        # delete() would query models of other tests, some of which have no table.
        User.objects.filter(pk=pk)._raw_delete("default")
        return Response(status=204)


def choose_tenant(get_response):
    """Middleware that takes any tenant that a header names."""

    def choose(request):
        request.tenant = request.headers.get("X-Tenant", "")
        return get_response(request)

    return choose
