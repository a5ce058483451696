"""A path leads to the route of its tool only where Django finds no earlier route."""

from __future__ import annotations

import itertools
from types import ModuleType

from django.http import HttpRequest
from django.urls import Resolver404, include, path, re_path
from django.urls.resolvers import RegexPattern, URLResolver
from django.utils.translation import gettext_lazy
from rest_framework.views import APIView

from drf_mcp.tools.routes import find_routes

numbers = itertools.count()


def make_view():
    class View(APIView):
        def get(self, request):
            pass

    return View.as_view()


def make_urlconf(*patterns) -> ModuleType:
    module = ModuleType(f"urls_{next(numbers)}")
    module.urlpatterns = list(patterns)  # type: ignore[attr-defined]
    return module


def find_last(urlconf):
    return list(find_routes(urlconf))[-1]


def match(route, **kwargs):
    found = route.match(route.build(kwargs), kwargs, HttpRequest())
    return found and found.kwargs


def test_earlier_routes_may_be_any_pattern(subtests):
    for earlier in [
        re_path(r"recent", lambda request: None),
        re_path(r"^rows/rec", lambda request: None),
        re_path(r"^(?:rows|lines)/(?P<kind>recent)/$", lambda request: None),
        re_path(r"^nothing$|recent", lambda request: None),
        re_path(r"(?i)^ROWS/RECENT/$", lambda request: None),
        re_path(r"^(?P<a>r)ows/(?P=a)ecent/$", lambda request: None),
        path(gettext_lazy("rows/recent/"), lambda request: None),
        path("", include([re_path(r"^r?ows/r", include([path("ecent/", lambda request: None)]))])),
    ]:
        with subtests.test(earlier=earlier):
            route = find_last(make_urlconf(earlier, path("rows/<str:pk>/", make_view())))
            assert match(route, pk="old") == {"pk": "old"}
            assert match(route, pk="recent") is None


def test_a_resolver_of_the_projects_own_is_always_called():
    class Closed(URLResolver):
        def resolve(self, path):
            raise Resolver404({"path": path})

    closed = Closed(RegexPattern("^rows/"), [path("<int:pk>/", make_view())])
    assert match(find_last(make_urlconf(closed)), pk=1) is None
