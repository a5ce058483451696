"""The option ``aggregate=[...]``: the tools that it makes, and the errors of its checks."""

from __future__ import annotations

from functools import wraps
from types import FunctionType

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import modify_settings
from django.urls import path
from django.utils.decorators import method_decorator
from rest_framework.response import Response

from drf_mcp import mcp_viewset
from drf_mcp.exposure import registry
from tests.contrib.aggregates.journeys import JourneySerializer, JourneyViewSet

pytestmark = pytest.mark.usefixtures("journeys")
LIST = {"get": "list", "post": "create"}


def viewset(aggregate=None, **members):
    own = type("Own", (JourneyViewSet,), members)
    return own if aggregate is None else mcp_viewset(aggregate=aggregate)(own)


def copy(handler):
    """Return a copy of a handler, so that decorating it does not change the original."""
    return FunctionType(handler.__code__, handler.__globals__, handler.__name__)


@pytest.fixture
def serve(expose):
    def mount(view_class, actions=LIST, **settings):
        expose(path("journeys/", view_class.as_view(actions)), EXPOSE="explicit", **settings)
        return set(registry.tools())

    return mount


@pytest.fixture
def errors():
    return lambda: [m.msg for m in run_checks(tags=["drf_mcp"]) if m.id == "drf_mcp.E007"]


def test_a_viewset_without_the_option_has_no_aggregate(expose):
    expose(path("journeys/", viewset().as_view(LIST)))
    assert set(registry.tools()) == {"journeys_list", "journeys_create"}


def test_a_decorated_viewset_has_an_aggregate(serve):
    assert serve(viewset(["kind"])) == {"journeys_list", "journeys_create", "journeys_aggregate"}


def test_without_the_app_the_option_is_an_error_that_names_it():
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.aggregates"]}):
        with pytest.raises(ImproperlyConfigured, match=r"add 'drf_mcp\.contrib\.aggregates' to"):
            mcp_viewset(aggregate=["kind"])


def test_a_subclass_does_not_inherit_the_option(serve):
    assert serve(type("Sub", (viewset(["kind"]),), {})) == set()


def test_an_option_that_is_no_list_of_names_is_refused(subtests):
    for fields in ["kind", [1], None, {"kind": 1}]:
        with subtests.test(fields=fields):
            with pytest.raises(ImproperlyConfigured, match="aggregate"):
                mcp_viewset(aggregate=fields)


# --- Checks -----------------------------------------------------------------------------------


def test_an_unknown_field_is_an_error_that_suggests_the_nearest(serve, errors):
    serve(viewset(["kindd", "kind"]))
    (error,) = errors()
    assert "aggregate= names 'kindd', but JourneySerializer shows no field 'kindd'" in error
    assert "did you mean 'kind'?" in error
    assert registry.tool("journeys_aggregate").input_schema["properties"]["group_by"]["items"] == {
        "type": "string",
        "enum": ["kind"],
    }


def test_a_field_that_is_no_column_is_an_error(serve, errors):
    class Labelled(JourneySerializer):
        class Meta(JourneySerializer.Meta):
            fields = ["get_kind_display"]

    serve(viewset(["get_kind_display"], serializer_class=Labelled))
    (error,) = errors()
    assert "names 'get_kind_display', but" in error


def test_a_view_without_an_exposed_list_is_an_error(serve, errors):
    serve(mcp_viewset(actions=["create"], aggregate=["kind"])(viewset()))
    (error,) = errors()
    assert error.endswith(".Own has no list that is exposed there.")


# --- Lists with overridden methods or decorators -----------------------------------------------


def override_of(name):
    def own(self, *args, **kwargs):
        return getattr(super(JourneyViewSet, self), name)(*args, **kwargs)

    own.__name__ = name
    return own


def guard(handler):
    @wraps(handler)
    def guarded(self, request, *args, **kwargs):
        return Response(status=403)

    return guarded


OWN = {
    name: {name: override_of(name)}
    for name in ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
}
OWN["decorated"] = {"list": method_decorator(guard)(JourneyViewSet.list)}
OWN["wrapped"] = {"list": guard(JourneyViewSet.list)}


@pytest.mark.slow
def test_a_list_with_code_that_an_aggregate_would_not_run_is_refused(subtests, serve):
    for members in OWN.values():
        with subtests.test(members=members):
            with pytest.raises(
                ImproperlyConfigured, match="is code of its own, which would not be run"
            ):
                serve(viewset(["kind"], **members))
            (error,) = [m for m in run_checks(tags=["drf_mcp"]) if m.id == "drf_mcp.E002"]
            assert "aggregate= cannot be used for" in error.msg


def test_a_decorator_around_the_callback_is_refused(expose):
    def locked(callback):
        @wraps(callback)
        def checked(request, *args, **kwargs):
            return Response(status=403)

        checked.cls, checked.initkwargs, checked.actions = callback.cls, {}, LIST
        return checked

    expose(path("journeys/", locked(viewset(["kind"]).as_view(LIST))))
    with pytest.raises(ImproperlyConfigured, match="its callback has a decorator"):
        registry.tools()
