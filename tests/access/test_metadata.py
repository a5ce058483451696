"""The OAuth metadata of an endpoint: its well-known URLs, and the URLs of clients in it."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import include, path, re_path
from django.utils.encoding import escape_uri_path
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed

from drf_mcp.views import MCPView
from tests.access.views import ISSUER

ROOT = "/.well-known/oauth-protected-resource"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HTTPS = {"secure": True, "headers": {"host": "shop.example"}}


@pytest.fixture
def serve(settings):
    """Serve patterns followed by the well-known URLs, with these settings."""

    def serve(*patterns: Any, **mcp_settings: Any) -> None:
        module = type("URLConf", (), {})
        module.urlpatterns = [*patterns, path("", include("drf_mcp.access.urls"))]
        settings.ROOT_URLCONF = module
        settings.ALLOWED_HOSTS = ["shop.example", "app.internal", "testserver"]
        settings.DRF_MCP = {"AUTHORIZATION_SERVERS": [ISSUER], "SERVER_NAME": "s", **mcp_settings}

    return serve


def document_at(address: str, **options: Any) -> dict[str, Any]:
    response = Client().get(address, **{**HTTPS, **options})
    assert response.status_code == 200, address
    ProtectedResourceMetadata.model_validate_json(response.content)
    return response.json()


def metadata_of(endpoint: str, **options: Any) -> str:
    """Return the URL of the metadata in a 401 response."""
    response = Client().post(endpoint, PING, "application/json", **{**HTTPS, **options})
    assert response.status_code == 401
    return response.headers["WWW-Authenticate"].split('resource_metadata="')[1].split('"')[0]


# --- The document -------------------------------------------------------------------------


def test_the_document_names_the_authorization_server_and_the_resource(serve):
    serve(path("mcp", MCPView.as_view()), SCOPES=["shop"], SERVER_TITLE="The shop")
    assert document_at(f"{ROOT}/mcp") == {
        "resource": "https://shop.example/mcp",
        "authorization_servers": [ISSUER],
        "scopes_supported": ["shop"],
        "bearer_methods_supported": ["header"],
        "resource_name": "The shop",
    }


def test_pages_of_any_origin_may_read_and_cache_it(serve, client):
    serve(path("mcp", MCPView.as_view()))
    response = client.get(f"{ROOT}/mcp", headers={"origin": "https://inspector.example"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cache-Control"] == "public, max-age=3600"
    assert "Cookie" not in response.headers.get("Vary", "")


def test_a_preflight_request_is_allowed(serve, client):
    serve(path("mcp", MCPView.as_view()))
    asked = {
        "access-control-request-headers": "mcp-protocol-version",
        "origin": "https://a.example",
    }
    response = client.options(f"{ROOT}/mcp", headers=asked)
    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Allow-Headers"] == "*"
    assert "GET" in response.headers["Access-Control-Allow-Methods"]


def test_login_required_middleware_lets_anonymous_clients_read_it(serve, settings):
    serve(path("mcp", MCPView.as_view()))
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.LoginRequiredMiddleware",
    ]
    assert document_at(f"{ROOT}/mcp")["resource"]


# --- The URL of the document ----------------------------------------------------------------

PLACES = {
    "a path": (path("mcp", MCPView.as_view()), "/mcp", "/mcp"),
    "a slash": (path("mcp/", MCPView.as_view()), "/mcp/", "/mcp"),
    "a deep path": (path("a/b/mcp", MCPView.as_view()), "/a/b/mcp", "/a/b/mcp"),
    "no path": (path("", MCPView.as_view()), "/", ""),
    "either slash": (re_path(r"^mcp/?$", MCPView.as_view()), "/mcp/", "/mcp"),
    "an argument": (path("<slug:tenant>/mcp", MCPView.as_view()), "/acme/mcp", "/acme/mcp"),
    "an include": (path("x/", include([path("mcp", MCPView.as_view())])), "/x/mcp", "/x/mcp"),
    "other letters": (path("größe/mcp", MCPView.as_view()), "/größe/mcp", "/gr%C3%B6%C3%9Fe/mcp"),
}


def test_an_endpoint_is_found_wherever_it_is(subtests, serve):
    for place in PLACES:
        with subtests.test(place=place):
            pattern, asked, canonical = PLACES[place]
            serve(pattern)
            address = metadata_of(asked)
            assert address == f"https://shop.example{ROOT}{canonical}"
            document = document_at(address.removeprefix("https://shop.example"))
            assert document["resource"] == f"https://shop.example{canonical}"


def test_the_official_client_finds_it_without_the_challenge(subtests, serve):
    for place in PLACES:
        with subtests.test(place=place):
            pattern, asked, _ = PLACES[place]
            serve(pattern)
            server = f"https://shop.example{escape_uri_path(asked)}"
            urls = build_protected_resource_metadata_discovery_urls(None, server)
            document = document_at(urls[0].removeprefix("https://shop.example"))
            assert check_resource_allowed(server, document["resource"])


def test_a_lone_endpoint_is_found_at_the_root(subtests, serve):
    for spelling in [ROOT, f"{ROOT}/"]:
        with subtests.test(spelling=spelling):
            serve(
                path("agents/mcp", MCPView.as_view()), path("about", lambda request: HttpResponse())
            )
            assert document_at(spelling)["resource"] == "https://shop.example/agents/mcp"


def test_each_of_several_endpoints_has_its_own_document(serve, client):
    serve(
        path("mcp", MCPView.as_view(scopes=["shop"])),
        path("staff/mcp", MCPView.as_view(authorization_servers=["https://staff.example"])),
        path("open/mcp", MCPView.as_view(authorization_servers=[])),
    )
    one, two = document_at(f"{ROOT}/mcp"), document_at(f"{ROOT}/staff/mcp")
    assert (one["resource"], two["resource"]) == (
        "https://shop.example/mcp",
        "https://shop.example/staff/mcp",
    )
    assert (one["authorization_servers"], two["authorization_servers"]) == (
        [ISSUER],
        ["https://staff.example"],
    )
    assert one["scopes_supported"] == ["shop"]
    assert client.get(f"{ROOT}/open/mcp").status_code == 404
    # The URL does not say which endpoint.
    assert client.get(ROOT).status_code == 404


def test_endpoints_with_one_resource_are_found_at_its_address(serve):
    serve(
        path("mcp", MCPView.as_view()),
        path("staff/mcp", MCPView.as_view()),
        RESOURCE="https://shop.example",
    )
    assert document_at(ROOT)["resource"] == "https://shop.example"
    assert document_at(f"{ROOT}/staff/mcp")["resource"] == "https://shop.example"


def test_hooks_choose_resource_and_scopes_by_request(serve):
    class TenantView(MCPView):
        def get_resource(self):
            return f"https://{self.kwargs['tenant']}.example/mcp"

        def get_scopes(self):
            return [self.kwargs["tenant"]]

    serve(path("<slug:tenant>/mcp", TenantView.as_view()))
    document = document_at(f"{ROOT}/acme/mcp")
    assert document["resource"] == "https://acme.example/mcp"
    assert document["scopes_supported"] == ["acme"]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_path_is_a_document_or_not_found(text):
    patterns = [path("", include("drf_mcp.urls")), path("<path:x>/mcp", MCPView.as_view())]
    urlconf = type("URLConf", (), {"urlpatterns": patterns})
    with override_settings(ROOT_URLCONF=urlconf, DRF_MCP={"AUTHORIZATION_SERVERS": [ISSUER]}):
        response = Client().get(f"{ROOT}/{escape_uri_path(text)}")
    assert response.status_code in (200, 404)


def test_without_an_authorization_server_the_url_is_left_to_other_packages(serve, client, settings):
    own = path(".well-known/oauth-protected-resource", lambda request: HttpResponse("theirs"))
    serve(path("mcp", MCPView.as_view()), AUTHORIZATION_SERVERS=[])
    settings.ROOT_URLCONF.urlpatterns.append(own)
    assert client.get(ROOT).content == b"theirs"


# --- Behind proxies -----------------------------------------------------------------------


def test_scheme_and_host_of_a_trusted_proxy_are_used(serve, settings):
    serve(path("mcp", MCPView.as_view()))
    forwarded = {
        "host": "app.internal",
        "x-forwarded-proto": "https",
        "x-forwarded-host": "shop.example",
    }
    options = {"secure": False, "headers": forwarded}
    assert document_at(f"{ROOT}/mcp", **options)["resource"] == "http://app.internal/mcp"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    assert document_at(f"{ROOT}/mcp", **options)["resource"] == "https://shop.example/mcp"
    assert metadata_of("/mcp", **options) == f"https://shop.example{ROOT}/mcp"


def test_a_host_that_is_not_allowed_gets_no_url(subtests, serve, settings):
    for middleware in [[], ["django.middleware.common.CommonMiddleware"]]:
        with subtests.test(middleware=middleware):
            serve(path("mcp", MCPView.as_view()))
            settings.MIDDLEWARE = middleware
            options = {"secure": True, "headers": {"host": "evil.example"}}
            assert Client().get(f"{ROOT}/mcp", **options).status_code == 400
            response = Client().post("/mcp", PING, "application/json", **options)
            assert response.status_code == 400
            assert "evil" not in str(response.headers)


def test_below_a_script_prefix_the_challenge_names_an_existing_url(subtests, serve, settings):
    for forced in [True, False]:
        with subtests.test(forced=forced):
            serve(path("mcp", MCPView.as_view()))
            options = {} if forced else {"SCRIPT_NAME": "/backend"}
            if forced:
                settings.FORCE_SCRIPT_NAME = "/backend"
            address = metadata_of("/mcp", **options)
            assert address == f"https://shop.example/backend{ROOT}/mcp"
            document = document_at(f"{ROOT}/mcp", **options)
            assert document["resource"] == "https://shop.example/backend/mcp"


def test_the_resource_of_the_settings_gives_scheme_and_host(subtests, serve):
    for resource, address in [
        ("https://shop.example", f"https://shop.example{ROOT}/mcp"),
        ("https://shop.example/", f"https://shop.example{ROOT}/mcp"),
        ("https://public.example/mcp", f"https://public.example{ROOT}/mcp"),
        ("https://public.example/agents/mcp", f"https://public.example/agents{ROOT}/mcp"),
        ("https://public.example/other", f"https://public.example{ROOT}/mcp"),
    ]:
        with subtests.test(resource=resource, address=address):
            serve(path("mcp", MCPView.as_view()), RESOURCE=resource)
            assert metadata_of("/mcp", headers={"host": "app.internal"}) == address
            assert document_at(f"{ROOT}/mcp")["resource"] == resource.rstrip("/")
