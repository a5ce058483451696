"""The stock pages of tools, in a host that speaks the messages of MCP Apps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.programs.browser.ui_host import Host
from tests.programs.browser.watched import Watched


@pytest.fixture
def host(browser, shop_page) -> Iterator[Callable[..., Host]]:
    """Open a host in its own page; errors that the page logs fail the test."""
    opened: list[Watched] = []

    def open_host(username: str = "carol", **options) -> Host:
        options.setdefault("viewport", {"width": 760, "height": 640})
        opened.append(Watched(browser.new_context(**options).new_page()))
        return Host(opened[-1], shop_page, username)

    yield open_host
    complaints = [watched.complaints for watched in opened if watched.complaints]
    for watched in opened:
        watched.page.context.close()
    assert complaints == []


def cells(frame, column: int) -> list[str]:
    return frame.locator(f"tbody td:nth-child({column})").all_inner_texts()


def test_the_table_sorts_and_turns_pages_by_keyboard(host):
    here = host()
    frame = here.show("orders_list", {"page_size": 3, "fields": ["number", "placed_at", "total"]})
    first = cells(frame, 1)
    assert len(first) == 3
    assert "page 1" in frame.get_by_role("status").inner_text()
    header = frame.get_by_role("button", name="Total")
    header.focus()
    here.watched.page.keyboard.press("Enter")
    totals = [float(text) for text in cells(frame, 3)]
    assert totals == sorted(totals)
    assert frame.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    here.watched.page.keyboard.press("Enter")
    assert [float(text) for text in cells(frame, 3)] == totals[::-1]
    frame.get_by_role("button", name="Next page").press("Enter")
    frame.get_by_text("page 2").wait_for()
    assert not set(cells(frame, 1)) & set(first)
    [call] = here.heard("tools/call")
    assert call["name"] == "orders_list"
    assert call["arguments"]["page_size"] == 3
    frame.get_by_role("button", name="Previous page").press("Enter")
    frame.get_by_text("page 1").wait_for()
    assert sorted(cells(frame, 1)) == sorted(first)
    assert here.heard("ui/notifications/size-changed")[-1]["height"] > 150


ROWS = [{"name": "Ada", "age": 9}, {"name": "Bob", "age": 10}]
ENVELOPES = {
    "response-v2": {"success": True, "data": {"results": ROWS}, "error": None, "meta": {}},
    "status": {"success": True, "status": "success", "data": {"results": ROWS}, "metadata": {}},
    "ok": {"ok": True, "data": ROWS, "meta": {}},
}


@pytest.mark.nightly
def test_the_table_reads_every_envelope_and_shows_errors(host):
    here = host()
    frame = here.show("orders_list", {"page_size": 1})
    results = [{"content": [], "structuredContent": each} for each in ENVELOPES.values()]
    # A plain result has only a text block.
    results += [{"content": [{"type": "text", "text": json.dumps({"results": ROWS})}]}]
    for result in results:
        here.notify("ui/notifications/tool-result", {"structuredContent": {"ok": True, "data": []}})
        frame.get_by_text("No rows").wait_for()
        here.notify("ui/notifications/tool-result", result)
        frame.get_by_text("2 rows").wait_for()
        assert [cells(frame, 1), cells(frame, 2)] == [["Ada", "Bob"], ["9", "10"]]
    left_out = {"warnings": ["44 of 46 items left out."], "warning_details": [{"message": "Next:"}]}
    trimmed = {**ENVELOPES["response-v2"], "meta": left_out}
    here.notify("ui/notifications/tool-result", {"structuredContent": trimmed})
    assert "2 rows · 44 of 46 items left out." in frame.get_by_role("status").inner_text()
    failed = {"success": False, "error": "Not today.", "data": {"remediation": "Ask tomorrow."}}
    here.notify("ui/notifications/tool-result", {"structuredContent": failed, "isError": True})
    assert frame.get_by_role("alert").inner_text() == "Not today.\nAsk tomorrow."


def find_paid(host: Host) -> int:
    params = {"name": "orders_list", "arguments": {"status": ["paid"], "page_size": 1}}
    result = host.send("tools/call", params)["result"]
    return result["structuredContent"]["data"]["results"][0]["id"]


def test_the_form_asks_for_confirmation_and_calls(host):
    here = host()
    order = find_paid(here)
    frame = here.show("orders_refund", {"id": order, "amount": "0.001"})
    amount, reason = frame.get_by_label("Amount"), frame.get_by_label("Reason")
    reason.wait_for()
    assert frame.get_by_label("Id").input_value() == str(order)
    # The browser refuses what the schema refuses, and sends nothing.
    amount.fill("much")
    amount.press("Enter")
    assert amount.get_attribute("aria-invalid") == "true"
    assert here.heard("tools/call") == []
    amount.fill("0.01")
    reason.select_option("late")
    frame.get_by_role("button", name="Refund an order").press("Enter")
    question = frame.get_by_role("group", name="Confirmation")
    question.wait_for()
    assert f"order {order}" in question.inner_text()
    frame.get_by_role("button", name="Confirm").press("Enter")
    frame.get_by_text("Done", exact=True).wait_for()
    sent, confirmed = (call["arguments"] for call in here.heard("tools/call"))
    assert sent["reason"] == "late"
    assert confirmed.pop("confirmation")
    assert sent == confirmed
    [context] = here.heard("ui/update-model-context")
    assert "orders_refund" in context["content"][0]["text"]


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violation_in_the_pages(host, axe, theme):
    here = host(viewport={"width": 400, "height": 700})
    # The page takes the theme of the host and not the preference of the browser.
    frame = here.show("orders_list", {"page_size": 4}, theme)
    frame.get_by_text("page 1").wait_for()
    assert here.violations(axe, theme) == []
    frame = here.show("orders_refund", {"id": 999999}, theme)
    frame.get_by_label("Reason").wait_for()
    assert here.violations(axe, theme) == []
