"""The view gets the same request in a tool call as over HTTP."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse, RawPostDataException
from django.test import AsyncClient
from django.urls import path
from rest_framework.authtoken.models import Token
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from tests.agents import Agent
from tests.parity.answers import over_http
from tests.parity.probes import Probe

BODY = {"name": "Zoë", "lines": [{"n": 1}, None], "empty": ""}
QUERY = {"colour": "rød & blå", "n": ["1", "2"], "blank": ""}
QUERY_STRING = "colour=r%C3%B8d+%26+bl%C3%A5&n=1&n=2&blank="

LOOKS = {
    "method": lambda r: r.method,
    "path": lambda r: (r.path, r.path_info),
    "full path": lambda r: r.get_full_path(),
    "absolute URI": lambda r: r.build_absolute_uri(),
    "relative URI": lambda r: r.build_absolute_uri("../x/"),
    "reversed URI": lambda r: reverse("thing", kwargs={"pk": 3}, request=r),
    "host": lambda r: (r.get_host(), r.get_port()),
    "scheme": lambda r: (r.scheme, r.is_secure()),
    "route": lambda r: r.resolver_match.route,
    "match": lambda r: (r.resolver_match.kwargs, r.resolver_match.args, r.resolver_match.func),
    "names": lambda r: (r.resolver_match.view_name, r.resolver_match.url_name),
    "view arguments": lambda r: (r.parser_context["args"], r.parser_context["kwargs"]),
    "query": lambda r: (r.query_params, r._request.GET.urlencode()),
    "query string": lambda r: r.META["QUERY_STRING"],
    "data": lambda r: r.data,
    "body": lambda r: json.loads(r._request.body),
    "stream": lambda r: json.loads(r.stream.read()),
    "Django's stream": lambda r: json.loads(r._request.read()),
    "form": lambda r: (r.POST, r._request.POST, r._request.FILES),
    "content type": lambda r: (r.content_type, r._request.content_type),
    "content parameters": lambda r: (r._request.content_params, r._request.encoding),
    "preferred type": lambda r: r._request.get_preferred_type(["text/html", "application/json"]),
    "cookies": lambda r: r.COOKIES,
    "session": lambda r: r.session.session_key,
    "headers": lambda r: (r.headers["X-Colour"], r.META["HTTP_X_COLOUR"]),
    "address": lambda r: (r.META["REMOTE_ADDR"], r.META["SERVER_NAME"]),
    "script name": lambda r: r.META.get("SCRIPT_NAME"),
    "path info": lambda r: (r.META["PATH_INFO"], r.META["REQUEST_METHOD"]),
    "middleware's attributes": lambda r: (r.tenant, str(r.lazy_tenant)),
    "version": lambda r: (r.version, r.versioning_scheme),
    "renderer": lambda r: (type(r.accepted_renderer), r.accepted_media_type),
    "environ": lambda r: r._request.environ["REQUEST_METHOD"],
    "repr": lambda r: repr(r).split(" ", 1)[1],
}


@pytest.fixture
def client(http_of, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.parity.middleware.tenant_middleware"]
    http = http_of("alice")
    http.defaults |= {
        "HTTP_X_COLOUR": "blå",
        "HTTP_X_TENANT": "north",
        "HTTP_ACCEPT": "application/json",
    }
    http.cookies["theme"] = "dark"
    return http


@pytest.fixture
def expose_probe(expose):
    def serve(look, **attributes):
        probe = Probe.looking(look, **attributes)
        expose(path("things/<int:pk>/", probe.as_view(), name="thing"), EXTRA_QUERY=True)
        return probe

    return serve


def call_both_ways(probe, http, method: str = "POST"):
    arguments = {"pk": 7, "query": QUERY, "body": BODY}
    over_http(http, method, f"/things/7/?{QUERY_STRING}", BODY)
    assert not Agent(http).call_with(f"things_{method.lower()}", arguments).is_error
    return probe.seen


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_the_view_gets_the_same_request(expose_probe, client, look, method):
    over_http, over_mcp = call_both_ways(expose_probe(look), client, method)
    assert over_mcp == over_http


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_read_has_no_body(expose_probe, client, look):
    def looked(request):
        try:
            return look(request)
        except (ValueError, AttributeError) as exc:
            return type(exc)

    probe = expose_probe(looked)
    client.generic("GET", f"/things/7/?{QUERY_STRING}", content_type="")
    Agent(client).call_with("things_get", {"pk": 7, "query": QUERY})
    assert probe.seen[0] == probe.seen[1]


@pytest.mark.parametrize("parser", [FormParser, MultiPartParser])
@pytest.mark.parametrize(
    "look",
    [lambda r: r.data, lambda r: r.POST, lambda r: r._request.POST, lambda r: r._request.FILES],
    ids=["data", "POST", "Django's POST", "Django's FILES"],
)
def test_a_form_is_read_the_same(expose_probe, client, parser, look):
    probe = expose_probe(look, parser_classes=[parser])
    fields = {"name": "Zoë & Co", "n": ["1", "2"]}
    kind = "multipart" if parser is MultiPartParser else None
    if kind:
        client.post("/things/7/", fields, format=kind)
    else:
        text = "name=Zo%C3%AB+%26+Co&n=1&n=2"
        client.post("/things/7/", text, content_type="application/x-www-form-urlencoded")
    assert not Agent(client).call_with("things_post", {"pk": 7, "body": fields}).is_error
    assert probe.seen[0] == probe.seen[1]


def read_again(request):
    """Return the content of a form's file, and what reading the body after it gives."""
    content = request.data["scan"].read()
    try:
        return content, request._request.body
    except RawPostDataException as exc:
        return content, str(exc)


@pytest.mark.parametrize(
    "look",
    [
        read_again,
        lambda r: r._request.FILES["scan"].read() + r.data["scan"].read(),
        lambda r: (r.data["scan"].name, r.data["scan"].content_type, r.data["scan"].size),
    ],
    ids=["data, body", "Django's FILES, data", "name"],
)
def test_a_form_with_a_file_can_be_read_as_often_as_over_http(expose_probe, client, look):
    probe = expose_probe(look, parser_classes=[MultiPartParser])
    scan = SimpleUploadedFile("a.pdf", b"scanned", "application/pdf")
    client.post("/things/7/", {"scan": scan}, format="multipart")
    body = {"scan": "data:application/pdf;name=a.pdf;base64,c2Nhbm5lZA=="}
    is_read = "scan" in Agent(client).tools()["things_post"]["inputSchema"]["properties"]
    arguments = {"pk": 7, **body} if is_read else {"pk": 7, "body": body}
    assert not Agent(client).call_with("things_post", arguments).is_error
    assert len(probe.seen) == 2
    assert probe.seen[0] == probe.seen[1]


@pytest.mark.parametrize(
    "header",
    [
        "If-Match",
        "If-None-Match",
        "If-Modified-Since",
        "If-Unmodified-Since",
        "If-Range",
        "Range",
        "Accept-Encoding",
        "Content-Encoding",
    ],
)
def test_a_header_about_the_outer_exchange_is_not_passed_on(expose_probe, client, header):
    probe = expose_probe(lambda request: header in request.headers)
    name = f"HTTP_{header.upper().replace('-', '_')}"
    client.defaults[name] = '"x"'
    assert call_both_ways(probe, client) == [True, False]


def test_the_charset_of_the_message_does_not_change_the_query(expose_probe, client):
    probe = expose_probe(lambda request: (request.query_params, request._request.encoding))
    agent = Agent(client)
    arguments = {"pk": 7, "query": QUERY}
    message, headers = agent.frame("tools/call", {"name": "things_get", "arguments": arguments})
    client.get(f"/things/7/?{QUERY_STRING}")
    content_type = "application/json; charset=iso-8859-1"
    agent.http.post("/mcp", json.dumps(message), content_type=content_type, headers=headers)
    assert probe.seen[0] == probe.seen[1]


class Long(APIView):
    """Returns a text that is worth compressing."""

    permission_classes = [AllowAny]

    def get(self, request) -> Response:
        """Return a long text."""
        return Response({"text": "long " * 100})


PREFIXED = ["path", "full path", "absolute URI", "reversed URI", "script name", "repr"]


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize("look", PREFIXED)
def test_a_script_name_is_part_of_the_path(expose_probe, client, settings, look, forced):
    if forced:
        settings.FORCE_SCRIPT_NAME = "/forced"
    else:
        client.defaults["SCRIPT_NAME"] = "/shop"
    over_http, over_mcp = call_both_ways(expose_probe(LOOKS[look]), client)
    assert over_mcp == over_http


@pytest.mark.parametrize("look", ["absolute URI", "relative URI", "host", "scheme"])
def test_headers_of_a_proxy_are_used(expose_probe, client, settings, look):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = settings.USE_X_FORWARDED_PORT = True
    settings.ALLOWED_HOSTS = ["shop.example"]
    client.defaults |= {
        "HTTP_X_FORWARDED_PROTO": "https",
        "HTTP_X_FORWARDED_HOST": "shop.example",
        "HTTP_X_FORWARDED_PORT": "8443",
    }
    over_http, over_mcp = call_both_ways(expose_probe(LOOKS[look]), client)
    assert over_mcp == over_http


def test_a_secure_connection_is_secure_for_the_view(expose_probe, client):
    probe = expose_probe(LOOKS["absolute URI"])
    message, headers = Agent(client).frame(
        "tools/call", {"name": "things_get", "arguments": {"pk": 7}}
    )
    client.post("/mcp", message, headers=headers, secure=True)
    assert probe.seen == ["https://testserver/things/7/"]


def test_the_next_call_does_not_have_attributes_that_a_view_sets_on_the_request(
    expose_probe, client
):
    def look(request):
        found = getattr(request._request, "trace", None)
        request._request.trace = "was here"
        return found

    probe = expose_probe(look)
    for _ in range(2):
        Agent(client).call("things_get", pk=1)
    assert probe.seen == [None, None]


def test_a_message_of_django_messages_is_set_in_the_outer_response(expose, alice):
    class Greets(Probe):
        def get(self, request) -> HttpResponse:
            messages.success(request._request, "Well done.")
            return Response({})

    expose(path("greets/", Greets.as_view()))
    response = alice.post(*alice.frame("tools/call", {"name": "greets_get", "arguments": {}}))
    assert "messages" in response.cookies


ASGI_LOOKS = [
    "method",
    "path",
    "full path",
    "absolute URI",
    "route",
    "query",
    "data",
    "body",
    "cookies",
    "scheme",
    "host",
    "form",
    "content type",
]


@pytest.mark.parametrize("look", ASGI_LOOKS)
def test_the_view_gets_the_same_request_under_asgi(expose_probe, db, look):
    probe = expose_probe(LOOKS[look])
    token = Token.objects.get(user__username="alice")
    client = AsyncClient(headers={"authorization": f"Token {token.key}"})
    client.cookies["theme"] = "dark"
    post = async_to_sync(client.post)
    post(f"/things/7/?{QUERY_STRING}", json.dumps(BODY), content_type="application/json")
    arguments = {"pk": 7, "query": QUERY, "body": BODY}
    message, headers = Agent(client).frame(
        "tools/call", {"name": "things_post", "arguments": arguments}
    )
    post("/mcp", json.dumps(message), content_type="application/json", headers=headers)
    assert probe.seen[0] == probe.seen[1]
