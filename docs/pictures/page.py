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
    page.get_by_label("product").fill("desk-lamp")
    page.get_by_label("quantity").fill("3")
    page.get_by_label("tier").select_option(label="gold")
    page.get_by_role("button", name="Call quote").click()
    page.get_by_role("heading", name="Success").wait_for()


def refused(page: Page, url: str) -> None:
    """Arguments that the view refuses."""
    page.goto(f"{url}?tool=customers_create")
    page.get_by_label("name", exact=True).fill("Ada Lovelace")
    page.get_by_label("email").fill("ada at example")
    page.get_by_label("country").fill("de")
    page.get_by_role("button", name="Call customers_create").click()
    page.get_by_role("heading", name="Error").wait_for()


# File -> the state of the page, the colours.
PICTURES: dict[str, tuple[Callable[[Page, str], None], str]] = {
    "page.png": (quoted, "light"),
    "page-dark.png": (quoted, "dark"),
    "page-error.png": (refused, "light"),
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
            for name, (state, scheme) in PICTURES.items():
                page = browser.new_page(
                    viewport=SIZE, color_scheme=scheme, device_scale_factor=DOTS
                )
                log_in(page, server.url, "alice")
                state(page, server.url)
                save(page.screenshot(), folder / name)
                page.close()


def save(png: bytes, path: Path) -> None:
    """Write a picture in few colours, which screens of text do not miss."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
