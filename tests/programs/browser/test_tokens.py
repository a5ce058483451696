"""The page of tokens in a real browser."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.programs.browser.conftest import axe, browser, session_of, shop_page, visit  # noqa: F401

PAGE = "/tokens/"
SIZES = {"desk": {"width": 1280, "height": 860}, "phone": {"width": 360, "height": 740}}


def make_token(page, name: str) -> str:
    """Make a token in the form and return its key."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Tools", exact=True).fill("orders_*")
    page.get_by_role("button", name="Make the token").click()
    return page.locator("#made-key").inner_text()


def test_a_token_is_made_copied_listed_and_revoked(visit):  # noqa: F811
    page = visit("alice", PAGE).page
    key = make_token(page, "Desk agent")
    assert key.startswith("mcp_")
    page.get_by_role("button", name="Copy the token").click()
    # The page writes the clipboard after the click has returned.
    page.wait_for_function("async key => await navigator.clipboard.readText() === key", arg=key)
    page.get_by_role("link", name="Tokens").click()
    row = page.get_by_role("row", name="Desk agent")
    assert "read-only" in row.inner_text()
    assert key not in page.content()
    row.get_by_role("button", name="Revoke Desk agent").click()
    assert "revoked" in page.get_by_role("row", name="Desk agent").inner_text()


@pytest.mark.nightly
def test_the_page_fits_and_axe_finds_no_violation(visit, axe):  # noqa: F811
    watched = visit("carol", PAGE, viewport=SIZES["desk"])
    make_token(watched.page, "Phone agent")
    for size in SIZES.values():
        watched.page.set_viewport_size(size)
        assert watched.violations(axe) == []
        assert not watched.page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_client_is_connected_with_one_click(visit, axe):  # noqa: F811
    """The token is made and tried at the endpoint, and each configuration and button has it."""
    watched = visit("alice", "?show=clients")
    page = watched.page
    page.get_by_role("button", name="Make a token and test it").click()
    page.get_by_text("Connected: the token opens").wait_for()
    configuration = page.locator("#config-claude-code").text_content()
    key = re.search(r"mcp_\w+", configuration)[0]
    assert "YOUR_TOKEN" not in page.inner_text("main")
    cursor, code = (
        page.get_by_role("link", name=f"Add to {name}").get_attribute("href")
        for name in ("Cursor", "VS Code")
    )
    entry = json.loads(base64.b64decode(parse_qs(urlsplit(cursor).query)["config"][0]))
    assert entry["headers"] == {"Authorization": f"Bearer {key}"}
    entry = json.loads(unquote(code.partition("?")[2]))
    assert entry["headers"] == {"Authorization": f"Bearer {key}"}
    assert watched.violations(axe) == []
    page.get_by_role("link", name="Tokens", exact=True).click()
    assert "read-only" in page.get_by_role("row", name="A client of").inner_text()
