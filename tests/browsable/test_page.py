"""The page: who may see it, what it shows, and what a browser may load with it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import include, path
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.permissions import AllowAny, DjangoModelPermissions, IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

import drf_mcp
from drf_mcp import mcp_tool
from drf_mcp.browsable.frame import STATIC_FILES
from drf_mcp.exposure import registry
from drf_mcp.views import MCPView

static_folder = Path(drf_mcp.__file__).parent / "static"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def page_on(settings) -> None:
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}


@pytest.fixture
def browser_of(db, page_on):
    def browser(username: str | None, **options) -> Client:
        client = Client(headers=BROWSER, **options)
        if username is not None:
            client.force_login(User.objects.get(username=username))
        return client

    return browser


def text_of(response) -> str:
    return response.content.decode()


def facts_of(response) -> dict:
    found = re.search(r'<script id="tool-facts"[^>]*>(.*?)</script>', text_of(response))
    return json.loads(found[1])


def test_debug_shows_the_page_unless_the_setting_decides(subtests, db, settings):
    for debug, setting, status in [
        (True, None, 401),
        (False, None, 405),
        (False, True, 401),
        (True, False, 405),
    ]:
        with subtests.test(debug=debug, setting=setting, status=status):
            settings.DEBUG = debug
            settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": setting}
            assert Client(headers=BROWSER).get("/mcp").status_code == status


@pytest.mark.slow
def test_grouped_arguments_have_the_locations_of_their_groups(browser_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ARGUMENTS": "grouped"}
    facts = facts_of(browser_of("carol").get("/mcp?tool=orders_refund"))
    locations = {argument["pointer"]: argument["location"] for argument in facts["arguments"]}
    assert {"/kwargs/pk": "path", "/body/reason": "body"}.items() <= locations.items()


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "text/event-stream"])
def test_only_a_browser_gets_the_page(page_on, accept):
    response = Client(headers={"accept": accept}).get("/mcp")
    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_each_endpoint_can_switch_its_page_on_or_off(db, settings):
    module = type("URLConf", (), {})
    module.urlpatterns = [
        path("open", MCPView.as_view(browsable_page=True, permission_classes=[AllowAny])),
        path("closed", MCPView.as_view(browsable_page=False)),
    ]
    settings.ROOT_URLCONF = module
    assert Client(headers=BROWSER).get("/open").status_code == 200
    assert Client(headers=BROWSER).get("/closed").status_code == 405


def test_anonymous_browser_is_answered_401_with_a_challenge_and_a_link_to_log_in(browser_of):
    response = browser_of(None).get("/mcp?tool=stats")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert "/api-auth/login/?next=%2Fmcp%3Ftool%3Dstats" in text_of(response)
    assert "stats</strong>" not in text_of(response)


def test_page_of_an_endpoint_without_sessions_names_the_missing_class(browser_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHENTICATION_CLASSES": [TokenAuthentication]}
    text = text_of(browser_of(None).get("/mcp"))
    assert "add rest_framework.authentication.SessionAuthentication to" in text
    assert "/api-auth/login/" not in text.partition("Who is asking?")[2].partition("</main>")[0]


def test_user_without_permission_for_the_endpoint_is_answered_403(browser_of, settings):
    classes = ["rest_framework.permissions.IsAdminUser"]
    settings.DRF_MCP = {**settings.DRF_MCP, "PERMISSION_CLASSES": classes}
    response = browser_of("alice").get("/mcp")
    assert response.status_code == 403
    assert "Not for you" in text_of(response)


@pytest.mark.slow
def test_page_shows_the_tools_that_the_user_may_call(browser_of):
    assert "tool=customers_deactivate" not in text_of(browser_of("alice").get("/mcp"))
    assert "tool=customers_deactivate" in text_of(browser_of("carol").get("/mcp"))


def test_hidden_tool_has_no_page(browser_of):
    response = browser_of("alice").get("/mcp?tool=customers_deactivate")
    assert response.status_code == 404
    assert "inputSchema" not in text_of(response)
    response = browser_of("alice").get("/mcp", {"tool": "<script>alert(1)</script>"})
    assert "<script>alert" not in text_of(response)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "text"), [("show=findings", "Findings"), ("tool=orders_list", "get_queryset")]
)
def test_findings_and_row_counts_are_for_staff(browser_of, query, text):
    assert text in text_of(browser_of("carol").get(f"/mcp?{query}"))
    assert text not in text_of(browser_of("alice").get(f"/mcp?{query}"))


@pytest.mark.slow
def test_names_and_lines_of_the_source_are_for_staff(browser_of):
    for query in ("", "?show=clients", *(f"?tool={name}" for name in registry.tools())):
        page = text_of(browser_of("alice").get(f"/mcp{query}"))
        assert not re.search(r"example_project[./]", page), query
    assert "example_project.shop.views.OrderViewSet" in text_of(browser_of("carol").get("/mcp"))


@pytest.mark.slow
def test_every_tool_has_a_page(browser_of):
    browser = browser_of("carol")
    for name in registry.tools():
        assert facts_of(browser.get("/mcp", {"tool": name}))["name"] == name


@pytest.mark.parametrize("query", ["", "?tool=stats", "?tool=none", "?show=clients"])
def test_policy_allows_no_inline_code_and_no_other_host(browser_of, query):
    response = browser_of("alice").get(f"/mcp{query}")
    policy = dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text_of(response))
    assert not re.search(r'(?:src|href)="https?:', text_of(response))


@pytest.mark.slow
def test_page_is_not_stored_and_loads_static_files_from_their_host(browser_of, settings):
    settings.STATIC_URL = "https://static.example.com/files/"
    response = browser_of("alice").get("/mcp")
    policy = response["Content-Security-Policy"]
    assert "script-src 'self' https://static.example.com;" in policy
    assert "connect-src 'self';" in policy
    assert "no-store" in response["Cache-Control"]
    assert {"Accept", "Cookie"} <= set(response["Vary"].split(", "))


@pytest.mark.slow
def test_page_contains_the_csrf_token_for_calls_by_session(browser_of):
    browser = browser_of("alice", enforce_csrf_checks=True)
    facts = facts_of(browser.get("/mcp?tool=stats"))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "stats"}}

    def status(**headers) -> int:
        sent = {"headers": headers, "content_type": "application/json"}
        return browser.post("/mcp", json.dumps(message), **sent).status_code

    assert status() == 403
    assert status(**{facts["csrf"]["header"]: facts["csrf"]["token"]}) == 200


@pytest.mark.slow
@pytest.mark.parametrize("hosts", [["*"], ["testserver"], ["*", ".testserver"]])
def test_page_asks_for_the_host_in_allowed_hosts(browser_of, settings, hosts):
    settings.ALLOWED_HOSTS = hosts
    page = text_of(browser_of("alice").get("/mcp?tool=stats"))
    assert ("does not name <code>testserver</code>" in page) is (hosts == ["*"])


@pytest.mark.slow
def test_page_has_formats_that_the_portable_schema_leaves_out(browser_of):
    tool = facts_of(browser_of("carol").get("/mcp?tool=customers_create"))
    formats = {pointer: field.get("format") for pointer, field in tool["fields"].items()}
    assert (formats["/email"], formats["/joined"], formats["/name"]) == ("email", "date", None)
    assert "format" not in tool["schema"]["properties"]["joined"]


@pytest.mark.slow
def test_form_names_the_tool_that_lists_the_objects_of_an_argument(browser_of):
    fields = facts_of(browser_of("alice").get("/mcp?tool=orders_create"))["fields"]
    finder = {"tool": "customers_list", "key": "id", "search": "/search"}
    assert finder.items() <= fields["/customer"]["finder"].items()
    product = fields["/lines/*/product"]["finder"]
    assert (product["tool"], product["key"]) == ("products_list", "slug")


def test_answer_names_the_tools_that_read_its_objects(browser_of):
    browser = browser_of("alice")
    links = facts_of(browser.get("/mcp?tool=orders_list"))["links"]
    assert {place: link["tool"] for place, link in links.items()} == {
        "/id": "orders_retrieve",
        "/customer": "customers_retrieve",
        "/lines/*/product": "products_retrieve",
    }
    assert "/id" not in facts_of(browser.get("/mcp?tool=orders_retrieve"))["links"]


def test_call_that_destroys_is_red_and_comes_after_its_dry_run(browser_of):
    browser = browser_of("carol")
    form = text_of(browser.get("/mcp?tool=customers_deactivate")).partition("<footer>")[2]
    assert form.index("data-try") < form.index('class="button danger" type="submit" data-run')
    assert (
        "button danger" not in text_of(browser.get("/mcp?tool=customers_create")).split("dialog")[0]
    )


@pytest.mark.slow
def test_form_names_no_tool_that_is_hidden_from_the_user(browser_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "EXCLUDE": ["customers_list"]}
    fields = facts_of(browser_of("alice").get("/mcp?tool=orders_create"))["fields"]
    assert "finder" not in fields["/customer"]


@pytest.mark.slow
def test_static_files_are_small(browser_of):
    files = [static_folder / name for name in STATIC_FILES]
    assert {path.name for path in (static_folder / "drf_mcp").iterdir()} == {
        path.name for path in files
    }
    page = browser_of("carol").get("/mcp?tool=orders_create").content
    size = sum(len(gzip.compress(data)) for data in (page, *(f.read_bytes() for f in files)))
    assert size < 60_000


@pytest.mark.slow
def test_page_confirms_destructive_calls_only(browser_of):
    browser = browser_of("carol")
    asks = {name: facts_of(browser.get(f"/mcp?tool={name}"))["confirm"] for name in CONFIRMED}
    assert asks == CONFIRMED


CONFIRMED = {"orders_refund": True, "customers_create": False, "stats": False, "quote": False}


def test_client_configurations_have_the_authorization_scheme_of_the_endpoint(browser_of):
    page = text_of(browser_of("alice").get("/mcp?show=clients"))
    assert "Authorization: Token YOUR_TOKEN" in page
    assert "http://testserver/mcp" in page


def test_clients_with_an_install_link_have_a_button(browser_of):
    page = browser_of("alice").get("/mcp?show=clients")
    links = dict(re.findall(r'<a class="button" href="([^"]+)">Add to ([^<]+)</a>', text_of(page)))
    links = {name: html.unescape(link) for link, name in links.items()}
    assert list(links) == ["Cursor", "VS Code"]
    query = parse_qs(urlsplit(links["Cursor"]).query)
    entry = {"url": "http://testserver/mcp", "headers": {"Authorization": "Token YOUR_TOKEN"}}
    assert json.loads(base64.b64decode(query["config"][0])) == entry
    scheme, _, written = links["VS Code"].partition("?")
    assert scheme == "vscode:mcp/install"
    assert json.loads(unquote(written)) == {"name": query["name"][0], "type": "http", **entry}


def test_client_that_signs_in_by_oauth_needs_no_token(browser_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHORIZATION_SERVERS": ["https://id.example.com"]}
    page = text_of(browser_of("alice").get("/mcp?show=clients", secure=True))
    assert "signs in by OAuth" in page
    assert "YOUR_TOKEN" not in page
    link = html.unescape(re.search(r'href="(https://claude.ai[^"]+)"', page)[1])
    assert urlsplit(link).path == "/customize/connectors"
    assert parse_qs(urlsplit(link).query)["connectorUrl"] == ["https://testserver/mcp"]


@pytest.mark.slow
def test_findings_are_grouped_by_cause(browser_of):
    page = text_of(browser_of("carol").get("/mcp?show=findings"))
    titles = re.findall(r'<h2 id="title-([\w-]+)">([^<]+)</h2>', page)
    assert ("no-help-text", "Arguments without a description") in titles
    assert len(dict(titles)) == len(titles)


def test_staff_can_check_whether_another_user_may_call_a_tool(browser_of, expose):
    page = text_of(browser_of("carol").get("/mcp?tool=orders_retrieve&as=bob"))
    assert re.search(r"bob may call orders_retrieve, within limits", page)
    assert "No user is named zed." in text_of(browser_of("carol").get("/mcp?tool=stats&as=zed"))
    page = text_of(browser_of("alice").get("/mcp?tool=orders_retrieve&as=bob"))
    assert "bob may" not in page


@pytest.mark.slow
def test_staff_see_who_may_call_each_tool(browser_of):
    page = text_of(browser_of("carol").get("/mcp"))
    assert page.count("For a user with is_staff") == 2
    assert "For a " not in text_of(browser_of("alice").get("/mcp"))


class GroupSerializer(serializers.ModelSerializer):
    """A group."""

    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(ModelViewSet):
    """Groups."""

    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes = [DjangoModelPermissions]


def test_staff_see_the_permissions_that_a_tool_requires(browser_of, expose):
    router = SimpleRouter()
    router.register("groups", Groups)
    expose(*router.urls, BROWSABLE_PAGE=True)
    page = text_of(browser_of("carol").get("/mcp"))
    assert "4 more tools are hidden from you" in page
    assert "For the permission auth.add_group" in page


@pytest.mark.slow
def test_overridden_template_extends_the_base(browser_of, settings, tmp_path):
    folder = tmp_path / "drf_mcp"
    folder.mkdir()
    (folder / "api.html").write_text(
        '{% extends "drf_mcp/base.html" %}{% block branding %}Acme{% endblock %}'
    )
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    for query in ("", "?tool=stats", "?show=clients"):
        page = text_of(browser_of("alice").get(f"/mcp{query}"))
        assert "Acme" in page
        assert "The example shop</span>" not in page


@mcp_tool(description="Weigh <b>things</b>, such as ``a & b``.")
class Weigh(APIView):
    """Weigh."""

    authentication_classes = [SessionAuthentication]
    permission_classes = [IsAuthenticated | AllowAny]

    def get(self, request) -> Response:
        """Weigh."""
        return Response({})


def test_description_is_escaped_and_has_code_in_backticks(expose):
    expose(path("weigh/", Weigh.as_view()), BROWSABLE_PAGE=True)
    page = text_of(Client(headers=BROWSER).get("/mcp?tool=weigh"))
    assert "Weigh &lt;b&gt;things&lt;/b&gt;, such as <code>a &amp; b</code>." in page
    expose(BROWSABLE_PAGE=True)
    assert "No tools yet" in text_of(Client(headers=BROWSER).get("/mcp"))


def test_links_of_the_page_keep_the_script_prefix(db, settings):
    module = type("URLConf", (), {})
    module.urlpatterns = [path("agents/", include("drf_mcp.urls"))]
    settings.ROOT_URLCONF = module
    settings.DRF_MCP = {"BROWSABLE_PAGE": True, "PERMISSION_CLASSES": []}
    page = text_of(Client(headers=BROWSER).get("/agents/mcp"))
    assert 'href="/agents/mcp?show=clients"' in page
