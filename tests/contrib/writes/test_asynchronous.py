"""Asynchronous views (adrf) are asked for replays and versions like others."""

from __future__ import annotations

import pytest
from adrf.decorators import api_view
from adrf.generics import CreateAPIView, RetrieveUpdateDestroyAPIView
from adrf.routers import SimpleRouter
from adrf.serializers import ModelSerializer
from adrf.views import APIView
from adrf.viewsets import ModelViewSet
from django.contrib.auth.models import Group, User
from django.urls import include, path
from django.utils import timezone
from rest_framework.decorators import permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response

from drf_mcp import mcp_tool, mcp_viewset

pytestmark = pytest.mark.django_db


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class UserSerializer(ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "first_name"]


async def make_group(request) -> Response:
    count = await Group.objects.acount()
    group = await Group.objects.acreate(name=f"{request.data['name']} {count}")
    return Response({"id": group.pk, "name": group.name}, status=201)


class Pay(APIView):
    permission_classes = [IsAuthenticated]

    async def post(self, request) -> Response:
        return await make_group(request)


@api_view(["POST"])
@permission_classes([IsAuthenticated])
async def pay_function(request) -> Response:
    return await make_group(request)


class PayGeneric(CreateAPIView):
    permission_classes = [IsAuthenticated]
    serializer_class = GroupSerializer
    queryset = Group.objects.all()


class Touch:
    permission_classes = [IsAuthenticated]
    queryset = User.objects.order_by("pk")
    serializer_class = UserSerializer

    async def perform_aupdate(self, serializer) -> None:
        await serializer.asave(last_login=timezone.now())


@mcp_viewset(if_match="last_login")
class Users(Touch, ModelViewSet):
    pass


@mcp_tool(if_match="last_login")
class OneUser(Touch, RetrieveUpdateDestroyAPIView):
    pass


router = SimpleRouter()
router.register("users", Users, basename="users")


@pytest.fixture
def agent(expose, alice):
    writes = {"IDEMPOTENCY_KEYS": True, "ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    expose(
        path("pay/", Pay.as_view()),
        path("pay-function/", pay_function),
        path("pay-generic/", PayGeneric.as_view()),
        path("one-user/<int:pk>/", OneUser.as_view()),
        path("", include(router.urls)),
        **writes,
    )
    return alice


@pytest.mark.parametrize("tool", ["pay", "pay_function", "pay_generic_create"])
def test_the_same_key_again_returns_the_first_answer(agent, tool):
    first = agent.call(tool, name="rent", idempotency_key="monday")
    assert not first.is_error, first.raw
    again = agent.call(tool, name="rent", idempotency_key="monday")
    assert again.data == first.data
    assert again.envelope["meta"]["replayed"] is True
    assert Group.objects.count() == 1


@pytest.mark.parametrize("group", ["users", "one_user"])
def test_a_write_to_a_changed_object_is_refused_with_the_present_one(agent, group):
    user = User.objects.create(username="ann", last_login=timezone.now())
    version = agent.call(f"{group}_retrieve", id=user.pk).envelope["meta"]["if_match"]
    update = f"{group}_partial_update"
    User.objects.filter(pk=user.pk).update(first_name="Hanna", last_login=timezone.now())
    refused = agent.call(update, id=user.pk, first_name="Ann", if_match=version)
    assert (refused.code, refused.envelope["meta"]["current"]["first_name"]) == (
        "CONFLICT",
        "Hanna",
    )
    version = refused.envelope["meta"]["if_match"]
    assert agent.call(update, id=user.pk, first_name="Ann", if_match=version).data["id"] == user.pk
    user.refresh_from_db()
    assert user.first_name == "Ann"
