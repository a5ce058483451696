"""Pictures of the page, to look at: ``python -m tests.browsable.screenshots FOLDER``.

Serves a shop of its own and takes every state of the page in light and dark, on a wide
screen and on a phone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from tests.browsable.browser import chromium, log_in
from tests.interop.servers import Shop, running

WIDTHS = {"wide": (1280, 860), "phone": (360, 780)}


def the_list(page: Page, url: str) -> None:
    """The list of tools."""
    page.goto(url)


def searched(page: Page, url: str) -> None:
    """A search that finds nothing."""
    page.goto(url)
    page.get_by_role("searchbox").fill("teapot")


def one_tool(page: Page, url: str) -> None:
    """A tool that nobody has called yet."""
    page.goto(f"{url}?tool=customers_list")


def success(page: Page, url: str) -> None:
    """A list that came."""
    one_tool(page, url)
    page.get_by_label("gold", exact=True).check()
    page.get_by_label("page_size").fill("3")
    page.get_by_role("button", name="Call customers_list").click()
    page.get_by_role("heading", name="Success").wait_for()


def error(page: Page, url: str) -> None:
    """Arguments that the view refuses."""
    page.goto(f"{url}?tool=customers_create")
    page.get_by_label("name", exact=True).fill("Ada Lovelace")
    page.get_by_label("email").fill("ada at example")
    page.get_by_label("country").fill("de")
    page.get_by_role("button", name="Call customers_create").click()
    page.get_by_role("heading", name="Error").wait_for()


def confirmation(page: Page, url: str) -> None:
    """The question before a destructive call."""
    page.goto(f"{url}?tool=orders_refund")
    page.get_by_label("pk").fill("1")
    page.get_by_label("reason").select_option(label="damaged")
    page.get_by_role("button", name="Call orders_refund").click()
    page.get_by_role("dialog").wait_for()


def curl(page: Page, url: str) -> None:
    """The call as curl."""
    success(page, url)
    page.get_by_role("tab", name="curl").click()


def clients(page: Page, url: str) -> None:
    """What to paste into a client."""
    page.goto(f"{url}?show=clients")
    page.get_by_role("tab", name="VS Code").click()


def findings(page: Page, url: str) -> None:
    """What could be told better."""
    page.goto(f"{url}?show=findings")


STATES: list[Callable[[Page, str], None]] = [
    the_list,
    searched,
    one_tool,
    success,
    error,
    confirmation,
    curl,
    clients,
    findings,
]


def take(folder: Path) -> None:
    """Take every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        shop = Shop(Path(scratch) / "shop.sqlite3", "tests.browsable.settings")
        shop.seed()
        with running("uvicorn", shop, Path(scratch) / "log") as server, chromium() as browser:
            for scheme in ("light", "dark"):
                for width, (w, h) in WIDTHS.items():
                    size = {"width": w, "height": h}
                    page = browser.new_page(viewport=size, color_scheme=scheme)
                    page.goto(server.url)
                    page.screenshot(path=folder / f"refused-{scheme}-{width}.png")
                    log_in(page, server.url, "carol")
                    for state in STATES:
                        state(page, server.url)
                        whole = width == "phone"
                        path = folder / f"{state.__name__}-{scheme}-{width}.png"
                        page.screenshot(path=path, full_page=whole)
                    page.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
