"""A headless Chromium, driven by Playwright without the browsers it would download."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def program() -> str | None:
    """Return the path of the browser, which CHROMIUM may name; None if there is none."""
    return shutil.which(os.environ.get("CHROMIUM", "chromium"))


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=ARGUMENTS)
        yield browser
        browser.close()


def log_in(page: Page, url: str, username: str) -> None:
    """Log in as people do, with REST framework's form; a user's password is the name."""
    endpoint = urlsplit(url)
    login = f"{endpoint.scheme}://{endpoint.netloc}/api-auth/login/?next={quote(endpoint.path)}"
    page.goto(login)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(username)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(url)
