"""A headless Chromium that is installed already, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

# The first has no windows, and takes half the processor time of the second.
PROGRAMS = ["chromium-headless-shell", "chromium"]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def program() -> str | None:
    chosen = os.environ.get("CHROMIUM")
    found = map(shutil.which, [chosen] if chosen else PROGRAMS)
    return next(filter(None, found), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=ARGUMENTS)
        yield browser
        browser.close()


def log_in(page: Page, url: str, username: str) -> None:
    endpoint = urlsplit(url)
    login = f"{endpoint.scheme}://{endpoint.netloc}/api-auth/login/?next={quote(endpoint.path)}"
    page.goto(login)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(username)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(url)
