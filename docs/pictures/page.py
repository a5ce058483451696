"""Pictures of the page in a browser, with a call's answer on it."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Page

from tests.programs.browser.browser import chromium, log_in
from tests.programs.interop.servers import Shop, running


def call(page: Page, url: str, tool: str, arguments: dict[str, str]) -> None:
    """Open a tool, fill in its form and send it."""
    page.goto(f"{url}?tool={tool}")
    for name, value in arguments.items():
        page.get_by_label(name, exact=True).fill(value)
    page.locator("[data-form]").get_by_role("button", name=f"Call {tool}").click()


def quoted(page: Page, url: str) -> None:
    """A price that was worked out."""
    call(page, url, "quote", {"product": "desk-lamp", "quantity": "3", "customer": "11"})
    page.get_by_role("heading", name="Success").wait_for()


def refused(page: Page, url: str) -> None:
    """Arguments that the view refuses."""
    wrong = {"name": "Ada Lovelace", "email": "ada at example", "country": "de"}
    call(page, url, "customers_create", wrong)
    page.get_by_role("heading", name="Error").wait_for()


def listed(page: Page, url: str) -> None:
    """Rows in a table, sorted by a column."""
    page.goto(f"{url}?tool=customers_list")
    page.get_by_label("page_size", exact=True).fill("14")
    for column in ("id", "name", "email", "tier", "country"):
        page.get_by_role("group", name="fields").get_by_label(column, exact=True).check()
    page.get_by_role("button", name="Call customers_list").click()
    page.get_by_role("columnheader", name="country").get_by_role("button").click()


def asked(page: Page, url: str) -> None:
    """The question before a deletion, with what would be deleted along."""
    page.set_viewport_size({**SIZE, "height": 760})
    call(page, url, "orders_destroy", {"id": "113"})
    page.get_by_role("dialog").wait_for()


def compared(page: Page, url: str) -> None:
    """The same call as two users."""
    page.goto(f"{url}?tool=customers_list")
    page.get_by_text("Compare two users").click()
    page.get_by_label("As", exact=True).fill("alice")
    page.get_by_label("and as").fill("bob")
    page.get_by_role("button", name="Compare").click()
    page.locator(".sides").wait_for()


# File -> the state of the page, the user, the colours, the part from whose top it is taken, and
# the part that is its end.
PICTURES: dict[str, tuple[Callable[[Page, str], None], str, str, str, str]] = {
    "page.png": (quoted, "alice", "light", "body", ".work"),
    "page-error.png": (refused, "alice", "light", ".work", ".work"),
    "page-table.png": (listed, "alice", "light", ".work", ".work"),
    "page-confirm.png": (asked, "alice", "light", "body", "body"),
    "page-compare.png": (compared, "admin", "light", "[data-compare]", "[data-compare]"),
}
# So high that nothing scrolls under the bars at the top and below the form.
SIZE = {"width": 1120, "height": 2400}
MARGIN = 16
# Sharp on screens with twice as many dots.
DOTS = 2


def photograph(folder: Path) -> None:
    """Serve a shop of its own and take every picture."""
    with tempfile.TemporaryDirectory() as scratch:
        shop = Shop(Path(scratch) / "shop.sqlite3", "tests.programs.browser.settings")
        shop.seed()
        with running("uvicorn", shop, Path(scratch) / "log") as server, chromium() as browser:
            for name, (state, user, scheme, first, last) in PICTURES.items():
                page = browser.new_page(
                    viewport=SIZE, color_scheme=scheme, device_scale_factor=DOTS
                )
                log_in(page, server.url, user)
                state(page, server.url)
                save(page.screenshot(clip=between(page, first, last)), folder / name)
                page.close()


def between(page: Page, first: str, last: str) -> FloatRect:
    """Return the part of the screen from the top of one element to the end of another."""
    upper, lower = (page.locator(part).bounding_box() for part in (first, last))
    top = max(upper["y"] - MARGIN, 0)
    bottom = min(lower["y"] + lower["height"] + MARGIN, page.viewport_size["height"])
    return {"x": 0, "y": top, "width": SIZE["width"], "height": bottom - top}


def save(png: bytes, path: Path) -> None:
    """Write a picture in few colours, which screens of text do not miss."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
