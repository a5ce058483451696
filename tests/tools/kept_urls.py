"""A URLconf in a module, so that other processes can import it."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.urls import include, path
from rest_framework import serializers
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class GroupViewSet(ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    search_fields = ("name",)


class ChoicesSerializer(GroupSerializer):
    # The choices are rows, so that the schema depends on the database.
    def get_fields(self):
        choices = sorted(Group.objects.values_list("name", flat=True))
        return {"name": serializers.ChoiceField(choices)}


class ChoicesViewSet(GroupViewSet):
    serializer_class = ChoicesSerializer


router = SimpleRouter()
router.register("groups", GroupViewSet, "groups")
router.register("choices", ChoicesViewSet, "choices")
urlpatterns = [path("", include("drf_mcp.urls")), path("api/", include(router.urls))]
