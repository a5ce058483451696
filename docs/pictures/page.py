"""Pictures of the page in a browser, with a call's answer on it."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tests.browsable.browser import chromium, log_in
from tests.interop.servers import Shop, running


def quoted(page: Page, url: str) -> None:
    """A price that was worked out."""
    page.goto(f"{url}?tool=quote")
    page.get_by_label("product", exact=True).fill("desk-lamp")
    page.get_by_label("quantity", exact=True).fill("3")
    page.get_by_label("tier", exact=True).select_option(label="gold")
    page.get_by_role("button", name="Call quote").click()
    page.get_by_role("heading", name="Success").wait_for()


def refused(page: Page, url: str) -> None:
    """Arguments that the view refuses."""
    page.goto(f"{url}?tool=customers_create")
    page.get_by_label("name", exact=True).fill("Ada Lovelace")
    page.get_by_label("email", exact=True).fill("ada at example")
    page.get_by_label("country", exact=True).fill("de")
    page.get_by_role("button", name="Call customers_create").click()
    page.get_by_role("heading", name="Error").wait_for()


def listed(page: Page, url: str) -> None:
    """Rows in a table, sorted by a column."""
    page.goto(f"{url}?tool=customers_list")
    page.get_by_label("page_size", exact=True).fill("8")
    page.get_by_role("button", name="Call customers_list").click()
    page.get_by_role("columnheader", name="joined").get_by_role("button").click()
    page.locator(".sideways").evaluate("(part) => { part.scrollLeft = 0; }")
    page.locator(".work").evaluate("(part) => part.scrollIntoView()")
    page.get_by_role("heading", name="Success").wait_for()


def added(page: Page, url: str) -> None:
    """A list that is filled in as rows."""
    page.goto(f"{url}?tool=orders_create")
    page.get_by_role("button", name="Add a row to lines").click()


def compared(page: Page, url: str) -> None:
    """The same call as two users."""
    page.goto(f"{url}?tool=customers_list")
    page.get_by_text("Compare two users").click()
    page.get_by_label("As", exact=True).fill("alice")
    page.get_by_label("and as").fill("bob")
    page.get_by_role("button", name="Compare").click()
    page.locator(".sides").wait_for()
    page.locator("[data-compare]").evaluate("(part) => part.scrollIntoView()")


# File -> the state of the page, the user, the colours.
PICTURES: dict[str, tuple[Callable[[Page, str], None], str, str]] = {
    "page.png": (quoted, "alice", "light"),
    "page-dark.png": (quoted, "alice", "dark"),
    "page-error.png": (refused, "alice", "light"),
    "page-table.png": (listed, "alice", "light"),
    "page-rows.png": (added, "alice", "light"),
    "page-compare.png": (compared, "admin", "light"),
}
SIZE = {"width": 1120, "height": 850}
# Sharp on screens with twice as many dots.
DOTS = 2


def photograph(folder: Path) -> None:
    """Serve a shop of its own and take every picture."""
    with tempfile.TemporaryDirectory() as scratch:
        shop = Shop(Path(scratch) / "shop.sqlite3", "tests.browsable.settings")
        shop.seed()
        with running("uvicorn", shop, Path(scratch) / "log") as server, chromium() as browser:
            for name, (state, user, scheme) in PICTURES.items():
                page = browser.new_page(
                    viewport=SIZE, color_scheme=scheme, device_scale_factor=DOTS
                )
                log_in(page, server.url, user)
                state(page, server.url)
                save(page.screenshot(), folder / name)
                page.close()


def save(png: bytes, path: Path) -> None:
    """Write a picture in few colours, which screens of text do not miss."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
