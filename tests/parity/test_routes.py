"""A tool calls its route with the arguments and attributes of the route."""

from __future__ import annotations

import datetime

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path, re_path, register_converter
from django.urls.converters import StringConverter
from django.utils.functional import lazy
from django.utils.translation import get_language
from rest_framework import viewsets
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.views import APIView

from drf_mcp.exposure import registry
from tests.parity.middleware import URLCONFS
from tests.parity.probes import Probe


class DayConverter(StringConverter):
    """A day as ``2026-11-02``."""

    regex = r"\d{4}-\d\d-\d\d"

    def to_python(self, value: str) -> datetime.date:
        return datetime.date.fromisoformat(value)

    def to_url(self, value: datetime.date) -> str:
        return value.isoformat()


register_converter(DayConverter, "parity_day")


def match(request) -> tuple:
    found = request.resolver_match
    return (
        request.path,
        found.route,
        found.args,
        found.kwargs,
        found.captured_kwargs,
        found.extra_kwargs,
        found.view_name,
        found.namespaces,
        found.app_names,
        request.parser_context["args"],
        request.parser_context["kwargs"],
    )


UUID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


def make_include(prefix, *patterns, **options):
    return path(prefix, include(list(patterns)), options)


# A function from a view to URL patterns, the arguments, and the path.
ROUTES = {
    "bare": (lambda v: [path("probe", v)], {}, "/probe"),
    "integer": (lambda v: [path("probe/<int:pk>/", v)], {"pk": 7}, "/probe/7/"),
    "integer as text": (lambda v: [path("probe/<int:pk>/", v)], {"pk": "7"}, "/probe/7/"),
    "uuid": (lambda v: [path("probe/<uuid:id>/", v)], {"id": UUID}, f"/probe/{UUID}/"),
    "a converter of the project's": (
        lambda v: [path("probe/<parity_day:day>/", v)],
        {"day": "2026-11-02"},
        "/probe/2026-11-02/",
    ),
    "a path": (lambda v: [path("probe/<path:rest>", v)], {"rest": "a/b.txt"}, "/probe/a/b.txt"),
    "two in a segment": (
        lambda v: [path("probe/<int:a>-<slug:b>.json", v)],
        {"a": 1, "b": "x-y"},
        "/probe/1-x-y.json",
    ),
    "text that needs quoting": (
        lambda v: [path("probe/<str:name>/", v)],
        {"name": "Zoë & Co?"},
        "/probe/Zo%C3%AB%20&%20Co%3F/",
    ),
    "a percent sign": (lambda v: [path("100%/<str:n>/", v)], {"n": "5%"}, "/100%25/5%25/"),
    "defaults": (
        lambda v: [path("probe/<int:pk>/", v, {"kind": "x"}, name="probe")],
        {"pk": 1},
        "/probe/1/",
    ),
    "defaults of an include": (
        lambda v: [make_include("a/<slug:tenant>/", path("<int:pk>/", v, {"n": 1}), kind="x")],
        {"tenant": "t", "pk": 2},
        "/a/t/2/",
    ),
    "three includes": (
        lambda v: [
            make_include(
                "a/<int:a>/", make_include("b/<int:b>/", make_include("c/<int:c>/", path("", v)))
            )
        ],
        {"a": 1, "b": 2, "c": 3},
        "/a/1/b/2/c/3/",
    ),
    "namespaces": (
        lambda v: [
            path("x/", include(([path("<int:pk>/", v, name="item")], "shop"), namespace="north"))
        ],
        {"pk": 1},
        "/x/1/",
    ),
    "an expression": (lambda v: [re_path(r"^probe/(?P<pk>[0-9]+)/$", v)], {"pk": "7"}, "/probe/7/"),
    "an expression given a number": (
        lambda v: [re_path(r"^probe/(?P<pk>[0-9]+)/$", v)],
        {"pk": 7},
        "/probe/7/",
    ),
    "expressions inside each other": (
        lambda v: [re_path(r"^a/(?P<a>\w+)/", include([re_path(r"^b/(?P<b>\w+)/$", v)]), {"k": 1})],
        {"a": "x", "b": "y"},
        "/a/x/b/y/",
    ),
    "an expression inside an empty prefix": (
        lambda v: [path("", include([re_path(r"^b/(?P<b>\w+)/$", v)]))],
        {"b": "y"},
        "/b/y/",
    ),
    "a path inside an expression": (
        lambda v: [re_path(r"^(?P<version>v[12])/", include([path("b/<int:pk>/", v)]))],
        {"version": "v2", "pk": 1},
        "/v2/b/1/",
    ),
    "an optional group, given": (
        lambda v: [re_path(r"^pages/(?:(?P<page>\d+)/)?$", v)],
        {"page": "3"},
        "/pages/3/",
    ),
    "a trailing slash that may be missing": (
        lambda v: [re_path(r"^probe/(?P<pk>\d+)/?$", v)],
        {"pk": "3"},
        "/probe/3",
    ),
}


@pytest.mark.parametrize(("patterns", "arguments", "url"), ROUTES.values(), ids=ROUTES)
def test_a_call_is_matched_like_its_url(expose, alice, patterns, arguments, url):
    probe = Probe.looking(match)
    expose(*patterns(probe.as_view()))
    (name,) = (n for n, tool in registry.tools().items() if tool.endpoint.method == "GET")
    response = alice.http.get(url)
    assert response.status_code == 200
    result = alice.call_with(name, arguments)
    assert not result.is_error, result.envelope
    assert probe.seen[0] == probe.seen[1]


class Things(viewsets.ViewSet):
    """Returns the route that matched."""

    permission_classes = [AllowAny]

    def list(self, request, **kwargs) -> Response:
        """Return the route."""
        return Response({"route": request.resolver_match.route, **kwargs})

    def retrieve(self, request, pk, **kwargs) -> Response:
        """Return the route and the key."""
        return Response({"route": request.resolver_match.route, "pk": pk, **kwargs})


@pytest.mark.parametrize("router_class", [SimpleRouter, DefaultRouter])
@pytest.mark.parametrize("use_regex_path", [True, False])
def test_a_router_may_be_included_with_any_prefix(expose, alice, router_class, use_regex_path):
    router = router_class(use_regex_path=use_regex_path)
    router.register("things", Things, basename="thing")
    for prefix in ("", "api/"):
        expose(path(prefix, include(router.urls)))
        expected = alice.http.get(f"/{prefix}things/7/").json()
        assert alice.call_with("things_retrieve", {"pk": "7"}).data == expected


def test_one_viewset_at_two_routes_has_two_sets_of_tools(expose, alice):
    callback = Things.as_view({"get": "list"})
    expose(path("red/things/", callback), path("<slug:colour>/blue/things/", callback))
    red, blue = registry.tools()
    assert alice.call_with(red, {}).data == {"route": "red/things/"}
    assert alice.call_with(blue, {"colour": "x"}).data == {
        "route": "<slug:colour>/blue/things/",
        "colour": "x",
    }


def test_a_route_that_an_earlier_one_hides_is_not_found(expose, alice):
    """Over HTTP the first route that matches answers."""
    first, second = Probe.looking(), Probe.looking()
    expose(path("<slug:name>/", first.as_view()), path("hidden/", second.as_view()))
    assert alice.call_with("hidden_get", {}).code == "NOT_FOUND"
    assert first.seen == second.seen == []


def activate_locales(settings):
    settings.LANGUAGES = [("en", "English"), ("de", "German")]
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_route_in_the_language_of_the_caller(expose, settings, http_of, agent_of, language):
    activate_locales(settings)
    probe = Probe.looking(lambda request: (request.path, request.resolver_match.route))
    expose(*i18n_patterns(path("things/<int:pk>/", probe.as_view())))
    http, agent = http_of("alice"), agent_of("alice")
    agent.http.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    http.get(f"/{language}/things/1/")
    agent_of("alice").call_with("en_things_get", {"pk": 1})
    assert not agent.call_with("en_things_get", {"pk": 1}).is_error
    over_http, in_english, in_the_callers = probe.seen
    assert over_http == in_the_callers
    assert in_english[0] == "/en/things/1/"


def test_a_translated_route(expose, settings, agent_of):
    activate_locales(settings)
    words = {"en": "things/<int:pk>/", "de": "dinge/<int:pk>/"}
    translated = lazy(lambda: words[get_language()], str)

    probe = Probe.looking(lambda request: request.path)
    expose(path(translated(), probe.as_view()))
    agent = agent_of("alice")
    (name, *_) = registry.tools()
    for language in ("en", "de", "en"):
        agent.http.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        assert not agent.call_with(name, {"pk": 1}).is_error
    assert probe.seen == ["/things/1/", "/dinge/1/", "/things/1/"]


def test_a_urlconf_that_middleware_sets(expose, settings, alice, monkeypatch):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.parity.middleware.urlconf_middleware"]
    ours, theirs = Probe.looking(match), Probe.looking(match)
    expose(path("theirs/<int:pk>/", theirs.as_view()))
    other = settings.ROOT_URLCONF
    expose(path("ours/", ours.as_view()))
    monkeypatch.setitem(URLCONFS, "other", other)
    assert "theirs_get" not in alice.tools()
    alice.http.defaults["HTTP_X_URLCONF"] = "other"
    assert "theirs_get" in alice.tools()
    assert "ours_get" not in alice.tools()
    assert not alice.call_with("theirs_get", {"pk": 3}).is_error
    alice.http.get("/theirs/3/")
    assert theirs.seen[0] == theirs.seen[1]


def test_a_call_does_not_see_what_another_wrote_to_the_match(expose, agent_of):
    """The path is resolved once, and each call gets a copy of the match."""
    seen = []

    class Writing(APIView):
        permission_classes = [AllowAny]

        def get(self, request, **kwargs):
            seen.append(dict(request.resolver_match.kwargs))
            request.resolver_match.kwargs["written"] = True
            return Response({})

    expose(path("writing/", Writing.as_view(), {"fixed": 1}))
    agent = agent_of(None)
    for _ in range(2):
        agent.call("writing")
    assert seen == [{"fixed": 1}] * 2
