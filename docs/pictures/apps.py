"""Pictures of the stock pages of tools, in a host."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from docs.pictures.page import DOTS, save
from tests.programs.browser.browser import chromium
from tests.programs.browser.ui_host import Host
from tests.programs.browser.watched import Watched
from tests.programs.interop.servers import Shop, running

COLUMNS = ["number", "customer", "status_label", "placed_at", "total"]
# File -> the tool, its arguments, the theme of the host.
PICTURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "app-table.png": ("orders_list", {"page_size": 8, "fields": COLUMNS}, "light"),
    "app-form.png": ("orders_refund", {"id": 99, "amount": "0.001"}, "dark"),
}
SIZE = {"width": 760, "height": 640}


def photograph_apps(folder: Path) -> None:
    """Serve a shop of its own and take every picture."""
    with tempfile.TemporaryDirectory() as scratch:
        shop = Shop(Path(scratch) / "shop.sqlite3", "tests.programs.browser.settings")
        shop.seed()
        with running("uvicorn", shop, Path(scratch) / "log") as server, chromium() as browser:
            for name, (tool, arguments, theme) in PICTURES.items():
                page = browser.new_page(viewport=SIZE, device_scale_factor=DOTS)
                Host(Watched(page), server, "carol").show(tool, arguments, theme)
                # The frame takes the height that its page tells.
                page.wait_for_timeout(500)
                save(page.locator("iframe").screenshot(), folder / name)
