"""The page on which users make, see and revoke their own tokens."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from drf_mcp.contrib.tokens.models import AgentToken, find_end, find_today
from tests.contrib.tokens.test_admin import key_in

PAGE = "/mcp/tokens/"
HTML = {"accept": "text/html"}


@pytest.fixture
def browser_of(db):
    def browser(username: str | None, **options) -> Client:
        client = Client(headers=HTML, **options)
        if username is not None:
            client.force_login(User.objects.get(username=username))
        return client

    return browser


def text_of(response) -> str:
    return response.content.decode()


def errors_of(response) -> str:
    return str(response.context["form"].errors)


def test_the_key_is_shown_once(browser_of):
    browser = browser_of("alice")
    key = key_in(browser.post(PAGE, {"name": "desk"}))
    assert AgentToken.objects.find(key).name == "desk"
    again = text_of(browser.get(PAGE))
    assert f"mcp_{key[4:12]}" in again
    assert key.rpartition("_")[2] not in again
    assert not [c for c in browser.cookies.values() if key.rpartition("_")[2] in c.value]


def test_tokens_beyond_the_bound_are_refused_with_its_sentence(browser_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_TOKENS": 1}
    browser, own = browser_of("alice"), AgentToken.objects.filter(user__username="alice")
    own.delete()
    answers = [browser.post(PAGE, {"name": "desk"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert "You have 1 tokens, which is as many as there may be." in errors_of(answers[1])
    assert own.count() == 1
    assert browser_of("carol").post(PAGE, {"name": "desk"}).status_code == 200


def test_the_page_is_not_cached_and_cannot_be_framed(browser_of):
    response = browser_of("alice").post(PAGE, {"name": "desk"})
    assert "no-store" in response["Cache-Control"]
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


@pytest.mark.slow
def test_a_token_has_the_values_of_the_form(browser_of, holder):
    fields = {
        "name": "desk",
        "tools": "orders_*\n",
        "tags": ["retrieval"],
        "read_only": "on",
        "networks": "127.0.0.0/8, ::1/128",
        "expires": "2031-05-06",
    }
    key = key_in(browser_of("alice").post(PAGE, fields))
    token = AgentToken.objects.get()
    assert token.tools == ["orders_*", "tag:retrieval"]
    assert (token.read_only, token.networks) == (True, ["127.0.0.0/8", "::1/128"])
    # The token is valid until the end of the last day.
    assert f"{token.expires:%Y-%m-%d %H:%M}" == "2031-05-06 23:59"
    names = set(holder(key).tools())
    assert "orders_list" in names
    assert "bm25_retriever" in names
    assert not names & {"orders_create", "customers_list"}


def test_a_token_is_valid_until_the_end_of_the_last_day_without_time_zones(settings):
    settings.USE_TZ = False
    assert str(find_end(find_today())) == f"{find_today()} 23:59:59"


def test_a_token_is_always_for_the_signed_in_user(browser_of):
    admin = User.objects.get(username="admin")
    browser_of("alice").post(PAGE, {"name": "desk", "user": admin.pk, "user_id": admin.pk})
    assert AgentToken.objects.get().user.username == "alice"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tools": "refunds_*"}, "None of your tools matches refunds_*."),
        ({"tools": "Orders"}, "no pattern"),
        ({"tags": ["no_such"]}, "no_such"),
        ({"networks": "home"}, "no network"),
        ({"expires": "2020-01-01"}, "in the past"),
        ({"name": ""}, "required"),
    ],
)
def test_invalid_values_are_refused_and_no_token_is_made(browser_of, fields, words):
    response = browser_of("alice").post(PAGE, {"name": "desk", **fields})
    assert response.status_code == 400
    assert words in errors_of(response)
    assert not AgentToken.objects.exists()


def test_the_list_shows_the_tools_the_last_use_and_the_state_of_each_token(browser_of, issue):
    used = timezone.now().replace(2026, 3, 4, 5, 6)
    issue("alice", name="desk", tools=["GET /api/orders/*"], last_used=used)
    issue("alice", name="phone", revoked=timezone.now())
    text = re.sub(r"\s+", " ", text_of(browser_of("alice").get(PAGE)))
    assert ">4 tools" in text
    assert "March 4, 2026, 5:06 a.m." in text
    assert "revoked" in text


def test_a_user_cannot_see_or_revoke_the_tokens_of_others(browser_of, issue):
    token, _ = issue("bob", name="bobs phone")
    browser = browser_of("alice")
    assert "bobs phone" not in text_of(browser.get(PAGE))
    assert browser.post(PAGE, {"revoke": token.prefix}).status_code == 404
    token.refresh_from_db()
    assert token.state == "open"


def test_a_token_that_is_revoked_on_the_page_is_refused(browser_of, issue, holder):
    token, key = issue("alice")
    assert browser_of("alice").post(PAGE, {"revoke": token.prefix}).status_code == 302
    agent = holder(key)
    assert agent.post(*agent.frame("tools/list", {})).status_code == 401


@pytest.mark.parametrize("fields", [{"name": "desk"}, {"revoke": "ab12cd34"}])
@pytest.mark.parametrize("middleware", [True, False])
def test_a_form_without_a_csrf_token_does_nothing(browser_of, settings, fields, middleware):
    if not middleware:
        settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "Csrf" not in name]
    browser = browser_of("alice", enforce_csrf_checks=True)
    assert browser.post(PAGE, fields).status_code == 403
    assert not AgentToken.objects.exists()


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_anonymous_user_is_redirected_to_the_login(browser_of, method):
    response = getattr(browser_of(None), method)(PAGE)
    assert response.status_code == 302
    assert response["Location"] == "/api-auth/login/?next=/mcp/tokens/"


class HeaderMiddleware:
    """Sets the user of each request without a session."""

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request):
        request.user = User.objects.get(username="admin")
        return self.get_response(request)


def test_a_user_without_a_session_makes_no_token(browser_of, settings):
    name = f"{__name__}.HeaderMiddleware"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, name]
    assert browser_of(None).post(PAGE, {"name": "desk"}).status_code == 302
    assert not AgentToken.objects.exists()
