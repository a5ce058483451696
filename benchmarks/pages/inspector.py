"""The ten tasks in the web page of the MCP Inspector."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator

from benchmarks.pages.hands import Hands, Impossible
from tests.programs.interop.conftest import NODE_MODULES

PROGRAM = NODE_MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ADDRESS = re.compile(r"http://127\.0\.0\.1:6274\S+")


@contextmanager
def running_inspector(url: str, token: str, folder: Path) -> Iterator[str]:
    """Run the Inspector for a server; the token is on its command line. Yield its address."""
    log = folder / "inspector.log"
    command = ["node", str(PROGRAM), "--web", "--transport", "http", "--server-url", url]
    command += ["--header", f"Authorization: Token {token}"]
    environment = {**os.environ, "HOME": str(folder), "MCP_AUTO_OPEN_ENABLED": "false"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        deadline = time.monotonic() + 60
        while not (found := ADDRESS.search(log.read_text())):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The Inspector did not start:\n{log.read_text()}")
            time.sleep(0.1)
        yield found.group(0)
    finally:
        process.terminate()
        process.wait(timeout=10)


class Inspector:
    name = "MCP Inspector"

    def __init__(self, browser: Browser, url: str, token: str) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 860})
        self.url, self.token = url, token

    def open(self) -> Hands:
        hands = self.open_stranger()
        self.sign_in(hands)
        return Hands(hands.page)

    def open_stranger(self) -> Hands:
        page = self.context.new_page()
        page.goto(self.url)
        return Hands(page)

    def sign_in(self, hands: Hands) -> None:
        # The token was pasted into the command that starts it.
        hands.keys += 2
        # Both move while they appear, and a click would wait until they stop.
        for target in (
            hands.page.get_by_role("switch"),
            hands.page.get_by_text("Tools", exact=True),
        ):
            target.first.dispatch_event("click")
            hands.clicks += 1
        hands.expect("customers_list")

    def find(self, hands: Hands) -> None:
        search = hands.page.get_by_placeholder("Search tools...")
        hands.type(search, "money back")
        hands.page.wait_for_timeout(300)
        # It searches names and titles alone: the person has to think of another word.
        assert hands.page.get_by_text("orders_refund", exact=True).count() == 0
        hands.mistakes += 1
        hands.type(search, "refund")
        hands.expect("orders_refund")

    def arguments(self, hands: Hands) -> None:
        self.open_tool(hands, "orders_create")
        hands.click(hands.page.get_by_role("button", name="Add item"))
        hands.expect("quantity")
        # The page shows the schema's limit nowhere.
        assert hands.page.get_by_text("100").locator("visible=true").count() == 0
        raise Impossible

    def read(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "customers_list")
        self.choose(hands, page.get_by_role("textbox", name="tier"), "gold")
        hands.type(page.get_by_label("page_size", exact=True), "2")
        self.execute(hands)
        hands.expect("total_count")
        # The page number is an ordinary argument, and the answer covers the form.
        hands.click(page.get_by_role("button", name="Close results"))
        hands.type(page.get_by_label("page", exact=True), "2")
        self.execute(hands)
        hands.expect('"page": 2')

    def copy(self, hands: Hands) -> None:
        raise Impossible

    def write(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "tickets_create")
        hands.type(page.get_by_role("textbox", name="customer"), "1")
        hands.type(page.get_by_role("textbox", name="subject"), "Broken lamp")
        hands.type(page.get_by_role("textbox", name="body"), "It stays dark.")
        self.execute(hands)
        hands.expect("Broken lamp")

    def error(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "orders_create")
        hands.type(page.get_by_role("textbox", name="customer"), "1")
        hands.click(page.get_by_role("button", name="Add item"))
        hands.type(page.get_by_role("textbox", name="product"), "desk-lamp")
        hands.type(page.get_by_role("textbox", name="quantity"), "500")
        self.execute(hands)
        hands.expect("lines[0].quantity")
        # The Inspector silently sent 100, so the error is about another value.
        assert page.get_by_text("less than or equal to 100").count() == 0
        hands.mistakes += 1

    def refund(self, hands: Hands) -> None:
        page = hands.page
        self.open_tool(hands, "orders_list")
        self.choose(hands, page.get_by_role("textbox", name="status"), "paid")
        self.execute(hands)
        hands.expect("S-00")
        (key,) = re.search(r'"id":\s*(\d+)', page.locator("main").inner_text()).groups()
        self.open_tool(hands, "orders_refund")
        hands.type(page.get_by_role("textbox", name="id"), key)
        self.choose(hands, page.get_by_role("textbox", name="reason"), "late")
        hands.type(page.get_by_role("textbox", name="amount"), "1")
        self.execute(hands)
        hands.expect("Elicitation Request")
        hands.click(page.get_by_role("button", name="Submit"))
        hands.expect("refunded")

    def who(self, hands: Hands) -> None:
        raise Impossible

    def connect(self, hands: Hands) -> None:
        hands.click(hands.page.get_by_text("Servers", exact=True))
        with hands.page.expect_download() as download:
            hands.click(hands.page.get_by_role("button", name="Export"))
        assert self.token in Path(download.value.path()).read_text()

    def choose(self, hands: Hands, field: Locator, value: str) -> None:
        # Another element of the field covers its input.
        field.first.click(force=True)
        hands.page.get_by_role("option", name=value, exact=True).first.click()
        hands.clicks += 2
        hands.press("Escape")

    def execute(self, hands: Hands) -> None:
        hands.click(hands.page.get_by_role("button", name="Execute Tool"))

    def open_tool(self, hands: Hands, name: str) -> None:
        hands.type(hands.page.get_by_placeholder("Search tools..."), name)
        hands.click(hands.page.get_by_text(name, exact=True))
