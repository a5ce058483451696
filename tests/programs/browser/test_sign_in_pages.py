"""The pages on which users connect agents, in a real browser."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.programs.browser.browser import log_in, program
from tests.programs.browser.conftest import REQUIRE_CHROMIUM, skip_or_fail
from tests.programs.browser.watched import Watched
from tests.programs.interop.servers import RunningServer, Shop, running

VERIFIER = "v" * 64
CALLBACK = "http://127.0.0.1:4000/callback"


@pytest.fixture(scope="module")
def sign_in_shop(tmp_path_factory) -> Iterator[RunningServer]:
    if program() is None:
        skip_or_fail("Chromium is not installed: apt-get install chromium", REQUIRE_CHROMIUM)
    folder = tmp_path_factory.mktemp("sign_in_pages")
    shop = Shop(folder / "shop.sqlite3", "tests.programs.browser.oauth_settings")
    shop.seed()
    with running("uvicorn", shop, folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def base(sign_in_shop) -> str:
    return sign_in_shop.url.removesuffix("/mcp")


@pytest.fixture(scope="module")
def client_id(base) -> str:
    metadata = {
        "client_name": "Claude Code",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "none",
    }
    return httpx2.post(f"{base}/o/register/", json=metadata).json()["client_id"]


@pytest.fixture(scope="module")
def question(base, client_id) -> str:
    """The URL that a client opens in the browser."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
    params = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "scope": "shop",
        "state": "s",
        "code_challenge": challenge.decode().rstrip("="),
        "code_challenge_method": "S256",
        "resource": f"{base}/mcp",
    }
    return str(httpx2.URL(f"{base}/o/authorize/", params=params))


@pytest.fixture(scope="module")
def cookies(browser, sign_in_shop) -> Any:
    page = browser.new_page()
    log_in(page, sign_in_shop.url, "alice")
    state = page.context.storage_state()
    page.close()
    return state


@pytest.fixture
def visit(browser, cookies) -> Iterator[Any]:
    """Open a page in alice's browser: ``visit(address)``."""
    opened: list[Watched] = []

    def open_page(address: str) -> Watched:
        context = browser.new_context(storage_state=cookies, reduced_motion="reduce")
        opened.append(Watched(context.new_page()))
        opened[-1].page.goto(address)
        return opened[-1]

    yield open_page
    for watched in opened:
        watched.page.context.close()


def connect(watched: Watched, base: str, client_id: str) -> int:
    """Press the button, exchange the code for a token, and return the status of the answer."""
    page = watched.page
    # No server is at this address; the request of the browser is enough.
    with page.expect_request(f"{CALLBACK}?*") as back:
        page.get_by_role("button", name="Connect").click()
    sent = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        "code": parse_qs(urlsplit(back.value.url).query)["code"][0],
    }
    return httpx2.post(f"{base}/o/token/", data=sent).status_code


def test_a_client_is_connected_and_disconnected(visit, base, question, client_id):
    assert connect(visit(question), base, client_id) == 200
    page = visit(f"{base}/o/connections/").page
    assert page.get_by_role("heading", name="Claude Code").count() == 1
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_text("No program acts for you.").wait_for()


def check_widths(watched: Watched, axe: str) -> None:
    for width in (390, 1100):
        watched.page.set_viewport_size({"width": width, "height": 900})
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert watched.violations(axe) == []
    assert watched.complaints == []


@pytest.mark.nightly
def test_the_consent_page_fits_and_axe_finds_no_violation(visit, axe, question):
    check_widths(visit(question), axe)


@pytest.mark.nightly
def test_the_connections_page_fits_and_axe_finds_no_violation(
    visit, axe, base, question, client_id
):
    assert connect(visit(question), base, client_id) == 200
    watched = visit(f"{base}/o/connections/")
    watched.page.get_by_role("heading", name="Claude Code").wait_for()
    check_widths(watched, axe)
