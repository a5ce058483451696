"""A path argument reaches the route of its own tool or no route."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.http import HttpRequest
from django.urls import path, re_path
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.exposure import mcp_viewset, registry
from drf_mcp.routes.endpoint import find_endpoints
from tests.parity.probes import Probe

HOSTILE = [
    "../admin",
    "..%2fadmin",
    "%2e%2e/admin",
    "..",
    ".",
    "%2e",
    "x/../../admin",
    "x/delete",
    "x/",
    "/",
    "//evil.example",
    "/admin/",
    "",
    " ",
    "x y",
    "a\nb",
    "a\n",
    "\n",
    "a\r\nX-Header: 1",
    "a\x00b",
    "\x00",
    "?",
    "x?admin=1",
    "#",
    "x#fragment",
    "x;y",
    "\\..\\admin",
    "%",
    "%s",
    "%(name)s",
    "{name}",
    "<int:pk>",
    "å∂ƒ",
    "x" * 5000,
    "None",
    0,
    -1,
    1.5,
    True,
    False,
    [],
    ["../admin"],
    {},
    {"name": "x"},
]

# Each way to write one parameter; the test adds other routes that it must not reach.
PATTERNS = {
    "str": lambda view: path("files/<str:name>/", view),
    "slug": lambda view: path("files/<slug:name>/", view),
    "int": lambda view: path("files/<int:name>/", view),
    "path": lambda view: path("files/<path:name>/", view),
    "segment": lambda view: re_path(r"^files/(?P<name>[^/.]+)/$", view),
    "anything": lambda view: re_path(r"^files/(?P<name>.*)/$", view),
    "open end": lambda view: re_path(r"^files/(?P<name>.+)$", view),
    "digits": lambda view: re_path(r"^files/(?P<name>\d+)$", view),
    "unnamed": lambda view: re_path(r"^files/([^/]+)/$", view),
}


def get_captured(request) -> str:
    context = request.parser_context
    return [*context["args"], *context["kwargs"].values()][0]


@pytest.fixture(params=PATTERNS)
def files(request, expose):
    files, neighbour = Probe.looking(get_captured), Probe.looking()
    near = [
        path("files/", neighbour.as_view()),
        path("files/x/delete/", neighbour.as_view()),
        path("admin/", neighbour.as_view()),
        path("", neighbour.as_view()),
    ]
    expose(*near, PATTERNS[request.param](files.as_view()))
    files.neighbour = neighbour
    return files


def test_a_value_reaches_only_its_own_route(files, alice):
    """The view gets the value that was sent, or the answer is NOT_FOUND."""
    (name,) = (
        n
        for n, tool in registry.tools().items()
        if tool.endpoint.view_class is files and tool.endpoint.method == "GET"
    )
    (argument,) = registry.tools()[name].input_schema["required"]
    for value in HOSTILE:
        files.seen.clear()
        result = alice.call_with(name, {argument: value})
        assert files.neighbour.seen == [], value
        if result.is_error:
            assert result.code == "NOT_FOUND", value
            assert files.seen == [], value
        else:
            assert [str(value)] == [str(seen) for seen in files.seen]


@pytest.mark.parametrize("name", ["str", "slug", "path", "segment"])
def test_a_number_reaches_a_route_for_text_as_text(expose, alice, name):
    """Lists give primary keys as numbers."""
    probe = Probe.looking(get_captured)
    expose(PATTERNS[name](probe.as_view()))
    assert not alice.call_with("files_get", {"name": 9}).is_error
    assert probe.seen == ["9"]


def test_a_value_that_changes_the_other_argument_is_not_found(expose, alice):
    """The route would match, with another folder and another file."""
    probe = Probe.looking(lambda request: request.parser_context["kwargs"]["name"])
    expose(re_path(r"^files/(?P<folder>[^/]+)/(?P<name>.+)$", probe.as_view()))
    assert not alice.call_with("files_get", {"folder": "a", "name": "b/c"}).is_error
    assert probe.seen == ["b/c"]
    result = alice.call_with("files_get", {"folder": "a/b", "name": "c"})
    assert result.code == "NOT_FOUND"
    assert len(probe.seen) == 1


def test_a_value_that_an_earlier_route_matches_is_not_found(expose, alice):
    earlier, probe = Probe.looking(get_captured), Probe.looking(get_captured)
    expose(
        path("files/<slug:name>/", mcp_viewset(name="earlier")(earlier).as_view()),
        path("files/<str:name>/", mcp_viewset(name="later")(probe).as_view()),
    )
    assert not alice.call_with("later_get", {"name": "a b"}).is_error
    assert alice.call_with("later_get", {"name": "a"}).code == "NOT_FOUND"
    assert (earlier.seen, probe.seen) == ([], ["a b"])


@pytest.mark.parametrize(
    "value", ["a?b", "a#b", "a b", "å∂ƒ", "a%2Fb", "a;b", "100%", "a+b", "a&b"]
)
def test_a_value_reaches_the_view_as_from_its_quoted_url(expose, alice, value):
    probe = Probe.looking(lambda request: (request.path, request.build_absolute_uri()))
    expose(path("files/<str:name>/", probe.as_view()))
    alice.http.get(f"/files/{quote(value, safe='')}/")
    alice.call_with("files_get", {"name": value})
    assert probe.seen[0] == probe.seen[1]


def urlconf_of(name: str):
    module = type("URLConf", (), {})
    view, neighbour = Probe.looking().as_view(), Probe.looking().as_view()
    module.urlpatterns = [
        path("files/", neighbour),
        path("files/x/delete/", neighbour),
        path("admin/", neighbour),
        path("", neighbour),
        PATTERNS[name](view),
    ]
    return module, view


URLCONFS = {name: urlconf_of(name) for name in PATTERNS}


@given(st.sampled_from(list(PATTERNS)), st.text() | st.integers() | st.floats() | st.booleans())
def test_any_value_matches_its_own_route_or_none(name, value):
    urlconf, view = URLCONFS[name]
    route = next(e.route for e in find_endpoints(urlconf) if e.route.callback is view)
    (parameter,) = route.kwargs
    url = route.build({parameter: value})
    match = None if url is None else route.match(url, {parameter: value}, HttpRequest())
    if match is not None:
        assert match.func is view
        assert [str(value)] == [str(v) for v in (*match.args, *match.kwargs.values())]
