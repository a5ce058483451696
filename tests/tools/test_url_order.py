"""The resolver tries only the route of the tool if no earlier route can match the path."""

from __future__ import annotations

import itertools
from types import ModuleType

from django.http import HttpRequest
from django.urls import Resolver404, include, path, re_path
from django.urls.resolvers import RegexPattern, URLResolver, get_resolver
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.views import APIView

from drf_mcp.tools.routes import find_routes

# The attributes of a match that are compared; ``tried`` differs.
COMPARED = (
    "func",
    "args",
    "kwargs",
    "captured_kwargs",
    "extra_kwargs",
    "route",
    "view_name",
    "namespaces",
    "app_names",
)
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


def count_walks(monkeypatch) -> list[str]:
    """Return a list that gets each path for which the whole URLconf is resolved."""
    walked, resolve = [], URLResolver.resolve

    def note(self, path):
        if self.pattern.__class__ is RegexPattern and str(self.pattern) == "^/":
            walked.append(path)
        return resolve(self, path)

    monkeypatch.setattr(URLResolver, "resolve", note)
    return walked


def match(route, **kwargs):
    found = route.match(route.build(kwargs), kwargs, HttpRequest())
    return found and {name: getattr(found, name) for name in COMPARED}


def test_the_whole_urlconf_is_resolved_only_for_the_first_path(monkeypatch):
    route = find_last(make_urlconf(path("rows/", make_view()), path("rows/<int:pk>/", make_view())))
    walked = count_walks(monkeypatch)
    found = [match(route, pk=pk) for pk in (1, 2, 3)]
    assert walked == ["/rows/1/"]
    assert [each["kwargs"] for each in found] == [{"pk": 1}, {"pk": 2}, {"pk": 3}]


def test_a_path_that_an_earlier_route_matches_is_no_match(monkeypatch):
    urlconf = make_urlconf(path("rows/recent/", make_view()), path("rows/<str:pk>/", make_view()))
    route = find_last(urlconf)
    assert match(route, pk="old")["kwargs"] == {"pk": "old"}
    assert match(route, pk="recent") is None
    walked = count_walks(monkeypatch)
    assert match(route, pk="older")["kwargs"] == {"pk": "older"}
    assert walked == []


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
            assert match(route, pk="old")["kwargs"] == {"pk": "old"}
            assert match(route, pk="recent") is None


def test_a_resolver_of_the_projects_own_is_always_called():
    class Closed(URLResolver):
        def resolve(self, path):
            raise Resolver404({"path": path})

    closed = Closed(RegexPattern("^rows/"), [path("<int:pk>/", make_view())])
    assert match(find_last(make_urlconf(closed)), pk=1) is None


def test_a_value_that_the_route_does_not_match_is_no_match():
    route = find_last(make_urlconf(re_path(r"^rows/(?P<pk>\d+)/$", make_view())))
    assert match(route, pk="1")["kwargs"] == {"pk": "1"}
    assert match(route, pk="x") is None


def test_a_request_with_another_urlconf_is_matched_by_it():
    route = find_last(make_urlconf(path("rows/<int:pk>/", make_view())))
    assert match(route, pk=1)
    request = HttpRequest()
    request.urlconf = make_urlconf(path("rows/<int:pk>/", make_view()))  # type: ignore[attr-defined]
    assert route.match("/rows/1/", {"pk": 1}, request) is None


words = st.sampled_from(["a", "b", "ab", "a.b"])
parts = st.one_of(
    words,
    st.sampled_from(["<str:x>", "<int:x>", "<slug:y>", "<path:y>"]),
    st.sampled_from(["<str:y>-<int:x>"]),
)
expressions = st.sampled_from(
    [r"^a/$", r"^(?P<x>[^/.]+)/$", r"a/", r"^(?P<x>a|b)/(?:(?P<y>\d)/)?$", r"(b)/$", r"^\.?ab/"]
)
routes = st.one_of(
    st.tuples(st.just("path"), st.lists(parts, max_size=2)),
    st.tuples(st.just("re_path"), expressions),
)
trees = st.recursive(
    routes, lambda inside: st.tuples(routes, st.lists(inside, min_size=1, max_size=3)), max_leaves=6
)


def build(tree, extra):
    if isinstance(tree[1], list) and isinstance(tree[0], tuple):
        make, source = read(tree[0])
        return make(source, include([build(inner, extra) for inner in tree[1]]), extra)
    make, source = read(tree)
    return make(source, make_view())


def read(route):
    kind, source = route
    if kind == "re_path":
        return re_path, source.removesuffix("$")
    names: list[str] = []
    for part in source:
        taken = any(f":{name}>" in part and f":{name}>" in "".join(names) for name in "xy")
        names.append("c" if taken else part)
    return path, "".join(f"{name}/" for name in names)


@given(
    trees=st.lists(trees, min_size=1, max_size=4),
    values=st.lists(
        st.fixed_dictionaries(
            {
                "x": st.sampled_from([1, "1", "a", "b", "a.b"]),
                "y": st.sampled_from(["1", "a/b", "ab"]),
            }
        ),
        min_size=3,
        max_size=3,
    ),
    extra=st.sampled_from([{}, {"x": "1"}, {"z": 1}]),
)
def test_a_match_equals_that_of_the_whole_urlconf(trees, values, extra):
    urlconf = make_urlconf(*(build(tree, extra) for tree in trees))
    resolver = get_resolver(urlconf)
    for route in find_routes(urlconf):
        for value in values:
            kwargs = {name: value[name] for name in route.kwargs if name in value}
            if (address := route.build(kwargs)) is None:
                continue
            try:
                expected = resolver.resolve(address)
            except Resolver404:
                assert route.match(address, kwargs, HttpRequest()) is None
                continue
            found = route.match(address, kwargs, HttpRequest())
            if found is None:
                # The match of another route, or with other values.
                captured = route.find_captured(expected)
                is_other = expected.func is not route.callback or captured != {
                    name: route.convert(name, kwargs[name])
                    for name in kwargs
                    if name not in expected.extra_kwargs
                }
                assert is_other
                continue
            assert [getattr(found, name) for name in COMPARED] == [
                getattr(expected, name) for name in COMPARED
            ]
