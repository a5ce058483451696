"""The ten tasks in Swagger UI, as drf-spectacular serves it."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Browser, Locator

from benchmarks.pages.hands import Hands, Impossible
from benchmarks.pages.tasks import USER


class Swagger:
    name = "Swagger UI"

    def __init__(self, browser: Browser, origin: str) -> None:
        self.origin = origin
        self.stranger = browser.new_context()
        self.context = browser.new_context()
        self.sign_in(Hands(self.context.new_page()))

    def open(self) -> Hands:
        page = self.context.new_page()
        page.goto(f"{self.origin}/docs/")
        page.locator(".opblock").first.wait_for()
        return Hands(page)

    def open_stranger(self) -> Hands:
        return Hands(self.stranger.new_page())

    def sign_in(self, hands: Hands) -> None:
        # The session of the browsable API, whose login form leads back to the documentation.
        page = hands.page
        address = "/api-auth/login/?next=/docs/"
        page.goto(self.origin + address)
        # No link leads there.
        hands.keys += len(address)
        hands.type(page.get_by_label("Username"), USER)
        hands.type(page.get_by_label("Password"), USER)
        hands.press("Enter")
        page.locator(".opblock").first.wait_for()

    def find(self, hands: Hands) -> None:
        # The filter searches tags alone, and the browser's own search only what is unfolded.
        hands.type(hands.page.locator(".operation-filter-input"), "money back")
        hands.page.wait_for_timeout(300)
        assert hands.page.locator(".opblock").count() == 0
        hands.mistakes += 1
        hands.type(hands.page.locator(".operation-filter-input"), "")
        hands.find_on_page("refund")

    def arguments(self, hands: Hands) -> None:
        block = self.open_operation(hands, "post", "/api/orders/")
        hands.click(block.get_by_text("Schema", exact=True))
        # A line is folded in its list, and each of its fields is folded too.
        toggle = ".model-toggle.collapsed"
        lines = block.locator("tr", has_text="lines").locator(toggle)
        quantity = block.locator("tr", has_text="quantity").locator(toggle).last
        for target in (lines, lines, quantity):
            # An unfolded part is drawn after the click.
            hands.page.wait_for_timeout(400)
            hands.click(target)
        hands.expect("maximum: 100")

    def read(self, hands: Hands) -> None:
        block = self.open_operation(hands, "get", "/api/customers/")
        hands.click(block.get_by_role("button", name="Try it out"))
        hands.click(block.locator("tr[data-param-name=tier] option", has_text="gold"))
        hands.type(block.locator("tr[data-param-name=page_size] input"), "2")
        self.execute(hands, block, 200)
        hands.type(block.locator("tr[data-param-name=page] input"), "2")
        self.execute(hands, block, 200)

    def copy(self, hands: Hands) -> None:
        hands.click(hands.page.locator(".curl-command .copy-to-clipboard button"))

    def write(self, hands: Hands) -> None:
        block = self.open_operation(hands, "post", "/api/tickets/")
        ticket = {"customer": 1, "subject": "Broken lamp", "body": "It stays dark."}
        self.send(hands, block, ticket, 201)

    def error(self, hands: Hands) -> None:
        block = self.open_operation(hands, "post", "/api/orders/")
        lines = [{"product": "desk-lamp", "quantity": 500}]
        self.send(hands, block, {"customer": 1, "lines": lines}, 400)
        hands.expect("less than or equal to 100")

    def refund(self, hands: Hands) -> None:
        block = self.open_operation(hands, "get", "/api/orders/")
        hands.click(block.get_by_role("button", name="Try it out"))
        hands.click(block.locator("tr[data-param-name=status] option", has_text="paid"))
        self.execute(hands, block, 200)
        answer = block.locator(".live-responses-table").inner_text()
        (key,) = re.search(r'"id":\s*(\d+)', answer).groups()
        block = self.open_operation(hands, "post", "/api/orders/{id}/refund/")
        hands.click(block.get_by_role("button", name="Try it out"))
        hands.type(block.locator("tr[data-param-name=id] input"), key)
        self.fill_body(hands, block, {"reason": "late", "amount": "1"})
        # Done at the click, without a confirmation.
        self.execute(hands, block, 200)
        hands.mistakes += 1

    def who(self, hands: Hands) -> None:
        raise Impossible

    def connect(self, hands: Hands) -> None:
        raise Impossible

    def send(self, hands: Hands, block: Locator, body: object, status: int) -> None:
        hands.click(block.get_by_role("button", name="Try it out"))
        self.fill_body(hands, block, body)
        self.execute(hands, block, status)

    def fill_body(self, hands: Hands, block: Locator, body: object) -> None:
        # One key selects the example, and the JSON is typed over it.
        hands.type(block.locator("textarea.body-param__text"), json.dumps(body))
        hands.keys += 1

    def execute(self, hands: Hands, block: Locator, status: int) -> None:
        with hands.page.expect_response(lambda r: "/api/" in r.url) as answered:
            hands.click(block.get_by_role("button", name="Execute"))
        assert answered.value.status == status, answered.value.text()
        block.locator(".live-responses-table .response-col_status").first.wait_for()

    def open_operation(self, hands: Hands, method: str, path: str) -> Locator:
        # A person scrolls to it: one key for a screenful, and a long list has several.
        block = hands.page.locator(f".opblock-{method}").filter(
            has=hands.page.locator(f'[data-path="{path}"]')
        )
        hands.keys += max(0, int(block.bounding_box()["y"]) // 800)
        hands.click(block.locator(".opblock-summary-control"))
        return block
