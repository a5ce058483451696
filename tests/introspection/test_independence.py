"""Whether code asks for a request is told from its source, and never wrongly denied."""

from __future__ import annotations

from django.utils.functional import cached_property
from rest_framework import serializers

from drf_mcp.introspection.source.overrides import (
    is_left_to_frameworks,
    is_same_for_every_request,
)


def current_user() -> object:
    """Return somebody."""


def helper(of: object) -> bool:
    """Return whatever."""


class Base(serializers.Serializer):
    """Makes its fields in a way of its own."""

    def __init__(self, *args, **kwargs):
        self.include = kwargs.pop("include", None)
        super().__init__(*args, **kwargs)

    @cached_property
    def fields(self):
        return {name: field for name, field in super().fields.items() if self.takes(name)}

    def takes(self, name):
        return self.include is None or name in self.include


class ByContext(Base):
    def takes(self, name):
        return self.context["a"]


class ByUser(Base):
    def takes(self, name):
        return current_user() is not None


class ByRequest(Base):
    def takes(self, name):
        return self.request.headers["X-Team"]


class ByKey(Base):
    def takes(self, name):
        return self._kwargs["request"]


class ByHelper(Base):
    def takes(self, name):
        return helper(self)


class ByProperty(Base):
    @property
    def include(self):
        return getattr(self.request, "team", None)


def test_code_that_asks_for_a_request_is_found(subtests):
    """Also behind the methods and properties that it uses."""
    for owner in [ByContext, ByUser, ByRequest, ByKey, ByHelper, ByProperty]:
        with subtests.test(owner=owner):
            assert is_same_for_every_request(Base, "fields")
            assert not is_same_for_every_request(owner, "fields")


def test_code_without_a_source_may_ask_anything():
    takes = eval("lambda self, name: True")
    made = type("Made", (Base,), {"__module__": __name__, "takes": takes})
    assert not is_same_for_every_request(made, "fields")


def test_what_nobody_overrides_is_left_to_frameworks():
    assert is_left_to_frameworks(serializers.ModelSerializer, ["fields", "get_extra_kwargs"])
    assert not is_left_to_frameworks(Base, ["get_extra_kwargs", "fields"])
