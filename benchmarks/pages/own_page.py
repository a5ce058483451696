"""The ten tasks on the endpoint's own page."""

from __future__ import annotations

from playwright.sync_api import Browser

from benchmarks.pages.hands import Hands
from benchmarks.pages.tasks import USER
from tests.programs.browser.browser import log_in


class OwnPage:
    name = "the page"

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self.stranger = browser.new_context()
        self.context = browser.new_context()
        log_in(self.context.new_page(), url, USER)

    def open(self) -> Hands:
        page = self.context.new_page()
        page.goto(self.url)
        return Hands(page)

    def open_stranger(self) -> Hands:
        page = self.stranger.new_page()
        page.goto(self.url)
        return Hands(page)

    def sign_in(self, hands: Hands) -> None:
        page = hands.page
        hands.click(page.get_by_role("main").get_by_role("link", name="Log in"))
        hands.type(page.get_by_label("Username"), USER)
        hands.type(page.get_by_label("Password"), USER)
        hands.press("Enter")
        hands.expect("customers_list")

    def find(self, hands: Hands) -> None:
        hands.press("/")
        hands.page.keyboard.type("money back")
        hands.keys += len("money back")
        hands.expect("orders_refund")
        assert hands.page.locator("[data-words]:visible").count() == 1

    def arguments(self, hands: Hands) -> None:
        self.open_tool(hands, "orders_create")
        hands.expect("integer 1 \N{EN DASH} 100")

    def read(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "customers_list")
        hands.click(page.get_by_label("gold", exact=True))
        hands.type(page.get_by_label("page_size", exact=True), "2")
        hands.click(page.get_by_role("button", name="Call customers_list"))
        hands.expect("Success")
        hands.click(page.get_by_role("button", name="Next page"))
        hands.expect("page 2")

    def copy(self, hands: Hands) -> None:
        hands.click(hands.page.get_by_role("button", name="Copy as curl"))

    def write(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "tickets_create")
        hands.type(page.get_by_label("customer", exact=True), "1")
        hands.type(page.get_by_label("subject", exact=True), "Broken lamp")
        hands.type(page.get_by_label("body", exact=True), "It stays dark.")
        hands.click(page.get_by_role("button", name="Call tickets_create"))
        hands.expect("Success")

    def error(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "orders_create")
        hands.type(page.get_by_label("customer", exact=True), "1")
        hands.type(page.get_by_label("product", exact=True), "desk-lamp")
        hands.type(page.get_by_label("quantity", exact=True), "500")
        hands.click(page.get_by_role("button", name="Call orders_create"))
        hands.expect("less than or equal to 100")

    def refund(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "orders_refund")
        hands.click(page.get_by_role("button", name="Find"))
        dialog = page.get_by_role("dialog")
        hands.click(dialog.get_by_text("status: paid"))
        hands.choose(page.get_by_label("reason", exact=True), "late")
        hands.type(page.get_by_label("amount", exact=True), "1")
        hands.click(page.get_by_role("button", name="Call orders_refund"))
        hands.click(page.get_by_role("dialog").get_by_role("button", name="Call orders_refund"))
        hands.expect("Success")

    def who(self, hands: Hands) -> None:
        self.open_tool(hands, "orders_refund")
        hands.expect("Who may call it")
        hands.expect("IsOwnerOrPermitted")

    def connect(self, hands: Hands) -> None:
        page = hands.page
        hands.click(page.get_by_role("link", name="Connect"))
        hands.click(page.get_by_role("button", name="Make a token and test it"))
        hands.expect("claude mcp add")
        hands.click(page.get_by_role("button", name="Copy the configuration of Claude Code"))

    def open_tool(self, hands: Hands, name: str) -> None:
        hands.press("/")
        hands.page.keyboard.type(name)
        hands.keys += len(name)
        hands.press("Enter")
        hands.page.wait_for_url(f"**?tool={name}")
