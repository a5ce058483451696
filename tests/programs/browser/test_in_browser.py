"""The browsable page in a real browser: reading, searching and calling, by mouse and keyboard.

The fixture `visit` fails a test whose page logs an error or violates its own
Content-Security-Policy.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from urllib.parse import quote, unquote

import pytest
from django.urls import set_script_prefix

from drf_mcp.exposure import registry
from drf_mcp.transports.http_equivalent import EquivalentRequest

PHONE = {"width": 360, "height": 740}
PAGES = ["", "?tool=customers_list", "?tool=orders_create", "?show=clients", "?show=findings"]


def test_search_shows_the_matching_tools(visit):
    page = visit("alice").page
    page.keyboard.press("/")
    page.keyboard.type("give back")
    assert page.locator("[data-words]:visible strong").all_inner_texts() == ["orders_refund"]
    assert page.get_by_role("heading", name="Customer", exact=True).count() == 0
    page.keyboard.press("Escape")
    assert page.locator("[data-words]:visible").count() == 0, "the groups are folded again"


def test_enter_opens_the_tool_whose_name_fits_the_search_best(visit):
    page = visit("admin").page
    page.keyboard.press("/")
    page.keyboard.type("refund")
    # `orders_list` comes first, and has the word among its arguments.
    assert page.locator("[data-words]:visible").count() > 1
    assert page.locator(".home").is_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url("**?tool=orders_refund")
    page.get_by_label("id", exact=True).press("Control+k")
    page.keyboard.type("orders_create")
    page.keyboard.press("Enter")
    page.wait_for_url("**?tool=orders_create")


def test_a_read_is_called_and_its_link_copied_without_a_way_to_its_form(visit):
    page = visit("alice", "?tool=orders_retrieve").page
    focused = page.locator(":focus")
    assert focused.get_attribute("id") == page.get_by_label("id", exact=True).get_attribute("id")
    page.get_by_role("link", name="customers_list").click()
    page.wait_for_url("**?tool=customers_list")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Copied").first.wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert (copied, "#call=" in copied) == (page.url, True)


def test_a_read_is_answered_with_its_envelope_its_time_and_its_queries(visit):
    watched = visit("alice", "?tool=customers_list")
    watched.page.get_by_label("gold", exact=True).check()
    watched.page.get_by_label("page_size", exact=True).fill("2")
    watched.call("customers_list")
    assert watched.verdict() == "Success"
    envelope = json.loads(watched.text_of("envelope"))
    assert {row["tier"] for row in envelope["data"]["results"]} == {"gold"}
    measured = watched.page.locator("[data-measures]").inner_text()
    assert "ms in all" in measured
    assert "queries" in measured


@pytest.mark.nightly
def test_progress_is_shown_until_the_answer(visit):
    watched = visit("alice", "?tool=count_up")
    watched.page.evaluate(
        """() => {
          const place = document.querySelector("[data-progress]");
          window.shown = [];
          new MutationObserver(() => window.shown.push(place.innerText.trim()))
            .observe(place, { subtree: true, childList: true, characterData: true });
        }"""
    )
    watched.call("count_up")
    assert watched.verdict() == "Success"
    assert json.loads(watched.text_of("envelope"))["data"] == {"counted": 3}
    assert "3 of 3 Counted 3" in watched.page.evaluate("window.shown")
    assert watched.page.locator("[data-progress]").is_hidden()


def test_rows_are_a_table_with_sorting_and_pages(visit, axe):
    watched = visit("carol", "?tool=customers_list", viewport=PHONE)
    page = watched.page
    page.get_by_label("page_size").fill("5")
    watched.call("customers_list")
    watched.verdict()

    def column(number: int) -> list[str]:
        return page.locator(f"[data-view] tbody td:nth-child({number})").all_inner_texts()

    names = column(3)
    heading = page.get_by_role("columnheader", name="joined")
    orders = [column(7)]
    for direction in ("ascending", "descending"):
        heading.get_by_role("button").press("Enter")
        assert heading.get_attribute("aria-sort") == direction
        orders.append(column(7))
    assert orders[1] == sorted(orders[0])
    assert orders[2] == orders[1][::-1]
    assert watched.violations(axe) == []
    page.get_by_role("button", name="Next page").click()
    page.get_by_text("Page 2,").wait_for()
    assert page.get_by_label("page", exact=True).input_value() == "2"
    assert not set(names) & set(column(3))
    page.get_by_role("button", name="Previous page").click()
    page.get_by_text("Page 1,").wait_for()
    assert names == column(3)
    assert page.get_by_role("button", name="Previous page").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.nightly
def test_an_object_is_a_card_with_lists_to_open(visit, axe):
    watched = visit("alice", "?tool=orders_retrieve")
    watched.page.get_by_role("button", name="Find id").click()
    watched.page.locator("[data-finder-rows] button").first.click()
    watched.call("orders_retrieve")
    watched.verdict()
    card = watched.page.locator("[data-view] .card")
    lines = card.locator("details", has_text="row").first
    assert lines.get_by_role("table").count() == 0
    lines.locator("summary").press("Enter")
    lines.get_by_role("columnheader", name="quantity").wait_for()
    watched.page.locator(".trail > summary").press("Enter")
    assert watched.page.get_by_role("button", name="Forget them").is_visible()
    assert watched.violations(axe) == []
    watched.page.get_by_role("button", name="Forget them").press("Enter")
    assert watched.page.get_by_text("Calls of this tab").is_hidden()


@pytest.mark.nightly
def test_calls_of_the_tab_are_sent_again_and_copied_in_several_languages(visit, shop_page):
    watched = visit("alice", "?tool=quote")
    page = watched.page
    page.get_by_label("quantity").fill("3")
    watched.call("quote")
    watched.verdict()
    page.goto(f"{shop_page.url}?tool=stats")
    page.get_by_text("Calls of this tab: 1").click()
    copies = {}
    for name in ("JSON-RPC", "Python SDK", "mcp_call"):
        page.get_by_label("Copy quote of").first.select_option(label=name)
        page.get_by_role("button", name="Copy quote of").click()
        page.get_by_text("Copied").first.wait_for()
        copies[name] = page.evaluate("() => navigator.clipboard.readText()")
    arguments = json.loads(copies["JSON-RPC"])["params"]["arguments"]
    assert arguments["quantity"] == 3
    words = shlex.split(copies["mcp_call"])
    assert words[:4] == ["python", "manage.py", "mcp_call", "quote"]
    assert (json.loads(words[4]), words[5:]) == (arguments, ["--as", "alice"])
    program = copies["Python SDK"].replace("YOUR_TOKEN", shop_page.shop.tokens["alice"])
    assert "structured_content" in run_program(program)
    # It is sent at once, since it only reads.
    page.get_by_role("link", name="Send again quote").click()
    page.get_by_text("Calls of this tab: 2").wait_for()
    assert page.get_by_label("quantity").input_value() == "3"
    page.get_by_text("Calls of this tab: 2").click()
    page.get_by_role("button", name="Send again quote").first.click()
    page.get_by_text("Calls of this tab: 3").wait_for()
    # The session is not ended, since other tests use it.
    stay = "form.addEventListener('submit', (event) => event.preventDefault())"
    page.locator(".account form").evaluate(f"(form) => {stay}")
    page.get_by_role("button", name="Log out").click()
    assert page.evaluate("() => sessionStorage.length") == 0


@pytest.mark.nightly
def test_two_users_are_compared(visit, axe):
    watched = visit("admin", "?tool=customers_list")
    page = watched.page
    page.locator("[data-compare] summary").press("Enter")
    page.get_by_label("As", exact=True).fill("alice")
    page.get_by_label("and as").fill("bob")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="alice:").wait_for()
    assert page.get_by_role("heading", name="bob: 22 rows").is_visible()
    assert "for alice alone: 30 Amara Costa" in page.locator(".difference").inner_text()
    assert watched.violations(axe) == []
    page.get_by_label("and as").fill("unknown user")
    page.keyboard.press("Enter")
    page.locator(".verdict", has_text="No active user is named unknown user.").wait_for()
    # The browser logs the 400.
    assert "400" in watched.complaints.pop()


def run_program(program: str) -> str:
    """Return the output of a program."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_write_writes(visit):
    watched = visit("alice", "?tool=customers_create")
    watched.page.get_by_label("name", exact=True).fill("Grace Hopper")
    watched.page.get_by_label("email", exact=True).fill("grace@navy.example")
    watched.page.get_by_label("country", exact=True).fill("US")
    watched.page.get_by_label("tier", exact=True).select_option(label="silver")
    watched.call("customers_create")
    assert watched.verdict() == "Success"
    assert json.loads(watched.text_of("envelope"))["data"]["name"] == "Grace Hopper"


def test_errors_are_shown_at_their_fields(visit):
    watched = visit("alice", "?tool=customers_create")
    watched.page.get_by_role("button", name="Clear").click()
    watched.page.get_by_label("email", exact=True).fill("grace at navy")
    watched.call("customers_create")
    assert "MISSING" in watched.verdict() or "VALIDATION" in watched.verdict()
    email = watched.page.get_by_label("email", exact=True)
    assert email.get_attribute("aria-invalid") == "true"
    described = email.get_attribute("aria-describedby").split()
    assert "valid email" in watched.text_of(described[-1])
    assert watched.page.get_by_label("name", exact=True).get_attribute("aria-invalid") == "true"


def test_a_list_is_filled_in_as_rows_and_an_error_is_shown_in_its_row(visit):
    watched = visit("alice", "?tool=orders_create")
    page, adding = watched.page, watched.page.get_by_role("button", name="Add a row to lines")
    assert page.get_by_label("customer", exact=True).input_value() == ""
    page.get_by_role("button", name="Example").click()
    assert int(page.get_by_label("customer", exact=True).input_value()) > 0, "of the example"
    assert page.get_by_label("quantity").count() == 1
    for expected in (2, 3):
        adding.press("Enter")
        assert page.get_by_label("quantity").count() == expected
        last = page.get_by_label("product", exact=True).nth(expected - 1)
        assert last.evaluate("(input) => input === document.activeElement")
        page.keyboard.type("cast-iron-pan")
    page.get_by_role("button", name="Remove lines 1").press("Enter")
    assert page.get_by_role("group", name="lines 2").get_by_label("quantity").is_visible()
    page.get_by_label("quantity").nth(0).fill("3")
    page.get_by_label("quantity").nth(1).fill("0")
    page.get_by_role("button", name="JSON", exact=True).click()
    written = json.loads(page.get_by_label("Arguments as JSON").input_value())
    row = {"product": "cast-iron-pan"}
    assert written["lines"] == [{**row, "quantity": 3}, {**row, "quantity": 0}]
    page.get_by_role("button", name="Form", exact=True).click()
    watched.call("orders_create")
    watched.verdict()
    wrong = page.get_by_label("quantity").nth(1)
    assert wrong.get_attribute("aria-invalid") == "true"
    assert wrong.evaluate("(input) => input === document.activeElement")
    assert page.get_by_label("quantity").nth(0).get_attribute("aria-invalid") is None


@pytest.mark.nightly
def test_a_key_is_selected_from_the_rows_of_a_search(visit, axe):
    watched = visit("alice", "?tool=orders_create", viewport=PHONE)
    page = watched.page
    page.get_by_role("button", name="Find customer with customers_list").press("Enter")
    dialog = page.get_by_role("dialog", name="Find customer")
    # Other tests create customers.
    dialog.get_by_text(re.compile(r"^20 of 3\d$")).wait_for()
    dialog.get_by_role("button", name="Show more").press("Enter")
    dialog.get_by_text(re.compile(r"^(3\d) of \1$")).wait_for()
    assert watched.violations(axe) == []
    dialog.get_by_role("searchbox").fill("petit")
    dialog.get_by_text("1 of 1").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    customer = page.get_by_label("customer", exact=True)
    assert customer.evaluate("(input) => input === document.activeElement")
    assert customer.input_value() == "1"
    assert page.locator(".picked", has_text="Elif Petit").is_visible()


@pytest.mark.nightly
def test_each_type_of_value_has_its_input(visit, axe):
    watched = visit("alice", "?tool=event", timezone_id="America/New_York")
    page = watched.page
    page.get_by_role("button", name="Clear").click()
    kinds = {
        name: page.get_by_label(name, exact=True).get_attribute("type")
        for name in ("day", "starts", "opens", "price", "seats", "ends")
    }
    assert kinds == {
        "day": "date",
        "starts": "datetime-local",
        "opens": "time",
        "price": "text",
        "seats": "number",
        "ends": "date",
    }
    page.get_by_label("day", exact=True).fill("2026-12-31")
    page.get_by_label("starts", exact=True).fill("2026-12-31T20:30")
    page.get_by_label("opens", exact=True).fill("19:00")
    page.get_by_label("price", exact=True).fill("19.90")
    page.get_by_label("seats", exact=True).fill("7")
    page.get_by_role("button", name="Send ends as null").press("Enter")
    page.get_by_label("tags 1", exact=True).fill("loud")
    assert watched.violations(axe) == []
    watched.call("event")
    watched.verdict()
    # The input is in the time zone of New York, and the value that is sent is in UTC.
    assert json.loads(watched.text_of("sent").partition("\n\n")[2])["params"]["arguments"] == {
        "day": "2026-12-31",
        "starts": "2027-01-01T01:30:00Z",
        "opens": "19:00",
        "price": "19.90",
        "seats": 7,
        "ends": None,
        "tags": ["loud"],
    }
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_role("button", name="Form", exact=True).click()
    assert page.get_by_label("starts", exact=True).input_value() == "2026-12-31T20:30"
    assert page.get_by_label("ends", exact=True).is_disabled()


def test_a_destructive_tool_asks_and_cancel_does_not_call_it(visit):
    watched = visit("carol", "?tool=customers_deactivate")
    watched.page.get_by_label("id", exact=True).fill("2")
    watched.call("customers_deactivate")
    dialog = watched.page.get_by_role("dialog")
    assert '"id": 2' in dialog.inner_text()
    cancel = dialog.get_by_role("button", name="Cancel", exact=True)
    assert cancel.evaluate("(button) => button === document.activeElement")
    watched.page.keyboard.press("Escape")
    assert dialog.is_hidden()
    assert watched.verdict() != "Success"


def open_ticket(visit) -> str:
    """Return the key of a new ticket of alice."""
    watched = visit("alice", "?tool=tickets_create")
    watched.page.get_by_label("customer", exact=True).fill("1")
    watched.page.get_by_label("subject", exact=True).fill("Broken lamp")
    watched.page.get_by_label("body", exact=True).fill("It is.")
    watched.call("tickets_create")
    watched.verdict()
    return str(json.loads(watched.text_of("envelope"))["data"]["id"])


def ask_to_delete(visit, key: str):
    """Return the page with the dialog that shows what the deletion of a ticket would do."""
    watched = visit("alice", "?tool=tickets_destroy")
    watched.page.get_by_label("id", exact=True).fill(key)
    watched.call("tickets_destroy")
    watched.page.get_by_role("dialog").wait_for()
    return watched


def test_the_confirmation_shows_what_the_tool_would_do(visit):
    watched = ask_to_delete(visit, open_ticket(visit))
    dialog = watched.page.get_by_role("dialog")
    assert '"Broken lamp"' in dialog.inner_text()
    assert watched.page.get_by_label("confirmation", exact=True).count() == 0
    watched.page.keyboard.press("Tab")
    assert dialog.evaluate("(dialog) => dialog.contains(document.activeElement)")
    dialog.get_by_role("button", name="Call tickets_destroy").click()
    assert watched.verdict() == "Success"


def test_the_exchange_is_shown_without_the_csrf_token(visit):
    watched = visit("alice", "?tool=stats")
    with watched.page.expect_request("**/mcp") as requested:
        watched.call("stats")
    watched.verdict()
    shown = watched.text_of("sent")
    assert json.loads(shown.partition("\n\n")[2]) == requested.value.post_data_json
    assert requested.value.headers["x-csrftoken"] not in shown
    received = watched.text_of("received").partition("\n\n")[2]
    assert json.loads(received) == requested.value.response().json()


CALLS = [
    ("customers_list", {"tier": ["gold", "silver"], "country": ["DE", "FR"], "search": "a b&c"}),
    ("customers_partial_update", {"id": 999999, "name": "O'Hara"}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_curl_is_the_http_request_of_the_call(visit, shop_page, name, arguments):
    watched = visit("alice", f"?tool={name}")
    watched.page.get_by_role("button", name="JSON", exact=True).click()
    watched.page.get_by_label("Arguments as JSON").fill(json.dumps(arguments))
    watched.call(name)
    if watched.page.get_by_role("dialog").is_visible():
        watched.page.get_by_role("dialog").get_by_role("button", name=f"Call {name}").click()
    watched.verdict()
    words = shlex.split(watched.text_of("curl-rest").replace("\\\n", ""))
    set_script_prefix("/")
    expected = EquivalentRequest.of_call(registry.tool(name), arguments)
    assert shop_page.url.removesuffix("/mcp") + expected.path in words
    if expected.body:
        assert json.loads(words[words.index("-d") + 1]) == json.loads(expected.body)
        assert expected.method == words[words.index("-X") + 1]


@pytest.mark.nightly
def test_images_of_the_project_are_shown_and_long_texts_are_folded(visit, axe):
    watched = visit("alice", "?tool=gallery")
    watched.call("gallery")
    watched.verdict()
    view = watched.page.locator("[data-view]")
    picture = view.get_by_role("img")
    picture.scroll_into_view_if_needed()
    shown = "(image) => image.decode().then(() => [image.naturalWidth, image.src])"
    assert picture.evaluate(shown) == [1, watched.page.url.split("/mcp")[0] + "/media/pixel.png"]
    assert view.get_by_role("link", name="https://elsewhere.example/pixel.png").is_visible()
    assert view.get_by_text("/api/gallery/pixel.png").is_visible()
    assert "Long. " * 20 not in view.inner_text()
    view.locator("summary").press("Enter")
    view.get_by_text(("Long. " * 50).strip()).wait_for()
    assert watched.violations(axe) == []


def test_a_file_is_sent_with_its_name(visit):
    watched = visit("alice", "?tool=weigh")
    file = {"name": "note one.txt", "mimeType": "text/plain", "buffer": b"12345"}
    watched.page.get_by_label("file", exact=True).set_input_files(file)
    watched.call("weigh")
    assert watched.verdict() == "Success"
    answer = json.loads(watched.text_of("envelope"))["data"]
    assert answer == {"name": "note one.txt", "size": 5}
    assert watched.page.url.endswith("#call=%7B%7D"), "a file is in no address"


def test_arguments_in_the_address_of_a_write_wait_until_they_are_filled_in(visit, axe):
    arguments = {"customer": 1, "subject": "Broken lamp", "body": "It is."}
    watched = visit("alice", f"?tool=tickets_create#call={quote(json.dumps(arguments))}")
    subject = watched.page.get_by_label("subject", exact=True)
    assert subject.input_value() == ""
    assert watched.violations(axe) == []
    watched.page.get_by_role("button", name="Fill in").press("Enter")
    assert subject.input_value() == "Broken lamp"
    assert watched.page.locator("[data-full]").is_hidden()
    watched.call("tickets_create")
    assert watched.verdict() == "Success"
    assert json.loads(unquote(watched.page.url.partition("#call=")[2])) == arguments


def test_keys_in_an_answer_lead_to_the_tools_that_read_their_objects(visit):
    watched = visit("alice", "?tool=orders_list#call=%7B%22page_size%22%3A1%7D")
    watched.page.locator("[data-view] tbody td:nth-child(3) a").click()
    watched.page.wait_for_url("**?tool=customers_retrieve#*")
    assert watched.verdict() == "Success"
    assert "email" in watched.text_of("envelope")


def test_the_rest_of_a_shortened_answer_is_one_click_away(visit):
    watched = visit("carol", "?tool=orders_list#call=%7B%22page_size%22%3A100%7D")
    watched.page.get_by_role("link", name="Fetch the rest").click()
    watched.page.wait_for_url("**?tool=content_retrieve#*")
    assert watched.verdict() == "Success"
    assert json.loads(watched.text_of("envelope"))["data"]["tool"] == "orders_list"


@pytest.mark.parametrize("query", PAGES)
def test_the_pages_fit_a_phone_and_axe_finds_no_violation(visit, axe, query):
    # A superuser sees every part of the page.
    watched = visit("admin", query)
    assert watched.violations(axe) == []
    watched.page.set_viewport_size(PHONE)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_sizes_of_results_are_folded_on_a_phone(visit):
    called = visit("admin", "?tool=stats")
    called.call("stats")
    called.verdict()
    for options, is_open in (({"viewport": PHONE}, False), ({}, True)):
        page = visit("admin", **options).page
        sizes = page.locator("[data-wide]")
        for _ in range(20):
            # The audit writes calls within a second.
            if sizes.count():
                break
            page.wait_for_timeout(250)
            page.reload()
        assert sizes.evaluate("details => details.open") is is_open


@pytest.mark.nightly
def test_axe_finds_no_violation_in_an_error_and_in_a_confirmation(visit, axe):
    watched = visit("carol", "?tool=customers_create")
    watched.page.get_by_label("email", exact=True).fill("not an address")
    watched.call("customers_create")
    watched.verdict()
    assert watched.violations(axe) == []
    watched = ask_to_delete(visit, open_ticket(visit))
    assert watched.violations(axe) == []


def test_an_anonymous_browser_gets_a_link_to_log_in(visit, shop_page):
    watched = visit(None)
    # REST framework's page has no icon, so that the browser requests one.
    watched.page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    watched.page.get_by_role("main").get_by_role("link", name="Log in").click()
    assert "/api-auth/login/?next=" in watched.page.url
    # The browser logs the 401 of the page.
    assert len(watched.complaints) == 1
    assert "401" in watched.complaints.pop()


@pytest.mark.nightly
def test_a_dry_run_shows_the_changes_and_makes_none(visit):
    watched = visit("carol", "?tool=customers_deactivate")
    assert watched.page.get_by_label("dry_run", exact=True).count() == 0
    watched.page.get_by_label("id", exact=True).fill("1")
    for _ in range(2):
        watched.page.get_by_role("button", name="Dry run").click()
        watched.page.get_by_role("cell", name="false", exact=True).wait_for()
        assert watched.verdict() == "Dry run"
    assert watched.page.get_by_role("dialog").count() == 0
