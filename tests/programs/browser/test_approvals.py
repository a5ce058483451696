"""A client of the official SDK proposes a call, and staff approve it in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest

from tests.programs.browser.browser import program
from tests.programs.browser.conftest import REQUIRE_CHROMIUM, skip_or_fail
from tests.programs.interop.python_sdk import connected, envelope
from tests.programs.interop.servers import RunningServer, Shop, running

REASON = "Refunds are approved first."


@pytest.fixture(scope="module")
def shop_page(tmp_path_factory) -> Iterator[RunningServer]:
    """Another shop, since its rules apply to all calls."""
    if program() is None:
        skip_or_fail("Chromium is not installed: apt-get install chromium", REQUIRE_CHROMIUM)
    folder = tmp_path_factory.mktemp("approvals")
    shop = Shop(folder / "shop.sqlite3", "tests.programs.browser.german_settings")
    shop.seed()
    with running("uvicorn", shop, folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def rule(browser, shop_page, session_of) -> str:
    """A rule that staff save in the admin."""
    context = browser.new_context(storage_state=session_of("admin"))
    page = context.new_page()
    page.goto(shop_page.url.removesuffix("mcp") + "admin/drf_mcp_rules/callrule/add/")
    page.get_by_label("Name").fill("refunds")
    page.get_by_label("Tool", exact=False).first.fill("orders_refund")
    page.get_by_label("Argument").fill("amont")
    page.get_by_label("Operator").select_option(label="is at least")
    page.get_by_label("Value").fill("5")
    page.get_by_label("Effect").select_option("approve")
    page.get_by_label("Reason").fill(REASON)
    page.get_by_role("button", name="Save", exact=True).click()
    # The admin checks the rule against the arguments of the tool.
    page.get_by_text("amount?").first.wait_for()
    page.get_by_label("Argument").fill("amount")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("was added successfully").wait_for()
    context.close()
    return REASON


@pytest.fixture
def call(shop_page) -> Callable[..., dict[str, Any]]:
    """Call a tool as bob's client, and return the data of the envelope."""

    async def ask(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        async with connected(shop_page, shop_page.shop.tokens["bob"]) as connection:
            return envelope(await connection.client.call_tool(name, arguments))["data"]

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        # Playwright runs an event loop in the thread of the test.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(anyio.run, ask, name, arguments).result()

    return call


@pytest.fixture
def proposal(call, rule) -> dict[str, Any]:
    """A refund that waits for approval."""
    order = call("orders_list", status=["paid"], page_size=1)["results"][0]["id"]
    data = call("orders_refund", id=order, reason="late")
    assert (data["error_code"], data["reason"]) == ("APPROVAL_REQUIRED", rule)
    return {**data, "order": order}


@pytest.fixture
def page_of(visit, proposal) -> Callable[..., Any]:
    """Open the page of the proposal from the list, in carol's browser."""

    def open_page(**options: Any) -> Any:
        watched = visit("carol", "/approvals/", **options)
        watched.page.locator(f'a[href$="{proposal["proposal"]}/"]').click()
        return watched

    return open_page


def test_staff_approve_and_the_client_reads_the_result(call, proposal, page_of):
    page = page_of().page
    page.get_by_role("button", name="Approve").click()
    # No worker runs: the page makes the call.
    page.get_by_role("button", name="Approve").wait_for(state="hidden")
    next_call = proposal["next"]
    found = call(next_call["tool"], **next_call["arguments"])
    assert found["status"] == "done"
    result = found["answer"]["result"]["structuredContent"]
    assert result["data"]["status"] == "refunded"
    assert call("orders_retrieve", id=proposal["order"])["status"] == "refunded"


@pytest.mark.nightly
def test_staff_decline_and_the_client_reads_the_reason(call, proposal, page_of):
    page = page_of().page
    page.get_by_label("Reason").fill("It arrived.")
    page.get_by_role("button", name="Decline").click()
    page.get_by_text("declined", exact=True).wait_for()
    next_call = proposal["next"]
    found = call(next_call["tool"], **next_call["arguments"])
    assert (found["status"], found["message"]) == ("declined", "It arrived.")
    assert call("orders_retrieve", id=proposal["order"])["status"] == "paid"


@pytest.mark.nightly
@pytest.mark.parametrize(("locale", "title"), [("en", "Approvals"), ("de", "Genehmigungen")])
def test_the_pages_fit_and_axe_finds_no_violation(visit, page_of, rule, axe, locale, title):
    for watched in (visit("carol", "/approvals/", locale=locale), page_of(locale=locale)):
        watched.page.get_by_role("link", name=re.compile(rf"^{title}( \(\d+\))?$")).wait_for()
        for width in (360, 1280):
            watched.page.set_viewport_size({"width": width, "height": 860})
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
            assert watched.violations(axe) == []
